"""The indexes and constraints of FalkorDB, built once, and what they say of themselves."""

import logging
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.falkordb.connection import FalkorRefused
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.schema import CANARY_SCOPE, FILLING, META, SCHEMA_VERSION, version, wait_until
from graphiti_pkm.storage.graph.vector_indexes import ALL, Built, Embedded

if TYPE_CHECKING:
    from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase

_log = logging.getLogger(__name__)

_POLL_SECONDS = 0.02

_PROGRESS = re.compile(r"(?<!\d)(\d+)/(\d+)")
_ALL_BUILT = 100

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
_SHARED_INDEXES = (
    "CREATE INDEX FOR (q:Reading) ON (q.uuid, q.owner, q.episode_uuid, q.group_id)",
    "CREATE INDEX FOR (s:Server) ON (s.id)",
)
"""Of what servers share: not where a database is ours alone."""
_FULLTEXT_INDEXES = (
    """CALL db.idx.fulltext.createNodeIndex(
      {label: 'SearchText', language: 'english', stopwords: []}, {field: 'scope', nostem: true}, {field: 'text'})""",
    """CREATE FULLTEXT INDEX FOR ()-[e:RELATES_TO]-() ON (e.search_scope, e.search_text)
      OPTIONS {language: 'english', stopwords: []}""",
    "CREATE FULLTEXT INDEX FOR (c:Community) ON (c.name)",
)
"""That of communities is for Graphiti's own search; with options it would be refused where Graphiti made one."""
_INDEXES = Query("index states", "CALL db.indexes() YIELD label, types, status RETURN label, types, status", {})
_COMPLETE = "OPERATIONAL"
_CONSTRAINTS = Query("constraint states", "CALL db.constraints() YIELD status RETURN status", {})
_CANARY = Query(
    "canary",
    "CALL db.idx.fulltext.queryNodes('SearchText', $words) YIELD node RETURN node.id AS id",
    {"words": f"@scope:{CANARY_SCOPE} @text:(ready)"},
)


async def ensure(database: "FalkorDatabase") -> None:
    """Build what is missing, also from an older database, then wait until all is indexed; cheap when it already is.

    Raises:
        NewerSchema: a newer version wrote this database.
        Unavailable: the indexes do not become ready.
        OSError, RedisError: the connection is lost.
    """
    if await _version(database) != SCHEMA_VERSION:
        await _build(database)
    await wait_until(partial(is_ready, database), _POLL_SECONDS)


async def is_ready(database: "FalkorDatabase") -> bool:
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


async def vector_states(database: "FalkorDatabase") -> dict[Embedded, Built]:
    """The vector indexes there are now. Raises Unavailable."""
    (found,) = await database.read(_INDEXES)
    each = {kind: [row["status"] for row in found if _is_of(kind, row)] for kind in ALL}
    return {kind: Built(_COMPLETE in states, min(map(_percent, states))) for kind, states in each.items() if states}


def _is_of(kind: Embedded, row: Mapping[str, Any]) -> bool:
    return row["label"] == kind.label and "VECTOR" in row["types"].get(kind.vector, ())


def _percent(status: str) -> int:
    if status == _COMPLETE:
        return _ALL_BUILT
    found = _PROGRESS.search(status)
    done, total = (int(found[1]), int(found[2])) if found else (0, 0)
    return min(_ALL_BUILT - 1, _ALL_BUILT * done // total) if total else 0


async def _version(database: "FalkorDatabase") -> int | None:
    try:
        (found,) = await database.attempt(META)
    except FalkorRefused as refused:
        if refused.is_missing_graph:
            return None
        raise Unavailable("The database does not say which schema it has. Try again.") from None
    return version(found)


async def _build(database: "FalkorDatabase") -> None:
    """What is there already stays, so an older database gets what it lacks, whoever else builds it at the same time.

    Range indexes first: FalkorDB loses range look-ups on a property that a full-text index covered before.
    """
    from graphiti_core.driver.driver import GraphProvider  # noqa: PLC0415 slow to import, loaded by now
    from graphiti_core.graph_queries import get_range_indices  # noqa: PLC0415 same

    _log.info("building indexes")
    shared = () if database.link.address.is_ours else _SHARED_INDEXES
    for text in (*get_range_indices(GraphProvider.FALKORDB), *_OWN_INDEXES, *shared):
        await _unless_there(database, text)
    await _constrain(database)
    for text in _FULLTEXT_INDEXES:
        await _unless_there(database, text)
    for query in FILLING:
        await database.attempt(query, writing=True)


async def _unless_there(database: "FalkorDatabase", text: str) -> None:
    try:
        await database.attempt(Query("create index", text, {}), writing=True)
    except FalkorRefused as refused:
        if not refused.is_existing_index:
            raise Unavailable("The database refused an index. Try again.") from None


async def _constrain(database: "FalkorDatabase") -> None:
    try:
        await database.attempt_command(
            "GRAPH.CONSTRAINT", "CREATE", database.name, "UNIQUE", "NODE", "Name", "PROPERTIES", 1, "id"
        )
    except FalkorRefused as refused:
        if not refused.is_existing_index:
            raise Unavailable("The database refused a constraint. Try again.") from None
