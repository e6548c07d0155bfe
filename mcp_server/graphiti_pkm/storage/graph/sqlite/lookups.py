"""Reads by uuid, name and group."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

from graphiti_pkm.core.model.names import measure_key as key_of_measure
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import EntityFilter, GroupSize, NameBook, Window
from graphiti_pkm.core.model.records import Entity, Fact, Name, Origin, Passage
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.storage.graph.ordering import as_asked
from graphiti_pkm.storage.graph.sqlite import facts, values
from graphiti_pkm.storage.graph.sqlite.schema import DAWN, DUSK
from graphiti_pkm.storage.graph.sqlite.values import ENTITY_COLUMNS, IN_GROUPS, NAME_COLUMNS, as_list, micros

_KEY_SEPARATOR = "\x1f"


def groups(db: sqlite3.Connection) -> list[str]:
    """Stored ids of all groups that hold something, sorted."""
    return [row[0] for row in db.execute("SELECT group_id FROM groups WHERE holds ORDER BY group_id")]


def uuids(db: sqlite3.Connection, kind: RecordKind, prefix: str, group_ids: Sequence[str], limit: int) -> list[str]:
    """Uuids that start with ``prefix``, from a range of the index of uuids."""
    wanted = f"SELECT uuid FROM {{table}} WHERE uuid >= :prefix AND uuid < :end AND group_id {IN_GROUPS}"
    tables = (kind, "former_uuid") if kind == "entity" else (kind,)
    found = db.execute(
        f"{' UNION ALL '.join(wanted.format(table=table) for table in tables)} ORDER BY uuid LIMIT :limit",
        {"prefix": prefix, "end": prefix + "\U0010ffff", "groups": as_list(group_ids), "limit": limit},
    )
    return [row[0] for row in found]


def origins(
    db: sqlite3.Connection, kind: RecordKind, wanted: Sequence[str], group_ids: Sequence[str]
) -> dict[str, Origin]:
    """Who made the write that made each record: that of its group with its time."""
    found = db.execute(
        f"""SELECT r.uuid, o.created_by, o.token, o.source_type
        FROM json_each(:uuids) u JOIN {kind} r ON r.uuid = u.value
        JOIN write_origin o ON o.group_id = r.group_id AND o.recorded_at = r.created_at WHERE r.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(wanted)), "groups": as_list(group_ids)},
    )
    return {uuid: Origin(created_by=by, token=token, source_type=source) for uuid, by, token, source in found}


def entities(db: sqlite3.Connection, wanted: Sequence[str], group_ids: Sequence[str]) -> list[Entity]:
    """These entities in the order asked; for one that was merged into another, the other."""
    text = f"""SELECT {{asked}} AS asked, {ENTITY_COLUMNS} FROM json_each(:uuids) u {{joined}}
        WHERE n.group_id {IN_GROUPS}"""
    groups = as_list(group_ids)
    found = db.execute(
        text.format(asked="n.uuid", joined="JOIN entity n ON n.uuid = u.value"),
        {"uuids": as_list(dict.fromkeys(wanted)), "groups": groups},
    )
    held = {row["asked"]: values.entity(row) for row in found}
    if missing := [uuid for uuid in dict.fromkeys(wanted) if uuid not in held]:
        found = db.execute(
            text.format(
                asked="r.uuid", joined="JOIN former_uuid r ON r.uuid = u.value JOIN entity n ON n.uuid = r.entity_uuid"
            ),
            {"uuids": as_list(missing), "groups": groups},
        )
        held |= {row["asked"]: values.entity(row) for row in found}
    return as_asked(wanted, held)


def names(db: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Name]:
    """Names by key; entities that Graphiti made without a name of ours are found by their own."""
    found = db.execute(
        f"SELECT {NAME_COLUMNS} FROM json_each(?) x JOIN name k ON k.key = x.value", (as_list(dict.fromkeys(keys)),)
    )
    known = {row["key"]: values.name(row) for row in found}
    missing: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        if key not in known:
            missing[key.partition(_KEY_SEPARATOR)[0]].add(key)
    for group, unknown in missing.items():
        for row in db.execute(
            """SELECT n.uuid, n.name FROM nameless x JOIN entity n ON n.uuid = x.entity_uuid
            WHERE x.group_id = ? ORDER BY x.entity_uuid""",
            (group,),
        ):
            key = name_key(group, row["name"])
            if key in unknown and key not in known:
                known[key] = Name(key=key, group_id=group, text=row["name"], entity_uuid=row["uuid"])
    return {key: known[key] for key in keys if key in known}


