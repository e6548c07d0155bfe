"""Plans one write from what a model found in a stored episode, under the group's lock. Pure, like ``write_plan``."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphiti_pkm.capabilities.extraction.facts import FoundFactPlanner
from graphiti_pkm.capabilities.extraction.parsing import ReadExtraction
from graphiti_pkm.capabilities.extraction.readings import without_readings
from graphiti_pkm.capabilities.remember.attention import SHOWN_UUID, AttentionWriter
from graphiti_pkm.capabilities.remember.fact_plan import FactContext, FactOutcome
from graphiti_pkm.capabilities.remember.retirement import Retirements
from graphiti_pkm.capabilities.remember.write_plan import WriteContext, new_uuid
from graphiti_pkm.core.facts.resolution import Resolution, Resolved
from graphiti_pkm.core.facts.world import FactWorld
from graphiti_pkm.core.identity.backlinks import back_link
from graphiti_pkm.core.model.answers import Attention, EntityResult, FoundFact
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.job_records import Job
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import (
    Entity,
    Episode,
    Fact,
    Mention,
    Name,
    Origin,
    Vector,
    Vectors,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.ports.extraction import ExtractedEnding, ExtractedEntity
from graphiti_pkm.core.reading.snapshot import Snapshot

_MAX_SUMMARY = 2_000


@dataclass(frozen=True)
class ExtractionContext:
    """What the graph contains beside the snapshot, read under the same lock."""

    known: Mapping[str, Entity]
    """Entities that the model was shown and recognised, by uuid, in their present state."""
    facts: tuple[Fact, ...]
    """Facts of the episode, and facts that the model repeats or considers contradicted."""
    settled: frozenset[str]
    """Facts that this episode ended before: done, proposed, or undone since."""
    linked: frozenset[str]
    """Entities that the episode mentions already."""


@dataclass
class ExtractionPlan:
    """What one extraction stores and answers, except for links from earlier episodes."""

    episode: Episode
    recorded_at: datetime
    model: str
    resolved: list[Resolved]
    facts: FactOutcome
    retirements: Retirements
    world: FactWorld
    vectors: Vectors
    linked: frozenset[str]
    left_out: int

    @property
    def new_names(self) -> list[Name]:
        return [name for resolved in self.resolved for name in resolved.new_names]

    def intent(
        self, write_uuid: str, mentions: Sequence[Mention], jobs: Sequence[Job], origin: Origin | None
    ) -> WriteIntent:
        """The write; ``mentions`` and ``jobs`` concern earlier episodes."""
        named = (one.entity.uuid for one in self.resolved if one.entity.uuid not in self.linked)
        own = {uuid: back_link(uuid, self.episode.uuid, self.episode.created_at) for uuid in named}
        others = [one for one in mentions if one.episode_uuid != self.episode.uuid or one.entity_uuid not in own]
        return WriteIntent(
            uuid=write_uuid,
            group_id=self.episode.group_id,
            kind=WriteKind.EXTRACT,
            recorded_at=self.recorded_at,
            origin=origin,
            entities=tuple(one.entity for one in self.resolved if one.is_new or one.is_changed),
            names=tuple(self.new_names),
            facts=self.world.created,
            fact_updates=self.world.updates,
            mentions=(*own.values(), *others),
            changes=tuple(self.retirements.changes),
            corrected_episodes=tuple(self.retirements.corrected_episodes),
            jobs=tuple(jobs),
        )

    def answer(self, before: ExtractionAnswer | None, still_there: Mapping[str, Fact]) -> ExtractionAnswer:
        """The answer; ``before``: the previous extraction, with those of its facts that still exist."""
        texts = {fact.uuid: fact.text for fact in (*self.world.known, *self.world.created)}
        outcomes = {one.uuid: one.outcome == "created" for one in reversed(self.facts.results)}
        proposed = dict.fromkeys(one.fact_uuid for one in self.retirements.changes if one.kind == "proposed")
        settled = tuple(uuid[:SHOWN_UUID] for uuid in (*proposed, *(one.uuid for one in self.retirements.answers)))
        counts = Counter(one.what for one in self.facts.attention if not _is_settled(one, settled))
        gone = [one.uuid for one in (before.facts if before else ()) if one.uuid not in outcomes]
        return ExtractionAnswer(
            episode_uuid=self.episode.uuid,
            model=self.model,
            facts=[
                FoundFact(uuid=uuid, outcome="created" if is_new else "known", fact=texts[uuid])
                for uuid, is_new in reversed(outcomes.items())
            ],
            retired=self.retirements.answers,
            proposed=[FoundFact(uuid=uuid, outcome="proposed", fact=texts[uuid]) for uuid in proposed],
            entities=[
                EntityResult(uuid=one.entity.uuid, name=one.entity.name, outcome="created" if one.is_new else "matched")
                for one in self.resolved
            ],
            attention=dict(counts),
            left_out=self.left_out,
            not_found=[
                FoundFact(uuid=uuid, outcome="not_found", fact=still_there[uuid].text)
                for uuid in gone
                if uuid in still_there and not still_there[uuid].voided
            ],
        )


def plan_extraction(
    read: ReadExtraction,
    endings: Sequence[ExtractedEnding],
    at: WriteContext,
    episode: Episode,
    snapshot: Snapshot,
    around: ExtractionContext,
    vectors: Mapping[str, Vector],
    model: str,
    new_uuid: Callable[[], str] = new_uuid,
) -> ExtractionPlan:
    """Plan everything; ``vectors`` by text."""
    names = {**snapshot.names, **_pinned(read.recognised, snapshot.names, at.group_id)}
    entities = {**snapshot.entities, **around.known}
    resolution = _FoundNames(at.group_id, at.person, at.recorded_at, names, entities, new_uuid)
    of_episode = [fact for fact in around.facts if episode.uuid in fact.episodes]
    read = without_readings(read, of_episode, resolution.known)
    for found, name in read.entities:
        _describe(resolution.resolve(name, is_declared=True), found)
    known = {fact.uuid: fact for fact in (*snapshot.facts, *around.facts)}
    world = FactWorld(known.values(), snapshot.ended, snapshot.ends_told)
    context = FactContext(
        episode.uuid,
        at.group_id,
        episode.content,
        episode.valid_at,
        at.now,
        at.recorded_at,
        at.zone,
        at.caller,
        at.policy,
        read.parsed.facts,
        episode.confidential,
    )
    writer = AttentionWriter(at.public_group, at.zone, at.now, episode)
    planner = FoundFactPlanner(context, resolution, world, snapshot.relations, snapshot.measures, writer, new_uuid)
    left_out = read.left_out
    stored: dict[str, Fact] = {}
    for one in read.facts:
        fact = planner.take(one.parsed, one.found.uuid if one.found.is_known else None)
        if fact is None:
            left_out += 1
            continue
        stored[one.found.uuid] = fact
        if world.is_new(fact.uuid) and one.found.attributes:
            world.change(fact.model_copy(update={"attributes": {**one.found.attributes, **fact.attributes}}))
    for ending in endings:
        by = stored.get(ending.by_uuid) or known.get(ending.by_uuid)
        if by is not None and not by.voided:
            old = stored.get(ending.fact_uuid)  # from an earlier part of a long text, or repeated
            old_uuid = old.uuid if old else ending.fact_uuid
            planner.end(old_uuid, world.latest(by), ending.invalid_at, around.settled)
    resolved = resolution.all
    texts = {one.entity.uuid: one.entity.name for one in resolved if one.gains_vector} | planner.outcome.texts
    return ExtractionPlan(
        episode=episode,
        recorded_at=at.recorded_at,
        model=model,
        resolved=resolved,
        facts=planner.outcome,
        retirements=planner.retirements,
        world=world,
        vectors={uuid: vectors[text] for uuid, text in texts.items() if text in vectors},
        linked=around.linked,
        left_out=left_out,
    )


class _FoundNames(Resolution):
    """Names given by a model: a name that no caller gave, such as "status" of HAS_STATUS, is not linked to texts."""

    def _named(self, name: str, *, is_named: bool, is_measure: bool = False) -> Resolved:
        held = self._names.get(self._key(name))
        is_named = is_named and (held is None or held.is_linkable)
        return super()._named(name, is_named=is_named, is_measure=is_measure)


def _is_settled(report: Attention, settled: tuple[str, ...]) -> bool:
    """Whether the model saw the conflict as well: the fact is among its endings."""
    is_conflict = report.what == "possible_conflict" and bool(report.candidates)
    return is_conflict and all(line.startswith(settled) for line in report.candidates)


def _pinned(recognised: Mapping[str, str], names: Mapping[str, Name], group_id: str) -> dict[str, Name]:
    """A name means the recognised entity, even if another entity has that name."""
    pinned: dict[str, Name] = {}
    for text, uuid in recognised.items():
        key = name_key(group_id, text)
        held = names.get(key)
        if held is None or held.entity_uuid != uuid:
            pinned[key] = Name(key=key, group_id=group_id, text=text, entity_uuid=uuid)
    return pinned


def _describe(resolved: Resolved, found: ExtractedEntity) -> None:
    """Add the model's summary of an entity, unless a caller gave one, or it changed since the model was asked."""
    entity = resolved.entity
    changes: dict[str, object] = {}
    label = as_label(found.label or "")
    if label and not entity.label:
        changes["label"] = label
    summary = found.summary.strip()[:_MAX_SUMMARY]
    is_as_shown = entity.summary == (found.summary_before if found.is_known else "")
    if summary and summary != entity.summary and is_as_shown and (entity.summary_by_model or not entity.summary):
        changes.update(summary=summary, summary_by_model=True)
    attributes = {**entity.attributes, **found.attributes}
    if attributes != entity.attributes:
        changes["attributes"] = attributes
    if changes:
        resolved.entity = entity.model_copy(update=changes)
        resolved.is_changed |= not resolved.is_new
