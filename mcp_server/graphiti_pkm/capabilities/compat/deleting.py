"""Deletes entities, relations and observations, with their sentences in the episodes of these tools.

What people said in other episodes stays and is counted. Words that go leave the files as well, as with ``forget``.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias
from uuid import uuid4

from graphiti_pkm.capabilities.compat.cutting import Cut, Lines, unmentioned
from graphiti_pkm.capabilities.compat.models import Deleted, ReferenceDeleted
from graphiti_pkm.capabilities.compat.plan import COMPAT, Relation
from graphiti_pkm.capabilities.compat.ports import GraphObservations
from graphiti_pkm.capabilities.compat.reading import ClassicReading, offers
from graphiti_pkm.capabilities.compat.reference_requests import (
    DeleteReferenceEntities,
    DeleteReferenceObservations,
    DeleteReferenceRelations,
)
from graphiti_pkm.capabilities.compat.requests import DeleteEntities, DeleteObservations, DeleteRelations
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import change_of
from graphiti_pkm.core.facts.observations import is_observation, type_of
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import NameBooks
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EraseJob
from graphiti_pkm.core.model.names import display_name, normalise_name
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Deletions, Entity, Fact, Forgetting, Passage, WriteIntent, WriteKind
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, NotAllowed, TooLarge, Unavailable, WriteFailed
from graphiti_pkm.storage.commit import Committer

_MOST_FACTS = 10_000
_MOST_EPISODES = 1_000
_MOST_PASSAGES = 25_000
_PAGE = 500
_FACTS_EACH = 50
_ALIASES = 50
_AT_ONCE = 100
_NOTHING = "Nothing was deleted."
ENTITIES, RELATIONS, OBSERVATIONS = (
    f"{kind} deleted successfully" for kind in ("Entities", "Relations", "Observations")
)


@dataclass
class Gone:
    """What a call deletes."""

    entities: list[Entity] = field(default_factory=list)
    facts: dict[str, Fact] = field(default_factory=dict)
    not_found: list[str] = field(default_factory=list)
    kept: int = 0


Find: TypeAlias = Callable[[], Awaitable[Gone]]
"""Reads what is meant, under the group's lock."""


