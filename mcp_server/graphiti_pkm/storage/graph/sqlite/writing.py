"""One whole intent into the tables, inside one transaction; harmless when repeated."""

import json
import sqlite3
import time
from collections.abc import Callable, Sequence
from typing import Any

from graphiti_pkm.core.model.records import (
    Deletions,
    Entity,
    Episode,
    Fact,
    FactChange,
    FactUpdate,
    Forgetting,
    Mention,
    Name,
    Passage,
    RemainingNames,
    Vectors,
    WriteIntent,
)
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.saga_records import Community
from graphiti_pkm.errors import InvalidInput, WriteFailed
from graphiti_pkm.storage.graph.checks import check_stored, checked_label, used_vectors
from graphiti_pkm.storage.graph.queries.search import (
    name_texts,
    searchable,
    searchable_name,
    searchable_with_parts,
    spelling_key,
)
from graphiti_pkm.storage.graph.queries.values import checked_text
from graphiti_pkm.storage.graph.sqlite import values, vectors, words
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, EPISODE, FACT, PASSAGE
from graphiti_pkm.storage.graph.sqlite.values import as_list, known_micros, micros
from graphiti_pkm.storage.graph.sqlite.vector_cache import stored


def apply(db: sqlite3.Connection, intent: WriteIntent, given: Vectors) -> None:
    """Put the whole intent and its marker into the tables. A write whose marker is there is left alone.

    Raises:
        WriteFailed: something in it cannot be stored.
    """
    if db.execute("SELECT 1 FROM applied_write WHERE uuid = ?", (intent.uuid,)).fetchone():
        return
    try:
        _Write(db, intent, given).apply()
    except InvalidInput as error:
        raise WriteFailed(f"Nothing was stored. {error.message}") from None
    db.execute("INSERT INTO applied_write VALUES (?)", (intent.uuid,))


def applied(db: sqlite3.Connection, write_uuids: Sequence[str]) -> set[str]:
    """Those whose marker is there."""
    found = db.execute(
        "SELECT w.uuid FROM json_each(?) u JOIN applied_write w ON w.uuid = u.value",
        (as_list(dict.fromkeys(write_uuids)),),
    )
    return {row[0] for row in found}


