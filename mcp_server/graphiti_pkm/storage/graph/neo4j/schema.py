"""Builds Neo4j's indexes and constraints, and reports their state."""

import asyncio
import logging
from typing import Protocol

from graphiti_pkm.core.model.records import BECAUSE_OF
from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.storage.graph.database import Database, Refused
from graphiti_pkm.storage.graph.neo4j.connection import Neo4jRefused
from graphiti_pkm.storage.graph.queries.search import FACTS_INDEX, NODES_INDEX
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.schema import (
    BUILT,
    FILLING,
    META,
    SCHEMA_VERSION,
    names_after,
    number_readings,
    readings_after,
    tell_numbers_apart,
    version,
)
from graphiti_pkm.storage.graph.vector_indexes import ALL, COMPLETE, EF_CONSTRUCTION, Embedded, M

_log = logging.getLogger(__name__)

OLDEST = (5, 26)
"""The oldest version that Graphiti supports, and the first with vector functions and vector indexes of relations."""
_READY_SECONDS = 600.0
"""How long indexes may take after a start."""
_POLL_SECONDS = 0.05
"""Polled, because the database's own procedure would also wait for vector indexes, which are built meanwhile."""
_ONLINE = "ONLINE"
_TRIES = 10
"""How often a batch is changed that another process changes at the same time."""

_VERSION = Query(
    "version",
    "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN versions[0] AS version",
    {},
)
_UNIQUE = (
    ("Name", "id"),
    ("SearchText", "id"),
    ("Group", "id"),
    ("Meta", "id"),
    ("Write", "uuid"),
    ("Passage", "uuid"),
    ("Reading", "uuid"),
    ("Server", "id"),
    ("Apart", "id"),
    ("ProjectRecord", "uuid"),
    ("EntryRecord", "uuid"),
    ("QualityRecord", "uuid"),
    ("WriteOrigin", "id"),
    ("MergePart", "id"),
    ("FormerUuid", "uuid"),
    ("MetricsRecord", "id"),
    ("DocumentRecord", "uuid"),
    ("InstanceRecord", "uuid"),
)
"""Constraints of our own labels, so that two servers create a node once. Graphiti's labels have none."""
_INDEXED = (
    ("Name", "entity_uuid"),
    ("Name", "group_id"),
    ("Passage", "group_id"),
    ("Passage", "episode_uuid"),
    ("Change", "uuid"),
    ("Change", "fact_uuid"),
    ("Change", "group_id"),
    ("Change", "episode_uuid"),
    ("Change", "replaced_by"),
    ("Change", "recorded_day"),
    ("Change", "source_uuid"),
    ("Change", "target_uuid"),
    ("Reading", "owner"),
    ("Reading", "episode_uuid"),
    ("Reading", "group_id"),
    ("Apart", "one"),
    ("Apart", "other"),
    ("Apart", "group_id"),
    ("ProjectRecord", "group_id"),
    ("EntryRecord", "group_id"),
    ("QualityRecord", "group_id"),
    ("WriteOrigin", "group_id"),
    ("MergePart", "uuid"),
    ("MergePart", "group_id"),
    ("MergePart", "kept_uuid"),
    ("MergePart", "removed_uuid"),
    ("FormerUuid", "entity_uuid"),
    ("FormerUuid", "group_id"),
    ("MetricsRecord", "uuid"),
    ("MetricsRecord", "group_id"),
    ("DocumentRecord", "group_id"),
    ("InstanceRecord", "group_id"),
    ("InstanceRecord", "episode_uuid"),
)
_OWN = (
    *(
        f"CREATE CONSTRAINT pkm_{label.lower()}_{key} IF NOT EXISTS FOR (n:{label}) REQUIRE n.{key} IS UNIQUE"
        for label, key in _UNIQUE
    ),
    *(f"CREATE INDEX pkm_{label.lower()}_{key} IF NOT EXISTS FOR (n:{label}) ON (n.{key})" for label, key in _INDEXED),
    "CREATE INDEX pkm_entryrecord_time IF NOT EXISTS FOR (n:EntryRecord) ON (n.project_uuid, n.valid_at)",
    "CREATE INDEX pkm_entryrecord_project_uuid IF NOT EXISTS FOR (n:EntryRecord) ON (n.project_uuid)",
    "CREATE INDEX pkm_qualityrecord_flagged IF NOT EXISTS FOR (n:QualityRecord) ON (n.group_id, n.flagged_at)",
    "CREATE INDEX pkm_documentrecord_name IF NOT EXISTS FOR (n:DocumentRecord) ON (n.group_id, n.name)",
    "CREATE INDEX pkm_documentrecord_digest IF NOT EXISTS FOR (n:DocumentRecord) ON (n.group_id, n.digest)",
    "CREATE INDEX pkm_writeorigin_time IF NOT EXISTS FOR (n:WriteOrigin) ON (n.group_id, n.recorded_at)",
    "CREATE INDEX pkm_fact_recorded_day IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.recorded_day)",
    "CREATE INDEX pkm_fact_kind IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.group_id, e.kind)",
    f"CREATE INDEX pkm_fact_because_of IF NOT EXISTS FOR ()-[e:RELATES_TO]-() ON (e.{BECAUSE_OF})",
    f"""CREATE FULLTEXT INDEX {NODES_INDEX} IF NOT EXISTS FOR (s:SearchText) ON EACH [s.scope, s.text]
    OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'english'}}}}""",
    f"""CREATE FULLTEXT INDEX {FACTS_INDEX} IF NOT EXISTS FOR ()-[e:RELATES_TO]-()
    ON EACH [e.search_scope, e.search_text] OPTIONS {{indexConfig: {{`fulltext.analyzer`: 'english'}}}}""",
    # For Graphiti's own search of communities, under the name that it asks for.
    "CREATE FULLTEXT INDEX community_name IF NOT EXISTS FOR (n:Community) ON EACH [n.name, n.group_id]",
)
_NAMES = "FOR (n:Entity) ON (n.name)"
"""Graphiti's index that we do without: it takes no name of more than 8,000 bytes, and nothing asks it."""
_STATES = Query("index states", "SHOW INDEXES YIELD type, state WHERE type <> 'VECTOR' RETURN DISTINCT state", {})
_VECTOR_STATES = Query(
    "vector indexes",
    "SHOW VECTOR INDEXES YIELD name, state, populationPercent RETURN name, state, populationPercent",
    {},
)


