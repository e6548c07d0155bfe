"""Two entities that are one, in a real memory: merged, undone, rebuilt and forgotten."""

from pathlib import Path
from typing import Any

import pytest
from graphiti_core.driver.driver import GraphDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.errors import NodeNotFoundError
from graphiti_core.nodes import EntityNode
from neo4j import AsyncGraphDatabase
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.storm.dump import Dump, differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.models import MergeResponse
from graphiti_pkm.capabilities.curation.requests import FlagSimilarEntities, MergeEntities, UnmergeEntities
from graphiti_pkm.capabilities.curation.tools import MERGING, SIMILAR, UNMERGING
from graphiti_pkm.capabilities.explore.requests import GetEntityConnections
from graphiti_pkm.capabilities.explore.tools import EXPLORING
from graphiti_pkm.capabilities.forget.models import ForgetResponse
from graphiti_pkm.capabilities.forget.requests import Forget
from graphiti_pkm.capabilities.forget.tools import FORGETTING
from graphiti_pkm.capabilities.projects.requests import CreateEntry, CreateProject, UpdateProject
from graphiti_pkm.capabilities.projects.tools import ENTRIES, PROJECTS
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.graphiti_adapter import SqliteDriver
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.connection import MEMORY

pytestmark = pytest.mark.timeout(240)

KEPT, REMOVED = "PostgreSQL", "Postgres database"
SUMMARIES = {
    KEPT: "Relational database that stores the invoices and customers.",
    REMOVED: "The relational database in which customers and invoices are stored.",
}
NOTES: list[dict[str, Any]] = [
    {
        "episode_body": "PostgreSQL runs on Atlas. We use PostgreSQL since 2024.",
        "reference_time": "2025-03-01",
        "entities": [{"name": KEPT, "type": "Tool", "summary": SUMMARIES[KEPT], "aliases": ["PG"]}],
        "facts": [
            {"source": KEPT, "relation": "HOSTED_ON", "target": "Atlas", "quote": "PostgreSQL runs on Atlas."},
            {"source": "Billing", "relation": "USES", "target": KEPT, "valid_at": "2024-01-01"},
        ],
    },
    {
        "episode_body": "Postgres database runs on Borealis. Billing uses the Postgres database since January 2024. "
        "The port of Postgres database is Quirlebaum. PostgreSQL came after Postgres database.",
        "reference_time": "2025-04-01",
        "entities": [{"name": REMOVED, "type": "Tool", "summary": SUMMARIES[REMOVED], "aliases": ["Postgres DB"]}],
        "facts": [
            {
                "source": REMOVED,
                "relation": "HOSTED_ON",
                "target": "Borealis",
                "quote": "Postgres database runs on Borealis.",
            },
            {"source": "Billing", "relation": "USES", "target": REMOVED, "valid_at": "2024-01-01"},
            {"source": REMOVED, "relation": "HAS_PORT", "value": "Quirlebaum"},
            {"source": KEPT, "relation": "FOLLOWS", "target": REMOVED},
            {"source": REMOVED, "relation": "REPLICATES", "target": REMOVED},
        ],
    },
    {
        "episode_body": "Postgres DB moved to Ceres.",
        "reference_time": "2025-05-01",
        "facts": [
            {
                "source": REMOVED,
                "relation": "HOSTED_ON",
                "target": "Ceres",
                "replaces": "Borealis",
                "valid_at": "2025-05-01",
            }
        ],
    },
    {"episode_body": "The price of Postgres database rose.", "reference_time": "2025-06-01"},
]


async def tell(memory: Memory, **note: Any) -> dict[str, str]:
    stored = await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(note))
    return {one.name: one.uuid for one in stored.entities}


async def begin(memory: Memory) -> dict[str, str]:
    """By name the uuids of both, which are flagged."""
    uuids: dict[str, str] = {}
    for note in NOTES:
        uuids = {**await tell(memory, **note), **uuids}
    await memory.services[PROJECTS].create_project(LOCAL, CreateProject(name="Harbour"))
    await memory.services[PROJECTS].update_project(LOCAL, UpdateProject(project="Harbour", pin=[uuids[REMOVED]]))
    for text in (f"{REMOVED} is slow today.", f"{KEPT} and {REMOVED} agree."):
        await memory.services[ENTRIES].create_entry(LOCAL, CreateEntry(content=text, project_id="Harbour"))
    found = await memory.services[SIMILAR].flag_similar_entities(LOCAL, FlagSimilarEntities())
    assert [{pair.one.name, pair.other.name} for pair in found.pairs] == [{KEPT, REMOVED}]
    return {name: uuids[name] for name in (KEPT, REMOVED)}


