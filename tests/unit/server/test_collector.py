"""What a server has once it has started is left out of later garbage collections."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.backend import Backend
from graphiti_pkm.toolkit.services import Services

_SERVED = """
import asyncio, gc
from contextlib import asynccontextmanager
from graphiti_pkm.server.app import alone_in_its_process, build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

@asynccontextmanager
async def start():
    yield Services()

async def serve():
    server = alone_in_its_process(build_server(Settings(), start))
    before = len(gc.get_objects()), gc.get_freeze_count()
    async with server.backend.open():
        await server.backend.services()
    print(*before, len(gc.get_objects()), gc.get_freeze_count())

asyncio.run(serve())
"""


@asynccontextmanager
async def nothing() -> AsyncIterator[Services]:
    yield Services()


async def test_the_end_of_each_start_is_told_once() -> None:
    ready: list[str] = []
    backend = Backend(nothing)
    backend.on_ready = lambda: ready.append("ready")
    for _ in range(2):
        async with backend.open():
            await backend.services()
            await backend.services()
    assert ready == ["ready", "ready"]


async def test_a_start_that_fails_is_not_told_as_one() -> None:
    @asynccontextmanager
    async def fails() -> AsyncIterator[Services]:
        raise ConfigurationError("No.")
        yield

    ready: list[str] = []
    backend = Backend(fails)
    backend.on_ready = lambda: ready.append("ready")
    async with backend.open():
        with pytest.raises(ConfigurationError):
            await backend.services()
    assert ready == []


def test_a_server_alone_in_its_process_leaves_next_to_nothing_to_collect() -> None:
    done = subprocess.run([sys.executable, "-c", _SERVED], capture_output=True, text=True, check=True)
    tracked, frozen, tracked_then, frozen_then = map(int, done.stdout.split())
    assert tracked > 50_000
    assert tracked_then < tracked / 50
    assert frozen_then - frozen > 50_000
