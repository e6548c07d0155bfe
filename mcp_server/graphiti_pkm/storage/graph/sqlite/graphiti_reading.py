"""What Graphiti reads besides its searches: records by uuid, by group, and by what they are joined to."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime

from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import CommunityNode, EntityNode, EpisodicNode

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.sqlite import lookups
from graphiti_pkm.storage.graph.sqlite.graphiti_records import COMMUNITIES, ENTITIES, EPISODIC, FACTS, Kind, T, floats
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list, micros, moment, one

_BLANKS = " \t\n\r\v\f"
ALL = -1
"""A limit that SQLite takes for none."""

HAS_LABEL = """({of}.label IN (SELECT value FROM json_each(:labels)) OR EXISTS (SELECT 1 FROM graphiti_extra lx,
  json_each(lx.labels) l WHERE lx.uuid = {of}.uuid AND l.value IN (SELECT value FROM json_each(:labels))))"""
"""Whether an entity has one of ``:labels``; it may have more than its column holds."""


def by_uuids(db: sqlite3.Connection, kind: Kind[T], uuids: Sequence[str], group_id: str | None = None) -> list[T]:
    """Records that exist, in the order asked, once each."""
    within = "" if group_id is None else f"WHERE {kind.group} = :group"
    found = db.execute(
        f"{kind.select()} FROM json_each(:uuids) u JOIN {kind.table} ON {kind.uuid} = u.value {kind.extra} {within}",
        {"uuids": as_list(dict.fromkeys(uuids)), "group": group_id},
    )
    by_uuid = {row["uuid"]: kind.of(row) for row in found}
    return [by_uuid[uuid] for uuid in dict.fromkeys(uuids) if uuid in by_uuid]


def page(
    db: sqlite3.Connection, kind: Kind[T], group_ids: Sequence[str], limit: int | None, before: str | None
) -> list[T]:
    """Records of these groups, by descending uuid, with embeddings, which Graphiti may have asked for."""
    after = f"AND {kind.uuid} < :before" if before else ""
    found = db.execute(
        f"""{kind.select(embedded=True)} FROM {kind.table} {kind.extra}
        WHERE {kind.group} {IN_GROUPS} {after} ORDER BY {kind.uuid} DESC LIMIT :limit""",
        {"groups": as_list(group_ids), "before": before, "limit": ALL if limit is None else limit},
    )
    return list(map(kind.of, found))


def matching(
    db: sqlite3.Connection, kind: Kind[T], where: str, parameters: Mapping[str, object], order: str = ""
) -> list[T]:
    """All records that fulfil a condition over the table of the kind, by uuid or in the given ``order``."""
    found = db.execute(
        f"{kind.select()} FROM {kind.table} {kind.extra} WHERE {where} ORDER BY {order or kind.uuid}", parameters
    )
    return list(map(kind.of, found))


# Entities


def named(db: sqlite3.Connection, names: Sequence[str], group_ids: Sequence[str]) -> list[EntityNode]:
    """Records with exactly these names."""
    where = f"n.group_id {IN_GROUPS} AND n.name IN (SELECT value FROM json_each(:names))"
    return matching(db, ENTITIES, where, {"groups": as_list(group_ids), "names": as_list(names)})


def with_attributes(
    db: sqlite3.Connection,
    group_id: str,
    attributes: Mapping[str, object],
    labels: Sequence[str] | None,
    limit: int,
) -> list[EntityNode]:
    """Entities that have all of these values and any of the labels. Text is compared without blanks at its ends."""
    parts = ["n.group_id = :group"]
    parameters: dict[str, object] = {"group": group_id, "limit": limit, "blanks": _BLANKS}
    for i, (name, value) in enumerate(attributes.items()):
        parameters |= {f"path_{i}": attribute_path(name), f"value_{i}": value}
        found = f"json_extract(n.attributes, :path_{i})"
        parts.append(f"{f'trim({found}, :blanks)' if isinstance(value, str) else found} = :value_{i}")
    if labels and BASE not in labels:
        parts.append(HAS_LABEL.format(of="n"))
        parameters["labels"] = as_list(labels)
    return matching(db, ENTITIES, " AND ".join(parts), parameters, "n.created_at, n.uuid LIMIT :limit")


def attribute_path(name: str) -> str:
    """The JSON path of an attribute. Raises InvalidInput."""
    if '"' in name:
        raise InvalidInput("A property to filter by has a name without quotation marks.")
    return f'$."{name}"'


def mentioned(db: sqlite3.Connection, episode_uuids: Sequence[str]) -> list[EntityNode]:
    """Entities that any of the episodes mentions."""
    where = "n.uuid IN (SELECT m.entity_uuid FROM json_each(:uuids) u JOIN mention m ON m.episode_uuid = u.value)"
    return matching(db, ENTITIES, where, {"uuids": as_list(episode_uuids)})


def mentions(db: sqlite3.Connection, entity_uuids: Sequence[str]) -> dict[str, int]:
    """How many episodes mention each of the entities that are mentioned at all."""
    found = db.execute(
        """SELECT m.entity_uuid, count(*) FROM json_each(?) u JOIN mention m ON m.entity_uuid = u.value
        GROUP BY m.entity_uuid""",
        (as_list(dict.fromkeys(entity_uuids)),),
    )
    return {row[0]: row[1] for row in found}


def neighbours(db: sqlite3.Connection, entity_uuid: str, among: Sequence[str]) -> set[str]:
    """Entities that a fact joins with the entity."""
    found = db.execute(
        """SELECT u.value FROM json_each(:among) u WHERE EXISTS
          (SELECT 1 FROM fact f WHERE f.source_uuid = :entity AND f.target_uuid = u.value)
        OR EXISTS (SELECT 1 FROM fact f WHERE f.target_uuid = :entity AND f.source_uuid = u.value)""",
        {"among": as_list(among), "entity": entity_uuid},
    )
    return {row[0] for row in found}


# Facts


def between(db: sqlite3.Connection, source_uuid: str, target_uuid: str) -> list[EntityEdge]:
    """Facts from the first entity to the second, not back."""
    where = "f.source_uuid = :source AND f.target_uuid = :target"
    return matching(db, FACTS, where, {"source": source_uuid, "target": target_uuid})


def facts_of(db: sqlite3.Connection, entity_uuid: str) -> list[EntityEdge]:
    """Facts of the entity in both directions."""
    where = """f.uuid IN (SELECT uuid FROM fact WHERE source_uuid = :entity
      UNION SELECT uuid FROM fact WHERE target_uuid = :entity)"""
    return matching(db, FACTS, where, {"entity": entity_uuid})


# Episodes


def mentioning(db: sqlite3.Connection, entity_uuid: str) -> list[EpisodicNode]:
    """Episodes that mention the entity, oldest first."""
    where = "e.uuid IN (SELECT m.episode_uuid FROM mention m WHERE m.entity_uuid = :entity)"
    return matching(db, EPISODIC, where, {"entity": entity_uuid}, "e.valid_at, e.created_at, e.uuid")


def latest(
    db: sqlite3.Connection,
    until: datetime,
    limit: int,
    group_ids: Sequence[str] | None,
    source: str | None,
    saga: str | None,
) -> list[EpisodicNode]:
    """The latest episodes before a time, oldest first; those of each group are read in the order of their index."""
    parameters: dict[str, object] = {"until": micros(until), "source": source, "saga": saga, "limit": limit}
    of_source = "" if source is None else "AND e.source = :source"
    of_saga = """AND e.uuid IN (SELECT h.episode_uuid FROM saga g JOIN saga_step h ON h.saga_uuid = g.uuid
      WHERE g.group_id = e.group_id AND g.name = :saga)"""
    keys: list[tuple[int, int, str]] = []
    for group in dict.fromkeys(group_ids or lookups.groups(db)):
        keys += db.execute(
            f"""SELECT e.valid_at, e.created_at, e.uuid FROM episode e WHERE e.group_id = :group
            AND e.valid_at <= :until {of_source} {"" if saga is None else of_saga}
            ORDER BY e.valid_at DESC, e.created_at DESC, e.uuid LIMIT :limit""",
            {**parameters, "group": group},
        ).fetchall()
    last = sorted(keys, key=lambda key: (-key[0], -key[1], key[2]))[:limit]
    return by_uuids(db, EPISODIC, [key[2] for key in reversed(last)])


# Sagas


def previous_in_saga(db: sqlite3.Connection, saga_uuid: str, episode_uuid: str) -> str | None:
    """The latest other episode of the saga."""
    found = one(
        db,
        """SELECT e.uuid FROM saga_step h JOIN episode e ON e.uuid = h.episode_uuid
        WHERE h.saga_uuid = ? AND e.uuid <> ? ORDER BY e.valid_at DESC, e.created_at DESC, e.uuid LIMIT 1""",
        (saga_uuid, episode_uuid),
    )
    return found["uuid"] if found else None


def saga_contents(
    db: sqlite3.Connection, saga_uuid: str, since: datetime | None, limit: int
) -> list[tuple[str, datetime | None, datetime]]:
    """Content, time and recording time of the saga's episodes that are not empty, in the order of recording."""
    later = "" if since is None else "AND e.created_at > :since"
    found = db.execute(
        f"""SELECT e.content, e.valid_at, e.created_at FROM saga_step h JOIN episode e ON e.uuid = h.episode_uuid
        WHERE h.saga_uuid = :saga AND e.content <> '' {later} ORDER BY e.created_at, e.valid_at, e.uuid LIMIT :limit""",
        {"saga": saga_uuid, "since": None if since is None else micros(since), "limit": limit},
    )
    return [(row["content"], moment(row["valid_at"]), moment(row["created_at"])) for row in found]


