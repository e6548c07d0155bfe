"""Tables and indexes of the graph.

Instants are microseconds since 1970 in UTC, so that they sort as numbers; NULL is unknown. An unknown start sorts
before every instant (``DAWN``). Orders of pages are columns of covering indexes: page one costs the same in any memory.
"""

import sqlite3
from collections.abc import Callable

from graphiti_pkm.errors import ConfigurationError, NewerSchema
from graphiti_pkm.storage.graph.sqlite.name_keys_schema import tell_numbers_apart
from graphiti_pkm.storage.graph.sqlite.relevance_schema import RELEVANCE
from graphiti_pkm.storage.graph.sqlite.speaker_schema import remove_vectors_without_speaker

SCHEMA_VERSION = 18
OLDEST_SQLITE = (3, 37, 0)
"""The first version with STRICT tables."""

DAWN = -(2**62)
"""An instant before every one that a datetime can hold."""
DUSK = 2**62
"""An instant after every one that a datetime can hold."""

ENTITY, EPISODE, FACT, PASSAGE, COMMUNITY = "entity", "episode", "fact", "passage", "community"

_FIRST = f"""
CREATE TABLE graph_meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE groups (
  id INTEGER PRIMARY KEY,
  group_id TEXT NOT NULL UNIQUE,
  holds INTEGER NOT NULL DEFAULT 0,
  recorded_at INTEGER,
  names_version INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE applied_write (
  uuid TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE episode (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  name TEXT NOT NULL,
  content TEXT NOT NULL,
  source TEXT NOT NULL,
  source_description TEXT NOT NULL,
  valid_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  corrected INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX episode_time ON episode (group_id, valid_at DESC, created_at DESC, uuid);
CREATE INDEX episode_recorded ON episode (group_id, created_at);

CREATE TABLE entity (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  name TEXT NOT NULL,
  label TEXT,
  summary TEXT NOT NULL,
  summary_by_model INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  attributes TEXT NOT NULL
) STRICT;
CREATE INDEX entity_name ON entity (group_id, name, uuid);

CREATE TABLE name (
  key TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  text TEXT NOT NULL,
  spellings TEXT NOT NULL,
  entity_uuid TEXT NOT NULL,
  is_alias INTEGER NOT NULL,
  is_linkable INTEGER NOT NULL
) STRICT;
CREATE INDEX name_entity ON name (entity_uuid);
CREATE INDEX name_linkable ON name (group_id) WHERE is_linkable;

CREATE TABLE fact (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  source_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  target_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  relation TEXT NOT NULL,
  text TEXT NOT NULL,
  kind TEXT NOT NULL,
  measure TEXT,
  value TEXT,
  unit TEXT,
  quote TEXT,
  quote_start INTEGER,
  quote_end INTEGER,
  quote_episode_uuid TEXT,
  valid_at INTEGER,
  invalid_at INTEGER,
  reference_time INTEGER,
  created_at INTEGER NOT NULL,
  expired_at INTEGER,
  voided INTEGER NOT NULL DEFAULT 0,
  attributes TEXT NOT NULL,
  starts INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(valid_at, {DAWN})) VIRTUAL
) STRICT;
CREATE INDEX fact_source ON fact (
  source_uuid, starts DESC, created_at DESC, uuid, group_id, kind, voided, invalid_at, expired_at,
  valid_at, reference_time, relation, target_uuid
);
CREATE INDEX fact_target ON fact (
  target_uuid, starts DESC, created_at DESC, uuid, group_id, kind, voided, invalid_at, expired_at,
  valid_at, reference_time, relation, source_uuid
);
CREATE INDEX fact_group ON fact (
  group_id, starts DESC, created_at DESC, uuid, kind, voided, invalid_at, expired_at, valid_at, reference_time, relation
);
CREATE INDEX fact_recorded ON fact (group_id, created_at, uuid);
CREATE INDEX fact_relation ON fact (group_id, relation);

CREATE TABLE fact_episode (
  fact_uuid TEXT NOT NULL REFERENCES fact (uuid) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  episode_uuid TEXT NOT NULL,
  PRIMARY KEY (fact_uuid, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_episode_episode ON fact_episode (episode_uuid, fact_uuid);

CREATE TABLE mention (
  entity_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  valid_at INTEGER NOT NULL,
  recorded_at INTEGER NOT NULL,
  episode_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  uuid TEXT NOT NULL,
  group_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (entity_uuid, valid_at DESC, recorded_at DESC, episode_uuid)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mention_episode ON mention (episode_uuid, entity_uuid);

CREATE TABLE passage (
  uuid TEXT PRIMARY KEY,
  episode_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  paragraph INTEGER NOT NULL,
  sentence INTEGER NOT NULL,
  start INTEGER NOT NULL,
  "end" INTEGER NOT NULL
) STRICT;
CREATE INDEX passage_episode ON passage (episode_uuid, start, uuid);

CREATE TABLE change (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  fact_uuid TEXT NOT NULL,
  kind TEXT NOT NULL,
  episode_uuid TEXT,
  replaced_by TEXT,
  recorded_at INTEGER NOT NULL,
  place INTEGER NOT NULL,
  invalid_at INTEGER,
  reason TEXT,
  caller TEXT,
  previous_valid_at INTEGER,
  previous_invalid_at INTEGER,
  previous_expired_at INTEGER,
  previous_voided INTEGER NOT NULL,
  previous_told_at INTEGER,
  source_uuid TEXT,
  target_uuid TEXT
) STRICT;
CREATE INDEX change_fact ON change (fact_uuid, recorded_at, place);
CREATE INDEX change_recorded ON change (group_id, recorded_at, uuid);
CREATE INDEX change_source ON change (source_uuid, recorded_at);
CREATE INDEX change_target ON change (target_uuid, recorded_at);
CREATE INDEX change_episode ON change (episode_uuid) WHERE episode_uuid IS NOT NULL;
CREATE INDEX change_replaced_by ON change (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX change_reason ON change (group_id, recorded_at, uuid) WHERE reason IS NOT NULL;

CREATE TABLE saga (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  summary TEXT NOT NULL,
  first_episode_uuid TEXT,
  last_episode_uuid TEXT,
  last_summarized_at INTEGER,
  last_summarized_episode_valid_at INTEGER
) STRICT;
CREATE INDEX saga_name ON saga (group_id, name);

CREATE TABLE saga_step (
  saga_uuid TEXT NOT NULL REFERENCES saga (uuid) ON DELETE CASCADE,
  episode_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  uuid TEXT NOT NULL,
  group_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (saga_uuid, episode_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX saga_step_episode ON saga_step (episode_uuid);

CREATE TABLE episode_link (
  previous_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  next_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  uuid TEXT NOT NULL,
  group_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (previous_uuid, next_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_link_next ON episode_link (next_uuid);

CREATE TABLE community (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  name TEXT NOT NULL,
  summary TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX community_group ON community (group_id);

CREATE TABLE community_member (
  community_uuid TEXT NOT NULL REFERENCES community (uuid) ON DELETE CASCADE,
  entity_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  PRIMARY KEY (community_uuid, entity_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX community_member_entity ON community_member (entity_uuid);

CREATE TABLE search_text (
  id INTEGER PRIMARY KEY,
  record_uuid TEXT NOT NULL,
  part TEXT NOT NULL,
  words TEXT NOT NULL,
  UNIQUE (record_uuid, part)
) STRICT;
CREATE VIRTUAL TABLE word_index USING fts5 (text, content = '', detail = none, tokenize = 'porter ascii');

CREATE TABLE vector (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  uuid TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  group_id TEXT NOT NULL,
  owner TEXT NOT NULL,
  data BLOB NOT NULL
) STRICT;
CREATE INDEX vector_group ON vector (kind, group_id, id);
CREATE TABLE vector_removals (
  kind TEXT NOT NULL,
  group_id TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (kind, group_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER episode_moved AFTER UPDATE OF valid_at, created_at ON episode BEGIN
  UPDATE mention SET valid_at = new.valid_at, recorded_at = new.created_at WHERE episode_uuid = new.uuid;
END;
CREATE TRIGGER vector_removed AFTER DELETE ON vector BEGIN
  INSERT INTO vector_removals VALUES (old.kind, old.group_id, 1)
  ON CONFLICT DO UPDATE SET count = count + 1;
END;
CREATE TRIGGER entity_vector AFTER DELETE ON entity BEGIN
  DELETE FROM vector WHERE uuid = old.uuid;
END;
CREATE TRIGGER fact_vector AFTER DELETE ON fact BEGIN
  DELETE FROM vector WHERE uuid = old.uuid;
END;
CREATE TRIGGER passage_vector AFTER DELETE ON passage BEGIN
  DELETE FROM vector WHERE uuid = old.uuid;
END;
CREATE TRIGGER community_vector AFTER DELETE ON community BEGIN
  DELETE FROM vector WHERE uuid = old.uuid;
END;
"""

