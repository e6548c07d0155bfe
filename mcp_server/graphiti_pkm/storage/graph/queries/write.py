"""One write as one query: a section for each kind of change, with the marker at the end.

A section is a text for each row ``r``. One without rows is left out.
"""

from collections.abc import Mapping, Sequence

from graphiti_pkm.core.model.records import QUALITY_TEXTS
from graphiti_pkm.storage.graph.queries.locks import FENCED
from graphiti_pkm.storage.graph.queries.values import Query, Row

_ONCE = "WITH true AS go WHERE NOT EXISTS { MATCH (:Write {uuid: $write}) }"
"""No row when the marker is there: then nothing below runs."""

_MARK = "CREATE (:Write {uuid: $write}) RETURN 1 AS done"

DIMENSION = "MERGE (m:Meta {id: 'database'}) SET m.dimension = coalesce(m.dimension, r)"

EPISODES = """MERGE (e:Episodic {uuid: r.uuid}) SET e = r.properties
MERGE (s:SearchText {id: r.uuid})
SET s.scope = r.scope, s.text = r.text, s.length = r.length, s.corrected = coalesce(s.corrected, false) OR r.corrected,
  s.confidential = coalesce(s.confidential, false) OR r.confidential
MERGE (s)-[:OF]->(e)"""

ENTITIES = """WITH r WHERE NOT EXISTS { MATCH (:FormerUuid {uuid: r.uuid}) } MERGE (n:Entity {uuid: r.uuid})
SET n:$(r.labels) REMOVE n:$([label IN labels(n) WHERE NOT label IN r.labels])
WITH n, r, n.name_embedding AS old SET n = r.properties, n.name_embedding = coalesce(r.vector, old)
MERGE (s:SearchText {id: r.uuid}) SET s.scope = r.scope, s.text = r.text
MERGE (s)-[:OF]->(n)"""
"""No labels but these stay. What was merged into another entity stays merged, whoever writes it again."""

PROJECTS = """MATCH (n:Entity {uuid: r.uuid}) MERGE (p:ProjectRecord {uuid: r.uuid})
SET p = {uuid: r.uuid, group_id: n.group_id, metadata: r.metadata, pins: r.pins, created_at: r.created_at}"""

ENTRIES = """MATCH (e:Episodic {uuid: r.uuid})
OPTIONAL MATCH (p:ProjectRecord {uuid: r.project_uuid}) WHERE p.group_id = e.group_id
MERGE (y:EntryRecord {uuid: r.uuid})
SET y = {uuid: r.uuid, group_id: e.group_id, type: r.type, project_uuid: p.uuid, metadata: r.metadata,
  links_names: r.links_names, valid_at: coalesce(e.valid_at, e.created_at)}"""

ORIGIN = """MERGE (o:WriteOrigin {id: r.id})
ON CREATE SET o.group_id = r.group_id, o.recorded_at = r.recorded_at, o.created_by = r.created_by, o.token = r.token,
  o.source_type = r.source_type"""
"""Who made the records of a write, which have its group and its time."""

QUALITIES = """MATCH (n:Entity {uuid: r.uuid}) MERGE (q:QualityRecord {uuid: r.uuid})
SET q = r, q.group_id = n.group_id"""

NAMES = """WITH r WHERE NOT EXISTS { MATCH (:FormerUuid {uuid: r.entity_uuid}) } MERGE (k:Name {id: r.id})
ON CREATE SET k.key = r.key, k.entity_uuid = r.entity_uuid, k.group_id = r.group_id, k.text = r.text
WITH k, r, coalesce(k.spellings, []) AS known WHERE k.entity_uuid = r.entity_uuid
SET k.spellings = known + [s IN r.spellings WHERE NOT s IN known], k.is_alias = r.is_alias,
  k.is_linkable = r.is_linkable"""
"""Spellings accumulate, whichever write comes first."""

ALIAS_TEXTS = """MATCH (k:Name {id: r.name_id}) WHERE k.entity_uuid = r.entity_uuid
MATCH (n:Entity {uuid: r.entity_uuid})
MERGE (s:SearchText {id: r.id}) SET s.scope = r.scope, s.text = r.search_text
MERGE (s)-[:OF]->(n)"""

FACTS = """MATCH (h:Entity {uuid: r.source_uuid}) MATCH (o:Entity {uuid: r.target_uuid})
MERGE (h)-[e:RELATES_TO {uuid: r.uuid}]->(o)
WITH e, r, e.fact_embedding AS old SET e = r.properties, e.fact_embedding = coalesce(r.vector, old)"""

