"""Plans a whole add_memory call before anything is stored: pure, from the parsed call and the snapshot."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from uuid import uuid4

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.fact_plan import FactContext, FactOutcome, FactPlanner
from graphiti_pkm.capabilities.remember.retirement import Retirements
from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.facts.resolution import Resolution, Resolved, TakenAlias
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.name_parts import may_be_one, reads_as_name
from graphiti_pkm.core.identity.spelling import same_digits
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.job_records import EmbedPassagesJob, ExtractJob, Job
from graphiti_pkm.core.model.passages import Span, embedded_text, without_left_out
from graphiti_pkm.core.model.records import (
    Entity,
    Episode,
    EpisodeSource,
    Fact,
    FactChange,
    Mention,
    Name,
    Passage,
    Vector,
    Vectors,
    WriteIntent,
    WriteKind,
    in_order,
)
from graphiti_pkm.core.reading.snapshot import Snapshot
from graphiti_pkm.settings.loader import RetirementPolicy

_MOST_PASSAGES = 256
_MOST_BYTES = 24_000
"""Bytes of passages embedded within the call: a few seconds of the local model. A job embeds the rest."""

NEAR_NAME = 0.85
"""Raw cosine from which two names are reported as similar."""

_MOST_SIMILAR = 3


def new_uuid() -> str:
    """The default source of uuids; tests count instead."""
    return str(uuid4())


@dataclass(frozen=True)
class WriteContext:
    """Where and when a call is written."""

    group_id: str
    public_group: str | None
    """None for the default group, which callers need not name."""
    person: str
    now: datetime
    recorded_at: datetime
    """Now, but later than everything in the group's record."""
    zone: tzinfo
    caller: str
    policy: RetirementPolicy = "guarded"
    may_delete: bool = True
    """Whether the caller may delete episodes, which some advice asks for."""
    may_split: bool = False
    """Whether the caller has split_entity, likewise."""


@dataclass(frozen=True)
class MovedName:
    """A name that goes from one entity to another, with the update of the one that loses it, if it had it before."""

    name: Name
    change: FactChange | None


@dataclass
class WritePlan:
    """What one call stores and answers, except for links from earlier episodes."""

    episode: Episode
    resolved: list[Resolved]
    linked: list[tuple[str, str]]
    """(uuid, name) of known entities that only the text names."""
    facts: FactOutcome
    retirements: Retirements
    world: FactWorld
    attention: list[Attention]
    passages: list[Passage]
    writer: AttentionWriter
    person_uuid: str | None
    taken: list[tuple[TakenAlias, Attention]] = field(default_factory=list)
    """Aliases that belong to other entities, with the notice of each."""
    moved: list[MovedName] = field(default_factory=list)
    vectors: Vectors = field(default_factory=dict)

    @property
    def new_names(self) -> list[Name]:
        return [name for resolved in self.resolved for name in resolved.new_names]

    def intent(
        self, parsed: ParsedRequest, mentions: Sequence[Mention], jobs: Sequence[Job], new_uuid: Callable[[], str]
    ) -> WriteIntent:
        """The write; ``mentions`` and ``jobs`` concern earlier episodes."""
        episode = self.episode
        own = [
            Mention(uuid=new_uuid(), episode_uuid=episode.uuid, entity_uuid=uuid, created_at=episode.created_at)
            for uuid in dict.fromkeys((*(one.entity.uuid for one in self.resolved), *(uuid for uuid, _ in self.linked)))
        ]
        embedding: list[Job] = []
        if self.vectors and any(one.uuid not in self.vectors for one in self.passages):
            embedding.append(EmbedPassagesJob(episode_uuid=episode.uuid))
        return WriteIntent(
            uuid=new_uuid(),
            group_id=episode.group_id,
            kind=WriteKind.ADD_MEMORY,
            recorded_at=episode.created_at,
            episodes=(episode,),
            entities=tuple(one.entity for one in self.resolved if one.is_new or one.is_changed),
            names=(*self.new_names, *(one.name for one in self.moved)),
            facts=self.world.created,
            fact_updates=self.world.updates,
            mentions=(*own, *mentions),
            passages=tuple(self.passages),
            changes=(*(one.change for one in self.moved if one.change), *self.retirements.changes),
            corrected_episodes=tuple(self.retirements.corrected_episodes),
            jobs=(*embedding, *jobs),
            steering=parsed.steering,
        )


@dataclass(frozen=True)
class SameNote:
    """An earlier episode with the text and time of a call, and the facts that it supports."""

    uuid: str
    facts: Sequence[Fact]