# ``graphiti_extra``: what a record of Graphiti has and no column of ours holds, each a JSON list or object. It goes
# with its record; labels and metadata also when another writer changes the type or text that they were given for.
_GRAPHITI = """
CREATE TABLE graphiti_extra (
  uuid TEXT PRIMARY KEY,
  labels TEXT,
  metadata TEXT,
  facts TEXT,
  own TEXT,
  naive TEXT
) STRICT, WITHOUT ROWID;
ALTER TABLE community_member ADD COLUMN uuid TEXT;
ALTER TABLE community_member ADD COLUMN group_id TEXT;
ALTER TABLE community_member ADD COLUMN created_at INTEGER;
CREATE TABLE community_part (
  community_uuid TEXT NOT NULL REFERENCES community (uuid) ON DELETE CASCADE,
  part_uuid TEXT NOT NULL REFERENCES community (uuid) ON DELETE CASCADE,
  uuid TEXT NOT NULL,
  group_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (community_uuid, part_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX community_part_part ON community_part (part_uuid);
CREATE TRIGGER episode_text_extra AFTER UPDATE OF content, name, source_description ON episode
WHEN old.content <> new.content OR old.name <> new.name OR old.source_description <> new.source_description BEGIN
  UPDATE graphiti_extra SET labels = NULL, metadata = NULL WHERE uuid = new.uuid;
END;
CREATE TRIGGER entity_label_extra AFTER UPDATE OF label ON entity WHEN old.label IS NOT new.label BEGIN
  UPDATE graphiti_extra SET labels = NULL WHERE uuid = new.uuid;
END;
""" + "".join(
    f"""
CREATE TRIGGER {table}_extra AFTER DELETE ON {table} BEGIN
  DELETE FROM graphiti_extra WHERE uuid = old.uuid;
END;
"""
    for table in (
        *("episode", "entity", "fact", "mention", "saga", "saga_step", "episode_link", "community"),
        *("community_member", "community_part"),
    )
)

