"""Indexes and constraints, built once; what is recorded about the database as a whole in its ``Meta`` node."""

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.errors import NewerSchema, Unavailable
from graphiti_pkm.graph.queries_values import Query, Refused, Row

if TYPE_CHECKING:
    from graphiti_pkm.graph.drivers import Database

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 4
"""1 had no index of changes by what caused them, 2 none by when and between what they were, 3 none of communities."""
_CANARY_SCOPE = "canary0"
_READY_SECONDS = 600.0
"""How long indexes may take to come back after a start; 210,000 vectors without HNSW take seconds."""
_POLL_SECONDS = 0.02

_OWN_INDEXES = (
    "CREATE INDEX FOR (k:Name) ON (k.id, k.entity_uuid, k.group_id)",
    "CREATE INDEX FOR (p:Passage) ON (p.uuid, p.group_id, p.episode_uuid)",
    "CREATE INDEX FOR (s:SearchText) ON (s.id)",
    "CREATE INDEX FOR (w:Write) ON (w.uuid)",
    "CREATE INDEX FOR (c:Change) ON (c.uuid, c.fact_uuid, c.group_id)",
    "CREATE INDEX FOR (c:Change) ON (c.episode_uuid, c.replaced_by)",  # apart: refused as a whole where one is there
    "CREATE INDEX FOR (c:Change) ON (c.recorded_day, c.source_uuid, c.target_uuid)",  # same
    "CREATE INDEX FOR ()-[e:RELATES_TO]-() ON (e.recorded_day)",
    "CREATE INDEX FOR (g:Group) ON (g.id)",
    "CREATE INDEX FOR (m:Meta) ON (m.id)",
)
_FULLTEXT_INDEXES = (
    """CALL db.idx.fulltext.createNodeIndex(
      {label: 'SearchText', language: 'english', stopwords: []}, {field: 'scope', nostem: true}, {field: 'text'})""",
    """CREATE FULLTEXT INDEX FOR ()-[e:RELATES_TO]-() ON (e.search_scope, e.search_text)
      OPTIONS {language: 'english', stopwords: []}""",
    "CREATE FULLTEXT INDEX FOR (c:Community) ON (c.name)",
)
"""That of communities is for Graphiti's own search; with options it would be refused where Graphiti made one."""
_META = Query(
    "meta",
    "MATCH (m:Meta {id: 'database'}) RETURN m.schema_version AS version, m.model AS model, m.dimension AS dimension",
    {},
)
_BUILT = Query(
    "schema built",
    """MERGE (s:SearchText {id: 'canary'}) SET s.scope = $scope, s.text = 'ready'
    MERGE (m:Meta {id: 'database'}) SET m.schema_version = $version""",
    {"scope": _CANARY_SCOPE, "version": SCHEMA_VERSION},
)
_ADOPT_GROUPS = tuple(
    Query(
        "adopt groups",
        f"MATCH (n:{label}) WITH DISTINCT n.group_id AS id WHERE id IS NOT NULL MERGE (g:Group {{id: id}}) "
        "SET g.holds = true",
        {},
    )
    for label in ("Episodic", "Entity")
)
"""Of a graph that Graphiti filled before we came."""
_DAY = "toInteger(replace(left(coalesce({at}, '1970-01-01'), 10), '-', ''))"
_FILL = (
    Query(
        "days of facts",
        f"""MATCH ()-[e:RELATES_TO]->() WHERE e.recorded_day IS NULL
        SET e.recorded_day = {_DAY.format(at="e.created_at")}""",
        {},
    ),
    Query(
        "days and ends of changes",
        f"""MATCH (c:Change) WHERE c.recorded_day IS NULL SET c.recorded_day = {_DAY.format(at="c.recorded_at")}
        WITH c MATCH ()-[e:RELATES_TO {{uuid: c.fact_uuid}}]->()
        SET c.source_uuid = startNode(e).uuid, c.target_uuid = endNode(e).uuid""",
        {},
    ),
)
"""Of what Graphiti or an older version wrote."""
_INDEXES = Query("index states", "CALL db.indexes() YIELD label, types, status RETURN label, types, status", {})
_COMPLETE = "OPERATIONAL"
_CONSTRAINTS = Query("constraint states", "CALL db.constraints() YIELD status RETURN status", {})
_CANARY = Query(
    "canary",
    "CALL db.idx.fulltext.queryNodes('SearchText', $words) YIELD node RETURN node.id AS id",
    {"words": f"@scope:{_CANARY_SCOPE} @text:(ready)"},
)


