"""The ``Meta`` node: what is recorded about the database as a whole; and migration of older graphs.

Indexes and constraints are in ``neo4j.schema``.
"""

import logging
from collections.abc import Iterable

from graphiti_pkm.core.model.name_records import names_apart
from graphiti_pkm.errors import NewerSchema
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.database import Database, Refused
from graphiti_pkm.storage.graph.mapping import derived_from
from graphiti_pkm.storage.graph.queries.search import spelling_key
from graphiti_pkm.storage.graph.queries.values import Query, Row, digest

_log = logging.getLogger(__name__)

SCHEMA_VERSION = 15
"""1 had no index of changes by what caused them, 2 none by when and between what they were, 3 none of communities,
4 no time of each group's newest write, 5 nothing that is kept apart, 6 no index of causes, 7 no numbers of readings
that were told before, 8 no projects and entries, 9 neither flags nor origins of writes, 10 no merges,
11 no counters, 12 no documents, 13 no index of facts by kind, 14 told names with other numbers not apart."""
META = Query(
    "meta",
    "MATCH (m:Meta {id: 'database'}) RETURN m.schema_version AS version, m.model AS model, m.dimension AS dimension",
    {},
)
_SIGNING_KEY = Query(
    "signing key",
    "MATCH (m:Meta {id: 'signing'}) WHERE m.signing_key IS NOT NULL RETURN m.signing_key AS key",
    {},
)
BUILT = Query(
    "schema built",
    "MERGE (m:Meta {id: 'database'}) SET m.schema_version = $version",
    {"version": SCHEMA_VERSION},
)
"""Run last."""
_ADOPT_GROUPS = tuple(
    Query(
        "adopt groups",
        f"MATCH (n:{label}) WITH DISTINCT n.group_id AS id WHERE id IS NOT NULL MERGE (g:Group {{id: id}}) "
        "SET g.holds = true",
        {},
    )
    for label in ("Episodic", "Entity")
)
"""Registers groups in a graph that Graphiti filled before."""
_DAY = "toInteger(replace(left(toString(coalesce({at}, '1970-01-01')), 10), '-', ''))"
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
"""Fills properties missing in data of Graphiti or an older version."""
_NEWEST = tuple(
    Query(
        "newest record of groups",
        f"""MATCH {found} WITH r.group_id AS id, max(r.{at}) AS at WHERE at IS NOT NULL MATCH (g:Group {{id: id}})
        SET g.recorded_at = CASE WHEN coalesce(g.recorded_at, $dawn) < at THEN at ELSE g.recorded_at END""",
        {},
    )
    for found, at in (
        ("(r:Episodic)", "created_at"),
        ("()-[r:RELATES_TO]->()", "created_at"),
        ("(r:Change)", "recorded_at"),
    )
)
FILLING = (*_ADOPT_GROUPS, *_FILL, *_NEWEST)
"""Run when the indexes are being built, before ``BUILT``; repeatable."""
_READINGS, _NAMES = 5_000, 1_000


def readings_after(uuid: str) -> Query:
    """The values of a batch of readings, by uuid."""
    return Query(
        "values of readings",
        """MATCH ()-[e:RELATES_TO]->() WHERE e.uuid > $after AND e.kind = 'reading'
        WITH e.uuid AS uuid, e ORDER BY uuid LIMIT $limit
        RETURN uuid, toStringOrNull(e.value) AS value, toStringOrNull(e.unit) AS unit ORDER BY uuid""",
        {"after": uuid, "limit": _READINGS},
    )


def number_readings(found: Iterable[Row]) -> Query:
    """Gives readings of older versions the numbers that their values say, for statistics."""
    rows = [{"uuid": row["uuid"], "derived": derived_from(row["value"], row["unit"])} for row in found]
    return Query(
        "numbers of readings",
        "UNWIND $rows AS r MATCH ()-[e:RELATES_TO {uuid: r.uuid}]->() SET e += r.derived",
        {"rows": rows},
    )


def names_after(identity: str) -> Query:
    """A batch of names, by id."""
    return Query(
        "keys of names",
        """MATCH (k:Name) WHERE k.id > $after WITH k ORDER BY k.id LIMIT $limit
        RETURN k.id AS id, k.key AS key, k.group_id AS group_id, k.text AS text, k.spellings AS spellings,
          k.entity_uuid AS entity_uuid, k.is_alias AS is_alias, k.is_linkable AS is_linkable ORDER BY id""",
        {"after": identity, "limit": _NAMES},
    )


