"""Readings on a real FalkorDB: found by index; a database of one's own knows nothing of them."""

from collections.abc import AsyncIterator
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from tests.builders import GROUP, new_uuid
from tests.falkor import RemoteFalkor, graph_name
from tests.integration.embedded_support import end_database
from tests.scripted_model import ScriptedModel

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph import shared_readings
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.server_id import server_id

VALUES: dict[str, Any] = {
    "server": "one",
    "uuid": new_uuid(),
    "uuids": [new_uuid()],
    "episode_uuid": new_uuid(),
    "group_id": GROUP,
    "group_ids": [GROUP],
    "properties": {},
    "turn": "1",
    "state": "failed",
    "lease": 1,
    "after": 0,
    "limit": 5,
    "longest": 1,
}


@pytest.fixture
async def data_dir(short_directory: Path) -> AsyncIterator[Path]:
    """Gone in the end with its database."""
    yield short_directory
    await end_database(short_directory)


@pytest.mark.parametrize("name", ["_TAKE_OVER", "_OWN", "_BEGIN", "_HOLDS", "_END", "_LATEST"])
async def test_no_reading_is_looked_for_among_all(
    name: str, falkor_server: RemoteFalkor, falkor_server_graph: GraphStore
) -> None:
    assert await falkor_server_graph.ready()
    query = Query(name, getattr(shared_readings, name), VALUES)
    with falkor_server.client() as client:
        lines = client.execute_command("GRAPH.EXPLAIN", graph_name(falkor_server_graph), query.command())
    steps = [line for line in lines if ":Reading)" in line]
    assert steps
    assert not [line for line in steps if "Label Scan" in line], steps


async def test_a_database_of_ones_own_knows_of_no_readings(data_dir: Path, scripted_model: ScriptedModel) -> None:
    settings = Settings.model_validate(
        {"data_dir": data_dir, "idle_seconds": 0.3, "llm_model": "scripted", "llm_base_url": scripted_model.url}
    )
    async with open_memory(settings) as memory:
        await memory.services[WRITING].add_memory(
            LOCAL, AddMemory(episode_body="Anna Berg WORKS_AT Acme.", wait_seconds=40)
        )
        assert (await memory.journal.extractions.sizes(None))["done"] == 1
        graph = memory.context.graph
        assert isinstance(graph, GraphStore)
        asked = Query("labels", "CALL db.labels() YIELD label RETURN label", {})
        indexed = Query("indexed", "CALL db.indexes() YIELD label RETURN label", {})
        labels = {row["label"] for rows in await (await graph.database()).read(asked, indexed) for row in rows}
    assert {"Episodic", "Write"} <= labels
    assert not labels & {"Reading", "Server"}
    assert "takeover" not in memory.running.jobs
    assert not (data_dir / "server-id").exists()


def test_all_processes_of_a_directory_are_one_server(tmp_path: Path) -> None:
    with get_context("spawn").Pool(4) as pool:
        found = set(pool.map(server_id, [tmp_path / "data"] * 8))
    assert found == {server_id(tmp_path / "data")}
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["server-id"]
    assert server_id(tmp_path / "another") not in found
