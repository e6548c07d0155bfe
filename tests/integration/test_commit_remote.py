"""A remote database that goes away around a write: what is acknowledged is there, and an error says what was kept."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.neo4j_server import Neo4jServer, empty, skip_without_tools

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.errors import WriteFailed, WritePending
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    skip_without_tools()
    neo4j = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    neo4j.start()
    yield neo4j
    neo4j.kill()


@pytest.fixture
def server(running: Neo4jServer) -> Neo4jServer:
    """Which a test that killed it has started again."""
    empty(running.address)
    return running


@asynccontextmanager
async def host(server: Neo4jServer, data_dir: Path) -> AsyncIterator[Memory]:
    """A server host with a journal of its own."""
    async with open_memory(Settings(data_dir=data_dir, **server.product_settings())) as memory:
        yield memory


async def episodes(memory: Memory, *uuids: str) -> list[str]:
    """Those that the database holds."""
    return [one.uuid for one in await memory.context.graph.records.get_episodes(uuids, ["default"])]


async def add(memory: Memory, body: str, **told: Any) -> str:
    answer = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate({"episode_body": body, **told}))
    return answer.episode_uuid


async def test_what_is_acknowledged_is_in_the_database_and_another_host_finds_it(
    server: Neo4jServer, tmp_path: Path
) -> None:
    async with host(server, tmp_path / "a") as here, host(server, tmp_path / "b") as there:
        uuid = await add(here, "A note.")
        assert await episodes(there, uuid) == [uuid]


async def test_a_write_that_meets_no_database_is_not_kept_and_says_so(server: Neo4jServer, tmp_path: Path) -> None:
    async with host(server, tmp_path / "a") as here:
        first = await add(here, "A note.")
        server.kill()
        with pytest.raises(
            WriteFailed, match=r"^Nothing was stored; send it again later\. The Neo4j server that neo4j_uri names does"
        ):
            await add(here, "Another note.")
        assert (await here.journal.counts())["intent"] == 0
        server.start()
        second = await add(here, "Another note.")
        assert await episodes(here, first, second) == [first, second]


async def test_a_write_that_loses_the_database_after_the_journal_is_kept_and_follows_by_itself(
    server: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with host(server, tmp_path / "a") as here:
        await add(here, "A note.")
        apply = here.context.graph.writer.apply

        async def apply_to_a_dead_database(intent: WriteIntent, vectors: Vectors) -> None:
            server.kill()
            await apply(intent, vectors)

        uuid = "6f1f0a52-8f4c-4f0b-9d3c-0a4c3b1d9e77"
        with monkeypatch.context() as patched:
            patched.setattr(here.context.graph.writer, "apply", apply_to_a_dead_database)
            with pytest.raises(WritePending, match=f"^Kept as {uuid}, do not send it again: it reaches the graph as"):
                await add(here, "Another note.", uuid=uuid)
        assert (await here.journal.counts())["intent"] == 1
        server.start()
        third = await add(here, "A third note.")  # after the one that waits
        assert await episodes(here, uuid, third) == [uuid, third]
        assert await add(here, "Another note.", uuid=uuid) == uuid
    async with host(server, tmp_path / "b") as there:
        assert await episodes(there, uuid, third) == [uuid, third]
