"""The part ``writer``: whole intents into the graph."""

import asyncio
import logging
import time
from collections.abc import Iterator, Sequence
from uuid import UUID, uuid5

from graphiti_pkm.core.health import LastWrite
from graphiti_pkm.core.identity.backlinks import back_link as mention_of
from graphiti_pkm.core.model.records import Merge, RemainingNames, Vectors, WriteIntent
from graphiti_pkm.core.model.redaction import (
    FORGOTTEN,
    NO_METADATA,
    redacted_change,
    redacted_merge,
    updated_entities,
)
from graphiti_pkm.errors import InvalidInput, Unavailable, WriteFailed
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.checks import check_stored, checked_label, used_vectors
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.locks.leases import Fence, Fences
from graphiti_pkm.storage.graph.parts.part import OpenGraph, Part
from graphiti_pkm.storage.graph.queries import changes as queries_changes
from graphiti_pkm.storage.graph.queries import merging as queries_merging
from graphiti_pkm.storage.graph.queries import sagas as queries_sagas
from graphiti_pkm.storage.graph.queries import write as queries_write
from graphiti_pkm.storage.graph.queries.locks import fence_values
from graphiti_pkm.storage.graph.queries.search import (
    indexed,
    name_texts,
    scope,
    searchable_entity,
    searchable_name,
    searchable_with_parts,
    spelling_key,
)
from graphiti_pkm.storage.graph.queries.values import Query, digest
from graphiti_pkm.storage.graph.queries.write import Section, vector_row
from graphiti_pkm.storage.graph.shared_extraction_jobs import extraction_job_sections

_log = logging.getLogger(__name__)

_PROBE = Query("write probe", "MERGE (m:Meta {id: 'claim write probe'}) SET m.asked_at = datetime()", {})
NOT_NOW = "The database cannot store anything right now; its disk may be full. Its own log says more."


class Writer(Part):
    """The port ``GraphWriter``."""

    def __init__(self, opened: OpenGraph, fences: Fences, server: str | None) -> None:
        """``server``: our id among other servers of this database; None if there are none."""
        super().__init__(opened)
        self._fences = fences
        self._server = server
        self._last_write = LastWrite(self._try_to_write, NOT_NOW)

    async def apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        db = await self._db()
        try:
            new_dimension = await self._check_vectors(intent, vectors)
            fence = self._fences.of(intent.group_id)
            left = (*await self._updates_left(intent), *await self._merges_left(intent))
            query = await asyncio.to_thread(_write, intent, vectors, new_dimension, self._server, fence, left)
            done = await db.write(query)
            if fence is not None and not done and not await self.applied([intent.uuid]):
                raise Unavailable("Another server took over the writes of this group while this one stood still.")
            self._last_write.ended(None)
        except InvalidInput as error:
            raise WriteFailed(f"Nothing was stored. {error.message}") from None
        except Refused as refused:
            _log.warning("%s; transient: %s", refused, refused.is_transient)
            if refused.is_transient:
                self._last_write.ended(NOT_NOW)
                raise Unavailable(NOT_NOW) from None
            raise WriteFailed("The database refused the write; nothing of it is kept.") from None

    def effect(self, intent: WriteIntent, vectors: Vectors) -> None:  # noqa: ARG002 the port's signature
        """None: the graph is a database of its own."""
        return

    async def applied(self, write_uuids: Sequence[str]) -> set[str]:
        found = await self._rows(queries_write.applied(write_uuids))
        return {row["uuid"] for row in found}

    async def wait_durable(self) -> bool:
        """A write is answered when it is committed, and Neo4j syncs its log with every commit."""
        return True

    async def refusal(self) -> str | None:
        return await self._last_write.refusal()

    async def _try_to_write(self, _was_refused: bool) -> str | None:
        try:
            await (await self._db()).write(_PROBE)
        except Refused as refused:
            _log.warning("%s", refused)
            return NOT_NOW
        except Unavailable as error:
            return error.message
        return None

    async def _updates_left(self, intent: WriteIntent) -> list[Section]:
        """Updates of entities of which a forgetting write leaves less: what each entity was before and after."""
        if intent.forgets is None:
            return []
        found = map(mapping.change, await self._rows(queries_changes.updates(updated_entities(intent))))
        rows = [
            {"uuid": change.uuid, **mapping.states(redacted_change(change, change.group_id, intent))}
            for change in found
        ]
        return [(queries_write.FORGET_UPDATES, rows)]

    async def _merges_left(self, intent: WriteIntent) -> list[Section]:
        """What merges keep, without what a write forgets."""
        if intent.forgets is None:
            return []
        found = await self._rows(queries_merging.parts_of_group(intent.group_id))

        def redacted() -> list[object]:
            left = (
                (row, redacted_merge(Merge.model_validate_json(row["content"]), intent).model_dump_json())
                for row in found
            )
            return [{"id": row["id"], "content": content} for row, content in left if content != row["content"]]

        return [(queries_merging.FORGET_PARTS, await asyncio.to_thread(redacted))]

    async def _check_vectors(self, intent: WriteIntent, vectors: Vectors) -> int | None:
        """The dimension to record if these are the first vectors of the database.

        Raises:
            WriteFailed: nothing was sent.
        """
        used = used_vectors(intent, vectors)
        if not used:
            return None
        known = await self._opened.dimension()
        if any(len(vector) != known for vector in used):
            known = await self._opened.dimension(is_new=True)  # another process may have changed the model
        dimension = known or len(used[0])
        check_stored(used, dimension, "database")
        return dimension if known is None else None


