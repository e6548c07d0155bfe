"""After much of what the product can do, both stores hold what DOCS/stored.md lists, and nothing of access or tools."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from tests.integration import test_curation, test_documents, test_merging
from tests.neo4j_server import Neo4jAddress, empty
from tests.stored_page import NODES, RELATIONS, tables, tables_of

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.curation.requests import AdjustBias
from graphiti_pkm.capabilities.curation.tools import FITNESS
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.search.requests import SearchNodes
from graphiti_pkm.capabilities.search.tools import SEARCHING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.connection import MEMORY

pytestmark = pytest.mark.timeout(240)

NO_PLACE_FOR = re.compile(
    r"role|tier|permission|grant|password|tool|hint|rule|workflow|prompt|session|setting", re.IGNORECASE
)
COMPLETE = (
    *("DocumentRecord", "EntryRecord", "FormerUuid", "InstanceRecord", "MergePart", "MetricsRecord", "Name", "Passage"),
    *("ProjectRecord", "SearchText"),
)
"""Labels all of whose properties have a value in the story."""
GIVEN = frozenset({"prompt_tokens"})
"""What a model was sent, counted."""


async def much(memory: Memory, root: Path) -> None:
    """Documents with quotes, a merge, a project, flags and confidence, bias, counters, readings and plans."""
    await test_documents.begin(memory, root)
    await test_merging.merge(memory, uuids := await test_merging.begin(memory))
    await test_curation.begin(memory)
    request = AdjustBias(entity_uuid=next(iter(uuids.values())), bias=0.5, reason="The one.")
    await memory.services[FITNESS].adjust_bias(LOCAL, request)
    slept = {"source": "me", "relation": "SLEPT", "measure": "sleep", "value": "7", "unit": "h", "kind": "reading"}
    visit = {"source": "me", "relation": "VISITS", "target": "Lisbon", "kind": "plan", "fact": "I visit Lisbon."}
    for fact in ({**slept, "fact": "I slept 7 h."}, visit):
        request = AddMemory.model_validate({"episode_body": str(fact["fact"]), "facts": [fact]})
        await memory.services[WRITING].add_memory(LOCAL, request)
    await memory.services[SEARCHING].search_nodes(LOCAL, SearchNodes(query="Tom"))
    await memory.usage.flush()


async def test_the_embedded_file_has_the_tables_and_columns_that_the_page_lists(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path / "data")) as memory:
        await much(memory, tmp_path / "root")
    with closing(sqlite3.connect(tmp_path / "data" / MEMORY)) as db:
        assert tables_of(db) == tables()


async def test_neo4j_has_the_labels_and_properties_that_the_page_lists(
    tmp_path: Path, neo4j_server: Neo4jAddress
) -> None:
    empty(neo4j_server)
    async with open_memory(Settings(data_dir=tmp_path / "data", **neo4j_server.product_settings())) as memory:
        await much(memory, tmp_path / "root")
    with GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.username, neo4j_server.password)) as driver:

        def found(text: str) -> dict[str, set[str]]:
            return {row["name"]: set(row["held"]) for row in driver.execute_query(text).records}

        collected = (
            "UNWIND CASE keys(n) WHEN [] THEN [null] ELSE keys(n) END AS k RETURN name, collect(DISTINCT k) AS held"
        )
        label = "CASE WHEN n:Entity THEN 'Entity' ELSE head(labels(n)) END"
        nodes = found(f"MATCH (n) WITH n, {label} AS name {collected}")
        relations = found(f"MATCH ()-[n]->() WITH n, type(n) AS name {collected}")
    for stored, listed in ((nodes, NODES), (relations, RELATIONS)):
        assert stored.keys() <= listed.keys()
        assert {name: held - listed[name] for name, held in stored.items() if not held <= listed[name]} == {}
    assert {name: NODES[name] - nodes.get(name, set()) for name in COMPLETE if NODES[name] != nodes.get(name)} == {}
    assert {"Episodic", "Entity", "QualityRecord", "WriteOrigin", "Change", "Write"} <= nodes.keys()
    assert relations.keys() >= {"RELATES_TO", "MENTIONS", "EVIDENCED_BY", "FROM_SOURCE", "SECTION"}


def test_neither_store_has_a_place_for_rights_rules_tools_or_what_a_page_shows() -> None:
    held = [*tables().items(), *NODES.items(), *RELATIONS.items()]
    names = {name for label, columns in held for name in (label, *columns)} - GIVEN
    assert {name for name in names if NO_PLACE_FOR.search(name)} == set()