class Attempts(Database, Protocol):
    """A database whose attempts have their own time limit."""

    async def attempt(self, *queries: Query, writing: bool = False, seconds: float = ...) -> list[list[Row]]: ...


async def ensure(database: Attempts) -> None:
    """Build what is missing, also from an older version, and wait until all is indexed; cheap if nothing is missing.

    Raises:
        ConfigurationError: the server is too old.
        NewerSchema: a newer version wrote this database.
        Unavailable: the indexes do not become ready.
        Exception: what ``recovering`` knows: the connection is lost.
    """
    try:
        await check_version(database)
        (found,) = await database.attempt(META)
        if version(found) != SCHEMA_VERSION:
            await _build(database)
    except Refused as refused:
        _log.warning("%s", refused)
        raise Unavailable("The database could not prepare its indexes. Try again.") from None
    await _wait_until_ready(database)


async def is_ready(database: Attempts) -> bool:
    """True when every index but those of vectors is complete."""
    try:
        (found,) = await database.attempt(_STATES)
    except Refused:
        return False
    return bool(found) and all(row["state"] == _ONLINE for row in found)


async def vector_states(database: Attempts) -> dict[Embedded, int]:
    """The vector indexes there are now, and how many percent of each are built."""
    (found,) = await database.read(_VECTOR_STATES)
    built = {
        row["name"]: COMPLETE if row["state"] == _ONLINE else min(COMPLETE - 1, int(row["populationPercent"]))
        for row in found
    }
    return {kind: built[kind.index_name] for kind in ALL if kind.index_name in built}


