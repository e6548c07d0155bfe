"""The tools of the other servers on Neo4j: what they write, read, delete and forget, through a server process."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from tests.acceptance.test_other_servers import named, neo4j_memory, reference_server
from tests.e2e.support import call, over_stdio
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def settings(neo4j_server: Neo4jAddress) -> dict[str, object]:
    empty(neo4j_server)
    return neo4j_server.product_settings()


@asynccontextmanager
async def client_of(directory: Path, search: str, **settings: object) -> AsyncIterator[Client]:
    """A client of a server that answers a search: on a busy machine it takes a while to start."""
    async with over_stdio(directory, **settings) as client:
        while (await client.call_tool(search, {"query": "anything"})).is_error:
            pass
        yield client


async def test_clients_of_both_servers_are_answered_as_there(tmp_path: Path, settings: dict[str, object]) -> None:
    async with client_of(tmp_path / "data", "search_memories", toolsets="compat", **settings) as client:
        await neo4j_memory(client)
        await call(client, "delete_entities", entityNames=["Bob"])
    async with client_of(tmp_path / "data", "search_nodes", toolsets="reference", **settings) as client:
        await reference_server(client)


async def test_types_are_found_and_what_is_deleted_leaves_the_rest_in_place(
    tmp_path: Path, settings: dict[str, object]
) -> None:
    async with client_of(tmp_path / "data", "search_memories", toolsets="memory,compat", **settings) as client:
        sent = [
            {"name": "Quellbach", "type": "MountainRiver", "observations": ["Zyklonquell feeds it", "is cold"]},
            {"name": "Anna", "type": "Person", "observations": ["swims"]},
        ]
        await call(client, "create_entities", entities=sent)
        await call(client, "add_memory", episode_body="Ghent.", entities=[{"name": "Ghent", "type": "City"}])
        for query, name in (("mountain", "Quellbach"), ("city", "Ghent"), ("swims", "Anna"), ("person", "Anna")):
            assert named(await call(client, "search_memories", query=query)).keys() == {name}, query
        assert (await call(client, "search_nodes", query="swims"))["nodes"][0]["name"] == "Anna"
        gone = [{"entityName": "Quellbach", "observations": ["Zyklonquell feeds it"]}]
        await call(client, "delete_observations", deletions=gone)
        river = named(await call(client, "find_memories_by_name", names=["Quellbach"]))["Quellbach"]
        assert river["observations"] == ["is cold"]
        page = await call(client, "get_entity_connections", entity_uuid=river["uuid"])
        (fact,) = page["facts"]
        assert (fact["fact"], fact["quote"], page["total"], page["neighbours"] or []) == ("is cold", "is cold", 1, [])
        sources = await call(client, "get_fact_sources", fact_uuid=fact["uuid"])
        assert "is cold" in str(sources["sources"])
        changes = (await call(client, "what_changed", since="2020"))["changes"]
        assert [one["change"] for one in changes if one["change"] == "deleted"] == ["deleted"]
    assert files_with(tmp_path / "data", "Zyklonquell") == []