def _write(
    intent: WriteIntent,
    vectors: Vectors,
    new_dimension: int | None,
    server: str | None,
    fence: Fence | None,
    left: Sequence[Section],
) -> Query:
    """Sections in the order of ``WriteIntent``; the database sees what earlier ones made."""
    groups = {record.group_id for records in (intent.episodes, intent.entities) for record in records}
    renamed = {name.group_id for name in intent.names} | ({intent.group_id} if intent.deletions.entities else set())
    renamed |= set(intent.deletions.groups)
    renamed |= {one.group_id for change in intent.changes if change.entity_before for one in change.entity_before.names}
    if intent.merge is not None or (intent.forgets is not None and intent.forgets.names):
        renamed.add(intent.group_id)
    sections: list[Section] = [
        (queries_write.DIMENSION, [] if new_dimension is None else [new_dimension]),
        (queries_write.ORIGIN, _origin(intent)),
        *queries_merging.begin(intent),
        (queries_write.EPISODES, _episodes(intent)),
        (queries_write.ENTITIES, _entities(intent, vectors)),
        (queries_write.PROJECTS, list(map(dict, intent.projects))),
        (queries_write.ENTRIES, list(map(dict, intent.entries))),
        (queries_write.QUALITIES, list(map(dict, intent.qualities))),
        *((text, _lost_names(intent)) for text in queries_write.LOSE_NAMES),
        (queries_write.NAMES, _names(intent)),
        (queries_write.NAME_VALUES, _name_values(intent)),
        (queries_write.ALIAS_TEXTS, _aliases(intent)),
        (queries_write.FACTS, _facts(intent, vectors)),
        (queries_write.FACT_UPDATES, list(map(mapping.fact_update_row, intent.fact_updates))),
        (queries_write.MENTIONS, [{**dict(mention), "group_id": intent.group_id} for mention in intent.mentions]),
        (queries_write.PASSAGES, [vector_row(p.uuid, dict(p), vectors) for p in intent.passages]),
        (queries_write.DOCUMENTS, list(map(mapping.document_properties, intent.documents))),
        (queries_write.SECTIONS, list(map(dict, intent.sections))),
        (queries_write.INSTANCES, list(map(dict, intent.instances))),
        *_new_vectors(intent, vectors),
        *saga_sections(intent, vectors),
        (queries_write.CHANGES, _changes(intent)),
        *_updates(intent),
        *queries_merging.finish(intent),
        (queries_write.CORRECTED, intent.corrected_episodes),
        (queries_write.UNCORRECTED, intent.uncorrected_episodes),
        *_forgotten(intent),
        *left,
        *extraction_job_sections(intent, server),
        (queries_write.GROUPS_HOLD, sorted(groups)),
        *_deletions(intent),
        (queries_write.NAMES_CHANGED, sorted(renamed)),
        (queries_write.GROUP_RECORDED, [intent.group_id]),
    ]
    values: dict[str, object] = {"recorded_at": intent.recorded_at}
    if renamed:
        values["stamp"] = time.time_ns() // 1_000
    return queries_write.write(intent.uuid, sections, values, fence_values(fence.lock, fence.number) if fence else None)