def sagas_named(db: sqlite3.Connection, name: str, group_id: str) -> list[str]:
    """Uuids of sagas with this name, the oldest first."""
    found = db.execute(
        "SELECT uuid FROM saga WHERE group_id = ? AND name = ? ORDER BY created_at, uuid", (group_id, name)
    )
    return [row["uuid"] for row in found]


# Communities


def communities_of(db: sqlite3.Connection, entity_uuids: Sequence[str]) -> list[CommunityNode]:
    """Communities that any of the entities belongs to."""
    where = """c.uuid IN (SELECT m.community_uuid FROM json_each(:uuids) u
      JOIN community_member m ON m.entity_uuid = u.value)"""
    return matching(db, COMMUNITIES, where, {"uuids": as_list(entity_uuids)})


def community_around(db: sqlite3.Connection, entity_uuid: str) -> CommunityNode | None:
    """The community that most facts of the entity lead to."""
    found = one(
        db,
        """SELECT m.community_uuid AS uuid FROM (
          SELECT target_uuid AS other FROM fact WHERE source_uuid = ?
          UNION ALL SELECT source_uuid FROM fact WHERE target_uuid = ?) f
        JOIN community_member m ON m.entity_uuid = f.other WHERE f.other <> ?
        GROUP BY m.community_uuid ORDER BY count(*) DESC, m.community_uuid LIMIT 1""",
        (entity_uuid, entity_uuid, entity_uuid),
    )
    return by_uuids(db, COMMUNITIES, [found["uuid"]])[0] if found else None


