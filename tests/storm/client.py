"""One client of a storm: writes note after note until the file ``stop`` appears, or until it is killed.

``words``: in process, without an embedding model. ``model``: in process, with it. ``stdio``: through a real server
process, spoken to in plain lines. A replacement first sends again what its predecessor got no answer to.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.storm.notes import Diary
from tests.storm.story import note

Send = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
"""Gives the answer; raises WriteFailed (send again) or WritePending (do not)."""


async def main(way: str, data_dir: Path, directory: Path, slot: str) -> None:
    """Run until stopped."""
    diary = Diary(directory, slot)
    diary.end_cut_line()
    stop = directory / "stop"
    await (_by_stdio if way == "stdio" else _in_process)(way, data_dir, diary, stop, slot)


async def _in_process(way: str, data_dir: Path, diary: Diary, stop: Path, slot: str) -> None:
    from graphiti_pkm.embedding.local.weight_files import MINILM  # noqa: PLC0415 same
    from graphiti_pkm.settings.loader import Settings  # noqa: PLC0415 the other way needs none of this

    if way == "words":
        for package in MINILM.packages:
            sys.modules[package] = None  # type: ignore[assignment]  # as if it were not installed
    from graphiti_pkm.bootstrap import open_memory  # noqa: PLC0415 same
    from graphiti_pkm.capabilities.remember.tools import WRITING  # noqa: PLC0415 same
    from graphiti_pkm.core.model.access import LOCAL  # noqa: PLC0415 same
    from graphiti_pkm.core.model.requests import AddMemory  # noqa: PLC0415 same

    settings = Settings(data_dir=data_dir, cache_dir=data_dir.parent / "no-weights")
    async with open_memory(settings) as memory:

        async def send(arguments: dict[str, Any]) -> dict[str, Any]:
            answer = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(arguments))
            return answer.model_dump(mode="json")

        await _write(send, diary, stop, slot)


async def _by_stdio(_: str, data_dir: Path, diary: Diary, stop: Path, slot: str) -> None:
    from tests.benchmarks.stdio import StdioServer, ToolFailed  # noqa: PLC0415 the other way needs none of this

    from graphiti_pkm.errors import WriteFailed, WritePending  # noqa: PLC0415 same

    command = [str(Path(sys.executable).with_name("graphiti-pkm")), "serve", "--data-dir", str(data_dir)]
    with StdioServer(command) as server:
        server.initialize()

        async def send(arguments: dict[str, Any]) -> dict[str, Any]:
            try:
                return server.call("add_memory", **arguments)
            except ToolFailed as failed:
                errors = {error.code: error for error in (WriteFailed, WritePending)}
                if failed.code not in errors:
                    raise
                raise errors[failed.code](failed.message) from None

        diary.tell("server", {"pid": server.process.pid})
        await _write(send, diary, stop, slot)
        server.close()


async def _write(send: Send, diary: Diary, stop: Path, slot: str) -> None:
    from graphiti_pkm.errors import WriteFailed, WritePending  # noqa: PLC0415 after the choice of way

    number = len(diary.lines("sent"))
    sent = diary.unsettled()
    while not stop.exists():  # noqa: ASYNC240 no event crosses the processes
        if sent is None:
            sent = {"uuid": str(uuid4()), "client": slot, "number": number}
            diary.tell("sent", sent)
            number += 1
        try:
            answer = await send(note(slot, sent["number"]) | {"uuid": sent["uuid"]})
        except WriteFailed:
            continue  # may be sent again, and is
        except WritePending:
            diary.tell("pending", sent)
        else:
            assert answer["episode_uuid"] == sent["uuid"]
            made = {kind: [item["uuid"] for item in answer[kind]] for kind in ("entities", "facts")}
            diary.tell("acknowledged", {**sent, **made})
        sent = None


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
