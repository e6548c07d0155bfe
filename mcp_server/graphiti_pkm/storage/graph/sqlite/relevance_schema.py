"""What is kept of an entity's part in a project, and the triggers that keep it: no writer can go past them.

``relevant_to`` counts the entries of the project that mention an entity, and those of the entities they mention that
facts join with it for good. ``relevant_link`` has a row for each such fact, and for each that begins or ends some day
(``is_steady`` 0), which is counted when it is read. Both follow from the other tables alone.
"""

_DAWN, _DUSK = -(2**62), 2**62
"""Those of ``schema``; a migration keeps its own, because a published one never changes."""


def named(entity_uuid: str) -> str:
    """Not a value, a measure or the person."""
    return f"""(NOT EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = {entity_uuid})
    OR EXISTS (SELECT 1 FROM name k WHERE k.entity_uuid = {entity_uuid} AND k.is_linkable))"""


def _is_kept(fact: str) -> str:
    return (
        f"{fact}.source_uuid <> {fact}.target_uuid AND {fact}.kind <> 'plan' AND NOT {fact}.voided "
        f"AND {fact}.expired_at IS NULL"
    )


def _link(fact: str, project: str, entity: str, other: str) -> str:
    """The columns of a link."""
    return f"""{project}, {fact}.{entity}, {fact}.{other}, {fact}.uuid,
    coalesce({fact}.valid_at, {fact}.reference_time, {fact}.created_at), coalesce({fact}.valid_at, {_DAWN}),
    coalesce({fact}.invalid_at, {_DUSK}),
    {fact}.invalid_at IS NULL AND ({fact}.valid_at IS NULL OR {fact}.valid_at <= {fact}.created_at)"""


_ENDS = (("source_uuid", "target_uuid"), ("target_uuid", "source_uuid"))


def _is_own(row: str) -> str:
    """An entity that entries of the project mention; the project itself is none."""
    return f"({row}.mentions > 0 AND {row}.is_named AND {row}.entity_uuid <> {row}.project_uuid)"


_LINKS_OF_FACT = "".join(
    f"""
  INSERT INTO relevant_link SELECT {_link("new", "r.project_uuid", entity, other)}
    FROM relevant_to r JOIN project p ON p.uuid = r.project_uuid AND p.group_id = new.group_id
    WHERE r.entity_uuid = new.{other} AND {_is_own("r")} AND r.project_uuid <> new.{entity} AND {_is_kept("new")};"""
    for entity, other in _ENDS
)
_LINKS_OF_ENTITY = "".join(
    f"""
  INSERT INTO relevant_link SELECT {_link("f", "new.project_uuid", entity, other)}
    FROM project p JOIN fact f ON f.{other} = new.entity_uuid AND f.group_id = p.group_id
    WHERE p.uuid = new.project_uuid AND f.{entity} <> new.project_uuid AND {_is_kept("f")};"""
    for entity, other in _ENDS
)
_WHAT_DECIDES = (
    *("group_id", "source_uuid", "target_uuid", "kind", "voided", "expired_at"),
    *("valid_at", "invalid_at", "reference_time", "created_at"),
)
_LAST_MENTION = """(SELECT m.valid_at FROM mention m JOIN entry y ON y.uuid = m.episode_uuid
    WHERE m.entity_uuid = relevant_to.entity_uuid AND y.project_uuid = relevant_to.project_uuid
    ORDER BY m.valid_at DESC LIMIT 1)"""


def _mentioned(project: str, mentions: str) -> str:
    """Count up; ``mentions``: from and where of rows of mention called m."""
    return f"""
  INSERT INTO relevant_to (project_uuid, entity_uuid, mentions, mentioned_at, connections, is_named)
    SELECT {project}, m.entity_uuid, 1, m.valid_at, 0, {named("m.entity_uuid")} {mentions}
    ON CONFLICT DO UPDATE SET mentions = mentions + 1,
      mentioned_at = max(coalesce(mentioned_at, excluded.mentioned_at), excluded.mentioned_at);"""