FACT_UPDATES = """MATCH ()-[e:RELATES_TO {uuid: r.uuid}]->()
SET e.search_text = CASE WHEN r.quote = e.fact OR coalesce(e.search_text, '') ENDS WITH r.quote_words
  THEN e.search_text ELSE coalesce(e.search_text, '') + r.quote_words END,
  e.episodes = r.episodes, e.valid_at = r.valid_at, e.invalid_at = r.invalid_at, e.expired_at = r.expired_at,
  e.voided = r.voided, e.reference_time = coalesce(r.reference_time, e.reference_time),
  e.quote = coalesce(r.quote, e.quote), e.quote_start = coalesce(r.quote_start, e.quote_start),
  e.quote_end = coalesce(r.quote_end, e.quote_end),
  e.quote_episode_uuid = coalesce(r.quote_episode_uuid, e.quote_episode_uuid), e += r.attributes"""

LOSE_NAMES = (
    "MATCH (k:Name {id: r.id}) WHERE r.is_lost AND k.entity_uuid = r.entity_uuid DELETE k",
    "UNWIND r.texts AS t MATCH (s:SearchText {id: t})-[:OF]->(:Entity {uuid: r.entity_uuid}) DETACH DELETE s",
)
"""Names that an update removes, and search texts of those that it changes."""
NAME_VALUES = """MATCH (k:Name {id: r.id}) WHERE k.entity_uuid = r.entity_uuid
SET k.text = r.text, k.spellings = r.spellings"""
"""Names as an update gives them: nothing is added to what they were."""

MENTIONS = """MATCH (e:Episodic {uuid: r.episode_uuid}) MATCH (n:Entity {uuid: r.entity_uuid})
WHERE NOT EXISTS { MATCH (a:Apart {id: r.episode_uuid + ' ' + r.entity_uuid}) }
MERGE (e)-[m:MENTIONS]->(n) ON CREATE SET m.uuid = r.uuid, m.group_id = r.group_id, m.created_at = r.created_at"""

PASSAGES = """MATCH (e:Episodic {uuid: r.episode_uuid})
MERGE (p:Passage {uuid: r.uuid})
SET p = {uuid: r.uuid, episode_uuid: r.episode_uuid, paragraph: r.paragraph, sentence: r.sentence, start: r.start,
  end: r.end, group_id: e.group_id, valid_at: e.valid_at, created_at: e.created_at,
  embedding: coalesce(r.vector, p.embedding)}"""

DOCUMENTS = "MERGE (d:DocumentRecord {uuid: r.uuid}) SET d = r"
SECTIONS = """MATCH (d:DocumentRecord {uuid: r.document_uuid}) MATCH (e:Episodic {uuid: r.episode_uuid})
WHERE e.group_id = d.group_id
MERGE (d)-[s:SECTION {place: r.place}]->(e) ON CREATE SET s.paragraph = r.paragraph"""
INSTANCES = """MATCH (n:Entity {uuid: r.entity_uuid})
MATCH (:DocumentRecord {uuid: r.document_uuid})-[:SECTION]->(e:Episodic {uuid: r.episode_uuid})
WHERE all(u IN r.passages WHERE EXISTS { MATCH (:Passage {uuid: u}) })
MERGE (i:InstanceRecord {uuid: r.uuid}) SET i = r, i.group_id = n.group_id
MERGE (n)-[:EVIDENCED_BY]->(i)
WITH i, r MATCH (p:Passage) WHERE p.uuid IN r.passages MERGE (i)-[:FROM_SOURCE]->(p)"""
"""A passage has the numbers of its paragraph and sentence in the section."""

ENTITY_VECTORS = "MATCH (n:Entity {uuid: r.uuid}) WHERE n.name_embedding IS NULL SET n.name_embedding = r.vector"
FACT_VECTORS = """MATCH ()-[e:RELATES_TO {uuid: r.uuid}]->() WHERE e.fact_embedding IS NULL
SET e.fact_embedding = r.vector"""
PASSAGE_VECTORS = "MATCH (p:Passage {uuid: r.uuid}) WHERE p.embedding IS NULL SET p.embedding = r.vector"
"""Only where there is none: a vector made meanwhile is kept."""

CHANGES = """MERGE (c:Change {uuid: r.uuid}) SET c = r
WITH c, r MATCH ()-[e:RELATES_TO {uuid: r.fact_uuid}]->()
SET c.source_uuid = startNode(e).uuid, c.target_uuid = endNode(e).uuid"""
"""The event keeps both entities when the fact is removed, so it is still found among an entity's changes."""

TOGETHER = "MATCH (a:Apart {id: r}) DELETE a"
APART = """MATCH (n:Entity {uuid: r.other})
WHERE EXISTS { MATCH (:Entity {uuid: r.one}) } OR EXISTS { MATCH (:Episodic {uuid: r.one}) }
MERGE (a:Apart {id: r.id}) SET a.one = r.one, a.other = r.other, a.group_id = n.group_id"""
"""Two entities that are not the same, or an episode that does not mention an entity."""