def _adds_nothing(parsed: ParsedRequest, plan: WritePlan, same: SameNote) -> str | None:
    """Which of two episodes with one text and time is no loss if deleted; None if both have facts of their own."""
    is_known = all(result.outcome == "duplicate" for result in plan.facts.results)
    if is_known and not any(one.is_new for one in plan.resolved) and not parsed.entities:
        return plan.episode.uuid
    again = {result.uuid for result in plan.facts.results}
    has_own = any(tuple(fact.episodes) == (same.uuid,) and fact.uuid not in again for fact in same.facts)
    return None if has_own else same.uuid


def plan_write(
    parsed: ParsedRequest,
    spans: Sequence[Span],
    at: WriteContext,
    snapshot: Snapshot,
    vectors: Mapping[str, Vector],
    new_uuid: Callable[[], str] = new_uuid,
    same_text: SameNote | None = None,
) -> WritePlan:
    """Plan everything; ``vectors`` by text, ``same_text``: an episode that seems to be the same note."""
    episode = Episode(
        uuid=parsed.uuid or new_uuid(),
        group_id=at.group_id,
        name=parsed.name,
        content=parsed.body,
        source=parsed.source,
        source_description=parsed.source_description,
        valid_at=parsed.reference_time,
        created_at=at.recorded_at,
        confidential=parsed.is_confidential,
    )
    writer = AttentionWriter(
        at.public_group, at.zone, at.now, episode, may_delete=at.may_delete, may_split=at.may_split
    )
    resolution = Resolution(at.group_id, at.person, at.recorded_at, snapshot.names, snapshot.entities, new_uuid)
    resolution.declare(parsed.entities)
    world = FactWorld(snapshot.facts, snapshot.ended, snapshot.ends_told)
    context = FactContext(
        episode.uuid,
        at.group_id,
        parsed.body,
        parsed.reference_time,
        at.now,
        at.recorded_at,
        at.zone,
        at.caller,
        at.policy,
        parsed.facts,
        parsed.is_confidential,
    )
    planner = FactPlanner(
        context,
        resolution,
        world,
        snapshot.relations,
        snapshot.measures,
        writer,
        new_uuid,
        snapshot.unlike,
        snapshot.measure_names,
    )
    for fact in parsed.facts:
        if fact.follows is None:
            planner.plan(fact)
        else:
            planner.plan_implied(fact)
    planner.show_series()
    resolved = resolution.all
    named = {one.entity.uuid for one in resolved}
    linked = [(uuid, snapshot.known.name_of(uuid) or "") for uuid in snapshot.mentioned - named]
    taken = _taken(resolution, snapshot, writer, episode.uuid)
    plan = WritePlan(
        episode=episode,
        resolved=resolved,
        linked=sorted(linked, key=lambda one: (one[1], one[0])),
        facts=planner.outcome,
        retirements=planner.retirements,
        world=world,
        attention=[*planner.outcome.attention, *_about_names(resolution, snapshot, writer, episode.uuid, taken)],
        passages=[Passage(uuid=new_uuid(), episode_uuid=episode.uuid, **span.model_dump()) for span in spans],
        writer=writer,
        person_uuid=resolution.person_uuid,
        taken=taken,
    )
    if same_text is not None:
        extra = _adds_nothing(parsed, plan, same_text)
        plan.attention.insert(0, writer.same_text(same_text.uuid, extra))
    plan.vectors = _vectors_of(plan, vectors)
    return plan


def extract_job(
    asked: Mapping[str, object], episode_uuid: str, person: str | None = None, new_uuid: Callable[[], str] = new_uuid
) -> ExtractJob:
    """The job that lets a model read the episode, with the call's instructions; ``person``: the caller's name."""
    return ExtractJob.model_validate(
        {
            "uuid": new_uuid(),
            "episode_uuid": episode_uuid,
            "person": person,
            "excluded_entity_types": asked.get("excluded_entity_types", ()),
            "instructions": asked.get("custom_extraction_instructions", ""),
            "previous_episode_uuids": asked.get("previous_episode_uuids"),
            "update_communities": asked.get("update_communities", False),
        }
    )


def embedded_at_once(body: str, source: EpisodeSource, spans: Sequence[Span | Passage]) -> list[str]:
    """The texts of the first passages, which are embedded within the call."""
    body = without_left_out(body)
    texts: list[str] = []
    used = 0
    for span in spans[:_MOST_PASSAGES]:
        text = embedded_text(body, source, span.start, span.end)
        used += len(text.encode(errors="surrogatepass"))
        if used > _MOST_BYTES:
            break
        texts.append(text)
    return texts