# ``apart``: two entities that are not the same, or an episode that does not mention an entity.
_UPDATES = """
ALTER TABLE change ADD COLUMN entity_before TEXT;
ALTER TABLE change ADD COLUMN entity_after TEXT;
CREATE TABLE apart (
  one TEXT NOT NULL,
  other TEXT NOT NULL,
  PRIMARY KEY (one, other)
) STRICT, WITHOUT ROWID;
CREATE INDEX apart_other ON apart (other);
""" + "".join(
    f"""
CREATE TRIGGER {table}_apart AFTER DELETE ON {table} BEGIN
  DELETE FROM apart WHERE one = old.uuid;
  DELETE FROM apart WHERE other = old.uuid;
END;
"""
    for table in ("episode", "entity")
)

HAS_CAUSE = "instr({fact}attributes, '\"because_of\"') > 0"
"""True of every fact that follows from something; no function of JSON may stand in an index of older versions."""

_CAUSES = f"""
ALTER TABLE episode ADD COLUMN confidential INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fact_because_of ON fact (group_id) WHERE {HAS_CAUSE.format(fact="")};
CREATE INDEX change_proposed ON change (group_id, fact_uuid) WHERE kind = 'proposed';
CREATE INDEX fact_measure ON fact (group_id, measure) WHERE kind = 'reading';
"""

# A row of ``episode_stems`` goes when the text does: who writes the text writes the row after it.
_STEMS = """
CREATE TABLE episode_stems (
  episode_uuid TEXT PRIMARY KEY REFERENCES episode (uuid) ON DELETE CASCADE,
  length INTEGER NOT NULL,
  stems TEXT NOT NULL
) STRICT;
CREATE TRIGGER episode_text_stems AFTER UPDATE OF content, name ON episode
WHEN old.content <> new.content OR old.name <> new.name BEGIN
  DELETE FROM episode_stems WHERE episode_uuid = new.uuid;
END;
"""

_TYPES = """
CREATE INDEX entity_label ON entity (group_id, label COLLATE NOCASE, created_at DESC, uuid) WHERE label IS NOT NULL;
"""