CORRECTED = """MATCH (e:Episodic {uuid: r})
MERGE (s:SearchText {id: r}) SET s.corrected = true MERGE (s)-[:OF]->(e)"""

UNCORRECTED = "MATCH (s:SearchText {id: r}) SET s.corrected = false"

_DELETE_COUNTERS = "MATCH (m:MetricsRecord {uuid: r}) DELETE m"

DELETE_FACTS = (
    "MATCH (c:Change {fact_uuid: r}) SET c.reason = null",
    "MATCH ()-[e:RELATES_TO {uuid: r}]->() DELETE e",
    _DELETE_COUNTERS,
)
DELETE_ENTITIES = (
    """MATCH (n:Entity {uuid: r})-[e:RELATES_TO]-() WITH DISTINCT e.uuid AS fact
    MATCH (c:Change {fact_uuid: fact}) SET c.reason = null""",
    """MATCH (c:Change {fact_uuid: r})
    SET c.reason = null, c.entity_before = null, c.entity_after = null, c.source_uuid = null""",
    "MATCH (a:Apart {one: r}) DELETE a",
    "MATCH (a:Apart {other: r}) DELETE a",
    "MATCH (m:MergePart {kept_uuid: r}) DELETE m",
    "MATCH (m:MergePart {removed_uuid: r}) DELETE m",
    "MATCH (f:FormerUuid {uuid: r}) DELETE f",
    "MATCH (f:FormerUuid {entity_uuid: r}) DELETE f",
    "MATCH (k:Name {entity_uuid: r}) DELETE k",
    "MATCH (y:EntryRecord {project_uuid: r}) SET y.project_uuid = null",
    "MATCH (p:ProjectRecord {uuid: r}) DELETE p",
    "MATCH (q:QualityRecord {uuid: r}) DELETE q",
    _DELETE_COUNTERS,
    "MATCH (:Entity {uuid: r})-[:EVIDENCED_BY]->(i:InstanceRecord) DETACH DELETE i",
    "MATCH (n:Entity {uuid: r})<-[:OF]-(s:SearchText) DETACH DELETE s",
    "MATCH (n:Entity {uuid: r}) DETACH DELETE n",
)
DELETE_EPISODES = (
    "MATCH (a:Apart {one: r}) DELETE a",
    "MATCH (i:InstanceRecord {episode_uuid: r}) DETACH DELETE i",
    "MATCH (p:Passage {episode_uuid: r}) DETACH DELETE p",
    "MATCH (y:EntryRecord {uuid: r}) DELETE y",
    "MATCH (e:Episodic {uuid: r})<-[:OF]-(s:SearchText) DETACH DELETE s",
    "MATCH (e:Episodic {uuid: r}) DETACH DELETE e",
)
"""Changes of a deleted fact stay in the record, without words."""
EMPTY_DOCUMENTS = "MATCH (d:DocumentRecord {group_id: r}) WHERE NOT EXISTS { MATCH (d)-[:SECTION]->() } DELETE d"
FORGET_TEXTS = """MATCH (e:Episodic {uuid: r.uuid})
SET e.name = r.name, e.content = r.content, e.source_description = r.source_description"""
FORGET_SEARCH_TEXTS = "MATCH (s:SearchText {id: r.uuid}) SET s.text = r.text, s.length = r.length"
FORGET_LINKS = """UNWIND r AS f MATCH ()-[e:RELATES_TO {uuid: f}]->()
UNWIND coalesce(e.episodes, []) AS u WITH DISTINCT r, u MATCH (p:Episodic {uuid: u})
SET p.entity_edges = [x IN coalesce(p.entity_edges, []) WHERE NOT x IN r]"""
"""For all facts at once: the database reads every list before it writes the first."""
FORGET_FACTS = (
    "MATCH (c:Change {fact_uuid: r}) DELETE c",
    "MATCH (c:Change {replaced_by: r}) SET c.reason = null, c.replaced_by = null",
    "MATCH ()-[e:RELATES_TO {uuid: r}]->() DELETE e",
    _DELETE_COUNTERS,
)
FORGET_INSTANCES = "MATCH (i:InstanceRecord)-[:FROM_SOURCE]->(:Passage {uuid: r}) WITH DISTINCT i DETACH DELETE i"
FORGET_PASSAGES = "MATCH (p:Passage {uuid: r}) DETACH DELETE p"
FORGET_DOCUMENTS = """MATCH (d:DocumentRecord {uuid: r.uuid})
SET d.name = r.name, d.path = r.path, d.front = r.front, d.front_length = r.front_length, d.digest = r.digest"""
FORGET_MENTIONS = """MATCH (e:Episodic {uuid: r.episode_uuid})-[m:MENTIONS]->(n:Entity {uuid: r.entity_uuid})
DELETE m"""
FORGET_REASONS = "MATCH (c:Change {uuid: r.uuid}) SET c.reason = r.reason"
FORGET_UPDATES = """MATCH (c:Change {uuid: r.uuid})
SET c.entity_before = r.entity_before, c.entity_after = r.entity_after"""
FORGET_METADATA = tuple(
    f"MATCH (x:{label} {{uuid: r.uuid}}) SET x.metadata = r.metadata" for label in ("ProjectRecord", "EntryRecord")
)
FORGET_QUALITIES = "MATCH (q:QualityRecord {uuid: r.uuid}) SET " + ", ".join(
    f"q.{field} = CASE WHEN q.{field} IS NULL THEN null ELSE r.text END" for field in QUALITY_TEXTS
)
FORGET_NAMES = (
    "MATCH (k:Name {entity_uuid: r.entity_uuid}) WHERE NOT k.id IN r.ids DELETE k",
    """MATCH (n:Entity {uuid: r.entity_uuid})<-[:OF]-(s:SearchText) WHERE NOT s.id IN r.texts
    DETACH DELETE s""",
)
"""All but those that stay."""

