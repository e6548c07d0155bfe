"""Writes what a call says, as one write with one episode. No model is asked, no name is guessed, and nothing ends."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from graphiti_pkm.capabilities.compat.models import (
    AddedObservations,
    AddedReferenceObservations,
    AddedReferenceTexts,
    AddedTexts,
    CreatedEntities,
    CreatedReferenceEntities,
    CreatedReferenceRelations,
    CreatedRelations,
    FailedRelation,
    MemoryRelation,
)
from graphiti_pkm.capabilities.compat.plan import (
    Held,
    Moment,
    NewEntity,
    Observed,
    Planned,
    Planner,
    Relation,
    is_person,
    line_spans,
    relation_line,
    type_line,
)
from graphiti_pkm.capabilities.compat.ports import GraphObservations
from graphiti_pkm.capabilities.compat.reading import (
    MOST_ENTITIES,
    ClassicReading,
    memory_relation,
    offers,
    reference_entities,
    reference_relation,
)
from graphiti_pkm.capabilities.compat.reference_requests import (
    AddReferenceObservations,
    CreateReferenceEntities,
    CreateReferenceRelations,
)
from graphiti_pkm.capabilities.compat.requests import AddObservations, CreateEntities, CreateRelations
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.facts.statuses import HAS_STATUS, is_status_relation
from graphiti_pkm.core.identity.first_back_links import first_back_links
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import NameBooks
from graphiti_pkm.core.identity.persons import Persons, refuse_me
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EmbedMissingJob, Job
from graphiti_pkm.core.model.names import display_name, name_key, normalise_name, relation_name
from graphiti_pkm.core.model.queries import EntityFilter
from graphiti_pkm.core.model.records import Mention, Vector, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.reading.candidates import Candidates
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.embedding.write_vectors import embed_by_text
from graphiti_pkm.errors import InvalidInput, TooLarge, Unavailable, WriteFailed
from graphiti_pkm.storage.commit import Committer

_MOST_SENTENCES = 5_000
_MOST_SAID = 250_000
"""Characters of all names and sentences of a call."""
_EMBEDDED_AT_ONCE = 24_000
"""Characters of the lines of an episode that are embedded within the call; a job embeds the rest."""
_FACTS_EACH = 50
_STATUSES_EACH = 20
_UUID = 8
_NOTHING = "Nothing was stored."


@dataclass(frozen=True)
class Sent:
    """A call of either toolset."""

    entities: tuple[NewEntity, ...] = ()
    relations: tuple[Relation, ...] = ()
    observations: tuple[Observed, ...] = ()
    is_strict: bool = False
    """As the reference server does it: a known entity is skipped, and an unknown name refuses the whole call."""

    @property
    def names(self) -> list[str]:
        """All names of the call, in order."""
        ends = (end for one in self.relations for end in (one.source, one.target))
        named = (*(one.name for one in self.entities), *ends, *(one.name for one in self.observations))
        return list(dict.fromkeys(named))

    @property
    def texts(self) -> list[tuple[str, str]]:
        """Each observation with the name of its entity."""
        about = (
            *((one.name, one.observations) for one in self.entities),
            *((o.name, o.texts) for o in self.observations),
        )
        return [(name, text) for name, texts in about for text in texts]

    @property
    def lines(self) -> list[str]:
        """Everything that the episode may say."""
        return [
            *(type_line(one.name, one.type) for one in self.entities),
            *(f"{name}: {text}" for name, text in self.texts),
            *(relation_line(one.source, one.type, one.target) for one in self.relations),
        ]


class ClassicWriting:
    """create_entities, create_relations and add_observations of both toolsets."""

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
        self._candidates = Candidates(context.graph, context.embedder, self._persons)

    async def create_entities(self, caller: Caller, request: CreateEntities) -> CreatedEntities:
        """Add entities with their observations; a known name is merged. Raises as ``write``."""
        sent = Sent(entities=_entities((one.name, one.type, one.observations) for one in request.entities))
        group = self._groups.one(caller, request.group_id)
        planned = await self.write(caller, group, sent)
        entities = [one.entity for one in planned.resolved]
        found = await self._reading.gathered(entities[:MOST_ENTITIES], [group], within=True)
        return CreatedEntities(
            result=self._reading.memory_entities(found, [group], {}),
            known_as=planned.known_as or None,
            more=max(len(entities) - MOST_ENTITIES, 0) or None,
        )

    async def create_relations(self, caller: Caller, request: CreateRelations) -> CreatedRelations:
        """Add relations between known entities; the others are returned as failed. Raises as ``write``."""
        sent = Sent(relations=_relations((one.source, one.relationType, one.target) for one in request.relations))
        group = self._groups.one(caller, request.group_id)
        planned = await self.write(caller, group, sent)
        near = await self._near(group, sorted({getattr(one, end) for one, ends in planned.failed for end in ends}))
        return CreatedRelations(
            result=[memory_relation(fact) for _, fact in planned.related],
            failed=[
                FailedRelation(
                    relation=MemoryRelation(source=one.source, target=one.target, relationType=one.type),
                    missing=list(ends),
                    near={name: near[name] for end in ends if (name := getattr(one, end)) in near} or None,
                )
                for one, ends in planned.failed
            ],
            needs_attention=self._attention(planned) or None,
        )

    async def add_observations(self, caller: Caller, request: AddObservations) -> AddedObservations:
        """Add sentences to known entities; only new ones are added. Raises as ``write``."""
        sent = Sent(observations=_observations((one.entityName, one.observations) for one in request.observations))
        planned = await self.write(caller, self._groups.one(caller, request.group_id), sent)
        return AddedObservations(
            result=[AddedTexts(entityName=one.name, addedObservations=list(one.texts)) for one in planned.added],
            not_found=planned.not_found,
        )

    async def create_reference_entities(
        self, caller: Caller, request: CreateReferenceEntities
    ) -> CreatedReferenceEntities:
        """Add entities with their observations; a known name is skipped and named. Raises as ``write``."""
        entities = _entities((one.name, one.entityType, one.observations) for one in request.entities)
        group = self._groups.one(caller, None)
        planned = await self.write(caller, group, Sent(entities=entities, is_strict=True))
        new = [one.entity for one in planned.resolved if one.is_new]
        found = await self._reading.gathered(new[:MOST_ENTITIES], [group], within=True)
        return CreatedReferenceEntities(
            entities=reference_entities(found),
            skipped=planned.skipped or None,
            known_as=planned.known_as or None,
            more=max(len(new) - MOST_ENTITIES, 0) or None,
        )

    async def create_reference_relations(
        self, caller: Caller, request: CreateReferenceRelations
    ) -> CreatedReferenceRelations:
        """Add relations; one unknown end refuses all of them. Raises as ``write``."""
        relations = _relations((one.source, one.relationType, one.target) for one in request.relations)
        group = self._groups.one(caller, None)
        planned = await self.write(caller, group, Sent(relations=relations, is_strict=True))
        new = {one.uuid: one for one in planned.facts}
        return CreatedReferenceRelations(
            relations=[reference_relation(fact) for fact in new.values()],
            needs_attention=self._attention(planned) or None,
        )

    async def add_reference_observations(
        self, caller: Caller, request: AddReferenceObservations
    ) -> AddedReferenceObservations:
        """Add sentences; one unknown name refuses all of them. Raises as ``write``."""
        observations = _observations((one.entityName, one.contents) for one in request.observations)
        group = self._groups.one(caller, None)
        planned = await self.write(caller, group, Sent(observations=observations, is_strict=True))
        added = [AddedReferenceTexts(entityName=one.name, addedObservations=list(one.texts)) for one in planned.added]
        return AddedReferenceObservations(results=added)

    async def write(self, caller: Caller, group_id: str, sent: Sent) -> Planned:
        """Store one call as a whole; durable and searchable when it returns.

        Raises InvalidInput, TooLarge: nothing was stored. WriteFailed: nothing was stored; it may be sent again.
        """
        caller.must_write(_NOTHING)
        _check(sent)
        refuse_me(caller, group_id, map(normalise_name, sent.names))
        try:
            vectors = await self._vectors(sent)
            async with self._committer.writing(group_id):
                return await self._store(caller, group_id, sent, vectors)
        except Unavailable as error:
            raise WriteFailed(f"{_NOTHING} Send it again later. {error.message}") from error

    async def _vectors(self, sent: Sent) -> Mapping[str, Vector]:
        """By text; made before the lock is taken."""
        lines, room = [], _EMBEDDED_AT_ONCE
        for line in sent.lines:
            room -= len(line)
            if room < 0:
                break
            lines += [line[span["start"] : span["end"]] for span in line_spans([line])]
        named = [one.name for one in sent.entities]
        related = [relation_line(one.source, one.type, one.target) for one in sent.relations]
        texts = list(dict.fromkeys((*named, *(text for _, text in sent.texts), *related, *lines)))
        return await embed_by_text(self._context.embedder, texts) or {}

    async def _store(self, caller: Caller, group_id: str, sent: Sent, vectors: Mapping[str, Vector]) -> Planned:
        """Read, plan and commit under the group's lock."""
        person = self._persons.called(caller, group_id)
        recorded_at = await self._committer.time(group_id, self._context.now())
        moment = Moment(group_id, person, recorded_at, self._context.settings.zone)
        held = await self._held(group_id, moment, sent)
        planned = await in_thread(_planned, moment, held, sent)
        _refuse_unknown(sent, planned)
        changed = [one for one in planned.resolved if one.is_new or one.is_changed]
        new_names = [name for one in planned.resolved for name in one.new_names]
        if planned.episode is None and not changed and not new_names:
            return planned
        with self._books.writing(group_id):
            intent = await self._intent(planned, group_id, moment)
            intent = intent.model_copy(update={"origin": caller.origin()})
            by_uuid = await in_thread(_by_uuid, planned, vectors)
            if vectors and (left := _without_vector(planned, by_uuid)):
                intent = intent.model_copy(update={"jobs": (*intent.jobs, *left)})
            await self._committer.commit(intent, by_uuid)
        return planned

    async def _held(self, group_id: str, moment: Moment, sent: Sent) -> Held:
        """What the group holds of the names of the call."""
        person, now = moment.person, moment.recorded_at
        keys = await in_thread(lambda: [name_key(group_id, name) for name in (*sent.names, person, ME)])
        names = await self._graph.records.get_names(list(dict.fromkeys(keys)))
        uuids = sorted({one.entity_uuid for one in names.values()})
        entities = {one.uuid: one for one in await self._graph.records.get_entities(uuids, [group_id])}
        held = Held(names, entities)

        def of(name: str) -> str | None:
            found = names.get(name_key(group_id, ME if is_person(name, person) else name))
            return found.entity_uuid if found else None

        asked = [(uuid, text) for name, text in sent.texts if (uuid := of(name)) is not None]
        known = await self._stored.known_observations(group_id, asked) if asked else []
        pairs: dict[tuple[str, str], None] = {}
        sources: dict[tuple[str, str], None] = {}
        for one in sent.relations:
            source, target = of(one.source), of(one.target)
            if source is not None and target is not None:
                pairs[source, target] = None
                if is_status_relation(one.stored):
                    sources[source, HAS_STATUS] = None
        between = await self._graph.facts.facts_between(group_id, list(pairs), _FACTS_EACH) if pairs else []
        statuses = (
            await self._graph.facts.facts_with_relation(group_id, list(sources), _STATUSES_EACH) if sources else []
        )
        facts = {fact.uuid: fact for found in (*between, *statuses) for fact in found}
        observed = frozenset((fact.source_uuid, fact.text) for fact in known)
        counted = (
            await self._stored.observations(list({uuid for uuid, _ in asked}), [group_id], now, 1) if asked else {}
        )
        counts = {uuid: count for uuid, (_, count) in counted.items()}
        return Held(held.names, held.entities, observed, counts, tuple(facts.values()))

    async def _intent(self, planned: Planned, group_id: str, moment: Moment) -> WriteIntent:
        known = await self._books.of(group_id)
        episode = planned.episode
        named: Iterable[str] = ()
        if episode is not None:
            content = episode.content
            named = sorted(await in_thread(known.mentioned, content))
        entities = [one.entity for one in planned.resolved]
        names = [name for one in planned.resolved for name in one.new_names]
        back, jobs = await first_back_links(self._graph, group_id, names, known, moment.recorded_at, entities)
        own = [] if episode is None else _mentions(episode.uuid, (*planned.ends, *named), moment)
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=group_id,
            kind=WriteKind.ADD_MEMORY,
            recorded_at=moment.recorded_at,
            episodes=() if episode is None else (episode,),
            entities=tuple(one.entity for one in planned.resolved if one.is_new or one.is_changed),
            names=tuple(names),
            facts=tuple(planned.facts),
            mentions=(*own, *back),
            passages=tuple(planned.passages),
            jobs=tuple(jobs),
        )

    async def _near(self, group_id: str, names: Sequence[str]) -> dict[str, list[str]]:
        """For unknown names the entity that has it in another spelling, then those that are spelt alike."""
        if not names:
            return {}
        keys = {name: name_key(group_id, name) for name in names}
        held = await self._graph.records.get_names(list(keys.values()))
        similar = await self._candidates.similar(names, EntityFilter(group_ids=(group_id,)))
        near = {}
        for name, key in keys.items():
            own = [f"{held[key].text} ({held[key].entity_uuid[:_UUID]})"] if key in held else []
            near[name] = list(dict.fromkeys((*own, *similar.get(name, ()))))
        return {name: found for name, found in near.items() if found}

    def _attention(self, planned: Planned) -> list[str]:
        """Statuses that add_memory would have ended."""
        ends = "; retire_fact ends it" if offers(self._context, "retire_fact") else ""
        return [
            f"{new.source_name} has the status {old.value or old.target_name} as well as {new.target_name}: nothing "
            f"ended. The older fact is {old.uuid[:_UUID]}{ends}."
            for new, old in planned.other_statuses
        ]


