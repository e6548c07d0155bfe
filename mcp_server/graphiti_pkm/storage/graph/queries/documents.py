"""Queries over documents, their sections and quotes from them. Each is bounded."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.document_records import Document, Instance
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Passage
from graphiti_pkm.storage.graph.queries.parts import LATEST, keys_after
from graphiti_pkm.storage.graph.queries.values import Query

_DOCUMENT = "d {" + ", ".join(f".{field}" for field in Document.model_fields) + "} AS document"
_INSTANCE = "i {" + ", ".join(f".{field}" for field in Instance.model_fields) + "} AS instance"
_START = """d.front_length + reduce(n = 0, x IN COLLECT {
  MATCH (d)-[o:SECTION]->(b:Episodic) WHERE o.place < s.place MATCH (t:SearchText {id: b.uuid}) RETURN t.length
} | n + x) AS start"""
_IS_PRESENT = """EXISTS {
  MATCH (v:DocumentRecord)-[:SECTION]->(e) WHERE v.group_id = d.group_id AND v.name = d.name AND NOT EXISTS {
    MATCH (o:DocumentRecord {group_id: v.group_id, name: v.name}) WHERE o.version > v.version
  }
} AS is_present"""
PLACED = f"{_DOCUMENT}, is_present, s.paragraph AS paragraph, {_START}"


def present(group_id: str, name: str) -> Query:
    """The highest version of a name."""
    return Query(
        "document",
        f"""MATCH (d:DocumentRecord {{group_id: $group, name: $name}})
        RETURN {_DOCUMENT} ORDER BY document.version DESC LIMIT 1""",
        {"group": group_id, "name": name},
    )


def with_digest(group_id: str, digest: str) -> Query:
    """The newest one that was read with this text."""
    return Query(
        "document by digest",
        f"""MATCH (d:DocumentRecord {{group_id: $group, digest: $digest}})
        RETURN {_DOCUMENT} ORDER BY document.created_at DESC, document.uuid LIMIT 1""",
        {"group": group_id, "digest": digest},
    )


def at_path(group_id: str, path: str) -> Query:
    """The newest one that was read from a path; those of the group are looked through."""
    return Query(
        "document by path",
        f"""MATCH (d:DocumentRecord {{group_id: $group}}) WHERE d.path = $path
        RETURN {_DOCUMENT} ORDER BY document.created_at DESC, document.uuid LIMIT 1""",
        {"group": group_id, "path": path},
    )


def counts(group_id: str) -> Query:
    """Documents by name, and quotes."""
    return Query(
        "count of documents",
        """RETURN COUNT { MATCH (d:DocumentRecord {group_id: $group}) RETURN DISTINCT d.name } AS documents,
          COUNT { MATCH (:InstanceRecord {group_id: $group}) } AS quotes""",
        {"group": group_id},
    )


def listed(group_id: str, window: Window) -> Query:
    """By name."""
    return Query(
        "documents of a group",
        f"""MATCH (d:DocumentRecord {{group_id: $group}}) WHERE d.name > $after AND NOT EXISTS {{
          MATCH (o:DocumentRecord {{group_id: d.group_id, name: d.name}}) WHERE o.version > d.version
        }} WITH d ORDER BY d.name LIMIT $limit RETURN {_DOCUMENT} ORDER BY document.name""",
        {"group": group_id, "after": window.after[0] if window.after else "", "limit": window.limit},
    )


def documents(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """By uuid."""
    return Query(
        "documents",
        f"""UNWIND $uuids AS u MATCH (d:DocumentRecord {{uuid: u}}) WHERE d.group_id IN $groups
        RETURN {_DOCUMENT} ORDER BY document.uuid""",
        {"uuids": list(dict.fromkeys(uuids)), "groups": list(group_ids)},
    )


def sections(document_uuid: str, group_id: str, limit: int) -> Query:
    """In order, each with the length of its text; and that of the front matter."""
    return Query(
        "sections",
        """MATCH (d:DocumentRecord {uuid: $document})-[s:SECTION]->(e:Episodic) WHERE d.group_id = $group
        MATCH (t:SearchText {id: e.uuid})
        RETURN s.place AS place, e.uuid AS episode_uuid, s.paragraph AS paragraph, t.length AS length,
          d.front_length AS front_length ORDER BY place LIMIT $limit""",
        {"document": document_uuid, "group": group_id, "limit": limit},
    )


def placed(episode_uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Where each stands in the newest document that has it, present versions first."""
    return Query(
        "places in documents",
        f"""UNWIND $uuids AS u CALL (u) {{
          MATCH (d:DocumentRecord)-[s:SECTION]->(e:Episodic {{uuid: u}}) WHERE d.group_id IN $groups
          WITH d, s, {_IS_PRESENT} ORDER BY is_present DESC, d.created_at DESC, d.uuid, s.place LIMIT 1
          RETURN d, s, is_present
        }} RETURN u AS episode_uuid, {PLACED}""",
        {"uuids": list(dict.fromkeys(episode_uuids)), "groups": list(group_ids)},
    )


