"""What everything that writes to the tables has in common; always inside one transaction."""

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.graph.queries.search import (
    searchable,
    searchable_entity,
    searchable_fact,
    searchable_with_parts,
)
from graphiti_pkm.storage.graph.queries.values import checked_text
from graphiti_pkm.storage.graph.sqlite import episode_stems, values, words
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, EPISODE, FACT
from graphiti_pkm.storage.graph.sqlite.values import as_list
from graphiti_pkm.storage.graph.sqlite.vector_cache import stored

SOURCE = "source"
"""The part of an episode's words that describes where it comes from."""


@cache
def _upserting(table: str, columns: tuple[str, ...], kept: tuple[tuple[str, str], ...]) -> str:
    """The statement, which takes longer to put together than SQLite takes to find it among those it knows."""
    combined = dict(kept)
    names = ", ".join(f'"{column}"' for column in columns)
    updates = ", ".join(
        f'"{column}" = {combined.get(column, f"""excluded."{column}" """)}' for column in columns if column != "uuid"
    )
    return (
        f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))}) "
        f"ON CONFLICT (uuid) DO UPDATE SET {updates}"
    )


class Tables:
    """Rows with their words and vectors."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._prefixes: dict[tuple[str, str], str] = {}
        self.renamed: set[str] = set()
        """Groups whose names changed."""

    # Rows

    def upsert(self, table: str, row: dict[str, object], **kept: str) -> None:
        """Insert the row, or give the one with its uuid these values; ``kept``: columns that are combined instead."""
        values.checked_row(list(row.values()))
        self.db.execute(_upserting(table, tuple(row), tuple(kept.items())), list(row.values()))

    def set_fact_episodes(self, fact_uuid: str, episode_uuids: Sequence[str]) -> None:
        """Set the episodes that support the fact, in this order."""
        self.db.execute("DELETE FROM fact_episode WHERE fact_uuid = ?", (fact_uuid,))
        self.db.executemany(
            "INSERT INTO fact_episode VALUES (?, ?, ?)",
            [(fact_uuid, place, uuid) for place, uuid in enumerate(episode_uuids)],
        )

    # Groups

    def group_number(self, group_id: str) -> int:
        """The number of the group; assigns one if it has none."""
        self.db.execute("INSERT INTO groups (group_id) VALUES (?) ON CONFLICT DO NOTHING", (checked_text(group_id),))
        (number,) = self.db.execute("SELECT id FROM groups WHERE group_id = ?", (group_id,)).fetchone()
        return int(number)

    def recount(self, group_ids: Iterable[str]) -> None:
        """Record whether groups of which something was deleted still hold anything."""
        for group in dict.fromkeys(group_ids):
            self.db.execute(
                """UPDATE groups SET holds = EXISTS (SELECT 1 FROM episode WHERE group_id = ?1)
                OR EXISTS (SELECT 1 FROM entity WHERE group_id = ?1) WHERE group_id = ?1""",
                (group,),
            )

    def tell_names(self) -> None:
        """Give the book of names a new version, which is later than the old one even if the clock was set back."""
        for group in self.renamed:
            self.group_number(group)
            self.db.execute(
                "UPDATE groups SET names_version = max(names_version + 1, ?) WHERE group_id = ?",
                (time.time_ns() // 1_000, group),
            )

    # Words

    def prefix(self, group_id: str, kind: str) -> str:
        """What stands before the words of the group's records of a kind."""
        if (group_id, kind) not in self._prefixes:
            self._prefixes[group_id, kind] = words.prefix(self.group_number(group_id), kind)
        return self._prefixes[group_id, kind]

    def episode_words(self, uuid: str, group_id: str, name: str, content: str) -> None:
        """Index an episode's words and stems; the words of its source are removed until ``source_words`` adds them."""
        before = self.prefix(group_id, EPISODE)
        words.remove(self.db, before, uuid, kept_parts=[""])
        words.put(self.db, before, uuid, "", searchable_with_parts(episode_stems.episode_text(name, content)))
        episode_stems.put(self.db, uuid, name, content)

    def source_words(self, uuid: str, group_id: str, source_description: str) -> None:
        """Index the words of the source description, by which an episode is found as well."""
        words.put(self.db, self.prefix(group_id, EPISODE), uuid, SOURCE, searchable(source_description))

    def entity_words(self, uuid: str, group_id: str, name: str, summary: str, attributes: Mapping[str, object]) -> None:
        found = searchable_entity(name, summary, attributes)
        words.put(self.db, self.prefix(group_id, ENTITY), uuid, "", found)

    def fact_words(self, uuid: str, group_id: str, relation: str, text: str, quote: str | None) -> None:
        words.put(self.db, self.prefix(group_id, FACT), uuid, "", searchable_fact(relation, text, quote))

    def community_words(self, uuid: str, group_id: str, name: str) -> None:
        words.put(self.db, self.prefix(group_id, COMMUNITY), uuid, "", searchable(name))

    # Vectors

    def put_vector(self, kind: str, uuid: str, group_id: str, owner: str, vector: Vector) -> None:
        """Store a vector in place of an older one, under a new number: what is in memory follows the numbers."""
        self.db.execute("DELETE FROM vector WHERE uuid = ?", (uuid,))
        self.db.execute(
            "INSERT INTO vector (uuid, kind, group_id, owner, data) VALUES (?, ?, ?, ?, ?)",
            (uuid, kind, group_id, owner, stored(vector)),
        )

    # What goes

    def delete_facts(self, uuids: Sequence[str]) -> None:
        for uuid in uuids:
            found = self.db.execute("DELETE FROM fact WHERE uuid = ? RETURNING group_id", (uuid,)).fetchone()
            if found is not None:
                words.remove(self.db, self.prefix(found["group_id"], FACT), uuid)

    def delete_entity(self, uuid: str) -> None:
        """Delete an entity with its facts and names."""
        db = self.db
        db.execute("DELETE FROM merge_part WHERE kept_uuid = ?1 OR removed_uuid = ?1", (uuid,))
        db.execute("DELETE FROM former_uuid WHERE uuid = ?1 OR entity_uuid = ?1", (uuid,))
        db.execute(
            """UPDATE change SET reason = NULL, entity_before = NULL, entity_after = NULL, source_uuid = NULL
            WHERE fact_uuid = ?""",
            (uuid,),
        )
        found = values.one(db, "SELECT group_id FROM entity WHERE uuid = ?", (uuid,))
        if found is None:
            return
        self.renamed.add(found["group_id"])
        joined = db.execute(
            "SELECT uuid FROM fact WHERE source_uuid = ?1 UNION SELECT uuid FROM fact WHERE target_uuid = ?1", (uuid,)
        )
        facts = [row[0] for row in joined.fetchall()]
        db.executemany("UPDATE change SET reason = NULL WHERE fact_uuid = ?", [(fact,) for fact in facts])
        self.delete_facts(facts)
        db.execute("DELETE FROM name WHERE entity_uuid = ?", (uuid,))
        words.remove(db, self.prefix(found["group_id"], ENTITY), uuid)
        db.execute("DELETE FROM entity WHERE uuid = ?", (uuid,))

    def delete_episode(self, uuid: str) -> None:
        found = self.db.execute("DELETE FROM episode WHERE uuid = ? RETURNING group_id", (uuid,)).fetchone()
        if found is not None:
            words.remove(self.db, self.prefix(found["group_id"], EPISODE), uuid)

    def delete_communities(self, uuids: Sequence[str]) -> None:
        found = self.db.execute(
            "SELECT uuid, group_id FROM community WHERE uuid IN (SELECT value FROM json_each(?))", (as_list(uuids),)
        )
        for row in found.fetchall():
            words.remove(self.db, self.prefix(row["group_id"], COMMUNITY), row["uuid"])
            self.db.execute("DELETE FROM community WHERE uuid = ?", (row["uuid"],))

    def delete_communities_of(self, group_id: str) -> None:
        found = self.db.execute("SELECT uuid FROM community WHERE group_id = ?", (group_id,))
        self.delete_communities([row[0] for row in found.fetchall()])

    def clear_group(self, group_id: str) -> None:
        """Delete everything of a group. Markers stay: they keep an earlier write from coming back."""
        db = self.db
        self.renamed.add(group_id)
        self.delete_communities_of(group_id)
        for kind in (ENTITY, EPISODE, FACT):
            for row in db.execute(f"SELECT uuid FROM {kind} WHERE group_id = ?", (group_id,)).fetchall():
                words.remove(db, self.prefix(group_id, kind), row[0])
        for table in (
            "change",
            "name",
            "fact",
            "entity",
            "episode",
            "saga",
            "write_origin",
            "document",
            "merge_part",
            "former_uuid",
        ):
            db.execute(f"DELETE FROM {table} WHERE group_id = ?", (group_id,))