def missing_vectors(plan: WritePlan, vectors: Mapping[str, Vector]) -> bool:
    """Whether an entity lacks its vector because it existed a moment ago, or had no given name until now."""
    return any(one.gains_vector and one.entity.name not in vectors for one in plan.resolved)


def _vectors_of(plan: WritePlan, vectors: Mapping[str, Vector]) -> Vectors:
    texts = {one.entity.uuid: one.entity.name for one in plan.resolved if one.gains_vector}
    texts.update(plan.facts.texts)
    content = plan.episode.content
    first = embedded_at_once(content, plan.episode.source, plan.passages)
    texts.update(zip((one.uuid for one in plan.passages), first, strict=False))
    return {uuid: vectors[text] for uuid, text in texts.items() if text in vectors}


def _taken(
    resolution: Resolution, snapshot: Snapshot, writer: AttentionWriter, episode_uuid: str
) -> list[tuple[TakenAlias, Attention]]:
    """Each alias of another entity once, unless the two are known not to be the same."""
    taken = {
        (one.alias, one.wanted_for.entity.uuid, one.holder_uuid): one
        for one in resolution.taken
        if in_order(one.wanted_for.entity.uuid, one.holder_uuid) not in snapshot.apart
    }
    names = {one.entity.uuid: one.entity.name for one in resolution.all}

    def notice(alias: TakenAlias) -> Attention:
        holder = names.get(alias.holder_uuid) or snapshot.known.name_of(alias.holder_uuid) or alias.alias
        is_new = alias.wanted_for.is_new and alias.holder_uuid not in names
        wanted_for = alias.wanted_for.entity
        return writer.alias_taken(alias.alias, wanted_for, (holder, alias.holder_uuid), episode_uuid, is_new=is_new)

    return [(alias, notice(alias)) for alias in taken.values()]


def _about_names(
    resolution: Resolution,
    snapshot: Snapshot,
    writer: AttentionWriter,
    episode_uuid: str,
    taken: Sequence[tuple[TakenAlias, Attention]],
) -> list[Attention]:
    named = {one.entity.uuid for one in resolution.all}
    attention = []
    undeclared = []
    for one in resolution.all:
        if not one.is_new or one.is_derived or one.entity.uuid == resolution.person_uuid:
            continue
        holders = {alias.holder_uuid for alias, _ in taken if alias.wanted_for.entity.uuid == one.entity.uuid}
        similar = _similar(one.entity, snapshot, named | holders)
        if similar:
            attention.append(writer.similar_existing(one.entity.name, episode_uuid, similar))
        elif not one.is_declared and not one.is_old and reads_as_name(one.entity.name):
            undeclared.append(one.entity.name)
    attention += [notice for _, notice in taken]
    if undeclared:
        attention.append(writer.undeclared(undeclared))
    parts = {word: (snapshot.entities[uuid].name, uuid) for word, uuid in snapshot.parts.items() if uuid not in named}
    if parts:
        attention.append(writer.part_of_name(parts))
    if snapshot.shared:
        attention.append(writer.shared_name(snapshot.shared, episode_uuid))
    attention += [writer.taken_as(name, people, episode_uuid) for name, people in snapshot.taken_as.items()]
    return attention


def _similar(entity: Entity, snapshot: Snapshot, named: set[str]) -> list[tuple[str, str]]:
    """(name, uuid) of known entities that may be meant: by meaning first, then by spelling."""
    known, name = snapshot.known, entity.name
    near = [uuid for uuid, cosine in snapshot.nearest.get(name, {}).items() if cosine >= NEAR_NAME]
    found = ((known.name_of(uuid), uuid) for uuid in dict.fromkeys((*near, *known.lookalikes(name))))
    similar = [
        (other, uuid)
        for other, uuid in found
        if other and uuid not in named and same_digits(other, name) and may_be_one(entity, snapshot.alike.get(uuid))
    ]
    return similar[:_MOST_SIMILAR]


def related_facts(plan: WritePlan, newest: Mapping[str, Sequence[Fact]], most: int) -> list[Fact]:
    """Current facts between two entities that the note names, without those of the call; none of the person.

    What else is known of an entity is rarely of interest to a note that names it.
    """
    named = {one.entity.uuid for one in plan.resolved if not one.is_derived}
    named |= {uuid for uuid, _ in plan.linked}
    named.discard(plan.person_uuid or "")
    chosen = {
        fact.uuid: fact
        for uuid in newest
        for fact in newest[uuid]
        if {fact.source_uuid, fact.target_uuid} <= named and not plan.world.touched(fact.uuid)
    }
    return list(chosen.values())[:most]