class _Write:
    """The steps of one write, in the order of ``WriteIntent``."""

    def __init__(self, db: sqlite3.Connection, intent: WriteIntent, given: Vectors) -> None:
        self._db = db
        self._intent = intent
        self._vectors = given
        self._prefixes: dict[tuple[str, str], str] = {}
        self._renamed: set[str] = set()
        """Groups whose names changed."""

    def apply(self) -> None:
        intent = self._intent
        self._check_vectors()
        steps: tuple[tuple[Callable[[Any], None], Sequence[Any]], ...] = (
            (self._episode, intent.episodes),
            (self._entity, intent.entities),
            (self._name, intent.names),
            (self._fact, intent.facts),
            (self._fact_update, intent.fact_updates),
            (self._mention, intent.mentions),
            (self._passage, intent.passages),
        )
        for step, records in steps:
            for record in records:
                step(record)
        self._new_vectors()
        self._sagas()
        for place, change in enumerate(intent.changes):
            self._change(change, place)
        for uuids, corrected in ((intent.corrected_episodes, 1), (intent.uncorrected_episodes, 0)):
            self._db.executemany("UPDATE episode SET corrected = ? WHERE uuid = ?", [(corrected, u) for u in uuids])
        if intent.forgets is not None:
            self._forget(intent.forgets)
        self._tell_groups()
        self._delete(intent.deletions)
        self._tell_names()

    def _tell_groups(self) -> None:
        """That groups hold something, and when this one was written to; a clock that is set back moves nothing."""
        intent = self._intent
        holding = (*(one.group_id for one in intent.episodes), *(one.group_id for one in intent.entities))
        for group in dict.fromkeys(holding):
            self._number(group)
            self._db.execute("UPDATE groups SET holds = 1 WHERE group_id = ?", (group,))
        self._number(intent.group_id)
        self._db.execute(
            "UPDATE groups SET recorded_at = max(coalesce(recorded_at, ?1), ?1) WHERE group_id = ?2",
            (micros(intent.recorded_at), intent.group_id),
        )

    def _number(self, group_id: str) -> int:
        """Of the group, which gets one now if it has none."""
        self._db.execute("INSERT INTO groups (group_id) VALUES (?) ON CONFLICT DO NOTHING", (checked_text(group_id),))
        (number,) = self._db.execute("SELECT id FROM groups WHERE group_id = ?", (group_id,)).fetchone()
        return int(number)

    def _prefix(self, group_id: str, kind: str) -> str:
        if (group_id, kind) not in self._prefixes:
            self._prefixes[group_id, kind] = words.prefix(self._number(group_id), kind)
        return self._prefixes[group_id, kind]

    # Vectors

    def _check_vectors(self) -> None:
        used = used_vectors(self._intent, self._vectors)
        if not used:
            return
        known = vectors.dimension(self._db)
        dimension = known or len(used[0])
        check_stored(used, dimension, "memory")
        if known is None:
            self._db.execute("INSERT INTO graph_meta VALUES ('dimension', ?)", (str(dimension),))

    def _put_vector(self, kind: str, uuid: str, group_id: str, owner: str, *, only_if_missing: bool = False) -> None:
        """In place of an older one, under a new number: what is in memory follows the numbers."""
        vector = self._vectors.get(uuid)
        if vector is None:
            return
        if self._db.execute("SELECT 1 FROM vector WHERE uuid = ?", (uuid,)).fetchone():
            if only_if_missing:
                return
            self._db.execute("DELETE FROM vector WHERE uuid = ?", (uuid,))
        self._db.execute(
            "INSERT INTO vector (uuid, kind, group_id, owner, data) VALUES (?, ?, ?, ?, ?)",
            (uuid, kind, group_id, owner, stored(vector)),
        )

    def _new_vectors(self) -> None:
        given = self._intent.new_vectors
        if given is None:
            return
        for kind, uuids in (
            (ENTITY, given.entities),
            (FACT, [fact.uuid for fact in given.facts]),
            (PASSAGE, [uuid for _, uuid in given.passages]),
        ):
            owner = "r.episode_uuid" if kind == PASSAGE else "r.uuid"
            group = (
                "(SELECT e.group_id FROM episode e WHERE e.uuid = r.episode_uuid)" if kind == PASSAGE else "r.group_id"
            )
            for uuid in uuids:
                found = values.one(
                    self._db, f"SELECT {group} AS group_id, {owner} AS owner FROM {kind} r WHERE r.uuid = ?", (uuid,)
                )
                if found is not None:
                    self._put_vector(kind, uuid, found["group_id"], found["owner"], only_if_missing=True)

    # Episodes, entities, names

    def _episode(self, episode: Episode) -> None:
        self._upsert(
            "episode",
            {
                "uuid": episode.uuid,
                "group_id": episode.group_id,
                "name": episode.name,
                "content": episode.content,
                "source": episode.source,
                "source_description": episode.source_description,
                "valid_at": micros(episode.valid_at),
                "created_at": micros(episode.created_at),
                "corrected": int(episode.corrected),
            },
            corrected="max(corrected, excluded.corrected)",
        )
        self._episode_words(episode.uuid, episode.group_id, episode.name, episode.content)

    def _episode_words(self, uuid: str, group_id: str, name: str, content: str) -> None:
        words.put(self._db, self._prefix(group_id, EPISODE), uuid, "", searchable_with_parts(f"{name} {content}"))

    def _entity(self, entity: Entity) -> None:
        self._upsert(
            "entity",
            {
                "uuid": entity.uuid,
                "group_id": entity.group_id,
                "name": entity.name,
                "label": None if entity.label is None else checked_label(entity.label),
                "summary": entity.summary,
                "summary_by_model": int(entity.summary_by_model),
                "created_at": micros(entity.created_at),
                "attributes": values.stored_attributes(entity.attributes),
            },
        )
        words.put(
            self._db,
            self._prefix(entity.group_id, ENTITY),
            entity.uuid,
            "",
            searchable_name(entity.name, entity.summary),
        )
        self._put_vector(ENTITY, entity.uuid, entity.group_id, entity.uuid)

    def _name(self, name: Name) -> None:
        """The first holder of a key stays, as first spelt; spellings gather."""
        checked_text(name.text)
        self._renamed.add(name.group_id)
        held = values.one(self._db, "SELECT entity_uuid, spellings FROM name WHERE key = ?", (checked_text(name.key),))
        if held is not None and held["entity_uuid"] != name.entity_uuid:
            return
        spellings = list(dict.fromkeys((*(json.loads(held["spellings"]) if held else ()), name.text, *name.spellings)))
        self._db.execute(
            """INSERT INTO name (key, group_id, text, spellings, entity_uuid, is_alias, is_linkable)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
            spellings = excluded.spellings, is_alias = excluded.is_alias, is_linkable = excluded.is_linkable""",
            (
                name.key,
                name.group_id,
                name.text,
                json.dumps(spellings, ensure_ascii=False),
                name.entity_uuid,
                int(name.is_alias),
                int(name.is_linkable),
            ),
        )
        if self._db.execute("SELECT 1 FROM entity WHERE uuid = ?", (name.entity_uuid,)).fetchone():
            for part, text in name_texts(name):
                words.put(self._db, self._prefix(name.group_id, ENTITY), name.entity_uuid, part, searchable_name(text))

    # Facts

    def _fact(self, fact: Fact) -> None:
        ends = self._db.execute(
            "SELECT count(*) FROM entity WHERE uuid IN (?, ?)", (fact.source_uuid, fact.target_uuid)
        ).fetchone()[0]
        if ends < len({fact.source_uuid, fact.target_uuid}):
            return
        self._upsert(
            "fact",
            {
                "uuid": fact.uuid,
                "group_id": fact.group_id,
                "source_uuid": fact.source_uuid,
                "target_uuid": fact.target_uuid,
                "relation": fact.relation,
                "text": fact.text,
                "kind": fact.kind,
                "measure": fact.measure,
                "value": fact.value,
                "unit": fact.unit,
                "quote": fact.quote,
                "quote_start": fact.quote_start,
                "quote_end": fact.quote_end,
                "quote_episode_uuid": fact.quote_episode_uuid,
                "valid_at": known_micros(fact.valid_at),
                "invalid_at": known_micros(fact.invalid_at),
                "reference_time": known_micros(fact.reference_time),
                "created_at": micros(fact.created_at),
                "expired_at": known_micros(fact.expired_at),
                "voided": int(fact.voided),
                "attributes": values.stored_attributes(fact.attributes),
            },
        )
        self._fact_episodes(fact.uuid, fact.episodes)
        text = searchable(f"{fact.relation.replace('_', ' ')} {fact.text}")
        words.put(self._db, self._prefix(fact.group_id, FACT), fact.uuid, "", text)
        self._put_vector(FACT, fact.uuid, fact.group_id, fact.uuid)

    def _fact_episodes(self, fact_uuid: str, episode_uuids: Sequence[str]) -> None:
        self._db.execute("DELETE FROM fact_episode WHERE fact_uuid = ?", (fact_uuid,))
        self._db.executemany(
            "INSERT INTO fact_episode VALUES (?, ?, ?)",
            [(fact_uuid, place, uuid) for place, uuid in enumerate(episode_uuids)],
        )

    def _fact_update(self, update: FactUpdate) -> None:
        """A quote or an earlier telling that the update does not give stays as it is."""
        checked_text(update.quote or "")
        changed = self._db.execute(
            """UPDATE fact SET valid_at = ?, invalid_at = ?, expired_at = ?, voided = ?,
            reference_time = coalesce(?, reference_time), quote = coalesce(?, quote),
            quote_start = coalesce(?, quote_start), quote_end = coalesce(?, quote_end),
            quote_episode_uuid = coalesce(?, quote_episode_uuid) WHERE uuid = ?""",
            (
                known_micros(update.valid_at),
                known_micros(update.invalid_at),
                known_micros(update.expired_at),
                int(update.voided),
                known_micros(update.reference_time),
                update.quote,
                update.quote_start,
                update.quote_end,
                update.quote_episode_uuid,
                update.uuid,
            ),
        ).rowcount
        if changed:
            self._fact_episodes(update.uuid, update.episodes)

    def _change(self, change: FactChange, place: int) -> None:
        """The ends stay with the event when the fact goes: so it is still found among the changes of an entity."""
        ends = values.one(self._db, "SELECT source_uuid, target_uuid FROM fact WHERE uuid = ?", (change.fact_uuid,))
        self._upsert(
            "change",
            {
                "uuid": change.uuid,
                "group_id": self._intent.group_id,
                "fact_uuid": change.fact_uuid,
                "kind": change.kind,
                "episode_uuid": change.episode_uuid,
                "replaced_by": change.replaced_by,
                "recorded_at": micros(change.recorded_at),
                "place": place,
                "invalid_at": known_micros(change.invalid_at),
                "reason": change.reason,
                "caller": change.caller,
                "previous_valid_at": known_micros(change.previous_valid_at),
                "previous_invalid_at": known_micros(change.previous_invalid_at),
                "previous_expired_at": known_micros(change.previous_expired_at),
                "previous_voided": int(change.previous_voided),
                "previous_told_at": known_micros(change.previous_told_at),
                "source_uuid": ends["source_uuid"] if ends else None,
                "target_uuid": ends["target_uuid"] if ends else None,
            },
        )

    # Around episodes

    def _mention(self, mention: Mention) -> None:
        self._db.execute(
            """INSERT INTO mention (entity_uuid, valid_at, recorded_at, episode_uuid, uuid, group_id, created_at)
            SELECT n.uuid, e.valid_at, e.created_at, e.uuid, ?, e.group_id, ? FROM episode e, entity n
            WHERE e.uuid = ? AND n.uuid = ? ON CONFLICT DO NOTHING""",
            (mention.uuid, micros(mention.created_at), mention.episode_uuid, mention.entity_uuid),
        )

    def _passage(self, passage: Passage) -> None:
        episode = values.one(self._db, "SELECT group_id FROM episode WHERE uuid = ?", (passage.episode_uuid,))
        if episode is None:
            return
        self._upsert("passage", dict(passage))
        self._put_vector(PASSAGE, passage.uuid, episode["group_id"], passage.episode_uuid)

    def _sagas(self) -> None:
        intent, db = self._intent, self._db
        for saga in intent.sagas:
            row = {field: known_micros(value) if field.endswith("_at") else value for field, value in saga}
            self._upsert("saga", row)
        for step in intent.saga_steps:
            db.execute(
                """INSERT INTO saga_step (saga_uuid, episode_uuid, uuid, group_id, created_at)
                SELECT s.uuid, e.uuid, ?, ?, ? FROM saga s, episode e WHERE s.uuid = ? AND e.uuid = ?
                ON CONFLICT DO NOTHING""",
                (step.uuid, intent.group_id, micros(step.created_at), step.saga_uuid, step.episode_uuid),
            )
        for link in intent.episode_links:
            db.execute(
                """INSERT INTO episode_link (previous_uuid, next_uuid, uuid, group_id, created_at)
                SELECT a.uuid, b.uuid, ?, ?, ? FROM episode a, episode b WHERE a.uuid = ? AND b.uuid = ?
                ON CONFLICT DO NOTHING""",
                (link.uuid, intent.group_id, micros(link.created_at), link.previous_uuid, link.next_uuid),
            )
        if intent.communities is not None:
            db.execute("DELETE FROM community WHERE group_id = ?", (intent.group_id,))
            for community in intent.communities:
                self._community(community)

    def _community(self, community: Community) -> None:
        row = {
            "uuid": community.uuid,
            "group_id": community.group_id,
            "name": community.name,
            "summary": community.summary,
            "created_at": micros(community.created_at),
        }
        self._upsert("community", row)
        for member in community.members:
            self._db.execute(
                "INSERT INTO community_member SELECT ?, uuid FROM entity WHERE uuid = ? ON CONFLICT DO NOTHING",
                (community.uuid, member),
            )
        self._put_vector(COMMUNITY, community.uuid, community.group_id, community.uuid)

    # What goes

    def _forget(self, asked: Forgetting) -> None:
        db = self._db
        for left in asked.episodes:
            found = db.execute(
                "UPDATE episode SET name = ?, content = ?, source_description = ? WHERE uuid = ? RETURNING group_id",
                (left.name, left.content, left.source_description, left.uuid),
            ).fetchone()
            if found is not None:
                self._episode_words(left.uuid, found["group_id"], left.name, left.content)
        for uuid in asked.facts:
            db.execute("DELETE FROM change WHERE fact_uuid = ?", (uuid,))
            db.execute("UPDATE change SET reason = NULL, replaced_by = NULL WHERE replaced_by = ?", (uuid,))
            self._delete_facts([uuid])
        db.executemany("DELETE FROM passage WHERE uuid = ?", [(uuid,) for uuid in asked.passages])
        db.executemany("DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", asked.mentions)
        db.executemany("UPDATE change SET reason = ? WHERE uuid = ?", [(FORGOTTEN, uuid) for uuid in asked.reasons])
        db.execute(
            """DELETE FROM community WHERE uuid IN (SELECT m.community_uuid FROM json_each(?) u
            JOIN community_member m ON m.entity_uuid = u.value)""",
            (as_list(asked.members),),
        )
        for names in asked.names:
            self._keep_names(names)

    def _keep_names(self, left: RemainingNames) -> None:
        """All but those that stay."""
        self._renamed.add(self._intent.group_id)
        db, entity = self._db, left.entity_uuid
        kept = {name.key: name for name in left.names}
        for row in db.execute("SELECT key, group_id FROM name WHERE entity_uuid = ?", (entity,)).fetchall():
            if row["key"] not in kept:
                db.execute("DELETE FROM name WHERE key = ?", (row["key"],))
        parts = ["", *kept]
        parts += [spelling_key(name, text) for name in left.names for text in (name.text, *name.spellings)]
        words.remove(db, self._prefix(self._intent.group_id, ENTITY), entity, parts)

    def _delete_facts(self, uuids: Sequence[str]) -> None:
        for uuid in uuids:
            found = self._db.execute("DELETE FROM fact WHERE uuid = ? RETURNING group_id", (uuid,)).fetchone()
            if found is not None:
                words.remove(self._db, self._prefix(found["group_id"], FACT), uuid)

    def _delete(self, gone: Deletions) -> None:
        """That something became of a deleted fact stays in the record, without words."""
        db = self._db
        for uuid in gone.facts:
            db.execute("UPDATE change SET reason = NULL WHERE fact_uuid = ?", (uuid,))
        self._delete_facts(gone.facts)
        for uuid in gone.entities:
            self._delete_entity(uuid)
        for uuid in gone.episodes:
            self._delete_episode(uuid)
        db.executemany("DELETE FROM saga WHERE uuid = ?", [(uuid,) for uuid in gone.sagas])
        for group in gone.groups:
            self._clear(group)
        if gone.entities or gone.episodes or gone.groups:
            for group in dict.fromkeys((self._intent.group_id, *gone.groups)):
                db.execute(
                    """UPDATE groups SET holds = EXISTS (SELECT 1 FROM episode WHERE group_id = ?1)
                    OR EXISTS (SELECT 1 FROM entity WHERE group_id = ?1) WHERE group_id = ?1""",
                    (group,),
                )

    def _delete_entity(self, uuid: str) -> None:
        db = self._db
        found = values.one(db, "SELECT group_id FROM entity WHERE uuid = ?", (uuid,))
        if found is None:
            return
        self._renamed.add(self._intent.group_id)
        joined = db.execute(
            "SELECT uuid FROM fact WHERE source_uuid = ?1 UNION SELECT uuid FROM fact WHERE target_uuid = ?1", (uuid,)
        )
        facts = [row[0] for row in joined.fetchall()]
        db.executemany("UPDATE change SET reason = NULL WHERE fact_uuid = ?", [(fact,) for fact in facts])
        self._delete_facts(facts)
        db.execute("DELETE FROM name WHERE entity_uuid = ?", (uuid,))
        words.remove(db, self._prefix(found["group_id"], ENTITY), uuid)
        db.execute("DELETE FROM entity WHERE uuid = ?", (uuid,))

    def _delete_episode(self, uuid: str) -> None:
        found = self._db.execute("DELETE FROM episode WHERE uuid = ? RETURNING group_id", (uuid,)).fetchone()
        if found is not None:
            words.remove(self._db, self._prefix(found["group_id"], EPISODE), uuid)

    def _clear(self, group_id: str) -> None:
        """Everything of a group. Markers stay: they keep an earlier write from coming back."""
        db = self._db
        self._renamed.add(group_id)
        for kind in (ENTITY, EPISODE, FACT):
            for row in db.execute(f"SELECT uuid FROM {kind} WHERE group_id = ?", (group_id,)).fetchall():
                words.remove(db, self._prefix(group_id, kind), row[0])
        for table in ("change", "name", "fact", "entity", "episode", "community", "saga"):
            db.execute(f"DELETE FROM {table} WHERE group_id = ?", (group_id,))

    def _tell_names(self) -> None:
        """A new version of the book of names; a clock that was set back gives no older one."""
        if self._intent.deletions.entities:
            self._renamed.add(self._intent.group_id)
        for group in self._renamed:
            self._number(group)
            self._db.execute(
                "UPDATE groups SET names_version = max(names_version + 1, ?) WHERE group_id = ?",
                (time.time_ns() // 1_000, group),
            )

    def _upsert(self, table: str, row: dict[str, object], **kept: str) -> None:
        """Insert the row, or give the one with its uuid these values; ``kept``: columns that are combined instead."""
        values.checked_row(list(row.values()))
        columns = ", ".join(f'"{column}"' for column in row)
        updates = ", ".join(
            f'"{column}" = {kept.get(column, f"""excluded."{column}" """)}' for column in row if column != "uuid"
        )
        self._db.execute(
            f"INSERT INTO {table} ({columns}) VALUES ({', '.join('?' * len(row))}) "
            f"ON CONFLICT (uuid) DO UPDATE SET {updates}",
            list(row.values()),
        )
