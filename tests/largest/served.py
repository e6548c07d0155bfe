"""A real server, database and journal included, in a thread with an event loop of its own."""

import asyncio
import tempfile
import threading
from array import array
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.integration.scratch_tenants import QuickEmbedder
from tests.protocol.serving import served

from graphiti_pkm.bootstrap import _assemble, open_memory
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services


class ThreadedEmbedder(QuickEmbedder):
    """Computes off the event loop, as every embedder of the product does."""

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:  # noqa: ARG002
        return await asyncio.to_thread(lambda: [array("f", self._vector(text)) for text in texts])


@dataclass(frozen=True)
class Served:
    url: str
    thread: int
    services: Services
    loop: asyncio.AbstractEventLoop
    data_dir: Path


@contextmanager
def serving(**given: Any) -> Iterator[Served]:
    """Empty; gone in the end with its memory."""
    ready = threading.Event()
    found: dict[str, Any] = {}

    async def main() -> None:
        stop = asyncio.Event()
        with tempfile.TemporaryDirectory(prefix="pkm-largest-") as name:
            settings = Settings(data_dir=Path(name), transport="http", **given)
            async with open_memory(settings, replays=False) as memory:
                embedder = ThreadedEmbedder()
                context = replace(memory.context, embedder=embedder)
                services = _assemble(
                    context, memory.context.graph, embedder, memory.database, memory.journal, memory.usage, None, None
                ).services

                @asynccontextmanager
                async def start() -> AsyncIterator[Services]:
                    yield services

                async with served(settings, start) as url:
                    loop = asyncio.get_running_loop()
                    found.update(
                        stop=lambda: loop.call_soon_threadsafe(stop.set),
                        served=Served(url, threading.get_ident(), services, loop, Path(name)),
                    )
                    ready.set()
                    await stop.wait()
                if services[REASONING] is not None:
                    await services[REASONING].close()

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:
            found["error"] = error
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=run, name="server")
    thread.start()
    ready.wait()
    if "error" in found:
        raise found["error"]
    try:
        yield found["served"]
    finally:
        found["stop"]()
        thread.join()
