"""Vectors as such: of which model they are, what has none, taking them away."""

import sqlite3
from collections.abc import Sequence

from graphiti_pkm.core.model.passages import embedded_text
from graphiti_pkm.core.model.records import EmbeddedFact, Vectors
from graphiti_pkm.core.ports.embedding import EmbeddingSize, TextToEmbed
from graphiti_pkm.storage.graph.sqlite import values
from graphiti_pkm.storage.graph.sqlite.vector_cache import loaded

_MISSING = "NOT EXISTS (SELECT 1 FROM vector v WHERE v.uuid = r.uuid)"
_LENGTHS = {"entity": "length(r.name)", "fact": "length(r.text)", "passage": 'r."end" - r.start'}


def recorded(db: sqlite3.Connection) -> tuple[str, int] | None:
    """The recorded model and dimension; None before the first."""
    found = dict(db.execute("SELECT key, value FROM graph_meta WHERE key IN ('model', 'dimension')").fetchall())
    return (found["model"], int(found["dimension"])) if len(found) == len(("model", "dimension")) else None


def record(db: sqlite3.Connection, model: str, dimension: int) -> None:
    """Record model and dimension once; what is recorded already stays."""
    db.executemany(
        "INSERT INTO graph_meta VALUES (?, ?) ON CONFLICT DO NOTHING", [("model", model), ("dimension", str(dimension))]
    )


def change(db: sqlite3.Connection, model: str, dimension: int) -> None:
    """Record another model and dimension in place of the recorded ones."""
    db.executemany("INSERT OR REPLACE INTO graph_meta VALUES (?, ?)", [("model", model), ("dimension", str(dimension))])


def remove(db: sqlite3.Connection, limit: int) -> int:
    """Remove up to ``limit`` vectors; returns how many were removed."""
    return db.execute("DELETE FROM vector WHERE id IN (SELECT id FROM vector LIMIT ?)", (limit,)).rowcount


def missing(db: sqlite3.Connection, group_id: str, limit: int) -> list[TextToEmbed]:
    """Records of a group that have no vector: entities first, then passages, then facts, each by uuid."""
    texts = [
        TextToEmbed(kind="entity", uuid=row["uuid"], text=row["name"])
        for row in db.execute(
            f"SELECT r.uuid, r.name FROM entity r WHERE r.group_id = ? AND {_MISSING} ORDER BY r.uuid LIMIT ?",
            (group_id, limit),
        )
    ]
    if len(texts) < limit:
        texts += [
            TextToEmbed(
                kind="passage",
                uuid=row["uuid"],
                text=embedded_text(row["content"], row["source"], row["start"], row["end"]),
                episode_uuid=row["episode_uuid"],
            )
            for row in db.execute(
                f"""SELECT r.*, e.content, e.source FROM episode e JOIN passage r ON r.episode_uuid = e.uuid
                WHERE e.group_id = ? AND {_MISSING} ORDER BY r.uuid LIMIT ?""",
                (group_id, limit - len(texts)),
            )
        ]
    if len(texts) < limit:
        texts += [
            TextToEmbed(
                kind="fact",
                uuid=row["uuid"],
                text=row["text"],
                fact=EmbeddedFact(
                    uuid=row["uuid"],
                    source_uuid=row["source_uuid"],
                    target_uuid=row["target_uuid"],
                    episodes=_episodes(db, row["uuid"]),
                ),
            )
            for row in db.execute(
                f"""SELECT r.uuid, r.text, r.source_uuid, r.target_uuid FROM fact r WHERE r.group_id = ? AND {_MISSING}
                ORDER BY r.uuid LIMIT ?""",
                (group_id, limit - len(texts)),
            ).fetchall()
        ]
    return texts


def of(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> Vectors:
    """The vectors of records, for a write that copies them."""
    found = db.execute(
        """SELECT v.uuid, v.data FROM json_each(?) u JOIN vector v ON v.uuid = u.value
        WHERE v.group_id IN (SELECT value FROM json_each(?))""",
        (values.as_list(uuids), values.as_list(group_ids)),
    )
    return {row["uuid"]: loaded(row["data"]) for row in found}


def _episodes(db: sqlite3.Connection, fact_uuid: str) -> tuple[str, ...]:
    found = db.execute("SELECT episode_uuid FROM fact_episode WHERE fact_uuid = ? ORDER BY place", (fact_uuid,))
    return tuple(row[0] for row in found)


def size(db: sqlite3.Connection, *, only_missing: bool) -> EmbeddingSize:
    """The size of the texts of the whole memory, or of the records without a vector."""
    where = f"WHERE {_MISSING}" if only_missing else ""
    counts: dict[str, int] = {}
    characters = 0
    for kind, length in _LENGTHS.items():
        row = values.one(db, f"SELECT count(*) AS n, coalesce(sum({length}), 0) AS length FROM {kind} r {where}")
        if row is not None:
            counts[kind] = row["n"]
            characters += row["length"]
    return EmbeddingSize(
        entities=counts["entity"], facts=counts["fact"], passages=counts["passage"], characters=characters
    )