# ``valid_at`` of an entry is its episode's. What is left of an entry whose project is gone is an entry without one.
_PROJECTS = """
CREATE TABLE project (
  uuid TEXT PRIMARY KEY REFERENCES entity (uuid) ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  metadata TEXT NOT NULL,
  pins TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX project_created ON project (group_id, created_at DESC, uuid);
CREATE TABLE entry (
  uuid TEXT PRIMARY KEY REFERENCES episode (uuid) ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  type TEXT NOT NULL,
  project_uuid TEXT REFERENCES project (uuid) ON DELETE SET NULL,
  metadata TEXT NOT NULL,
  links_names INTEGER NOT NULL,
  valid_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_project ON entry (project_uuid, valid_at DESC, uuid);
CREATE INDEX entry_group ON entry (group_id, valid_at DESC, uuid);
CREATE TRIGGER entry_moved AFTER UPDATE OF valid_at ON episode BEGIN
  UPDATE entry SET valid_at = new.valid_at WHERE uuid = new.uuid;
END;
"""

_SOURCES = """
CREATE INDEX search_text_source ON search_text (part) WHERE part = 'source';
"""

_WORDS = """
ALTER TABLE change ADD COLUMN previous_start_words TEXT;
ALTER TABLE change ADD COLUMN previous_end_words TEXT;
"""

# Graphiti's own code stores entities without a row in ``name``; they are few, and found by their names all the same.
_NAMELESS = """
CREATE TABLE nameless (
  group_id TEXT NOT NULL,
  entity_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  PRIMARY KEY (group_id, entity_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX nameless_entity ON nameless (entity_uuid);
INSERT INTO nameless SELECT n.group_id, n.uuid FROM entity n
  WHERE NOT EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = n.uuid);
CREATE TRIGGER entity_nameless AFTER INSERT ON entity
WHEN NOT EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = new.uuid) BEGIN
  INSERT INTO nameless VALUES (new.group_id, new.uuid);
END;
CREATE TRIGGER name_given AFTER INSERT ON name BEGIN
  DELETE FROM nameless WHERE entity_uuid = new.entity_uuid;
END;
CREATE TRIGGER name_taken AFTER DELETE ON name
WHEN NOT EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = old.entity_uuid) BEGIN
  INSERT OR IGNORE INTO nameless SELECT n.group_id, n.uuid FROM entity n WHERE n.uuid = old.entity_uuid;
END;
"""

# ``quality``: what librarians say of an entity. ``write_origin``: who made a write, which made all records of its group
# with its time; no two writes of a group have the same.
_CURATION = """
CREATE TABLE quality (
  uuid TEXT PRIMARY KEY REFERENCES entity (uuid) ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  flag_reason TEXT,
  flagged_at INTEGER,
  flagged_by TEXT,
  similar_to TEXT NOT NULL,
  note TEXT,
  cleared_at INTEGER,
  cleared_by TEXT,
  confidence REAL,
  confidence_reason TEXT,
  confidence_at INTEGER,
  confidence_by TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX quality_flagged ON quality (group_id, flagged_at DESC, uuid) WHERE flagged_at IS NOT NULL;
CREATE INDEX quality_confidence ON quality (group_id, confidence, uuid) WHERE confidence IS NOT NULL;
CREATE TABLE write_origin (
  group_id TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  token TEXT,
  source_type TEXT NOT NULL,
  PRIMARY KEY (group_id, recorded_at)
) STRICT, WITHOUT ROWID;
"""

# ``merge_part``: what a merge of two entities did, for undoing it. ``former_uuid``: the uuids of entities that are gone
# into others, each with the one that it means now.
_MERGES = """
CREATE TABLE merge_part (
  uuid TEXT NOT NULL,
  place INTEGER NOT NULL,
  group_id TEXT NOT NULL,
  kept_uuid TEXT NOT NULL,
  removed_uuid TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  is_last INTEGER NOT NULL,
  is_undone INTEGER NOT NULL DEFAULT 0,
  content TEXT NOT NULL,
  PRIMARY KEY (uuid, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_part_group ON merge_part (group_id);
CREATE INDEX merge_part_kept ON merge_part (kept_uuid);
CREATE INDEX merge_part_removed ON merge_part (removed_uuid);
CREATE TABLE former_uuid (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  entity_uuid TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX former_uuid_entity ON former_uuid (entity_uuid);
CREATE INDEX former_uuid_group ON former_uuid (group_id);
"""

# What a curator adds to the score of an entity. Its counters are in a table of the journal.
_BIAS = """
ALTER TABLE quality ADD COLUMN bias REAL;
ALTER TABLE quality ADD COLUMN bias_reason TEXT;
ALTER TABLE quality ADD COLUMN bias_at INTEGER;
ALTER TABLE quality ADD COLUMN bias_by TEXT;
"""

