"""Puts right what an entity is called and is, what it is not, and which episodes mention it; and undoes that."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

from graphiti_pkm.capabilities.history.entity_plan import (
    Asked,
    EntityChange,
    Found,
    plan_undo,
    plan_update,
    read_update,
)
from graphiti_pkm.capabilities.history.models import UpdatedEntityResponse
from graphiti_pkm.capabilities.history.requests import UpdateEntity
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.generated import renamed_text
from graphiti_pkm.core.facts.history import MOST_EVENTS, after, to_undo
from graphiti_pkm.core.identity.first_back_links import first_back_links, still_linked
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import KnownNames, NameBooks
from graphiti_pkm.core.identity.mentions import NamedIn
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.change_kinds import ChangeKind
from graphiti_pkm.core.model.names import name_key, normalise_name
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import (
    Entity,
    Fact,
    FactChange,
    Name,
    RecordedChange,
    Vector,
    WriteIntent,
    WriteKind,
    in_order,
)
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.ports.graph import RecordKind
from graphiti_pkm.core.reading.views import Views
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.commit import Committer

_MOST_NAMES = 1_000
_MOST_REWRITTEN = 1_000
"""Sentences that one rename words anew; older ones keep the old name, which stays an alias."""
_OTHER_NAMES = 50
_MOST_EPISODES = 100
"""Newest notes in which a name is looked for that an undone update gave."""


@dataclass(frozen=True)
class _Sentences:
    """Facts in the words that they get, and whether there are more than are read."""

    facts: Sequence[Fact] = ()
    is_cut: bool = False


class Updating:
    """``update_entity``, and its undoing."""

    def __init__(self, context: Context, groups: Groups, committer: Committer) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer
        self._persons = Persons(context.graph, context.settings)
        self._books = NameBooks(context.graph)
        self._views = Views(groups, context.settings.zone, context.now)

    async def update_entity(self, caller: Caller, request: UpdateEntity) -> UpdatedEntityResponse:
        """Change what is given; refused as a whole or done as a whole.

        Raises:
            InvalidInput: something of it cannot be; nothing was changed.
            NotFound: a uuid names no entity or episode of the entity's group.
        """
        caller.must_write("Nothing was changed.")
        for name, given in request.model_dump(exclude_none=True).items():
            for text in given if isinstance(given, list) else [given]:
                check_text(text, name)
        asked = read_update(request, self._persons.called(caller))
        entity = await self._entity(request.entity_uuid, await self._groups.visible(caller))
        asked = await self._resolved(asked, request, entity)
        planned = plan_update(asked, await self._found(asked, entity.uuid, entity.group_id))
        vectors = await self._vectors(planned)
        group = entity.group_id
        async with self._committer.writing(group):
            planned = plan_update(asked, await self._found(asked, entity.uuid, group))
            if planned.is_nothing:
                return self._answer("It is so already; nothing was changed.", planned.entity, changed=False)
            done = await self._write(caller, planned, "updated", None, vectors)
        return self._answer(f"Updated: {done}. restore_fact with this uuid undoes it.", planned.entity, changed=True)

    async def undo(self, caller: Caller, uuid: str, group_ids: Sequence[str], reason: str) -> UpdatedEntityResponse:
        """Undo the newest update of an entity that is not undone yet."""
        entity = await self._entity(uuid, group_ids)
        group = entity.group_id
        event = to_undo(await self._events(entity))
        vectors = {} if event is None else await self._vectors(_undone(event, entity))
        async with self._committer.writing(group):
            entity = await self._entity(entity.uuid, [group])
            event = to_undo(await self._events(entity))
            if event is None or event.entity_before is None:
                return self._answer("No update of it is left to undo; nothing was changed.", entity, changed=False)
            back = _undone(event, entity)
            holders = await self._graph.records.get_names([name.key for name in back.after.names])
            names = await self._names(entity)
            used = await self._used(entity, event, names.values())
            planned = plan_undo(back, Found(entity, names, holders, used=used))
            done = await self._write(caller, planned, "restored", reason, vectors)
        return self._answer(f"Restored: {done}.", planned.entity, changed=True)

    async def _entity(self, uuid: str, group_ids: Sequence[str]) -> Entity:
        whole = await resolve_within(self._graph, group_ids, "entity", uuid)
        found = await self._graph.records.get_entities([whole], group_ids)
        if not found:
            raise unknown("entity", whole)
        return found[0]

    async def _events(self, entity: Entity) -> list[RecordedChange]:
        found = await self._graph.changes.fact_changes([entity.uuid], [entity.group_id], MOST_EVENTS)
        return found[entity.uuid]

    async def _resolved(self, asked: Asked, request: UpdateEntity, entity: Entity) -> Asked:
        """With whole uuids, all of the entity's own group."""
        other = request.not_same_as
        if other is not None:
            other = (await self._entity(other, [entity.group_id])).uuid
            if other == entity.uuid:
                raise InvalidInput("Nothing was changed: not_same_as is the entity itself.")
        return replace(
            asked,
            not_same_as=other,
            unlink=await self._episodes(request.unlink_episodes or (), entity),
            link=await self._episodes(request.link_episodes or (), entity),
        )

    async def _episodes(self, given: Sequence[str], entity: Entity) -> tuple[str, ...]:
        kind: RecordKind = "episode"
        groups = [entity.group_id]
        uuids = list(dict.fromkeys([await resolve_within(self._graph, groups, kind, uuid) for uuid in given]))
        there = {one.uuid for one in await self._graph.records.get_episodes(uuids, groups)}
        if missing := [uuid for uuid in uuids if uuid not in there]:
            raise unknown(kind, missing[0])
        return tuple(uuids)

    async def _found(self, asked: Asked, uuid: str, group: str) -> Found:
        entity = await self._entity(uuid, [group])
        pairs = [(episode, uuid) for episode in (*asked.unlink, *asked.link)]
        linked = await self._graph.records.mentioned(pairs)
        pair = in_order(uuid, asked.not_same_as or uuid)
        apart = await self._graph.records.apart([*pairs, pair])
        return Found(
            entity,
            await self._names(entity),
            await self._graph.records.get_names([name_key(group, text) for text in asked.given]),
            {episode for episode, _ in linked},
            {episode for episode, other in apart if other == uuid},
            pair in apart,
        )

    async def _names(self, entity: Entity) -> dict[str, Name]:
        texts = (await self._graph.records.aliases([entity.uuid], _MOST_NAMES))[entity.uuid]
        keys = {name_key(entity.group_id, text) for text in (entity.name, ME, *texts)}
        found = await self._graph.records.get_names(sorted(keys))
        return {key: name for key, name in found.items() if name.entity_uuid == entity.uuid}

    async def _used(self, entity: Entity, event: RecordedChange, names: Iterable[Name]) -> set[str]:
        """Keys of the names that the event gave and a later note has used.

        It has if one of its facts about the entity holds the name, or if its text holds what the update named it.
        """
        had = {name.key for name in event.entity_before.names} if event.entity_before else set()
        given = [name for name in names if event.entity_after and name.key not in had]
        wanted = FactFilter(group_ids=(entity.group_id,), now=self._context.now())
        facts = await self._graph.facts.connections(entity.uuid, wanted, Window(limit=_MOST_REWRITTEN))
        episodes = await self._graph.episodes.timeline(
            entity.uuid, EpisodeFilter(group_ids=(entity.group_id,)), Window(limit=_MOST_EPISODES)
        )

        def found() -> set[str]:
            since = event.recorded_at
            said = [NamedIn(fact.text) for fact in facts.facts if fact.created_at > since]
            texts = [NamedIn(one.content) for one in episodes.episodes if one.created_at > since]
            return {
                name.key
                for name in given
                if any(name.text.lower() in text for text in (*said, *([] if name.is_alias else texts)))
            }

        return await in_thread(found)

    async def _sentences(self, planned: EntityChange) -> _Sentences:
        """The sentences that we composed, with the new name."""
        if not planned.is_renamed:
            return _Sentences()
        entity, graph = planned.entity, self._graph
        own = [name.text for name in (*planned.before.names, *planned.after.names)]
        own += (await graph.records.aliases([entity.uuid], _MOST_NAMES))[entity.uuid]
        names = set(map(normalise_name, (planned.before.name, planned.after.name, *own)))
        wanted = FactFilter(group_ids=(entity.group_id,), now=self._context.now())
        page = await graph.facts.connections(entity.uuid, wanted, Window(limit=_MOST_REWRITTEN))
        ends = {fact.uuid: _other_end(fact, entity.uuid) for fact in page.facts}
        aliases = await graph.records.aliases(sorted({uuid for uuid, _ in ends.values()}), _OTHER_NAMES)

        def worded() -> list[Fact]:
            facts = []
            for fact in page.facts:
                uuid, name = ends[fact.uuid]
                others = set(map(normalise_name, (name, *aliases[uuid])))
                text = renamed_text(fact, entity.uuid, names, others, entity.name)
                if text is not None:
                    facts.append(fact.model_copy(update={"text": text}))
            return facts

        return _Sentences(await in_thread(worded), page.total > len(page.facts))

    async def _vectors(self, planned: EntityChange) -> dict[str, Vector]:
        """By text; nothing is computed under the lock, and what lacks a vector keeps the one it has."""
        if not planned.is_renamed:
            return {}
        facts = (await self._sentences(planned)).facts
        texts = list(dict.fromkeys((planned.entity.name, *(fact.text for fact in facts))))
        return await embed_by_text(self._context.embedder, texts) or {}

    async def _write(
        self,
        caller: Caller,
        planned: EntityChange,
        kind: ChangeKind,
        reason: str | None,
        vectors: dict[str, Vector],
    ) -> str:
        """Journal and apply; what was done, in words."""
        entity, group = planned.entity, planned.entity.group_id
        recorded_at = after(await self._committer.time(group, self._context.now()), await self._events(entity))
        sentences = await self._sentences(planned)
        try:
            known = await self._books.of(group)
            new = planned.given_names
            mentions, jobs = await first_back_links(self._graph, group, new, known, recorded_at)
            others = await still_linked(self._graph, group, new, known, mentions)
            unlink = _unlinking(others, known)
            pairs = [(one.episode_uuid, one.entity_uuid) for one in mentions if one.entity_uuid == entity.uuid]
            there = await self._graph.records.mentioned(pairs) | await self._graph.records.apart(pairs)
            linked = (*planned.after.linked, *(episode for episode, uuid in pairs if (episode, uuid) not in there))
            state = planned.after.model_copy(
                update={"linked": tuple(one for one in dict.fromkeys(linked) if one not in planned.after.unlinked)}
            )
            change = FactChange(
                uuid=str(uuid4()),
                fact_uuid=entity.uuid,
                kind=kind,
                recorded_at=recorded_at,
                reason=reason,
                caller=caller.principal,
                entity_before=planned.before,
                entity_after=state,
            )
            by_uuid = {fact.uuid: vectors[fact.text] for fact in sentences.facts if fact.text in vectors}
            if planned.is_renamed and entity.name in vectors:
                by_uuid[entity.uuid] = vectors[entity.name]
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=group,
                kind=WriteKind.UPDATE_ENTITY,
                recorded_at=recorded_at,
                entities=(entity,),
                names=state.names,
                facts=tuple(sentences.facts),
                changes=(change,),
                jobs=tuple(jobs),
            )
            await self._committer.commit(intent, by_uuid)
        finally:
            self._books.forget(group)  # names may be fewer now, or not stored
        return _in_words(change, sentences) + unlink

    def _answer(self, message: str, entity: Entity, *, changed: bool) -> UpdatedEntityResponse:
        return UpdatedEntityResponse(message=message, node=self._views.node(entity), changed=changed)


