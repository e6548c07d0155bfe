"""Stores what a model found: reads around it, plans and commits under the group's lock."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from graphiti_pkm.capabilities.extraction.parsing import ReadExtraction, read_extraction
from graphiti_pkm.capabilities.extraction.plan import ExtractionContext, ExtractionPlan, plan_extraction
from graphiti_pkm.capabilities.remember.write_plan import WriteContext
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.resolution import names_given
from graphiti_pkm.core.identity.first_back_links import first_back_links
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import KnownNames, NameBooks
from graphiti_pkm.core.identity.persons import Person, Persons
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Episode, Fact, Origin, Vector
from graphiti_pkm.core.ports.extraction import Extraction, ExtractionTask
from graphiti_pkm.core.reading.snapshot import SnapshotReader
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import WritePending
from graphiti_pkm.storage.commit import Committer

_MOST_SUPPLIED = 100
_MOST_OF_EPISODE = 1_000
"""Facts of one episode, and entities that it mentions: more than a model finds."""
_MOST_PREVIOUS = 50
_MOST_EVENTS = 20
_ENDED_KINDS = frozenset({"retired", "voided", "proposed"})


class OutdatedError(Exception):
    """What the model was shown has changed or was deleted: it has to read again."""


@dataclass(frozen=True)
class FoundInEpisode:
    """What a model found, and the episode as the model read it."""

    job: ExtractJob
    episode: Episode
    found: Extraction
    model: str
    former: ExtractionAnswer | None = None


class ExtractionWriting:
    """Stores extractions; nothing slow happens while a group's lock is held."""

    def __init__(self, context: Context, groups: Groups, committer: Committer) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._committer = committer
        self._books = NameBooks(context.graph)
        self._reader = SnapshotReader(context.graph, self._books)

    async def task_of(self, group_id: str, job: ExtractJob) -> ExtractionTask:
        """The model's task, with the facts that the caller gave already."""
        receipt = await self._context.journal.stored_answer(job.episode_uuid)
        recorded = [str(one["uuid"]) for one in _recorded_facts(receipt[1] if receipt else {})]
        facts = await self._graph.records.get_facts(recorded[:_MOST_SUPPLIED], [group_id]) if recorded else []
        return ExtractionTask(
            group_id=group_id,
            episode_uuid=job.episode_uuid,
            excluded_entity_types=job.excluded_entity_types,
            instructions=job.instructions,
            previous_episode_uuids=await self._whole(group_id, job.previous_episode_uuids),
            supplied_facts=tuple(fact.text for fact in facts if not fact.voided),
            person=(await self._person(group_id, job)).name,
        )

    async def _person(self, group_id: str, job: ExtractJob) -> Person:
        """Who "I" is in the job's episode."""
        told = (await self._graph.records.origins("episode", [job.episode_uuid], [group_id])).get(job.episode_uuid)
        return await self._persons.of(group_id, job.person, told.created_by if told else None)

    async def _told_as(self, job: ExtractJob) -> str | None:
        """The name by which the teller knows the group of a shared memory."""
        receipt = await self._context.journal.stored_answer(job.episode_uuid)
        public = receipt and receipt[1].get("group_id")
        return public if isinstance(public, str) else None

    async def _whole(self, group_id: str, given: Sequence[str] | None) -> tuple[str, ...] | None:
        """Full uuids for beginnings sent by callers; one that matches none, or several, is left out."""
        if given is None:
            return None
        read = self._graph.records.find_uuids
        found = await asyncio.gather(*(read("episode", text, [group_id], 2) for text in given[:_MOST_PREVIOUS]))
        return tuple(uuids[0] for uuids in found if len(uuids) == 1)

    async def episode(self, group_id: str, episode_uuid: str) -> Episode | None:
        """The present episode; None if it was deleted."""
        found = await self._graph.records.get_episodes([episode_uuid], [group_id])
        return found[0] if found else None

    async def is_written(self, job: ExtractJob) -> bool:
        """Whether the journal has the job's write: then it reaches the graph, whatever ended meanwhile."""
        return bool(await self._context.journal.find([job.uuid]))

    async def finish(self, group_id: str) -> None:
        """Apply the group's journalled writes to the graph. Raises as ``Committer.finish``."""
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)

    async def _origin(self, episode: Episode) -> Origin | None:
        """Of what a model finds in an episode: who told it."""
        found = await self._graph.records.origins("episode", [episode.uuid], [episode.group_id])
        told = found.get(episode.uuid)
        return told and told.model_copy(update={"source_type": "inference"})

    async def store(self, given: FoundInEpisode, may_write: Callable[[], Awaitable[bool]]) -> ExtractionAnswer | None:
        """Write what was found, once: None if it was written before.

        Raises:
            OutdatedError: the graph has changed under the model, or ``may_write``, asked last, says no.
            Unavailable: the graph cannot be reached; nothing was written.
            WriteFailed: nothing was written.
        """
        group_id = given.episode.group_id
        person = await self._person(group_id, given.job)
        read = self._read(given, await self._known(given), person)
        texts = list(dict.fromkeys((*names_given(read.parsed, person.name), *(one.parsed.text for one in read.facts))))
        vectors = await embed_by_text(self._context.embedder, texts) if texts else {}
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            if await self.is_written(given.job):
                return None
            plan, known = await self._plan(given, vectors or {})
            former = await self._former(given)
            with self._books.writing(group_id), suppress(WritePending):  # which keeps the write
                mentions, jobs = await first_back_links(self._graph, group_id, plan.new_names, known, plan.recorded_at)
                intent = plan.intent(given.job.uuid, mentions, jobs, await self._origin(given.episode))
                answer = plan.answer(given.former, former)
                answer = answer.model_copy(update={"communities_stay": given.job.update_communities})
                await _confirm(may_write)
                await self._committer.commit(intent, plan.vectors, answer=answer.model_dump(mode="json"))
        return answer

    async def _plan(self, given: FoundInEpisode, vectors: Mapping[str, Vector]) -> tuple[ExtractionPlan, KnownNames]:
        group_id, settings = given.episode.group_id, self._context.settings
        now = self._context.now()
        recorded_at = await self._committer.time(group_id, now)
        episode = await self.episode(group_id, given.job.episode_uuid)
        if episode is None or episode.content != given.episode.content:
            raise OutdatedError
        known = await self._known(given)
        if any(one.is_known and one.uuid not in known for one in given.found.entities):
            raise OutdatedError
        person = await self._person(group_id, given.job)
        read = self._read(given, known, person)
        snapshot, around = await asyncio.gather(
            self._reader.read(group_id, read.parsed, person.name, vectors, now), self._around(given, known)
        )
        there = {fact.uuid for fact in around.facts}
        if any(one.is_known and one.uuid not in there for one in given.found.facts):
            raise OutdatedError
        public = self._groups.public(group_id) if person.is_known else await self._told_as(given.job)
        named = None if public == settings.default_group else public
        caller = f"extraction ({given.model})"
        at = WriteContext(group_id, named, person.name, now, recorded_at, settings.zone, caller, settings.retirement)
        plan = plan_extraction(read, given.found.endings, at, episode, snapshot, around, vectors, given.model)
        return plan, snapshot.known

    async def _known(self, given: FoundInEpisode) -> dict[str, Entity]:
        uuids = [one.uuid for one in given.found.entities if one.is_known]
        found = await self._graph.records.get_entities(uuids, [given.episode.group_id]) if uuids else []
        return {entity.uuid: entity for entity in found}

    def _read(self, given: FoundInEpisode, known: Mapping[str, Entity], person: Person) -> ReadExtraction:
        zone = self._context.settings.zone
        return read_extraction(given.found, given.episode, known, person, zone)

    async def _around(self, given: FoundInEpisode, known: Mapping[str, Entity]) -> ExtractionContext:
        episode_uuid, groups = given.job.episode_uuid, [given.episode.group_id]
        ended = sorted({one.fact_uuid for one in given.found.endings})
        causes = (one.by_uuid for one in given.found.endings)
        named = sorted({*ended, *causes, *(one.uuid for one in given.found.facts if one.is_known)})
        recorded, facts, events, mentioned = await asyncio.gather(
            self._graph.facts.episode_facts(episode_uuid, groups, _MOST_OF_EPISODE),
            self._graph.records.get_facts(named, groups),
            self._graph.changes.fact_changes(ended, groups, _MOST_EVENTS),
            self._graph.episodes.episode_entities([episode_uuid], groups, Window(limit=_MOST_OF_EPISODE)),
        )
        settled = {
            uuid
            for uuid, changes in events.items()
            if any(one.episode_uuid == episode_uuid and one.kind in _ENDED_KINDS for one in changes)
        }
        return ExtractionContext(
            known=known,
            facts=tuple({fact.uuid: fact for fact in (*recorded, *facts)}.values()),
            settled=frozenset(settled),
            linked=frozenset(entity.uuid for entity in mentioned[0]),
        )

    async def _former(self, given: FoundInEpisode) -> dict[str, Fact]:
        uuids = [fact.uuid for fact in given.former.facts] if given.former else []
        facts = await self._graph.records.get_facts(uuids, [given.episode.group_id]) if uuids else []
        return {fact.uuid: fact for fact in facts}


def _recorded_facts(answer: Mapping[str, object]) -> list[dict[str, object]]:
    """Facts in an add_memory's answer, which has fewer once something of it was forgotten."""
    facts = answer.get("facts")
    return [one for one in facts if isinstance(one, dict) and "uuid" in one] if isinstance(facts, list) else []


async def _confirm(may_write: Callable[[], Awaitable[bool]]) -> None:
    if not await may_write():
        raise OutdatedError