class ClassicDeleting:
    """delete_entities, delete_relations and delete_observations of both toolsets."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        committer: Committer,
        stored: GraphObservations,
        reading: ClassicReading,
    ) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer
        self._stored = stored
        self._reading = reading
        self._persons = Persons(context.graph, context.settings)
        self._books = NameBooks(context.graph)

    async def delete_entities(self, caller: Caller, request: DeleteEntities) -> Deleted:
        """Delete entities with all their facts. Raises InvalidInput, TooLarge: nothing was deleted."""
        group = self._groups.one(caller, request.group_id)
        return self._answer(caller, ENTITIES, await self._entities(caller, group, request.entityNames))

    async def delete_relations(self, caller: Caller, request: DeleteRelations) -> Deleted:
        """Delete exactly these relations. Raises as ``delete_entities``."""
        sent = [Relation(one.source, one.target, one.relationType) for one in request.relations]
        group = self._groups.one(caller, request.group_id)
        return self._answer(caller, RELATIONS, await self._relations(caller, group, sent))

    async def delete_observations(self, caller: Caller, request: DeleteObservations) -> Deleted:
        """Delete observations of exactly these texts. Raises as ``delete_entities``."""
        sent = [(one.entityName, one.observations) for one in request.deletions]
        group = self._groups.one(caller, request.group_id)
        return self._answer(caller, OBSERVATIONS, await self._observations(caller, group, sent))

    async def delete_reference_entities(self, caller: Caller, request: DeleteReferenceEntities) -> ReferenceDeleted:
        """As ``delete_entities``."""
        if not request.entityNames:
            return self._reference(caller, ENTITIES, Gone())
        group = self._groups.one(caller, None)
        return self._reference(caller, ENTITIES, await self._entities(caller, group, request.entityNames))

    async def delete_reference_relations(self, caller: Caller, request: DeleteReferenceRelations) -> ReferenceDeleted:
        """As ``delete_relations``."""
        if not request.relations:
            return self._reference(caller, RELATIONS, Gone())
        sent = [Relation(one.source, one.target, one.relationType) for one in request.relations]
        group = self._groups.one(caller, None)
        return self._reference(caller, RELATIONS, await self._relations(caller, group, sent))

    async def delete_reference_observations(
        self, caller: Caller, request: DeleteReferenceObservations
    ) -> ReferenceDeleted:
        """As ``delete_observations``."""
        if not request.deletions:
            return self._reference(caller, OBSERVATIONS, Gone())
        sent = [(one.entityName, one.observations) for one in request.deletions]
        group = self._groups.one(caller, None)
        return self._reference(caller, OBSERVATIONS, await self._observations(caller, group, sent))

    async def _entities(self, caller: Caller, group_id: str, names: Sequence[str]) -> Gone:
        asked = _checked(names)

        async def found() -> Gone:
            named = await self._reading.named(caller, asked, [group_id])
            gone = Gone(not_found=[name for name in asked if not named[name]])
            gone.entities = list({one.uuid: one for each in named.values() for one in each}.values())
            persons = await self._persons.uuids(group_id)
            if any(one.uuid in persons for one in gone.entities):
                raise NotAllowed(
                    f"{_NOTHING} One of these is the person the memory belongs to: delete its observations or "
                    "relations instead."
                )
            for entity in gone.entities:
                gone.facts |= await self._facts_of(entity, room=_MOST_FACTS - len(gone.facts))
            return gone

        return await self._delete(caller, group_id, found)

    async def _relations(self, caller: Caller, group_id: str, sent: Sequence[Relation]) -> Gone:
        ends = [(display_name(one.source), display_name(one.target)) for one in sent]
        names = _checked([end for pair in ends for end in pair])

        async def found() -> Gone:
            named = await self._reading.named(caller, names, [group_id])
            gone = Gone()
            for (source, target), one in zip(ends, sent, strict=True):
                pairs = [(s.uuid, t.uuid) for s in named[source] for t in named[target]]
                between = await self._graph.facts.facts_between(group_id, pairs, _FACTS_EACH) if pairs else []
                same = [
                    fact
                    for facts in between
                    for fact in facts
                    if normalise_name(fact.relation) == normalise_name(one.stored)
                    and fact.is_open
                    and not is_observation(fact)
                ]
                gone.facts |= {fact.uuid: fact for fact in same}
                if not same:
                    gone.not_found.append(f"{source} {one.type} {target}")
            return gone

        return await self._delete(caller, group_id, found)

    async def _observations(self, caller: Caller, group_id: str, sent: Sequence[tuple[str, Sequence[str]]]) -> Gone:
        asked = [(display_name(name), text) for name, texts in sent for text in texts]
        names = _checked([display_name(name) for name, _ in sent])

        async def found() -> Gone:
            named = await self._reading.named(caller, names, [group_id])
            gone = Gone(not_found=[name for name in names if not named[name]])
            wanted = [(one.uuid, text) for name, text in asked for one in named[name]]
            facts = await self._stored.known_observations(group_id, wanted) if wanted else []
            gone.facts = {fact.uuid: fact for fact in facts}
            said = {(fact.source_uuid, fact.text) for fact in facts}
            gone.not_found += [
                f"{name}: {text}" for name, text in asked for one in named[name] if (one.uuid, text) not in said
            ]
            return gone

        return await self._delete(caller, group_id, found)

    async def _facts_of(self, entity: Entity, *, room: int) -> dict[str, Fact]:
        """All facts of an entity, ended ones too. Raises TooLarge."""
        wanted = FactFilter(group_ids=(entity.group_id,), now=self._context.now())
        facts: dict[str, Fact] = {}
        window = Window(limit=_PAGE)
        while True:
            page = await self._graph.facts.connections(entity.uuid, wanted, window)
            if page.total > room:
                raise TooLarge(f"{_NOTHING} The entities have more than {_MOST_FACTS:,} facts: delete fewer at once.")
            facts |= {fact.uuid: fact for fact in page.facts}
            if len(page.facts) < _PAGE:
                return facts
            window = Window(limit=_PAGE, after=page.keys[-1])

    async def _delete(self, caller: Caller, group_id: str, find: Find) -> Gone:
        caller.must_write(_NOTHING)
        try:
            async with self._committer.writing(group_id):
                gone = await find()
                if gone.entities or gone.facts:
                    await self._write(caller, group_id, gone)
        except Unavailable as error:
            raise WriteFailed(f"{_NOTHING} Send it again later. {error.message}") from error
        return gone

    async def _write(self, caller: Caller, group_id: str, gone: Gone) -> None:
        recorded_at = await self._committer.time(group_id)
        cuts = await self._cuts(group_id, gone)
        emptied = {cut.episode.uuid for cut in cuts if cut.is_all}
        touched = [cut for cut in cuts if not cut.is_all]
        deleted = {one.uuid for one in gone.entities}
        left = await self._left(group_id, touched, gone.facts.keys())
        known = await self._books.of(group_id)
        facts = list(gone.facts.values())
        mentions = await in_thread(unmentioned, cuts, facts, left, known.mentioned, deleted)
        gone.kept = await self._kept(gone, cuts)
        staying, passages = await in_thread(_moved, touched, left)
        intent = WriteIntent(
            uuid=str(uuid4()),
            group_id=group_id,
            kind=WriteKind.FORGET,
            recorded_at=recorded_at,
            facts=tuple(staying),
            passages=tuple(passages),
            changes=tuple(
                change_of(str(uuid4()), fact, "deleted", recorded_at, caller=caller.principal) for fact in facts
            ),
            deletions=Deletions(
                episodes=tuple(sorted(emptied)), entities=tuple(sorted(deleted)), facts=tuple(gone.facts)
            ),
            forgets=Forgetting(
                episodes=tuple(cut.text for cut in touched),
                passages=tuple(uuid for cut in touched for uuid in cut.lost_passages),
                mentions=tuple(mentions),
            ),
            jobs=(EraseJob(),),
        )
        try:
            await self._committer.commit(intent, {})
        finally:
            self._books.forget(group_id)

    async def _cuts(self, group_id: str, gone: Gone) -> list[Cut]:
        """The episodes of these tools that lose lines. Raises TooLarge."""
        supporting = {uuid: None for fact in gone.facts.values() for uuid in fact.episodes}
        found = {one.uuid: one for one in await self._graph.records.get_episodes(list(supporting), [group_id])}
        for entity in gone.entities:
            born = EpisodeFilter(
                group_ids=(group_id,),
                valid_after=entity.created_at,
                valid_before=entity.created_at + timedelta(microseconds=1),
            )
            page = await self._graph.episodes.timeline(entity.uuid, born, Window(limit=_AT_ONCE))
            found |= {one.uuid: one for one in page.episodes}
        episodes = [one for one in found.values() if one.source_description == COMPAT]
        if len(episodes) > _MOST_EPISODES:
            raise TooLarge(f"{_NOTHING} They stand in more than {_MOST_EPISODES:,} episodes: delete fewer at once.")
        aliases = await self._graph.records.aliases([one.uuid for one in gone.entities], _ALIASES)
        cuts = []
        for episode in episodes:
            passages = await self._graph.episodes.passages(episode.uuid, without_vector=False, limit=_MOST_PASSAGES)
            cut = await in_thread(_cut, Lines(episode, passages), gone, aliases)
            if cut.gone:
                cuts.append(cut)
        return cuts

    async def _left(self, group_id: str, cuts: Sequence[Cut], gone: Iterable[str]) -> list[Fact]:
        """Facts that stay of the episodes that lose lines: they are written whole, so that they are known to stay."""
        lost = frozenset(gone)
        found: dict[str, Fact] = {}
        for cut in cuts:
            facts = await self._graph.facts.episode_facts(cut.episode.uuid, [group_id], _MOST_FACTS)
            found |= {fact.uuid: fact for fact in facts if fact.uuid not in lost}
        return list(found.values())

    async def _kept(self, gone: Gone, cuts: Sequence[Cut]) -> int:
        """Episodes of others that say what is deleted, or mention a deleted entity."""
        own = {cut.episode.uuid for cut in cuts}
        if not gone.entities:
            return len({uuid for fact in gone.facts.values() for uuid in fact.episodes} - own)
        kept = 0
        pairs = [(uuid, one.uuid) for uuid in own for one in gone.entities]
        mentioned = await self._graph.records.mentioned(pairs)
        for one in gone.entities:
            wanted = EpisodeFilter(group_ids=(one.group_id,))
            page = await self._graph.episodes.timeline(one.uuid, wanted, Window(limit=1))
            kept += page.total - sum(entity == one.uuid for _, entity in mentioned)
        return kept

    def _hint(self, caller: Caller, gone: Gone) -> str | None:
        if not gone.kept:
            return None
        stays = f"{gone.kept} episode(s) still say it, in words that people said"
        is_on = offers(self._context, "forget") and caller.may("curator")
        return f"{stays}; forget takes them out." if is_on else f"{stays}."

    def _answer(self, caller: Caller, sentence: str, gone: Gone) -> Deleted:
        hint = self._hint(caller, gone)
        return Deleted(result=sentence, not_found=gone.not_found or None, kept=gone.kept or None, hint=hint)

    def _reference(self, caller: Caller, sentence: str, gone: Gone) -> ReferenceDeleted:
        return ReferenceDeleted(success=True, message=sentence, kept=gone.kept or None, hint=self._hint(caller, gone))


def _cut(lines: Lines, gone: Gone, aliases: Mapping[str, Sequence[str]]) -> Cut:
    """The episode without the lines of what goes."""
    lost = {number for fact in gone.facts.values() if (number := lines.of_fact(fact)) is not None}
    for one in gone.entities:
        lost |= lines.of_type((one.name, *aliases.get(one.uuid, ())), type_of(one))
    return Cut(lines, frozenset(lost))


def _moved(cuts: Sequence[Cut], left: Sequence[Fact]) -> tuple[list[Fact], list[Passage]]:
    """What stays of some episodes, where it stands then."""
    by_uuid = {cut.episode.uuid: cut for cut in cuts}
    facts = [
        by_uuid[fact.quote_episode_uuid].requoted(fact) if fact.quote_episode_uuid in by_uuid else fact for fact in left
    ]
    return facts, [part for cut in cuts for part in cut.passages]


def _checked(names: Sequence[str]) -> list[str]:
    for name in names:
        check_text(name, "a name")
    asked = list(dict.fromkeys(map(display_name, names)))
    if not asked or not all(map(normalise_name, asked)):
        raise InvalidInput(f"A name is blank, or there is none. {_NOTHING}")
    return asked