def _undone(event: RecordedChange, entity: Entity) -> EntityChange:
    """The update the other way round."""
    if event.entity_before is None or event.entity_after is None:
        raise unknown("entity", entity.uuid)
    return EntityChange(
        entity.model_copy(update={"name": event.entity_before.name}), event.entity_after, event.entity_before
    )


def _other_end(fact: Fact, uuid: str) -> tuple[str, str]:
    if fact.source_uuid == uuid:
        return fact.target_uuid, fact.target_name
    return fact.source_uuid, fact.source_name


def _unlinking(others: Mapping[str, Sequence[str]], known: KnownNames) -> str:
    """How to unlink entities from episodes that name them only inside a new name of this one."""
    calls = (
        f"{known.name_of(uuid)} is still linked to {len(episodes)} episode(s) that name this one; to unlink them: "
        f"update_entity {json.dumps({'entity_uuid': uuid, 'unlink_episodes': episodes})}"
        for uuid, episodes in others.items()
    )
    return "".join(f". {call}" for call in calls)


def _in_words(change: FactChange, sentences: _Sentences) -> str:
    old, new = change.entity_before, change.entity_after
    if old is None or new is None:
        return ""
    has, had = {name.key for name in new.names}, {name.key for name in old.names}
    renamed, counts = old.name != new.name, (len(has - had), len(had - has))
    parts = [
        "name (the former one stays an alias)" if renamed and has >= had else "name" if renamed else "",
        "type" if old.label != new.label else "",
        "summary" if old.summary != new.summary else "",
        f"{counts[0]} new name(s)" if counts[0] else "",
        f"{counts[1]} name(s) removed" if counts[1] else "",
        "not the same as the other" if set(new.not_same_as) - set(old.not_same_as) else "",
        f"{len(set(new.linked) - set(old.linked))} episode(s) linked" if set(new.linked) - set(old.linked) else "",
        f"{len(set(old.linked) - set(new.linked))} unlinked" if set(old.linked) - set(new.linked) else "",
        f"{len(sentences.facts)} sentence(s) with its new name" if sentences.facts else "",
        "older sentences keep the former name" if sentences.is_cut else "",
    ]
    return ", ".join(part for part in parts if part) or "as it was before"