def _mentioned_no_more(project: str, which: str) -> str:
    return f"""
  UPDATE relevant_to SET mentions = mentions - 1, mentioned_at = {_LAST_MENTION}
    WHERE project_uuid = {project} AND {which};"""


def _renamed(which: str) -> str:
    return f"""
  UPDATE relevant_to SET is_named = NOT is_named
    WHERE {which} AND is_named <> {named("relevant_to.entity_uuid")};"""


_OF_ENTRY = "entity_uuid IN (SELECT m.entity_uuid FROM mention m WHERE m.episode_uuid = old.uuid)"
_ENTRY_MENTIONS = "FROM mention m WHERE m.episode_uuid = new.uuid AND new.project_uuid IS NOT NULL"

RELEVANCE = f"""
CREATE TABLE relevant_to (
  project_uuid TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  entity_uuid TEXT NOT NULL REFERENCES entity (uuid) ON DELETE CASCADE,
  mentions INTEGER NOT NULL,
  mentioned_at INTEGER,
  connections INTEGER NOT NULL,
  linked_at INTEGER,
  is_named INTEGER NOT NULL,
  PRIMARY KEY (project_uuid, entity_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX relevant_to_entity ON relevant_to (entity_uuid, mentions);
CREATE TABLE relevant_link (
  project_uuid TEXT NOT NULL REFERENCES project (uuid) ON DELETE CASCADE,
  entity_uuid TEXT NOT NULL,
  other_uuid TEXT NOT NULL,
  fact_uuid TEXT NOT NULL,
  at INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  ends INTEGER NOT NULL,
  is_steady INTEGER NOT NULL,
  PRIMARY KEY (project_uuid, entity_uuid, other_uuid, fact_uuid)
) STRICT, WITHOUT ROWID;
CREATE INDEX relevant_link_fact ON relevant_link (fact_uuid);
CREATE INDEX relevant_link_last ON relevant_link (project_uuid, entity_uuid, at) WHERE is_steady;
CREATE INDEX relevant_link_ends ON relevant_link (project_uuid, ends) WHERE NOT is_steady;

CREATE TRIGGER relevant_by_fact AFTER INSERT ON fact WHEN {_is_kept("new")} BEGIN {_LINKS_OF_FACT}
END;
CREATE TRIGGER relevant_by_changed_fact AFTER UPDATE OF {", ".join(_WHAT_DECIDES)} ON fact
WHEN {" OR ".join(f"old.{column} IS NOT new.{column}" for column in _WHAT_DECIDES)} BEGIN
  DELETE FROM relevant_link WHERE fact_uuid = old.uuid;{_LINKS_OF_FACT}
END;
CREATE TRIGGER relevant_without_fact AFTER DELETE ON fact BEGIN
  DELETE FROM relevant_link WHERE fact_uuid = old.uuid;
END;

CREATE TRIGGER relevant_link_added AFTER INSERT ON relevant_link WHEN new.is_steady BEGIN
  INSERT INTO relevant_to VALUES (new.project_uuid, new.entity_uuid, 0, NULL, 1, new.at, {named("new.entity_uuid")})
  ON CONFLICT DO UPDATE SET linked_at = max(coalesce(linked_at, excluded.linked_at), excluded.linked_at),
    connections = connections + NOT EXISTS (SELECT 1 FROM relevant_link l WHERE l.project_uuid = new.project_uuid
      AND l.entity_uuid = new.entity_uuid AND l.other_uuid = new.other_uuid AND l.fact_uuid <> new.fact_uuid
      AND l.is_steady);
END;
CREATE TRIGGER relevant_link_removed AFTER DELETE ON relevant_link WHEN old.is_steady BEGIN
  UPDATE relevant_to SET linked_at = (SELECT max(l.at) FROM relevant_link l WHERE l.project_uuid = old.project_uuid
      AND l.entity_uuid = old.entity_uuid AND l.is_steady),
    connections = connections - NOT EXISTS (SELECT 1 FROM relevant_link l WHERE l.project_uuid = old.project_uuid
      AND l.entity_uuid = old.entity_uuid AND l.other_uuid = old.other_uuid AND l.is_steady)
  WHERE project_uuid = old.project_uuid AND entity_uuid = old.entity_uuid;
END;

CREATE TRIGGER relevant_own AFTER INSERT ON relevant_to WHEN {_is_own("new")} BEGIN {_LINKS_OF_ENTITY}
END;
CREATE TRIGGER relevant_own_now AFTER UPDATE OF mentions, is_named ON relevant_to
WHEN {_is_own("new")} AND NOT {_is_own("old")} BEGIN {_LINKS_OF_ENTITY}
END;
CREATE TRIGGER relevant_own_no_more AFTER UPDATE OF mentions, is_named ON relevant_to
WHEN {_is_own("old")} AND NOT {_is_own("new")} BEGIN
  DELETE FROM relevant_link WHERE project_uuid = new.project_uuid AND other_uuid = new.entity_uuid AND fact_uuid IN (
    SELECT uuid FROM fact WHERE source_uuid = new.entity_uuid
    UNION ALL SELECT uuid FROM fact WHERE target_uuid = new.entity_uuid);
END;
CREATE TRIGGER relevant_no_more AFTER UPDATE OF mentions, connections ON relevant_to
WHEN new.mentions = 0 AND new.connections = 0 BEGIN
  DELETE FROM relevant_to WHERE project_uuid = new.project_uuid AND entity_uuid = new.entity_uuid;
END;

CREATE TRIGGER relevant_by_mention AFTER INSERT ON mention BEGIN {
    _mentioned(
        "y.project_uuid",
        "FROM entry y JOIN mention m ON m.episode_uuid = y.uuid AND m.entity_uuid = new.entity_uuid "
        "WHERE y.uuid = new.episode_uuid AND y.project_uuid IS NOT NULL",
    )
}
END;
CREATE TRIGGER relevant_by_moved_mention AFTER UPDATE OF valid_at ON mention BEGIN
  UPDATE relevant_to SET mentioned_at = {_LAST_MENTION} WHERE entity_uuid = new.entity_uuid
    AND project_uuid = (SELECT y.project_uuid FROM entry y WHERE y.uuid = new.episode_uuid);
END;
CREATE TRIGGER relevant_without_mention AFTER DELETE ON mention BEGIN {
    _mentioned_no_more(
        "(SELECT y.project_uuid FROM entry y WHERE y.uuid = old.episode_uuid)", "entity_uuid = old.entity_uuid"
    )
}
END;
CREATE TRIGGER relevant_by_entry AFTER INSERT ON entry BEGIN {_mentioned("new.project_uuid", _ENTRY_MENTIONS)}
END;
CREATE TRIGGER relevant_by_moved_entry AFTER UPDATE OF project_uuid ON entry
WHEN old.project_uuid IS NOT new.project_uuid BEGIN {_mentioned_no_more("old.project_uuid", _OF_ENTRY)}{
    _mentioned("new.project_uuid", _ENTRY_MENTIONS)
}
END;
CREATE TRIGGER relevant_without_entry AFTER DELETE ON entry BEGIN {_mentioned_no_more("old.project_uuid", _OF_ENTRY)}
END;

CREATE TRIGGER relevant_by_name AFTER INSERT ON name BEGIN {_renamed("entity_uuid = new.entity_uuid")}
END;
CREATE TRIGGER relevant_by_other_name AFTER UPDATE OF entity_uuid, is_linkable ON name BEGIN {
    _renamed("entity_uuid IN (old.entity_uuid, new.entity_uuid)")
}
END;
CREATE TRIGGER relevant_without_name AFTER DELETE ON name BEGIN {_renamed("entity_uuid = old.entity_uuid")}
END;

INSERT INTO relevant_to (project_uuid, entity_uuid, mentions, mentioned_at, connections, is_named)
  SELECT y.project_uuid, m.entity_uuid, count(*), max(m.valid_at), 0, {named("m.entity_uuid")}
  FROM entry y JOIN mention m ON m.episode_uuid = y.uuid WHERE y.project_uuid IS NOT NULL
  GROUP BY y.project_uuid, m.entity_uuid
  ON CONFLICT DO UPDATE SET mentions = excluded.mentions, mentioned_at = excluded.mentioned_at;
"""
