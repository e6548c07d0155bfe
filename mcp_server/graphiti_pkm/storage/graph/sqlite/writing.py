"""One whole intent into the tables, inside one transaction; harmless when repeated."""

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from graphiti_pkm.core.identity.backlinks import back_link as mention_of
from graphiti_pkm.core.model.document_records import Document, Instance, Section
from graphiti_pkm.core.model.records import (
    QUALITY_TEXTS,
    Deletions,
    Entity,
    Entry,
    Episode,
    Fact,
    FactChange,
    FactUpdate,
    Forgetting,
    Mention,
    Name,
    Passage,
    Project,
    Quality,
    RemainingNames,
    Vectors,
    WriteIntent,
)
from graphiti_pkm.core.model.redaction import FORGOTTEN, NO_METADATA, redacted_change, updated_entities
from graphiti_pkm.core.model.saga_records import Community
from graphiti_pkm.errors import InvalidInput, WriteFailed
from graphiti_pkm.storage.graph.checks import check_stored, checked_label, used_vectors
from graphiti_pkm.storage.graph.queries.search import name_texts, searchable_name, spelling_key
from graphiti_pkm.storage.graph.queries.values import checked_text
from graphiti_pkm.storage.graph.sqlite import merging, values, vectors, words
from graphiti_pkm.storage.graph.sqlite.schema import COMMUNITY, ENTITY, FACT, PASSAGE
from graphiti_pkm.storage.graph.sqlite.tables import Tables
from graphiti_pkm.storage.graph.sqlite.values import as_list, known_micros, micros


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
    """The writes whose marker is there."""
    found = db.execute(
        "SELECT w.uuid FROM json_each(?) u JOIN applied_write w ON w.uuid = u.value",
        (as_list(dict.fromkeys(write_uuids)),),
    )
    return {row[0] for row in found}


