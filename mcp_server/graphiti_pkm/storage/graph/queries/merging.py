"""Queries of merges of two entities: sections of a write, each over rows ``r``, and bounded reads."""

from collections.abc import Iterator, Sequence

from graphiti_pkm.core.model.records import BECAUSE_OF, Fact, Merge, WriteIntent, WriteKind
from graphiti_pkm.storage.graph.queries.parts import FACT_COLUMNS
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.queries.write import APART, FORGET_MENTIONS, Section

_FREE_UUID = (
    "MATCH (f:FormerUuid {uuid: r.removed_uuid}) DELETE f",
    """UNWIND r.former AS u MATCH (f:FormerUuid {uuid: u}) WHERE f.entity_uuid = r.kept_uuid
    SET f.entity_uuid = r.removed_uuid""",
)
_FREE_NAMES = (
    "MATCH (k:Name {entity_uuid: r.removed_uuid}) DELETE k",
    "MATCH (n:Entity {uuid: r.removed_uuid})<-[:OF]-(s:SearchText) WHERE s.id <> n.uuid DETACH DELETE s",
)
_MOVE_FACTS = """MATCH (a:Entity)-[e:RELATES_TO {uuid: r.uuid}]->(b:Entity) MATCH (x:Entity {uuid: r.after})
WITH e, properties(e) AS own, a, b,
  CASE WHEN r.is_source AND a.uuid = r.before THEN x ELSE a END AS s,
  CASE WHEN r.is_target AND b.uuid = r.before THEN x ELSE b END AS o
WHERE s <> a OR o <> b
DELETE e CREATE (s)-[n:RELATES_TO]->(o)
SET n = own, n.source_node_uuid = s.uuid, n.target_node_uuid = o.uuid"""
"""An edge has its ends for good, so there is a new one with all that the old one had."""
_MOVE_CHANGES = """MATCH (:Entity {{uuid: r.after}}) MATCH (c:Change {{uuid: r.uuid}}) WHERE c.{end} = r.before
SET c.{end} = r.after"""
_MOVE_CAUSES = f"""MATCH (:Entity {{uuid: r.after}}) MATCH ()-[e:RELATES_TO {{uuid: r.uuid}}]->()
WHERE e.{BECAUSE_OF} = r.before SET e.{BECAUSE_OF} = r.after"""
_MOVE_MENTIONS = """MATCH (x:Entity {uuid: r.after})
MATCH (p:Episodic {uuid: r.uuid})-[m:MENTIONS]->(:Entity {uuid: r.before})
WITH x, p, m, properties(m) AS own DELETE m MERGE (p)-[n:MENTIONS]->(x) ON CREATE SET n = own"""
_MOVE_ENTRIES = """MATCH (:ProjectRecord {uuid: r.after}) MATCH (y:EntryRecord {uuid: r.uuid})
WHERE y.project_uuid = r.before SET y.project_uuid = r.after"""
_MOVE_EVIDENCE = """MATCH (x:Entity {uuid: r.after})
MATCH (:Entity {uuid: r.before})-[e:EVIDENCED_BY]->(i:InstanceRecord {uuid: r.uuid})
DELETE e SET i.entity_uuid = r.after MERGE (x)-[:EVIDENCED_BY]->(i)"""
_TAKE_FACTS = "MATCH ()-[e:RELATES_TO {uuid: r}]->() DELETE e"
_KEEP_PART = """MATCH (:Entity {uuid: r.kept_uuid}) MATCH (:Entity {uuid: r.removed_uuid})
MERGE (m:MergePart {id: r.id}) SET m = r"""
_BOTH = "MATCH (:Entity {uuid: r.kept_uuid}) MATCH (:Entity {uuid: r.removed_uuid})"
_TAKE_ENTITY = (
    f"{_BOTH} MATCH (a:Apart {{one: r.removed_uuid}}) DELETE a",
    f"{_BOTH} MATCH (a:Apart {{other: r.removed_uuid}}) DELETE a",
    f"{_BOTH} MATCH (p:ProjectRecord {{uuid: r.removed_uuid}}) DELETE p",
    f"{_BOTH} MATCH (q:QualityRecord {{uuid: r.removed_uuid}}) DELETE q",
    f"{_BOTH} MATCH (f:FormerUuid {{entity_uuid: r.removed_uuid}}) SET f.entity_uuid = r.kept_uuid",
    f"""{_BOTH} MERGE (f:FormerUuid {{uuid: r.removed_uuid}})
    SET f.group_id = r.group_id, f.entity_uuid = r.kept_uuid""",
    f"{_BOTH} MATCH (n:Entity {{uuid: r.removed_uuid}})<-[:OF]-(s:SearchText) DETACH DELETE s",
    "MATCH (:Entity {uuid: r.kept_uuid}) MATCH (n:Entity {uuid: r.removed_uuid}) DETACH DELETE n",
)
_UNDONE = (
    "MATCH (m:MergePart {id: r.id}) DELETE m",
    "MATCH (m:MergePart {uuid: r.uuid}) SET m.is_undone = true",
)
_FREE_EVIDENCE = "MATCH (:Entity)-[e:EVIDENCED_BY]->(:InstanceRecord {uuid: r}) DELETE e"
_MOVE_EVENTS = """MATCH (a:Entity)-[:RELATES_TO {uuid: r}]->(b:Entity) MATCH (c:Change {fact_uuid: r})
SET c.source_uuid = a.uuid, c.target_uuid = b.uuid"""
FORGET_PARTS = "MATCH (m:MergePart {id: r.id}) SET m.content = r.content"