CLEAR_GROUP = (
    "MATCH (a:Apart {group_id: r}) DELETE a",
    "MATCH (c:Change {group_id: r}) DELETE c",
    "MATCH (k:Name {group_id: r}) DELETE k",
    "MATCH (i:InstanceRecord {group_id: r}) DETACH DELETE i",
    "MATCH (d:DocumentRecord {group_id: r}) DETACH DELETE d",
    "MATCH (p:Passage {group_id: r}) DETACH DELETE p",
    "MATCH (p:ProjectRecord {group_id: r}) DELETE p",
    "MATCH (y:EntryRecord {group_id: r}) DELETE y",
    "MATCH (q:QualityRecord {group_id: r}) DELETE q",
    "MATCH (o:WriteOrigin {group_id: r}) DELETE o",
    "MATCH (m:MergePart {group_id: r}) DELETE m",
    "MATCH (f:FormerUuid {group_id: r}) DELETE f",
    "MATCH (m:MetricsRecord {group_id: r}) DELETE m",
    "MATCH (n:Entity {group_id: r})<-[:OF]-(s:SearchText) DETACH DELETE s",
    "MATCH (e:Episodic {group_id: r})<-[:OF]-(s:SearchText) DETACH DELETE s",
    "MATCH ()-[e:RELATES_TO {group_id: r}]->() DELETE e",
    *(f"MATCH (n:{label} {{group_id: r}}) DETACH DELETE n" for label in ("Entity", "Episodic", "Community", "Saga")),
)
"""Graphiti's own labels too, which it may have written. Markers stay: they keep an earlier write from coming back."""

GROUPS_HOLD = "MERGE (g:Group {id: r}) SET g.holds = true"
GROUP_RECORDED = """MERGE (g:Group {id: r})
SET g.recorded_at = CASE WHEN coalesce(g.recorded_at, $dawn) < $recorded_at THEN $recorded_at ELSE g.recorded_at END"""
"""The newest time: a clock that is set back does not move it."""
NAMES_CHANGED = """MERGE (g:Group {id: r})
SET g.names_version = CASE WHEN coalesce(g.names_version, 0) < $stamp THEN $stamp ELSE g.names_version + 1 END"""
GROUP_STILL_HOLDS = """MERGE (g:Group {id: r})
SET g.holds = EXISTS { MATCH (:Episodic {group_id: r}) } OR EXISTS { MATCH (:Entity {group_id: r}) }"""

Section = tuple[str, Sequence[object]]
"""The query text for each row ``r``, and the rows."""


def write(
    write_uuid: str, sections: Sequence[Section], values: Mapping[str, object], fence: Mapping[str, object] | None
) -> Query:
    """The whole write; does nothing if its marker exists, or if ``fence`` is not the newest."""
    filled = [(text, rows) for text, rows in sections if rows]
    first = [_ONCE] if fence is None else [FENCED, _ONCE]
    parts = [f"CALL () {{ UNWIND $s{i} AS r {text} }}" for i, (text, _) in enumerate(filled)]
    given = {f"s{i}": rows for i, (_, rows) in enumerate(filled)}
    values = {"write": write_uuid, **values, **given, **(fence or {})}
    return Query("write", "\n".join([*first, *parts, _MARK]), values)


def applied(write_uuids: Sequence[str]) -> Query:
    """Those whose marker is there."""
    return Query(
        "markers", "UNWIND $uuids AS u MATCH (w:Write {uuid: u}) RETURN DISTINCT w.uuid AS uuid", {"uuids": write_uuids}
    )


def vector_row(uuid: str, row: Row, vectors: Mapping[str, object]) -> Row:
    """A row with its vector, or null to keep the one that is there."""
    return {"uuid": uuid, "vector": vectors.get(uuid), **row}