class _Write(Tables):
    """The steps of one write, in the order of ``WriteIntent``."""

    def __init__(self, db: sqlite3.Connection, intent: WriteIntent, given: Vectors) -> None:
        super().__init__(db)
        self._intent = intent
        self._vectors = given

    def apply(self) -> None:
        intent = self._intent
        self._check_vectors()
        steps: tuple[tuple[Callable[[Any], None], Sequence[Any]], ...] = (
            (self._episode, intent.episodes),
            (self._entity, intent.entities),
            (self._project, intent.projects),
            (self._entry, intent.entries),
            (self._quality, intent.qualities),
            (self._name, intent.names),
            (self._fact, intent.facts),
            (self._fact_update, intent.fact_updates),
            (self._mention, intent.mentions),
            (self._passage, intent.passages),
            (self._document, intent.documents),
            (self._section, intent.sections),
            (self._instance, intent.instances),
        )
        for change in intent.changes:
            self._lose_names(change)
        merging.begin(self, intent)
        for step, records in steps:
            for record in records:
                step(record)
        self._origin()
        self._new_vectors()
        self._sagas()
        for place, change in enumerate(intent.changes):
            self._change(change, place)
        merging.finish(self, intent)
        for uuids, corrected in ((intent.corrected_episodes, 1), (intent.uncorrected_episodes, 0)):
            self.db.executemany("UPDATE episode SET corrected = ? WHERE uuid = ?", [(corrected, u) for u in uuids])
        if intent.forgets is not None:
            self._forget(intent.forgets)
        self._record_groups()
        self._delete(intent.deletions)
        if intent.deletions.entities:
            self.renamed.add(intent.group_id)
        self.tell_names()

    def _origin(self) -> None:
        """Who made the records of this write, which have its time."""
        intent, origin = self._intent, self._intent.origin
        if origin is not None:
            self.db.execute(
                """INSERT INTO write_origin (group_id, recorded_at, created_by, token, source_type)
                VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING""",
                (intent.group_id, micros(intent.recorded_at), origin.created_by, origin.token, origin.source_type),
            )

    def _record_groups(self) -> None:
        """Marks the groups as non-empty and records the time of the write, unless the clock was set back."""
        intent = self._intent
        holding = (*(one.group_id for one in intent.episodes), *(one.group_id for one in intent.entities))
        for group in dict.fromkeys(holding):
            self.group_number(group)
            self.db.execute("UPDATE groups SET holds = 1 WHERE group_id = ?", (group,))
        self.group_number(intent.group_id)
        self.db.execute(
            "UPDATE groups SET recorded_at = max(coalesce(recorded_at, ?1), ?1) WHERE group_id = ?2",
            (micros(intent.recorded_at), intent.group_id),
        )

    # Vectors

    def _check_vectors(self) -> None:
        used = used_vectors(self._intent, self._vectors)
        if not used:
            return
        known = vectors.dimension(self.db)
        dimension = known or len(used[0])
        check_stored(used, dimension, "memory")
        if known is None:
            self.db.execute("INSERT INTO graph_meta VALUES ('dimension', ?)", (str(dimension),))

    def _put_vector(self, kind: str, uuid: str, group_id: str, owner: str) -> None:
        vector = self._vectors.get(uuid)
        if vector is not None:
            self.put_vector(kind, uuid, group_id, owner, vector)

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
                    self.db, f"SELECT {group} AS group_id, {owner} AS owner FROM {kind} r WHERE r.uuid = ?", (uuid,)
                )
                has_vector = self.db.execute("SELECT 1 FROM vector WHERE uuid = ?", (uuid,)).fetchone()
                if found is not None and not has_vector:
                    self._put_vector(kind, uuid, found["group_id"], found["owner"])

    # Episodes, entities, names

    def _episode(self, episode: Episode) -> None:
        self.upsert(
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
                "confidential": int(episode.confidential),
            },
            corrected="max(corrected, excluded.corrected)",
            confidential="max(confidential, excluded.confidential)",
        )
        self.episode_words(episode.uuid, episode.group_id, episode.name, episode.content)

    def _entity(self, entity: Entity) -> None:
        """One that was merged into another stays merged, whoever writes it again."""
        if merging.is_former(self.db, entity.uuid):
            return
        self.upsert(
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
        self.entity_words(entity.uuid, entity.group_id, entity.name, entity.summary, entity.attributes)
        self._put_vector(ENTITY, entity.uuid, entity.group_id, entity.uuid)

    def _project(self, project: Project) -> None:
        """Of an entity that is there."""
        self.db.execute(
            """INSERT INTO project (uuid, group_id, metadata, pins, created_at)
            SELECT n.uuid, n.group_id, ?1, ?2, ?3 FROM entity n WHERE n.uuid = ?4 ON CONFLICT (uuid) DO UPDATE SET
            metadata = excluded.metadata, pins = excluded.pins, created_at = excluded.created_at""",
            (checked_text(project.metadata), as_list(project.pins), micros(project.created_at), project.uuid),
        )

    def _entry(self, entry: Entry) -> None:
        """Of an episode that is there, in a project that is there."""
        self.db.execute(
            """INSERT INTO entry (uuid, group_id, type, project_uuid, metadata, links_names, valid_at)
            SELECT e.uuid, e.group_id, ?1,
              (SELECT p.uuid FROM project p WHERE p.uuid = ?2 AND p.group_id = e.group_id), ?3, ?4, e.valid_at
            FROM episode e WHERE e.uuid = ?5 ON CONFLICT (uuid) DO UPDATE SET type = excluded.type,
            project_uuid = excluded.project_uuid, metadata = excluded.metadata, links_names = excluded.links_names""",
            (entry.type, entry.project_uuid, checked_text(entry.metadata), int(entry.links_names), entry.uuid),
        )

    def _quality(self, quality: Quality) -> None:
        """Of an entity that is there."""
        held = values.one(self.db, "SELECT group_id FROM entity WHERE uuid = ?", (quality.uuid,))
        if held is not None:
            self.upsert("quality", {**values.quality_row(quality), "group_id": held["group_id"]})

    def _name(self, name: Name) -> None:
        """Write a name: the first holder of a key stays, as first spelt; spellings gather."""
        checked_text(name.text)
        if merging.is_former(self.db, name.entity_uuid):
            return
        self.renamed.add(name.group_id)
        held = values.one(self.db, "SELECT entity_uuid, spellings FROM name WHERE key = ?", (checked_text(name.key),))
        if held is not None and held["entity_uuid"] != name.entity_uuid:
            return
        spellings = list(dict.fromkeys((*(json.loads(held["spellings"]) if held else ()), name.text, *name.spellings)))
        self.db.execute(
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
        if self.db.execute("SELECT 1 FROM entity WHERE uuid = ?", (name.entity_uuid,)).fetchone():
            for part, text in name_texts(name):
                words.put(self.db, self.prefix(name.group_id, ENTITY), name.entity_uuid, part, searchable_name(text))

    # Facts

    def _fact(self, fact: Fact) -> None:
        ends = self.db.execute(
            "SELECT count(*) FROM entity WHERE uuid IN (?, ?)", (fact.source_uuid, fact.target_uuid)
        ).fetchone()[0]
        if ends < len({fact.source_uuid, fact.target_uuid}):
            return
        self.upsert(
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
        self.set_fact_episodes(fact.uuid, fact.episodes)
        self.fact_words(fact.uuid, fact.group_id, fact.relation, fact.text, fact.quote)
        self._put_vector(FACT, fact.uuid, fact.group_id, fact.uuid)

    def _fact_update(self, update: FactUpdate) -> None:
        """Write an updated fact; what the update does not give stays, attributes letter for letter."""
        checked_text(update.quote or "")
        changed = self.db.execute(
            """UPDATE fact SET valid_at = ?, invalid_at = ?, expired_at = ?, voided = ?,
            reference_time = coalesce(?, reference_time), quote = coalesce(?, quote),
            quote_start = coalesce(?, quote_start), quote_end = coalesce(?, quote_end),
            quote_episode_uuid = coalesce(?, quote_episode_uuid),
            attributes = coalesce(json_patch(attributes, ?), attributes) WHERE uuid = ?""",
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
                values.stored_attributes(update.attributes) if update.attributes else None,
                update.uuid,
            ),
        ).rowcount
        if changed:
            self.set_fact_episodes(update.uuid, update.episodes)
        if changed and update.quote is not None:
            asked = "SELECT uuid, group_id, relation, text, quote FROM fact WHERE uuid = ?"
            self.fact_words(*self.db.execute(asked, (update.uuid,)).fetchone())

    def _change(self, change: FactChange, place: int) -> None:
        """Write a change with the ends of its fact, so that an entity's changes include it when the fact is gone."""
        ends = values.one(self.db, "SELECT source_uuid, target_uuid FROM fact WHERE uuid = ?", (change.fact_uuid,))
        of_entity = change.fact_uuid if change.is_of_entity else None
        self.upsert(
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
                "previous_start_words": change.previous_start_words,
                "previous_end_words": change.previous_end_words,
                "source_uuid": ends["source_uuid"] if ends else of_entity,
                "target_uuid": ends["target_uuid"] if ends else None,
                "entity_before": values.state(change.entity_before),
                "entity_after": values.state(change.entity_after),
            },
        )
        self._settle(change)

    def _lose_names(self, change: FactChange) -> None:
        """Remove the names that an update changes or removes; new ones follow among the names of the write."""
        for name in change.entity_before.names if change.entity_before else ():
            self.renamed.add(name.group_id)
            lost = self.db.execute(
                "DELETE FROM name WHERE key = ? AND entity_uuid = ?", (name.key, change.fact_uuid)
            ).rowcount
            if lost:
                parts = [name.key, *(spelling_key(name, text) for text in (name.text, *name.spellings))]
                words.remove_parts(self.db, self.prefix(name.group_id, ENTITY), name.entity_uuid, parts)

    def _settle(self, change: FactChange) -> None:
        """Write the differences and mentions of an update, except those of records that no longer exist."""
        before, after, uuid = change.entity_before, change.entity_after, change.fact_uuid
        if before is None or after is None:
            return
        self.db.executemany("DELETE FROM apart WHERE one = ? AND other = ?", before.apart(uuid))
        self.db.executemany(
            """INSERT OR IGNORE INTO apart SELECT ?1, ?2 WHERE EXISTS (SELECT 1 FROM entity WHERE uuid = ?2)
            AND (EXISTS (SELECT 1 FROM entity WHERE uuid = ?1) OR EXISTS (SELECT 1 FROM episode WHERE uuid = ?1))""",
            after.apart(uuid),
        )
        self.db.executemany(
            "DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?",
            [(episode, uuid) for episode in {*before.linked, *after.unlinked} - {*after.linked}],
        )
        for episode in after.linked:
            self._mention(mention_of(uuid, episode, change.recorded_at))

    # Around episodes

    def _mention(self, mention: Mention) -> None:
        self.db.execute(
            """INSERT INTO mention (entity_uuid, valid_at, recorded_at, episode_uuid, uuid, group_id, created_at)
            SELECT n.uuid, e.valid_at, e.created_at, e.uuid, ?, e.group_id, ? FROM episode e, entity n
            WHERE e.uuid = ? AND n.uuid = ? AND NOT EXISTS (
              SELECT 1 FROM apart a WHERE a.one = e.uuid AND a.other = n.uuid) ON CONFLICT DO NOTHING""",
            (mention.uuid, micros(mention.created_at), mention.episode_uuid, mention.entity_uuid),
        )

    def _passage(self, passage: Passage) -> None:
        episode = values.one(self.db, "SELECT group_id FROM episode WHERE uuid = ?", (passage.episode_uuid,))
        if episode is None:
            return
        self.upsert("passage", dict(passage))
        self._put_vector(PASSAGE, passage.uuid, episode["group_id"], passage.episode_uuid)

    # Documents

    def _document(self, document: Document) -> None:
        self.upsert("document", {**dict(document), "created_at": micros(document.created_at)})

    def _section(self, section: Section) -> None:
        """Of a document and an episode that are there."""
        self.db.execute(
            """INSERT INTO section (document_uuid, place, episode_uuid, paragraph)
            SELECT d.uuid, ?1, e.uuid, ?2 FROM document d JOIN episode e ON e.group_id = d.group_id
            WHERE d.uuid = ?3 AND e.uuid = ?4 ON CONFLICT DO NOTHING""",
            (section.place, section.paragraph, section.document_uuid, section.episode_uuid),
        )

    def _instance(self, instance: Instance) -> None:
        """Of an entity, a section and passages that are there."""
        self.db.execute(
            """INSERT INTO instance (uuid, group_id, entity_uuid, document_uuid, episode_uuid, passages, first, last,
              created_at)
            SELECT ?1, n.group_id, n.uuid, s.document_uuid, s.episode_uuid, ?2, ?3, ?4, ?5 FROM entity n, section s
            WHERE n.uuid = ?6 AND s.document_uuid = ?7 AND s.episode_uuid = ?8 AND NOT EXISTS (
              SELECT 1 FROM json_each(?2) u LEFT JOIN passage p ON p.uuid = u.value WHERE p.uuid IS NULL)
            LIMIT 1 ON CONFLICT DO NOTHING""",
            (
                instance.uuid,
                as_list(instance.passages),
                instance.first,
                instance.last,
                micros(instance.created_at),
                instance.entity_uuid,
                instance.document_uuid,
                instance.episode_uuid,
            ),
        )

    def _sagas(self) -> None:
        intent, db = self._intent, self.db
        for saga in intent.sagas:
            row = {field: known_micros(value) if field.endswith("_at") else value for field, value in saga}
            self.upsert("saga", row)
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
            self.delete_communities_of(intent.group_id)
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
        self.upsert("community", row)
        self.community_words(community.uuid, community.group_id, community.name)
        for member in community.members:
            self.db.execute(
                """INSERT INTO community_member (community_uuid, entity_uuid) SELECT ?, uuid FROM entity WHERE uuid = ?
                ON CONFLICT DO NOTHING""",
                (community.uuid, member),
            )
        self._put_vector(COMMUNITY, community.uuid, community.group_id, community.uuid)

    # What goes

    def _forget(self, asked: Forgetting) -> None:
        db = self.db
        for left in asked.episodes:
            found = db.execute(
                "UPDATE episode SET name = ?, content = ?, source_description = ? WHERE uuid = ? RETURNING group_id",
                (left.name, left.content, left.source_description, left.uuid),
            ).fetchone()
            if found is not None:
                self.episode_words(left.uuid, found["group_id"], left.name, left.content)
        for uuid in asked.facts:
            db.execute("DELETE FROM change WHERE fact_uuid = ?", (uuid,))
            db.execute("UPDATE change SET reason = NULL, replaced_by = NULL WHERE replaced_by = ?", (uuid,))
            self.delete_facts([uuid])
        db.execute(
            """DELETE FROM instance WHERE episode_uuid IN (
              SELECT p.episode_uuid FROM json_each(?1) u JOIN passage p ON p.uuid = u.value)
            AND EXISTS (SELECT 1 FROM json_each(passages) own JOIN json_each(?1) u ON u.value = own.value)""",
            (as_list(asked.passages),),
        )
        db.executemany("DELETE FROM passage WHERE uuid = ?", [(uuid,) for uuid in asked.passages])
        db.executemany(
            "UPDATE document SET name = ?, path = ?, front = ?, digest = ? WHERE uuid = ?",
            [(left.name, left.path, left.front, left.digest, left.uuid) for left in asked.documents],
        )
        db.executemany("DELETE FROM mention WHERE episode_uuid = ? AND entity_uuid = ?", asked.mentions)
        db.executemany("UPDATE change SET reason = ? WHERE uuid = ?", [(FORGOTTEN, uuid) for uuid in asked.reasons])
        holding = db.execute(
            "SELECT m.community_uuid FROM json_each(?) u JOIN community_member m ON m.entity_uuid = u.value",
            (as_list(asked.members),),
        )
        self.delete_communities([row[0] for row in holding.fetchall()])
        for table in ("project", "entry"):
            db.executemany(
                f"UPDATE {table} SET metadata = ? WHERE uuid = ?", [(NO_METADATA, uuid) for uuid in asked.metadata]
            )
        for field in QUALITY_TEXTS:
            db.executemany(
                f"UPDATE quality SET {field} = ? WHERE uuid = ? AND {field} IS NOT NULL",
                [(FORGOTTEN, uuid) for uuid in asked.qualities],
            )
        for names in asked.names:
            self._keep_names(names)
        merging.forget(self, self._intent)
        for uuid in updated_entities(self._intent):
            self._forget_updates(uuid)

    def _forget_updates(self, entity_uuid: str) -> None:
        """Remove what is forgotten from the states of the entity before and after its updates."""
        found = self.db.execute(
            f"SELECT {values.CHANGE_COLUMNS} FROM change c WHERE c.fact_uuid = ? AND c.entity_after IS NOT NULL",
            (entity_uuid,),
        )
        for change in map(values.change, found.fetchall()):
            left = redacted_change(change, change.group_id, self._intent)
            self.db.execute(
                "UPDATE change SET entity_before = ?, entity_after = ? WHERE uuid = ?",
                (values.state(left.entity_before), values.state(left.entity_after), change.uuid),
            )

    def _keep_names(self, left: RemainingNames) -> None:
        """Remove all names but those that stay."""
        self.renamed.add(self._intent.group_id)
        db, entity = self.db, left.entity_uuid
        kept = {name.key: name for name in left.names}
        for row in db.execute("SELECT key, group_id FROM name WHERE entity_uuid = ?", (entity,)).fetchall():
            if row["key"] not in kept:
                db.execute("DELETE FROM name WHERE key = ?", (row["key"],))
        parts = ["", *kept]
        parts += [spelling_key(name, text) for name in left.names for text in (name.text, *name.spellings)]
        words.remove(db, self.prefix(self._intent.group_id, ENTITY), entity, parts)

    def _delete(self, gone: Deletions) -> None:
        """Delete records. That something became of a deleted fact stays in the record, without words."""
        db = self.db
        for uuid in gone.facts:
            db.execute("UPDATE change SET reason = NULL WHERE fact_uuid = ?", (uuid,))
        self.delete_facts(gone.facts)
        for uuid in gone.entities:
            self.delete_entity(uuid)
        for uuid in gone.episodes:
            self.delete_episode(uuid)
        if gone.episodes:
            db.execute(
                """DELETE FROM document WHERE group_id = ?
                AND NOT EXISTS (SELECT 1 FROM section s WHERE s.document_uuid = uuid)""",
                (self._intent.group_id,),
            )
        db.executemany("DELETE FROM saga WHERE uuid = ?", [(uuid,) for uuid in gone.sagas])
        for group in gone.groups:
            self.clear_group(group)
        if gone.entities or gone.episodes or gone.groups:
            self.recount((self._intent.group_id, *gone.groups))