async def merge(memory: Memory, uuids: dict[str, str]) -> MergeResponse:
    asked = {"keep_uuid": uuids[KEPT], "remove_uuid": uuids[REMOVED], "reason": "One database."}
    preview = await memory.services[MERGING].merge_entities(LOCAL, MergeEntities.model_validate(asked))
    assert preview.status == "preview"
    done = {**asked, "confirm": preview.confirm}
    return await memory.services[MERGING].merge_entities(LOCAL, MergeEntities.model_validate(done))


async def unmerge(memory: Memory, uuid: str) -> MergeResponse:
    request = UnmergeEntities(remove_uuid=uuid, reason="Two after all.")
    return await memory.services[UNMERGING].unmerge_entities(LOCAL, request)


async def rebuild(memory: Memory) -> None:
    await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)


def content(data_dir: Path) -> Dump:
    """Of the graph, but for the events of merges and the flag that a merge settled."""
    found = dump(data_dir)
    events = found.tables["change"]
    found.tables["change"] = {key: one for key, one in events.items() if one["kind"] not in ("merged", "unmerged")}
    return found


async def read_by_graphiti(driver: GraphDriver, uuids: dict[str, str]) -> None:
    """Graphiti's own queries find one entity with the facts of both."""
    kept = uuids[KEPT]
    edges = await EntityEdge.get_by_node_uuid(driver, kept)
    assert sorted(one.name for one in edges) == ["HAS_PORT", *["HOSTED_ON"] * 3, "REPLICATES", "USES"]
    assert all(kept in (one.source_node_uuid, one.target_node_uuid) for one in edges)
    assert (await EntityNode.get_by_uuid(driver, kept)).name == KEPT
    with pytest.raises(NodeNotFoundError):
        await EntityNode.get_by_uuid(driver, uuids[REMOVED])


async def test_a_merge_keeps_all_and_undoing_and_rebuilding_give_back_the_same(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        before = content(tmp_path)
        answer = await merge(memory, uuids)
        assert (answer.status, answer.facts_moved, answer.mentions_moved) == ("merged", 4, 3)
        assert (answer.facts_joined, len(answer.joined_facts or [])) == (1, 1)
        assert (answer.facts_dropped, len(answer.pair_facts or [])) == (1, 1)
        (conflict,) = answer.needs_attention
        assert ["Ceres" in line for line in conflict.candidates] == [False, True]
        assert ["Atlas" in line for line in conflict.candidates] == [True, False]
        merged = dump(tmp_path)
        async with SqliteDriver(tmp_path / MEMORY) as driver:
            await read_by_graphiti(driver, uuids)
        await rebuild(memory)
        assert differences(merged, dump(tmp_path)) == []
        await unmerge(memory, uuids[REMOVED])
        assert differences(before, content(tmp_path)) == []
        again = dump(tmp_path)
        await rebuild(memory)
        assert differences(again, dump(tmp_path)) == []


async def forget(memory: Memory, **what: str) -> ForgetResponse:
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate(what))
    return await memory.services[FORGETTING].forget(LOCAL, Forget.model_validate({**what, "confirm": preview.confirm}))


@pytest.mark.parametrize("named", [KEPT, REMOVED])
async def test_what_was_merged_yesterday_is_forgotten_under_both_names_and_uuids(tmp_path: Path, named: str) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        await merge(memory, uuids)
        await forget(memory, entity_uuid=uuids[named])
        left = dump(tmp_path)
        assert not {one["uuid"] for one in left.of("entity")} & set(uuids.values())
        assert (left.of("merge_part"), left.of("former_uuid")) == ([], [])
        await rebuild(memory)
        assert differences(left, dump(tmp_path)) == []
    for words in ("Postgres database", "Postgres DB", "PostgreSQL", "customers and invoices"):
        assert files_with(tmp_path, words) == []


@pytest.mark.parametrize("words", ["Quirlebaum", "customers and invoices"])
async def test_words_that_are_forgotten_after_a_merge_are_in_no_file_and_do_not_come_back(
    tmp_path: Path, words: str
) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        await merge(memory, uuids)
        await forget(memory, query=words)
        before = dump(tmp_path)
        await rebuild(memory)
        assert differences(before, dump(tmp_path)) == []
        await unmerge(memory, uuids[REMOVED])
        again = dump(tmp_path)
        assert {one["name"] for one in again.of("entity")} >= {KEPT, REMOVED}
        await rebuild(memory)
        assert differences(again, dump(tmp_path)) == []
    assert files_with(tmp_path, words) == []


@pytest.mark.parametrize("name", ["Postgres DB", REMOVED])
async def test_a_name_of_the_entity_that_went_is_forgotten_while_the_other_stays(tmp_path: Path, name: str) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        assert files_with(tmp_path, name)
        await merge(memory, uuids)
        await forget(memory, query=name)
        before = dump(tmp_path)
        assert uuids[KEPT] in {one["uuid"] for one in before.of("entity")}
        await rebuild(memory)
        assert differences(before, dump(tmp_path)) == []
        assert files_with(tmp_path, name) == []
        await unmerge(memory, uuids[REMOVED])
        again = dump(tmp_path)
        named = {one["uuid"]: one["name"] for one in again.of("entity")}
        assert named[uuids[REMOVED]] == (FORGOTTEN if name == REMOVED else REMOVED)
        await rebuild(memory)
        assert differences(again, dump(tmp_path)) == []
    assert files_with(tmp_path, name) == []