def aliases(db: sqlite3.Connection, entity_uuid: str, limit: int) -> list[str]:
    """Aliases and other spellings, in alphabetical order."""
    texts: set[str] = set()
    for row in db.execute("SELECT text, spellings, is_alias FROM name WHERE entity_uuid = ?", (entity_uuid,)):
        texts |= ({row["text"]} if row["is_alias"] else set()) | ({*json.loads(row["spellings"])} - {row["text"]})
    return sorted(texts)[:limit]


def mentioned(db: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of an episode and an entity that it mentions, among those given."""
    text = "SELECT 1 FROM mention WHERE episode_uuid = ? AND entity_uuid = ?"
    return {pair for pair in pairs if db.execute(text, pair).fetchone()}


def apart(db: sqlite3.Connection, pairs: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """The pairs of entities that are kept apart."""
    text = "SELECT 1 FROM apart WHERE one = ? AND other = ?"
    return {pair for pair in pairs if db.execute(text, pair).fetchone()}


def name_book(db: sqlite3.Connection, group_id: str, known_version: int | None) -> NameBook | None:
    """The names of a group; None if ``known_version`` is still current."""
    found = values.one(db, "SELECT names_version FROM groups WHERE group_id = ?", (group_id,))
    version = found[0] if found else 0
    if version == known_version:
        return None
    linkable = db.execute(f"SELECT {NAME_COLUMNS} FROM name k WHERE k.group_id = ? AND k.is_linkable", (group_id,))
    return NameBook(version=version, names=tuple(map(values.name, linkable)))


def relations(db: sqlite3.Connection, group_id: str, limit: int) -> dict[str, int]:
    """The relations of a group, most used first."""
    found = db.execute(
        """SELECT relation, count(*) AS uses FROM fact WHERE group_id = ? GROUP BY relation
        ORDER BY uses DESC, relation LIMIT ?""",
        (group_id, limit),
    )
    return {row["relation"]: row["uses"] for row in found}


_READINGS_OF_GROUP = """fact f WHERE f.group_id = :group AND f.kind = 'reading'
  AND f.measure IS NOT NULL AND NOT f.voided"""
_READINGS = f"{_READINGS_OF_GROUP} AND f.source_uuid = :entity"


def measures(db: sqlite3.Connection, group_id: str, source_uuid: str | None, limit: int) -> dict[str, int]:
    """The measures of a group, most used first."""
    readings = _READINGS_OF_GROUP if source_uuid is None else _READINGS
    found = db.execute(
        f"SELECT measure, count(*) AS uses FROM {readings} GROUP BY measure ORDER BY uses DESC, measure LIMIT :limit",
        {"entity": source_uuid, "group": group_id, "limit": limit},
    )
    return {row["measure"]: row["uses"] for row in found}


def readings(
    db: sqlite3.Connection, group_id: str, source_uuid: str, measure_key: str, limit: int
) -> tuple[list[Fact], int]:
    """The newest readings of a series, oldest first, and how many there are."""
    parameters: dict[str, object] = {"entity": source_uuid, "group": group_id, "limit": limit}
    known = db.execute(f"SELECT DISTINCT measure FROM {_READINGS}", parameters)
    spellings = [row[0] for row in known if key_of_measure(row[0]) == measure_key]
    parameters["spellings"] = as_list(spellings)
    matched = f"{_READINGS} AND f.measure IN (SELECT value FROM json_each(:spellings))"
    found = db.execute(
        f"""SELECT {facts.COLUMNS} FROM (SELECT f.uuid AS uuid, coalesce(f.valid_at, f.reference_time, {DAWN}) AS va,
          f.created_at AS ca FROM {matched} ORDER BY va DESC, ca DESC, f.uuid DESC LIMIT :limit) k
        CROSS JOIN fact f ON f.uuid = k.uuid {facts.ENDS} ORDER BY k.va, k.ca, k.uuid""",
        parameters,
    ).fetchall()
    (total,) = db.execute(f"SELECT count(*) FROM {matched}", parameters).fetchone()
    return list(map(values.fact, found)), total


def passages(db: sqlite3.Connection, episode_uuid: str, limit: int, *, without_vector: bool) -> list[Passage]:
    """The passages of an episode, by offset."""
    only = "AND NOT EXISTS (SELECT 1 FROM vector v WHERE v.uuid = p.uuid)" if without_vector else ""
    found = db.execute(
        f"SELECT p.* FROM passage p WHERE p.episode_uuid = ? {only} ORDER BY p.start, p.uuid LIMIT ?",
        (episode_uuid, limit),
    )
    return list(map(values.passage, found))


def entity_support(db: sqlite3.Connection, entity_uuids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """How many mentions and facts each entity has."""
    found = db.execute(
        """SELECT u.value AS uuid, (SELECT count(*) FROM mention m WHERE m.entity_uuid = u.value) AS mentions,
          (SELECT count(*) FROM fact f WHERE f.source_uuid = u.value)
          + (SELECT count(*) FROM fact f WHERE f.target_uuid = u.value AND f.source_uuid <> u.value) AS facts
        FROM json_each(?) u""",
        (as_list(dict.fromkeys(entity_uuids)),),
    )
    support = {row["uuid"]: (row["mentions"], row["facts"]) for row in found}
    return {uuid: support[uuid] for uuid in entity_uuids}


def group_size(db: sqlite3.Connection, group_id: str) -> GroupSize:
    """What a group holds."""
    counts = (db.execute(f"SELECT count(*) FROM {kind} WHERE group_id = ?", (group_id,)).fetchone()[0]
              for kind in ("episode", "entity", "fact"))  # fmt: skip
    return GroupSize(**dict(zip(("episodes", "entities", "facts"), counts, strict=True)))


def entity_condition(wanted: EntityFilter) -> tuple[str, dict[str, object]]:
    """The whole filter as SQL over ``entity n``."""
    parts = [f"n.group_id {IN_GROUPS}"]
    parameters: dict[str, object] = {"groups": as_list(wanted.group_ids)}
    if wanted.labels and "Entity" not in wanted.labels:  # which all of them are
        parts.append("n.label IN (SELECT value FROM json_each(:labels))")
        parameters["labels"] = as_list(wanted.labels)
    if wanted.uuids is not None:
        parts.append("n.uuid IN (SELECT value FROM json_each(:only))")
        parameters["only"] = as_list(wanted.uuids)
    if wanted.recorded_until is not None:
        parts.append("n.created_at <= :until")
        parameters["until"] = micros(wanted.recorded_until)
    if wanted.status is not None:
        parts.append(
            f"""n.uuid IN (SELECT f.source_uuid FROM fact f JOIN entity w ON w.uuid = f.target_uuid
            WHERE f.group_id {IN_GROUPS} AND f.relation = 'HAS_STATUS'
            AND {facts.STATUS_WORD} IN (SELECT value FROM json_each(:status))
            AND {facts.IS_CURRENT} = 1 AND f.created_at <= :recorded_until)"""
        )
        parameters["status"] = as_list(wanted.status[0])
        parameters["now"] = micros(wanted.status[1])
        parameters["recorded_until"] = DUSK if wanted.recorded_until is None else micros(wanted.recorded_until)
    return " AND ".join(parts), parameters


def entity_page(db: sqlite3.Connection, wanted: EntityFilter, window: Window) -> tuple[list[Entity], int]:
    """A page of entities by name, then uuid, and the total."""
    where, parameters = entity_condition(wanted)
    return named_page(db, where, parameters, window)


def named_page(
    db: sqlite3.Connection, where: str, parameters: dict[str, object], window: Window
) -> tuple[list[Entity], int]:
    """Entities ``n`` by name, then uuid, and the total."""
    (total,) = db.execute(f"SELECT count(*) FROM entity n WHERE {where}", parameters).fetchone()
    further = ""
    if window.after is not None:
        further = "AND (n.name, n.uuid) > (:c0, :c1)"
        parameters = {**parameters, "c0": window.after[0], "c1": window.after[1]}
    found = db.execute(
        f"SELECT {ENTITY_COLUMNS} FROM entity n WHERE {where} {further} ORDER BY n.name, n.uuid LIMIT :limit",
        {**parameters, "limit": window.limit},
    )
    return list(map(values.entity, found)), total


def distances(db: sqlite3.Connection, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
    """Hops (0 to 2) to the entities asked for; unreachable ones are left out."""
    joined = """SELECT target_uuid FROM fact WHERE source_uuid = {one} UNION ALL
      SELECT source_uuid FROM fact WHERE target_uuid = {one}"""
    distances_: dict[str, int] = {}
    for row in db.execute(
        f"""SELECT u.value AS uuid, CASE
          WHEN NOT EXISTS (SELECT 1 FROM entity WHERE uuid = u.value) THEN NULL
          WHEN u.value = :center THEN 0
          WHEN :center IN ({joined.format(one="u.value")}) THEN 1
          WHEN EXISTS (SELECT 1 FROM ({joined.format(one="u.value")}) m WHERE m.target_uuid IN
            ({joined.format(one=":center")})) THEN 2 END AS hops
        FROM json_each(:uuids) u""",
        {"center": center_uuid, "uuids": as_list(dict.fromkeys(entity_uuids))},
    ):
        if row["hops"] is not None:
            distances_[row["uuid"]] = row["hops"]
    return {uuid: distances_[uuid] for uuid in entity_uuids if uuid in distances_}