def _row(intent: WriteIntent, merge: Merge) -> dict[str, object]:
    return {
        "id": f"{merge.uuid} {merge.place}",
        "uuid": merge.uuid,
        "place": merge.place,
        "group_id": intent.group_id,
        "kept_uuid": merge.kept_uuid,
        "removed_uuid": merge.removed_uuid,
        "recorded_at": intent.recorded_at,
        "is_last": merge.is_last,
        "is_undone": False,
        "content": merge.model_dump_json(),
    }


def begin(intent: WriteIntent) -> Iterator[Section]:
    """What comes before the records of the write: the first part frees names, undoing the last one frees the uuid.

    A split takes edges away, which have their ends for good; its own records put them between others.
    """
    merge = intent.merge
    if intent.kind is WriteKind.SPLIT:
        yield _TAKE_FACTS, [one.uuid for one in intent.facts]
        yield _FREE_EVIDENCE, [one.uuid for one in intent.instances]
    if merge is None:
        return
    row = {"kept_uuid": merge.kept_uuid, "removed_uuid": merge.removed_uuid, "former": merge.former}
    if merge.undoes and merge.is_last:
        yield from ((text, [row]) for text in _FREE_UUID)
    elif not merge.undoes and merge.place == 0:
        yield from ((text, [row]) for text in _FREE_NAMES)


def finish(intent: WriteIntent) -> Iterator[Section]:
    """What comes after them: records move, and the last part takes the removed entity out."""
    merge = intent.merge
    if intent.kind is WriteKind.SPLIT:
        yield _MOVE_EVENTS, [one.uuid for one in intent.facts]
    if merge is None:
        return
    yield from _moves(merge)
    row = _row(intent, merge)
    if merge.undoes:
        yield APART, [{"id": f"{one} {other}", "one": one, "other": other} for one, other in merge.apart]
        yield from ((text, [row]) for text in _UNDONE)
        return
    yield _TAKE_FACTS, merge.facts
    yield FORGET_MENTIONS, [{"episode_uuid": one, "entity_uuid": merge.removed_uuid} for one in merge.mentions]
    yield _KEEP_PART, [row]
    if merge.is_last:
        yield from ((text, [row]) for text in _TAKE_ENTITY)