async def test_a_fact_of_the_pair_that_only_the_archive_has_is_forgotten_with_its_words(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        fact = {"source": KEPT, "relation": "KNOWN_FROM", "target": REMOVED, "fact": "PostgreSQL knows Xylomarimba."}
        await tell(memory, episode_body="PostgreSQL knows Xylomarimba.", facts=[fact])
        await merge(memory, uuids)
        await forget(memory, query="Xylomarimba")
        await unmerge(memory, uuids[REMOVED])
        assert "KNOWN_FROM" not in {one["relation"] for one in dump(tmp_path).of("fact")}
    assert files_with(tmp_path, "Xylomarimba") == []


async def graph_of(server: Neo4jAddress) -> dict[str, list[str]]:
    """All nodes and relations of a Neo4j, by label and type, but for events of merges and what counts writes."""
    found: dict[str, list[str]] = {}
    left_out = {"Write", "Group", "Meta", "WriteOrigin", "Server"}
    async with AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        nodes = await driver.execute_query("MATCH (n) RETURN labels(n)[0] AS label, properties(n) AS own")
        ends = "coalesce(startNode(r).uuid, startNode(r).id) AS one, coalesce(endNode(r).uuid, endNode(r).id) AS other"
        edges = await driver.execute_query(f"MATCH ()-[r]->() RETURN type(r) AS label, properties(r) AS own, {ends}")
    for record in (*nodes.records, *edges.records):
        is_event = record["own"].get("kind") in ("merged", "unmerged") and record["label"] == "Change"
        if record["label"] not in left_out and not is_event:
            own = sorted((name, str(value)) for name, value in record["own"].items() if name != "scope")
            found.setdefault(record["label"], []).append(f"{record.get('one')} {record.get('other')} {own}")
    return {label: sorted(rows) for label, rows in found.items()}


async def test_on_neo4j_undoing_and_rebuilding_give_back_the_same_and_forgetting_takes_both(
    tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    settings = Settings(data_dir=tmp_path, **neo4j_server.product_settings())
    async with open_memory(settings) as memory:
        uuids = await begin(memory)
        before = await graph_of(neo4j_server)
        answer = await merge(memory, uuids)
        assert isinstance(memory.context.graph, GraphStore)
        driver = await memory.context.graph.driver()
        await read_by_graphiti(driver, uuids)
        await driver.close()
        assert (answer.facts_moved, answer.mentions_moved) == (4, 3)
        assert [len(answer.pair_facts or []), len(answer.joined_facts or []), len(answer.needs_attention)] == [1, 1, 1]
        merged = await graph_of(neo4j_server)
        assert merged != before
        await rebuild(memory)
        assert await graph_of(neo4j_server) == merged
        await unmerge(memory, uuids[REMOVED])
        assert await graph_of(neo4j_server) == before
        await rebuild(memory)
        assert await graph_of(neo4j_server) == before
        await merge(memory, uuids)
        await forget(memory, query="Quirlebaum")
        await forget(memory, entity_uuid=uuids[REMOVED])
        left = await graph_of(neo4j_server)
        assert left.keys().isdisjoint({"MergePart", "FormerUuid"})
        assert not any(words in row for words in ("ostgres", "Quirlebaum") for rows in left.values() for row in rows)
    for words in ("Postgres database", "PostgreSQL", "Quirlebaum"):
        assert files_with(tmp_path, words) == []


async def test_a_page_asked_under_the_uuid_that_went_goes_on_after_the_merge(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        uuids = await begin(memory)
        read = memory.services[EXPLORING].get_entity_connections
        request = GetEntityConnections(entity_uuid=uuids[REMOVED], max_connections=2)
        first = await read(LOCAL, request)
        assert first.next_cursor is not None
        await merge(memory, uuids)
        second = await read(LOCAL, request.model_copy(update={"cursor": first.next_cursor}))
        assert second.facts != []
        ends = {end for one in second.facts for end in (one.source_node_uuid, one.target_node_uuid)}
        assert (uuids[KEPT] in ends, uuids[REMOVED] in ends) == (True, False)
        seen = [one.uuid for one in (*first.facts, *second.facts)]
        assert len(seen) == len(set(seen))
        short = await read(LOCAL, GetEntityConnections(entity_uuid=uuids[REMOVED][:8]))
        whole = await read(LOCAL, GetEntityConnections(entity_uuid=uuids[KEPT]))
        assert [one.uuid for one in short.facts] == [one.uuid for one in whole.facts]