def holding(episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> Query:
    """Documents with a section of one of these episodes."""
    return Query(
        "documents of episodes",
        f"""UNWIND $uuids AS u MATCH (d:DocumentRecord)-[:SECTION]->(:Episodic {{uuid: u}})
        WHERE d.group_id IN $groups WITH DISTINCT d ORDER BY d.uuid LIMIT $limit
        RETURN {_DOCUMENT} ORDER BY document.uuid""",
        {"uuids": list(dict.fromkeys(episode_uuids)), "groups": list(group_ids), "limit": limit},
    )


_MATCHED = """MATCH (n:Entity {uuid: $entity})-[:EVIDENCED_BY]->(i:InstanceRecord) WHERE i.group_id IN $groups
    AND i.created_at <= $until
  MATCH (d:DocumentRecord {uuid: i.document_uuid})-[s:SECTION]->(e:Episodic {uuid: i.episode_uuid})
  MATCH (a:Passage {uuid: i.passages[0]}) MATCH (z:Passage {uuid: i.passages[-1]})
  WITH i, d, s, e, a, z, a.start + i.first AS begins"""


def instances(
    entity_uuid: str, group_ids: Sequence[str], window: Window, recorded_until: datetime | None
) -> tuple[Query, Query]:
    """A page, and the total."""
    values: dict[str, object] = {
        "entity": entity_uuid,
        "groups": list(group_ids),
        "until": recorded_until or LATEST,
    }
    after = ""
    if window.after is not None:
        after = """WHERE d.created_at < $c0 OR (d.created_at = $c0 AND (d.uuid > $c1 OR (d.uuid = $c1 AND (
          s.place > $c2 OR (s.place = $c2 AND (begins > $c3 OR (begins = $c3 AND i.uuid > $c4)))))))"""
    ends = ", ".join(
        f"{name} {{{', '.join(f'.{field}' for field in Passage.model_fields)}}} AS {role}"
        for name, role in (("a", "first"), ("z", "last"))
    )
    return (
        Query(
            "instances",
            f"""{_MATCHED} {after}
            WITH i, d, s, e, a, z, begins ORDER BY d.created_at DESC, d.uuid, s.place, begins, i.uuid LIMIT $limit
            WITH i, d, s, a, z, begins, {_IS_PRESENT}
            CALL (i, a) {{
              MATCH (p:Passage {{episode_uuid: i.episode_uuid, paragraph: a.paragraph}})
              RETURN min(p.start) AS around_start, max(p.end) AS around_end
            }}
            RETURN {_INSTANCE}, {PLACED}, s.place AS place, begins, {ends}, around_start, around_end
            ORDER BY document.created_at DESC, document.uuid, place, begins, instance.uuid""",
            {**values, **keys_after(window.after, (0,)), "limit": window.limit},
        ),
        Query("instances total", f"{_MATCHED} RETURN count(i) AS total", values),
    )


def evidence_in(entity_uuid: str, episode_uuids: Sequence[str], limit: int) -> Query:
    """By uuid."""
    return Query(
        "quotes from some sections that are evidence of an entity",
        f"""MATCH (:Entity {{uuid: $entity}})-[:EVIDENCED_BY]->(i:InstanceRecord) WHERE i.episode_uuid IN $episodes
        RETURN {_INSTANCE} ORDER BY i.uuid LIMIT $limit""",
        {"entity": entity_uuid, "episodes": list(episode_uuids), "limit": limit},
    )