# A document is a version of a file. ``section``: its episodes in order, which versions share where nothing changed.
# ``instance``: a quote, placed by the passages that it stands in; it goes with any of them.
_DOCUMENTS = """
CREATE TABLE document (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  version INTEGER NOT NULL,
  digest TEXT NOT NULL,
  front TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX document_name ON document (group_id, name, version DESC);
CREATE INDEX document_digest ON document (group_id, digest, created_at DESC, uuid);
CREATE TABLE section (
  document_uuid TEXT NOT NULL REFERENCES document (uuid) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  episode_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  paragraph INTEGER NOT NULL,
  PRIMARY KEY (document_uuid, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX section_episode ON section (episode_uuid);
CREATE TABLE instance (
  uuid TEXT PRIMARY KEY,
  group_id TEXT NOT NULL,
  entity_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  document_uuid TEXT NOT NULL REFERENCES document (uuid) ON DELETE CASCADE,
  episode_uuid TEXT NOT NULL REFERENCES episode (uuid) ON DELETE CASCADE,
  passages TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX instance_entity ON instance (entity_uuid);
CREATE INDEX instance_document ON instance (document_uuid);
CREATE INDEX instance_episode ON instance (episode_uuid);
"""

# What checks of a whole group keep with an entity, and the index by which they find new ones.
_CHECKS = """
ALTER TABLE quality ADD COLUMN checks TEXT NOT NULL DEFAULT '[]';
ALTER TABLE quality ADD COLUMN found_with TEXT NOT NULL DEFAULT '[]';
ALTER TABLE quality ADD COLUMN approved_at INTEGER;
CREATE INDEX entity_recorded ON entity (group_id, created_at, uuid);
"""

_MIGRATIONS: tuple[str | Callable[[sqlite3.Connection], None], ...] = (
    *(_FIRST, _GRAPHITI, _UPDATES, _CAUSES, _STEMS, _TYPES, _PROJECTS, _SOURCES, _WORDS, _NAMELESS, RELEVANCE),
    *(_CURATION, _MERGES, _BIAS, _DOCUMENTS, _CHECKS, remove_vectors_without_speaker, tell_numbers_apart),
)
"""The n-th leads from version n to n + 1; a published one never changes."""


def require_sqlite() -> None:
    """Raises ConfigurationError if the library that Python was built with is too old."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        oldest = ".".join(map(str, OLDEST_SQLITE))
        raise ConfigurationError(
            f"This Python has SQLite {sqlite3.sqlite_version}; {oldest} or newer is needed. Use a newer Python, for "
            "instance one that uv or python.org installs."
        )


def prepare(connection: sqlite3.Connection) -> None:
    """Make the tables, or migrate older ones; inside a write transaction. Raises NewerSchema."""
    has_tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'graph_meta'").fetchone()
    found = 0 if has_tables is None else _version(connection)
    if found > SCHEMA_VERSION:
        raise NewerSchema(
            f"This memory has schema version {found}, this version of graphiti-pkm knows {SCHEMA_VERSION}: install the "
            "newer version that wrote it. Nothing was changed."
        )
    for migration in _MIGRATIONS[found:]:
        if callable(migration):
            migration(connection)
        for statement in () if callable(migration) else _statements(migration):
            connection.execute(statement)
    if found < SCHEMA_VERSION:
        connection.execute("INSERT OR REPLACE INTO graph_meta VALUES ('schema_version', ?)", (str(SCHEMA_VERSION),))
    if not found:
        _begin(connection)


def _begin(connection: sqlite3.Connection) -> None:
    """Mark the tables as new ones: the numbers of vectors, which caches compare, begin again."""
    connection.execute("INSERT OR REPLACE INTO graph_meta VALUES ('origin', lower(hex(randomblob(16))))")


def _version(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute("SELECT value FROM graph_meta WHERE key = 'schema_version'").fetchone()
    return int(found)


def _statements(script: str) -> list[str]:
    """Single statements: ``executescript`` would commit the transaction that it runs in."""
    statements: list[str] = []
    begun = ""
    for line in script.splitlines(keepends=True):
        begun += line
        if sqlite3.complete_statement(begun):
            statements.append(begun)
            begun = ""
    return statements


def clear(connection: sqlite3.Connection) -> None:
    """Delete everything, markers too; inside a write transaction."""
    connection.execute("PRAGMA defer_foreign_keys = ON")
    connection.execute("INSERT INTO word_index (word_index) VALUES ('delete-all')")
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%STRICT%' AND name <> 'graph_meta'"
    )
    for (table,) in tables.fetchall():
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM graph_meta WHERE key <> 'schema_version'")
    _begin(connection)