def grouped(db: sqlite3.Connection, group_id: str) -> tuple[list[EntityNode], list[tuple[str, str, int]]]:
    """All entities of a group, and each pair that facts join, with their number, once."""
    nodes = matching(db, ENTITIES, "n.group_id = :group", {"group": group_id})
    pairs = db.execute(
        """SELECT min(source_uuid, target_uuid) AS one, max(source_uuid, target_uuid) AS other, count(*) AS facts
        FROM fact WHERE group_id = ? AND source_uuid <> target_uuid GROUP BY one, other ORDER BY one, other""",
        (group_id,),
    )
    return nodes, [(row["one"], row["other"], row["facts"]) for row in pairs]


# Vectors


def embeddings(db: sqlite3.Connection, uuids: Sequence[str]) -> dict[str, list[float]]:
    """The embeddings of those records that have one."""
    found = db.execute(
        "SELECT v.uuid, v.data FROM json_each(?) u JOIN vector v ON v.uuid = u.value", (as_list(dict.fromkeys(uuids)),)
    )
    return {row["uuid"]: floats(row["data"]) or [] for row in found}


def duplicates(db: sqlite3.Connection, pairs: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """The pairs of entities of which the first is already recorded as a duplicate of the second."""
    found = db.execute(
        """SELECT DISTINCT f.source_uuid, f.target_uuid FROM json_each(?) p
        JOIN fact f ON f.source_uuid = json_extract(p.value, '$[0]')
          AND f.target_uuid = json_extract(p.value, '$[1]')
        WHERE f.relation = 'IS_DUPLICATE_OF'""",
        (json.dumps([list(pair) for pair in pairs]),),
    )
    return [(row[0], row[1]) for row in found]