def _origin(intent: WriteIntent) -> list[object]:
    if intent.origin is None:
        return []
    place = {"group_id": intent.group_id, "recorded_at": intent.recorded_at}
    return [{**dict(intent.origin), **place, "id": intent.uuid}]


def _episodes(intent: WriteIntent) -> list[object]:
    return [
        {
            "uuid": episode.uuid,
            "properties": mapping.episode_properties(
                episode, [fact.uuid for fact in intent.facts if episode.uuid in fact.episodes]
            ),
            "scope": scope(episode.group_id, "episode"),
            "text": indexed(searchable_with_parts(f"{episode.name} {episode.content}")),
            "length": len(episode.content),
            "corrected": episode.corrected,
            "confidential": episode.confidential,
        }
        for episode in intent.episodes
    ]


def _entities(intent: WriteIntent, vectors: Vectors) -> list[object]:
    return [
        vector_row(
            entity.uuid,
            {
                "labels": ["Entity"] if entity.label is None else ["Entity", checked_label(entity.label)],
                "properties": mapping.entity_properties(entity),
                "scope": scope(entity.group_id, "entity"),
                "text": indexed(searchable_entity(entity.name, entity.summary, entity.attributes)),
            },
            vectors,
        )
        for entity in intent.entities
    ]


def _names(intent: WriteIntent) -> list[object]:
    """Names; the spellings include the text, in case the name exists in another spelling."""
    return [
        {**dict(name), "id": digest(name.key), "spellings": list(dict.fromkeys((name.text, *name.spellings)))}
        for name in intent.names
    ]


def _aliases(intent: WriteIntent) -> list[object]:
    return [
        {
            "name_id": digest(name.key),
            "entity_uuid": name.entity_uuid,
            "id": digest(key),
            "scope": scope(name.group_id, "entity"),
            "search_text": indexed(searchable_name(text)),
        }
        for name in intent.names
        for key, text in name_texts(name)
    ]


def _facts(intent: WriteIntent, vectors: Vectors) -> list[object]:
    return [
        vector_row(
            fact.uuid,
            {
                "source_uuid": fact.source_uuid,
                "target_uuid": fact.target_uuid,
                "properties": mapping.fact_properties(fact, scope(fact.group_id, "fact")),
            },
            vectors,
        )
        for fact in intent.facts
    ]


def _new_vectors(intent: WriteIntent, vectors: Vectors) -> Iterator[Section]:
    given = intent.new_vectors
    if given is None:
        return
    for text, uuids in (
        (queries_write.ENTITY_VECTORS, given.entities),
        (queries_write.FACT_VECTORS, [fact.uuid for fact in given.facts]),
        (queries_write.PASSAGE_VECTORS, [uuid for _, uuid in given.passages]),
    ):
        yield text, [vector_row(uuid, {}, vectors) for uuid in uuids if uuid in vectors]


def _changes(intent: WriteIntent) -> list[object]:
    return [mapping.change_properties(change, intent.group_id, place) for place, change in enumerate(intent.changes)]


def _lost_names(intent: WriteIntent) -> list[object]:
    """Names of updates that go or change; what stays is not deleted, which a server may have no right to."""
    rows: list[object] = []
    for change in intent.changes:
        if change.entity_before is None or change.entity_after is None:
            continue
        stays = {key for name in change.entity_after.names for key, _ in name_texts(name)}
        kept = {name.key for name in change.entity_after.names}
        rows += [
            {
                "entity_uuid": name.entity_uuid,
                "id": digest(name.key),
                "is_lost": name.key not in kept,
                "texts": [digest(key) for key, _ in name_texts(name) if key not in stays],
            }
            for name in change.entity_before.names
        ]
    return rows


def _name_values(intent: WriteIntent) -> list[object]:
    return _names(intent) if any(change.entity_after for change in intent.changes) else []


def _updates(intent: WriteIntent) -> Iterator[Section]:
    """The differences and mentions of updates of entities."""
    for change in intent.changes:
        before, after, uuid = change.entity_before, change.entity_after, change.fact_uuid
        if before is None or after is None:
            continue
        yield queries_write.TOGETHER, [" ".join(pair) for pair in before.apart(uuid)]
        pairs = [{"id": f"{one} {other}", "one": one, "other": other} for one, other in after.apart(uuid)]
        yield queries_write.APART, pairs
        lost = sorted({*before.linked, *after.unlinked} - {*after.linked})
        yield queries_write.FORGET_MENTIONS, [{"episode_uuid": episode, "entity_uuid": uuid} for episode in lost]
        found = (mention_of(uuid, episode, change.recorded_at) for episode in after.linked)
        yield queries_write.MENTIONS, [{**dict(mention), "group_id": intent.group_id} for mention in found]