def tell_numbers_apart(found: Iterable[Row]) -> Query | None:
    """Names under the keys of their texts; None if all are so.

    A spelling that is another name by now becomes an alias of the same entity. A key that another entity has stays with
    it, and a name that was changed since it was read is left to whoever changed it: it is locked, then compared.
    """
    rows = [changed for row in found if (changed := _told_apart(row))]
    text = """UNWIND $rows AS r MATCH (k:Name {id: r.id}) SET k.locked = true REMOVE k.locked
    WITH r, k WHERE k.id = r.id AND coalesce(k.spellings, []) = r.spellings
    WITH r, k, EXISTS { MATCH (o:Name {id: r.names[0].id}) WHERE o <> k } AS is_taken
    FOREACH (_ IN CASE WHEN is_taken THEN [] ELSE [1] END | SET k += r.names[0])
    FOREACH (_ IN CASE WHEN is_taken THEN [1] ELSE [] END | DELETE k)
    FOREACH (n IN tail(r.names) | MERGE (m:Name {id: n.id}) ON CREATE SET m = n)
    WITH r UNWIND [r.texts[..1], r.texts[1..]] AS texts
    CALL (texts) { UNWIND texts AS t MATCH (s:SearchText {id: t[0]})
      WHERE NOT EXISTS { MATCH (:SearchText {id: t[1]}) } SET s.id = t[1] }"""
    return Query("numbers of names", text, {"rows": rows}) if rows else None


def _told_apart(row: Row) -> dict[str, object] | None:
    before = mapping.name(row)
    spellings = tuple(row["spellings"] or ())
    apart = names_apart([before.model_copy(update={"spellings": spellings})])
    if len(apart) == 1 and apart[0].key == before.key:
        return None
    texts = [(before.key, apart[0].key)]
    for name in apart:
        for text in name.spellings if name is apart[0] else (name.text, *name.spellings):
            is_main = name is not apart[0] and text == name.text
            texts.append((spelling_key(before, text), name.key if is_main else spelling_key(name, text)))
    return {
        "id": row["id"],
        "spellings": list(spellings),
        "names": [
            {**dict(one), "id": digest(one.key), "spellings": list(dict.fromkeys((one.text, *one.spellings)))}
            for one in apart
        ],
        "texts": [[digest(old), digest(new)] for old, new in texts],
    }


def version(found: list[Row]) -> int | None:
    """The version from the rows of ``META``; None for a graph without one. Raises NewerSchema."""
    recorded: int | None = found[0]["version"] if found else None
    if recorded is not None and recorded > SCHEMA_VERSION:
        raise NewerSchema(
            f"This database has schema version {recorded}, this version of graphiti-pkm knows {SCHEMA_VERSION}: "
            "install the newer version that wrote it. Nothing was changed."
        )
    return recorded


async def embedding(database: Database) -> tuple[str | None, int | None]:
    """Model and dimension as recorded; the first vectors record the dimension if it is missing."""
    (found,) = await database.read(META)
    return (found[0]["model"], found[0]["dimension"]) if found else (None, None)


async def record_embedding(database: Database, model: str, dimension: int) -> None:
    """Record them once; existing ones are kept."""
    await database.write(
        Query(
            "record embedding",
            """MERGE (m:Meta {id: 'database'})
            SET m.model = coalesce(m.model, $model), m.dimension = coalesce(m.dimension, $dimension)""",
            {"model": model, "dimension": dimension},
        )
    )


async def agree_on_signing_key(database: Database, key: bytes) -> bytes:
    """The key in the database, set to this one if missing and if the database accepts writes.

    Raises Unavailable.
    """
    (found,) = await database.read(_SIGNING_KEY)
    if not found:
        try:
            found = await database.write(
                Query(
                    "agree on a signing key",
                    """MERGE (m:Meta {id: 'signing'}) SET m.signing_key = coalesce(m.signing_key, $key)
                    RETURN m.signing_key AS key""",
                    {"key": key.hex()},
                )
            )
        except Refused as refused:
            _log.warning("%s; cursors hold on this host alone", refused)
            return key
    return bytes.fromhex(found[0]["key"])