def _planned(moment: Moment, held: Held, sent: Sent) -> Planned:
    planner = Planner(moment, held, lambda: str(uuid4()))
    planner.entities(sent.entities, skip_known=sent.is_strict)
    planner.relations(sent.relations)
    planner.observations(sent.observations)
    return planner.finished()


def _refuse_unknown(sent: Sent, planned: Planned) -> None:
    """Refuse the whole call of a strict server."""
    unknown = [*planned.not_found, *(getattr(one, end) for one, ends in planned.failed for end in ends)]
    if sent.is_strict and unknown:
        shown = list(dict.fromkeys(unknown))[:10]
        named = f"Entity with name {shown[0]}" if len(shown) == 1 else f"Entities with the names {', '.join(shown)}"
        raise InvalidInput(f"{named} not found. {_NOTHING} Create it first, or use its exact name.")


def _mentions(episode_uuid: str, uuids: Iterable[str], moment: Moment) -> list[Mention]:
    return [
        Mention(uuid=str(uuid4()), episode_uuid=episode_uuid, entity_uuid=uuid, created_at=moment.recorded_at)
        for uuid in dict.fromkeys(uuids)
    ]


def _by_uuid(planned: Planned, vectors: Mapping[str, Vector]) -> Vectors:
    texts = {one.entity.uuid: one.entity.name for one in planned.resolved if one.gains_vector}
    texts |= {fact.uuid: fact.text for fact in planned.facts}
    if planned.episode is not None:
        content = planned.episode.content
        texts |= {one.uuid: content[one.start : one.end] for one in planned.passages}
    return {uuid: vectors[text] for uuid, text in texts.items() if text in vectors}