def _forgotten(intent: WriteIntent) -> Iterator[Section]:
    forgets = intent.forgets
    if forgets is None:
        return
    yield queries_write.FORGET_TEXTS, [dict(left) for left in forgets.episodes]
    texts = [
        {
            "uuid": left.uuid,
            "text": indexed(searchable_with_parts(f"{left.name} {left.content}")),
            "length": len(left.content),
        }
        for left in forgets.episodes
    ]
    yield queries_write.FORGET_SEARCH_TEXTS, texts
    yield queries_write.FORGET_LINKS, [forgets.facts] if forgets.facts else []
    for text in queries_write.FORGET_FACTS:
        yield text, forgets.facts
    yield queries_write.FORGET_INSTANCES, forgets.passages
    yield queries_write.FORGET_PASSAGES, forgets.passages
    yield (
        queries_write.FORGET_DOCUMENTS,
        [{**dict(left), "front_length": len(left.front)} for left in forgets.documents],
    )
    yield (
        queries_write.FORGET_MENTIONS,
        [{"episode_uuid": episode, "entity_uuid": entity} for episode, entity in forgets.mentions],
    )
    yield queries_write.FORGET_REASONS, [{"uuid": uuid, "reason": FORGOTTEN} for uuid in forgets.reasons]
    for text in queries_write.FORGET_METADATA:
        yield text, [{"uuid": uuid, "metadata": NO_METADATA} for uuid in forgets.metadata]
    yield queries_write.FORGET_QUALITIES, [{"uuid": uuid, "text": FORGOTTEN} for uuid in forgets.qualities]
    yield queries_sagas.FORGET_COMMUNITIES, forgets.members
    for text in queries_write.FORGET_NAMES:
        yield text, [_remaining_names(left) for left in forgets.names]


def _remaining_names(left: RemainingNames) -> object:
    """The remaining names and search texts of an entity, with their search terms."""
    spelt = [spelling_key(name, text) for name in left.names for text in (name.text, *name.spellings)]
    ids = [digest(name.key) for name in left.names]
    return {
        "entity_uuid": left.entity_uuid,
        "ids": ids,
        "texts": [left.entity_uuid, *ids, *map(digest, spelt)],
    }


def _deletions(intent: WriteIntent) -> Iterator[Section]:
    gone = intent.deletions
    for texts, uuids in (
        (queries_write.DELETE_FACTS, gone.facts),
        (queries_write.DELETE_ENTITIES, gone.entities),
        (queries_write.DELETE_EPISODES, gone.episodes),
        ((queries_sagas.DELETE_SAGAS,), gone.sagas),
    ):
        for text in texts:
            yield text, uuids
    if gone.episodes:
        yield queries_write.EMPTY_DOCUMENTS, [intent.group_id]
    for text in queries_write.CLEAR_GROUP:
        yield text, gone.groups
    if gone.entities or gone.episodes or gone.groups:
        yield queries_write.GROUP_STILL_HOLDS, list(dict.fromkeys((intent.group_id, *gone.groups)))


def saga_sections(intent: WriteIntent, vectors: Vectors) -> Iterator[Section]:
    """Runs after episodes and entities, before deletions; in Graphiti's own form, one edge per pair."""
    yield queries_sagas.SAGAS, list(map(dict, intent.sagas))
    for text, records in (
        (queries_sagas.SAGA_STEPS, intent.saga_steps),
        (queries_sagas.EPISODE_LINKS, intent.episode_links),
    ):
        yield text, [{**dict(record), "group_id": intent.group_id} for record in records]
    if intent.communities is None:
        return
    yield queries_sagas.DELETE_COMMUNITIES, [intent.group_id]
    yield (
        queries_sagas.COMMUNITIES,
        [
            vector_row(one.uuid, {"properties": {k: v for k, v in one if k != "members"}}, vectors)
            for one in intent.communities
        ],
    )
    yield (
        queries_sagas.MEMBERS,
        [
            {
                "uuid": str(uuid5(UUID(one.uuid), member)),
                "community_uuid": one.uuid,
                "entity_uuid": member,
                "group_id": one.group_id,
                "created_at": one.created_at,
            }
            for one in intent.communities
            for member in one.members
        ],
    )