def create_vector_index(kind: Embedded, dimension: int) -> Query:
    """Create it; returns at once, the database builds it in the background. Refused if there is one."""
    pattern = f"()-[e:{kind.label}]-()" if kind.is_relation else f"(e:{kind.label})"
    return Query(
        "create vector index",
        f"""CREATE VECTOR INDEX {kind.index_name} FOR {pattern} ON e.{kind.vector} OPTIONS {{indexConfig: {{
        `vector.dimensions`: {dimension}, `vector.similarity_function`: 'cosine', `vector.hnsw.m`: {M},
        `vector.hnsw.ef_construction`: {EF_CONSTRUCTION}}}}}""",
        {},
    )


def drop_vector_index(kind: Embedded) -> Query:
    """Drop it; refused if there is none."""
    return Query("drop vector index", f"DROP INDEX {kind.index_name}", {})


def is_new_enough(version_: str) -> bool:
    """Of Neo4j; Aura calls itself 5.26-aura."""
    numbers = tuple(int(part) for part in version_.split("-", maxsplit=1)[0].split(".")[:2])
    return numbers >= OLDEST


async def check_version(database: Attempts) -> None:
    """Raises ConfigurationError if it is too old."""
    ((row,),) = await database.attempt(_VERSION)
    if not is_new_enough(row["version"]):
        raise ConfigurationError(
            f"This Neo4j has version {row['version']}; 5.26 or newer is needed. Update it, or use the embedded "
            "database. Nothing was changed."
        )


async def _build(database: Attempts) -> None:
    """Build missing ones; existing ones stay, even if another process builds them at the same time."""
    from graphiti_core.driver.driver import GraphProvider  # noqa: PLC0415 slow to import, loaded by now
    from graphiti_core.graph_queries import get_range_indices  # noqa: PLC0415 same

    _log.info("building indexes")
    theirs = [text for text in get_range_indices(GraphProvider.NEO4J) if _NAMES not in text]
    for text in (*theirs, *_OWN):
        try:
            await _repeatedly(database, Query("create index", text, {}))
        except Neo4jRefused as refused:
            if not refused.is_existing_index:
                raise
    await _wait_until_ready(database)
    for query in FILLING:
        await _repeatedly(database, query)
    await _number_readings(database)
    await _tell_numbers_apart(database)
    await _repeatedly(database, BUILT)


async def _repeatedly(database: Attempts, query: Query) -> None:
    """Again after a deadlock with another process that builds the same."""
    for tries in range(_TRIES, 0, -1):
        try:
            await database.attempt(query, writing=True, seconds=_READY_SECONDS)
        except Neo4jRefused as refused:
            if not refused.may_be_repeated or tries == 1:
                raise
            await asyncio.sleep(_POLL_SECONDS)
        else:
            return


async def _number_readings(database: Attempts) -> None:
    """All of them, also those that have their numbers: this runs once for each older version."""
    last = ""
    while True:
        (found,) = await database.attempt(readings_after(last), seconds=_READY_SECONDS)
        if not found:
            return
        await _repeatedly(database, number_readings(found))
        last = found[-1]["uuid"]


async def _tell_numbers_apart(database: Attempts) -> None:
    """All names; another process may do the same, and both take locks in one order."""
    last, tries = "", _TRIES
    while True:
        (found,) = await database.attempt(names_after(last), seconds=_READY_SECONDS)
        if not found:
            return
        try:
            if (query := tell_numbers_apart(found)) is not None:
                await database.attempt(query, writing=True, seconds=_READY_SECONDS)
        except Neo4jRefused:  # a deadlock, or a name that is gone meanwhile
            tries -= 1
            if not tries:
                raise
            await asyncio.sleep(_POLL_SECONDS)
        else:
            last, tries = found[-1]["id"], _TRIES


async def _wait_until_ready(database: Attempts) -> None:
    deadline = asyncio.get_running_loop().time() + _READY_SECONDS
    while not await is_ready(database):
        if asyncio.get_running_loop().time() > deadline:
            raise Unavailable("The database is still building its indexes. Try again later.")
        await asyncio.sleep(_POLL_SECONDS)