def _without_vector(planned: Planned, by_uuid: Vectors) -> list[Job]:
    """A job for records whose text was too long to be embedded at once."""
    uuids = (*(one.uuid for one in planned.facts), *(one.uuid for one in planned.passages))
    return [EmbedMissingJob()] if any(uuid not in by_uuid for uuid in uuids) else []


def _entities(sent: Iterable[tuple[str, str, Sequence[str]]]) -> tuple[NewEntity, ...]:
    return tuple(NewEntity(display_name(name), kind.strip(), tuple(dict.fromkeys(texts))) for name, kind, texts in sent)


def _relations(sent: Iterable[tuple[str, str, str]]) -> tuple[Relation, ...]:
    return tuple(Relation(display_name(source), display_name(target), kind.strip()) for source, kind, target in sent)


def _observations(sent: Iterable[tuple[str, Sequence[str]]]) -> tuple[Observed, ...]:
    return tuple(Observed(display_name(name), tuple(dict.fromkeys(texts))) for name, texts in sent)


def _check(sent: Sent) -> None:
    """Refuse what cannot be stored as it is; nothing was stored then."""
    if not (sent.is_strict or sent.entities or sent.relations or sent.observations):
        raise InvalidInput(f"The list is empty. {_NOTHING}")
    if len(sent.texts) > _MOST_SENTENCES or sum(map(len, sent.lines)) > _MOST_SAID:
        raise TooLarge(
            f"One call takes at most {_MOST_SENTENCES:,} observations and {_MOST_SAID:,} characters. {_NOTHING} Split "
            "it into several calls."
        )
    _check_texts("a name", sent.names, is_empty=lambda name: not normalise_name(name))
    _check_texts("an observation", [text for _, text in sent.texts], is_empty=lambda text: not text.strip())
    kinds = [*(one.type for one in sent.entities), *(one.type for one in sent.relations)]
    _check_texts("a type", kinds, is_empty=lambda kind: not relation_name(kind))
    given = Counter(normalise_name(one.name) for one in sent.entities)
    twice = [one.name for one in sent.entities if given[normalise_name(one.name)] > 1]
    if twice:
        raise InvalidInput(f"entities names {twice[0]} twice: send it once, with all its observations. {_NOTHING}")
    for one in sent.relations:
        if one.stored == OBSERVATION and normalise_name(one.source) == normalise_name(one.target):
            raise InvalidInput(f"OBSERVATION from an entity to itself is for add_observations. {_NOTHING}")


def _check_texts(what: str, texts: Iterable[str], *, is_empty: Callable[[str], bool]) -> None:
    for text in texts:
        check_text(text, what)
        if is_empty(text):
            raise InvalidInput(f"{what.capitalize()} is blank or has no letter or digit. {_NOTHING}")
