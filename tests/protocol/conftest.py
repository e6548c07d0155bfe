"""Fixtures of the protocol suite: a world of fakes, and a client in each protocol generation."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import pytest
from mcp.client import Client
from tests.protocol.access import Doors
from tests.protocol.scratch_support import ToldEmbedder
from tests.protocol.support import Mode, World


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def embedder() -> ToldEmbedder:
    """For worlds of scratch graphs whose labels a test tells how near they are."""
    return ToldEmbedder()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests with a client run in both generations of the protocol; those of whole toolsets in the newer one alone.

    What the older one changes is not in the services: ``test_left_out.py`` calls every tool in both.
    """
    if "client" in metafunc.fixturenames:
        is_short = Path(str(metafunc.module.__file__)).name.startswith(
            ("test_reasoning_", "test_compat", "test_reference")
        )
        metafunc.parametrize("client", ["auto"] if is_short else ["auto", "legacy"], indirect=True)


@pytest.fixture
async def client(world: World, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    # A client must be left in the task that entered it; pytest-asyncio runs the two halves of a fixture in two.
    connected: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with world.connect(cast("Mode", request.param)) as entered:
            connected.set_result(entered)
            await done.wait()

    task = asyncio.create_task(hold())
    yield await connected
    done.set()
    await task


@pytest.fixture
def doors(tmp_path: Path) -> Doors:
    return Doors(tmp_path)