async def ensure(database: "Database", graph_name: str) -> None:
    """Build what is missing, also from an older database, then wait until all is indexed; cheap when it already is.

    Raises:
        NewerSchema: a newer version wrote this database.
        Unavailable: the indexes do not become ready.
        OSError, RedisError: the connection is lost.
    """
    version = await _version(database)
    if version is not None and version > SCHEMA_VERSION:
        raise NewerSchema(
            f"This database has schema version {version}, this version of graphiti-pkm knows {SCHEMA_VERSION}: "
            "install the newer version that wrote it. Nothing was changed."
        )
    if version != SCHEMA_VERSION:
        await _build(database, graph_name)
    await _wait_until_ready(database)


async def is_ready(database: "Database") -> bool:
    """True when all indexes but those of vectors are complete and full text finds what is certainly there."""
    try:
        indexes, constraints, canary = await database.attempt(_INDEXES, _CONSTRAINTS, _CANARY)
    except Refused:
        return False
    are_constrained = all(row["status"] == _COMPLETE for row in constraints)
    return bool(indexes) and _are_complete(indexes) and are_constrained and len(canary) == 1


def _are_complete(indexes: Sequence[Row]) -> bool:
    """All indexes of a label are one to FalkorDB, which makes it anew when one is added and serves the old meanwhile.

    So an index that differs from a complete one in vectors only may be under construction.
    """
    complete = [(row["label"], _words(row)) for row in indexes if row["status"] == _COMPLETE]
    return all(row["status"] == _COMPLETE or (row["label"], _words(row)) in complete for row in indexes)


def _words(row: Row) -> dict[str, list[str]]:
    """Properties with the kinds of their indexes, without vectors."""
    kinds = {name: sorted(set(kinds) - {"VECTOR"}) for name, kinds in row["types"].items()}
    return {name: kept for name, kept in kinds.items() if kept}


async def embedding(database: "Database") -> tuple[str | None, int | None]:
    """Model and dimension as recorded; the first vectors record their dimension if nobody did."""
    (found,) = await database.read(_META)
    return (found[0]["model"], found[0]["dimension"]) if found else (None, None)


async def record_embedding(database: "Database", model: str, dimension: int) -> None:
    """Record them once; what is there stays."""
    await database.write(
        Query(
            "record embedding",
            """MERGE (m:Meta {id: 'database'})
            SET m.model = coalesce(m.model, $model), m.dimension = coalesce(m.dimension, $dimension)""",
            {"model": model, "dimension": dimension},
        )
    )


async def _version(database: "Database") -> int | None:
    try:
        (found,) = await database.attempt(_META)
    except Refused as refused:
        if refused.is_missing_graph:
            return None
        raise Unavailable("The database does not say which schema it has. Try again.") from None
    return int(found[0]["version"]) if found and found[0]["version"] is not None else None


async def _build(database: "Database", graph_name: str) -> None:
    """What is there already stays, so an older database gets what it lacks, whoever else builds it at the same time.

    Range indexes first: FalkorDB loses range look-ups on a property that a full-text index covered before.
    """
    from graphiti_core.driver.driver import GraphProvider  # noqa: PLC0415 slow to import, loaded by now
    from graphiti_core.graph_queries import get_range_indices  # noqa: PLC0415 same

    _log.info("building indexes")
    for text in (*get_range_indices(GraphProvider.FALKORDB), *_OWN_INDEXES):
        await _unless_there(database, text)
    await _constrain(database, graph_name)
    for text in _FULLTEXT_INDEXES:
        await _unless_there(database, text)
    for query in (*_ADOPT_GROUPS, *_FILL, _BUILT):
        await database.attempt(query, writing=True)


async def _unless_there(database: "Database", text: str) -> None:
    try:
        await database.attempt(Query("create index", text, {}), writing=True)
    except Refused as refused:
        if not refused.is_existing_index:
            raise Unavailable("The database refused an index. Try again.") from None


async def _constrain(database: "Database", graph_name: str) -> None:
    try:
        await database.attempt_command(
            "GRAPH.CONSTRAINT", "CREATE", graph_name, "UNIQUE", "NODE", "Name", "PROPERTIES", 1, "id"
        )
    except Refused as refused:
        if not refused.is_existing_index:
            raise Unavailable("The database refused a constraint. Try again.") from None


async def _wait_until_ready(database: "Database") -> None:
    deadline = asyncio.get_running_loop().time() + _READY_SECONDS
    while not await is_ready(database):
        if asyncio.get_running_loop().time() > deadline:
            raise Unavailable("The database is still building its indexes. Try again later.")
        await asyncio.sleep(_POLL_SECONDS)