def _moves(merge: Merge) -> Iterator[Section]:
    ends = (merge.removed_uuid, merge.kept_uuid)
    before, after = ends[::-1] if merge.undoes else ends
    moved = merge.moved
    sources, targets = set(moved.sources), set(moved.targets)
    yield (
        _MOVE_FACTS,
        [
            {"uuid": one, "before": before, "after": after, "is_source": one in sources, "is_target": one in targets}
            for one in dict.fromkeys((*moved.sources, *moved.targets))
        ],
    )
    for text, uuids in (
        (_MOVE_CHANGES.format(end="source_uuid"), moved.change_sources),
        (_MOVE_CHANGES.format(end="target_uuid"), moved.change_targets),
        (_MOVE_CAUSES, moved.causes),
        (_MOVE_MENTIONS, moved.mentions),
        (_MOVE_ENTRIES, moved.entries),
        (_MOVE_EVIDENCE, moved.evidence),
    ):
        yield text, [{"uuid": one, "before": before, "after": after} for one in uuids]


# Reads


def former_uuids(group_id: str) -> Query:
    """All of a group."""
    return Query(
        "former uuids",
        "MATCH (f:FormerUuid {group_id: $group}) RETURN f.uuid AS uuid, f.entity_uuid AS now",
        {"group": group_id},
    )


