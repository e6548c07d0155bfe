"""The stems of each episode, counted when it is written, so that a search reads no text to rank by words.

A row is text: each stem with its count between spaces, so that one is found without taking the others apart. An episode
without a row was written by an earlier version, or its text was changed by another writer: it is counted when a search
reads it, until ``fill`` gives it a row.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence

from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.stems import EpisodeWords, StemCounts, counted, text_stems
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list, moment

_MISSING = "NOT EXISTS (SELECT 1 FROM episode_stems s WHERE s.episode_uuid = e.uuid)"


def put(db: sqlite3.Connection, uuid: str, name: str, content: str) -> None:
    """The stems of an episode, in place of those it had."""
    words = text_stems(episode_text(name, content))
    db.execute(
        """INSERT INTO episode_stems (episode_uuid, length, stems) VALUES (?, ?, ?)
        ON CONFLICT (episode_uuid) DO UPDATE SET length = excluded.length, stems = excluded.stems""",
        (uuid, words.total(), _kept(words)),
    )


def is_any_missing(db: sqlite3.Connection) -> bool:
    """Whether ``fill`` has something to do."""
    found = db.execute(f"SELECT 1 FROM episode e WHERE {_MISSING} LIMIT 1").fetchone()
    return found is not None


def fill(db: sqlite3.Connection, limit: int) -> int:
    """Count the stems of up to ``limit`` episodes that have no row; returns how many there were."""
    found = db.execute(f"SELECT e.uuid, e.name, e.content FROM episode e WHERE {_MISSING} LIMIT ?", (limit,)).fetchall()
    for row in found:
        put(db, row["uuid"], row["name"], row["content"])
    return len(found)


def episode_words(
    db: sqlite3.Connection, uuids: Sequence[str], stems: Sequence[str], parts: Sequence[str], group_ids: Sequence[str]
) -> dict[str, EpisodeWords]:
    """How often each episode has the stems, and words that contain ``parts``."""
    found = db.execute(
        f"""SELECT e.uuid, e.group_id, e.valid_at, e.created_at, s.length, s.stems,
          CASE WHEN s.stems IS NULL THEN e.name END AS name, CASE WHEN s.stems IS NULL THEN e.content END AS content
        FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value
        LEFT JOIN episode_stems s ON s.episode_uuid = e.uuid WHERE e.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)},
    )
    asked = [(one, f" {one}:") for one in stems]
    words: dict[str, EpisodeWords] = {}
    for uuid, group_id, valid_at, created_at, length, kept, name, content in found:
        if kept is None:
            counts = counted(text_stems(episode_text(name, content)), stems, parts)
        elif any(part in kept for part in parts):
            counts = counted(_read(kept), stems, parts)
        else:
            found_counts: dict[str, int] = {}
            for one, key in asked:
                if (at := kept.find(key)) >= 0:
                    start = at + len(key)
                    found_counts[one] = int(kept[start : kept.index(" ", start)])
            counts = StemCounts(length, found_counts)
        words[uuid] = EpisodeWords(Place(uuid, group_id, moment(valid_at), moment(created_at)), counts)
    return words


def episode_text(name: str, content: str) -> str:
    """What of an episode is searched."""
    return f"{name} {content}"


def _kept(words: Mapping[str, int]) -> str:
    return f" {' '.join(f'{word}:{often}' for word, often in words.items())} "


def _read(kept: str) -> Counter[str]:
    pairs = (each.rsplit(":", 1) for each in kept.split())
    return Counter({word: int(often) for word, often in pairs})
