"""The migration to vectors of messages that have their speaker in front.

Most first passages begin with the speaker. The others lose their vectors, here and in the journal, which is in the same
file, if there is one, and whose queue makes new ones.
"""

import sqlite3

_LATER_PASSAGES = """SELECT p.uuid FROM episode e JOIN passage p ON p.episode_uuid = e.uuid
  WHERE e.source = 'message' AND p.start > 0"""
_IN_THE_JOURNAL = (
    f"""INSERT INTO jobs (seq, group_id, payload, state, not_before)
    SELECT max(w.seq), w.group_id, '{{"kind":"embed_missing"}}', 'queued', 0 FROM writes w
    WHERE w.group_id IN (SELECT v.group_id FROM vector v WHERE v.uuid IN ({_LATER_PASSAGES}))
    GROUP BY w.group_id""",
    f"""UPDATE contents SET vector_uuids = (
      SELECT json_group_array(iif(value IN ({_LATER_PASSAGES}), '', value)) FROM json_each(contents.vector_uuids)
    ) WHERE EXISTS (SELECT 1 FROM json_each(contents.vector_uuids) WHERE value IN ({_LATER_PASSAGES}))""",
)


def remove_vectors_without_speaker(connection: sqlite3.Connection) -> None:
    """Inside a write transaction. A graph that Graphiti's own code writes has no journal."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'jobs'").fetchone() is not None:
        for statement in _IN_THE_JOURNAL:
            connection.execute(statement)
    connection.execute(f"DELETE FROM vector WHERE uuid IN ({_LATER_PASSAGES})")