def now(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Of these uuids those of merged entities."""
    return Query(
        "entities merged into others",
        """UNWIND $uuids AS u MATCH (f:FormerUuid {uuid: u}) WHERE f.group_id IN $groups
        RETURN f.uuid AS uuid, f.entity_uuid AS now""",
        {"uuids": list(uuids), "groups": list(group_ids)},
    )


def former_by_prefix(prefix: str, group_ids: Sequence[str], limit: int) -> Query:
    """Uuids of merged entities that start so."""
    return Query(
        "former uuids by prefix",
        """MATCH (f:FormerUuid) WHERE f.uuid STARTS WITH $prefix AND f.group_id IN $groups
        RETURN f.uuid AS uuid ORDER BY uuid LIMIT $limit""",
        {"prefix": prefix, "groups": list(group_ids), "limit": limit},
    )


def parts_of_group(group_id: str) -> Query:
    """All parts of merges in a group."""
    return Query(
        "parts of merges",
        "MATCH (m:MergePart {group_id: $group}) RETURN m.id AS id, m.content AS content",
        {"group": group_id},
    )


def _newest(found: str, at: str) -> str:
    return f"""head(COLLECT {{ MATCH {found} WHERE x.{at} IS NOT NULL
                RETURN x.{at} AS at ORDER BY at DESC LIMIT 1 }})"""


def sizes(kept: str, removed: str) -> tuple[Query, Query]:
    """How much hangs on each, and on both."""
    return (
        Query(
            "sizes of a merge",
            f"""UNWIND $uuids AS u MATCH (n:Entity {{uuid: u}})
            RETURN u AS uuid, COUNT {{ MATCH (n)-[:RELATES_TO]-() }} AS facts,
              COUNT {{ MATCH (:Episodic)-[:MENTIONS]->(n) }} AS mentions,
              COUNT {{ MATCH (:EntryRecord {{project_uuid: u}}) }} AS entries,
              {_newest("(n)-[x:RELATES_TO]-()", "created_at")} AS newest_fact,
              {_newest("(x:Change {source_uuid: u})", "recorded_at")} AS newest_source,
              {_newest("(x:Change {target_uuid: u})", "recorded_at")} AS newest_target,
              {_newest("(x:Change {fact_uuid: u})", "recorded_at")} AS newest_update""",
            {"uuids": [kept, removed]},
        ),
        Query(
            "facts between both",
            """MATCH (:Entity {uuid: $kept})-[e:RELATES_TO]-(:Entity {uuid: $removed})
            RETURN count(DISTINCT e) AS pair""",
            {"kept": kept, "removed": removed},
        ),
    )


_WHOLE = f"WITH DISTINCT e ORDER BY e.uuid LIMIT $limit RETURN {FACT_COLUMNS} ORDER BY uuid"


def facts(entity_uuid: str, limit: int, after: str) -> Query:
    """In either direction, by uuid."""
    return Query(
        "facts of an entity that is merged",
        f"MATCH (:Entity {{uuid: $entity}})-[e:RELATES_TO]-() WHERE e.uuid > $after {_WHOLE}",
        {"entity": entity_uuid, "limit": limit, "after": after},
    )


def facts_like(entity_uuid: str, given: Sequence[Fact], limit: int) -> Query:
    """With a relation, a start and an other end that some of these have, by uuid."""
    ends = {uuid for one in given for uuid in (one.source_uuid, one.target_uuid)}
    return Query(
        "facts of the entity that stays",
        f"""MATCH (:Entity {{uuid: $entity}})-[e:RELATES_TO]-(o) WHERE o.uuid IN $others AND e.name IN $relations
          AND (e.valid_at IN $starts OR (e.valid_at IS NULL AND $is_unknown)) {_WHOLE}""",
        {
            "entity": entity_uuid,
            "others": sorted(ends | {entity_uuid}),
            "relations": sorted({one.relation for one in given}),
            "starts": sorted({one.valid_at for one in given if one.valid_at is not None}),
            "is_unknown": any(one.valid_at is None for one in given),
            "limit": limit,
        },
    )


def open_facts(entity_uuid: str, others: Sequence[str], relations: Sequence[str], limit: int) -> Query:
    """In the record: with these other ends, and those that start at it with these relations, by uuid."""
    return Query(
        "open facts of the entity that stays",
        f"""MATCH (n:Entity {{uuid: $entity}})-[e:RELATES_TO]-(o) WHERE NOT coalesce(e.voided, false)
          AND e.expired_at IS NULL AND (o.uuid IN $others OR (startNode(e) = n AND e.name IN $relations)) {_WHOLE}""",
        {"entity": entity_uuid, "others": list(others), "relations": list(relations), "limit": limit},
    )


def mentions(entity_uuid: str, limit: int, after: str) -> Query:
    """By episode."""
    return Query(
        "mentions of an entity that is merged",
        """MATCH (p:Episodic)-[m:MENTIONS]->(:Entity {uuid: $entity}) WHERE p.uuid > $after
        RETURN m.uuid AS uuid, p.uuid AS episode_uuid, $entity AS entity_uuid, m.created_at AS created_at
        ORDER BY episode_uuid LIMIT $limit""",
        {"entity": entity_uuid, "limit": limit, "after": after},
    )


def mentions_in(entity_uuid: str, episode_uuids: Sequence[str]) -> Query:
    """By episode."""
    return Query(
        "mentions of an entity in some episodes",
        """MATCH (p:Episodic)-[m:MENTIONS]->(:Entity {uuid: $entity}) WHERE p.uuid IN $episodes
        RETURN m.uuid AS uuid, p.uuid AS episode_uuid, $entity AS entity_uuid, m.created_at AS created_at
        ORDER BY episode_uuid""",
        {"entity": entity_uuid, "episodes": list(episode_uuids)},
    )


def entries(project_uuid: str, limit: int) -> Query:
    """By uuid."""
    return Query(
        "entries of an entity that is merged",
        "MATCH (y:EntryRecord {project_uuid: $project}) RETURN y.uuid AS uuid ORDER BY uuid LIMIT $limit",
        {"project": project_uuid, "limit": limit},
    )


def evidence(entity_uuid: str, limit: int) -> Query:
    """By uuid."""
    return Query(
        "quotes that are evidence of an entity that is merged",
        """MATCH (:Entity {uuid: $entity})-[:EVIDENCED_BY]->(i:InstanceRecord)
        RETURN i.uuid AS uuid ORDER BY uuid LIMIT $limit""",
        {"entity": entity_uuid, "limit": limit},
    )


_PROJECT = """RETURN p.uuid AS uuid, p.group_id AS group_id, p.metadata AS metadata, p.pins AS pins,
  p.created_at AS created_at"""


def project(uuid: str) -> Query:
    """What an entity has as a project."""
    return Query("project", f"MATCH (p:ProjectRecord {{uuid: $uuid}}) {_PROJECT}", {"uuid": uuid})


def pinning(entity_uuid: str, group_id: str, limit: int) -> Query:
    """By uuid."""
    return Query(
        "projects that an entity is pinned to",
        f"MATCH (p:ProjectRecord {{group_id: $group}}) WHERE $entity IN p.pins {_PROJECT} ORDER BY uuid LIMIT $limit",
        {"entity": entity_uuid, "group": group_id, "limit": limit},
    )


def caused(entity_uuid: str, group_id: str, limit: int) -> Query:
    """By uuid."""
    return Query(
        "facts that follow from an entity",
        f"""MATCH ()-[e:RELATES_TO]->() WHERE e.{BECAUSE_OF} = $entity AND e.group_id = $group
        RETURN e.uuid AS uuid ORDER BY uuid LIMIT $limit""",
        {"entity": entity_uuid, "group": group_id, "limit": limit},
    )


def change_ends(entity_uuid: str, limit: int) -> tuple[Query, Query]:
    """Those that start at it, and those that lead to it."""
    first, second = (
        Query(
            "changes of an entity that is merged",
            f"MATCH (c:Change {{{end}: $entity}}) RETURN c.uuid AS uuid LIMIT $limit",
            {"entity": entity_uuid, "limit": limit},
        )
        for end in ("source_uuid", "target_uuid")
    )
    return first, second


def apart(entity_uuid: str) -> Query:
    """All pairs."""
    return Query(
        "pairs with an entity",
        """CALL () { MATCH (a:Apart {one: $entity}) RETURN a UNION MATCH (a:Apart {other: $entity}) RETURN a }
        RETURN a.one AS one, a.other AS other ORDER BY one, other""",
        {"entity": entity_uuid},
    )


def heads(entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int) -> Query:
    """Of an entity in either part, or those that are not whole; the newest first."""
    found, so = "MATCH (m:MergePart)", "WHERE NOT is_whole OR is_undone"
    if entity_uuid is not None:
        found, so = (
            """CALL () { MATCH (m:MergePart {kept_uuid: $entity}) RETURN m
            UNION MATCH (m:MergePart {removed_uuid: $entity}) RETURN m } WITH m""",
            "",
        )
    within = "" if group_ids is None else "WHERE m.group_id IN $groups"
    return Query(
        "merges",
        f"""{found} {within}
        WITH m.uuid AS uuid, m.group_id AS group_id, m.kept_uuid AS kept_uuid, m.removed_uuid AS removed_uuid,
          min(m.recorded_at) AS recorded_at, max(m.place) + 1 AS parts,
          max(CASE WHEN m.is_last THEN 1 ELSE 0 END) = 1 AS is_whole,
          max(CASE WHEN m.is_undone THEN 1 ELSE 0 END) = 1 AS is_undone
        {so} WITH * ORDER BY recorded_at DESC, uuid LIMIT $limit
        RETURN uuid, group_id, kept_uuid, removed_uuid, recorded_at, parts, is_whole, is_undone
        ORDER BY recorded_at DESC, uuid""",
        {"entity": entity_uuid, "groups": list(group_ids or ()), "limit": limit},
    )


def part(merge_uuid: str, place: int) -> Query:
    """One part."""
    return Query(
        "part of a merge",
        "MATCH (m:MergePart {id: $id}) RETURN m.content AS content",
        {"id": f"{merge_uuid} {place}"},
    )


def names(entity_uuid: str, columns: str) -> Query:
    """All names of an entity."""
    return Query(
        "names of an entity",
        f"MATCH (k:Name {{entity_uuid: $entity}}) RETURN {columns} ORDER BY key",
        {"entity": entity_uuid},
    )
