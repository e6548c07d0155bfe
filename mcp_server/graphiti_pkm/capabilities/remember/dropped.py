"""What a write drops or ends: entities that it calls superseded or dropped, and facts that it ends."""

from collections.abc import Iterator
from datetime import datetime

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.goals import taken_up
from graphiti_pkm.core.facts.outcomes import outcome_of_word
from graphiti_pkm.core.facts.statuses import DONE, DROPPED, class_of_status, is_superseding, status_of_fact, word_of
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.records import BECAUSE_OF, Fact
from graphiti_pkm.core.reading.dependents import DependentsReader

_MOST_ENTITIES = 5


async def report_dependents(
    facts: DependentsReader, plan: WritePlan, writer: AttentionWriter, now: datetime
) -> list[Attention]:
    """A notice for each entity that is dropped, or planned and done, and one for all facts that the write ends."""
    group_id, world = plan.episode.group_id, plan.world
    reports: list[Attention] = []
    entities = dict(_dropped_entities(plan, now))
    for uuid, fact in list(entities.items())[:_MOST_ENTITIES]:
        dependents = await facts.on_entity(group_id, uuid, now, world.touched)
        if dependents.facts:
            reports.append(writer.still_rests(fact, rules.known_from(fact), dependents, uuid))
    for uuid, fact in list(_done_entities(plan, now))[:_MOST_ENTITIES]:
        by = rules.known_from(fact) or plan.episode.valid_at
        plans = await facts.plans_for(group_id, uuid, by, now, world.touched)
        if plans.facts:
            reports.append(writer.may_have_come_about(fact, plans))
    for uuid, fact in list(_standing_entities(plan, now))[:_MOST_ENTITIES]:
        since = rules.known_from(fact) or plan.episode.valid_at
        stored = {one.uuid: world.latest(one) for one in await facts.goals_for(group_id, uuid, now)}
        told = {one.uuid: one for one in world.created if one.target_uuid == uuid}
        reports += [
            writer.taken_up(fact, goal, since) for goal in taken_up(word_of(fact), (stored | told).values(), since)
        ]
    ended = list(_dropped_facts(plan))
    dependents = await facts.on_facts(group_id, (fact.uuid for fact in ended), now, world.touched)
    if dependents.facts:
        causes = {fact.uuid: fact for fact in ended}
        dropped = causes[dependents.facts[0].cause_uuid or ""]
        wrong = {one.uuid for one in plan.retirements.answers if one.kind == "voided"}
        is_wrong = dropped.uuid in wrong
        reports.append(writer.still_rests(dropped, dropped.invalid_at, dependents, is_wrong=is_wrong))
    return reports


async def follow_corrections(facts: DependentsReader, plan: WritePlan, now: datetime) -> None:
    """What follows from a corrected fact follows from what took its place."""
    corrected = {one.uuid: one.replaced_by for one in plan.retirements.answers if one.kind == "voided"}
    if not corrected:
        return
    following = await facts.with_cause(plan.episode.group_id, corrected, now)
    plan.world.learn(following)
    for fact in map(plan.world.latest, following):
        right = corrected.get(fact.cause_uuid or "")
        if right is not None and right != fact.uuid:
            plan.world.change(fact.model_copy(update={"attributes": {**fact.attributes, BECAUSE_OF: right}}))


def _dropped_entities(plan: WritePlan, now: datetime) -> Iterator[tuple[str, Fact]]:
    """Known entities that the write drops, each with the fact that says so."""
    new = {one.entity.uuid for one in plan.resolved if one.is_new or one.is_derived}
    for fact in plan.world.created:
        uuid = _entity_dropped_by(fact, plan.person_uuid, now)
        if uuid is not None and uuid not in new:
            yield uuid, fact


def _done_entities(plan: WritePlan, now: datetime) -> Iterator[tuple[str, Fact]]:
    """Entities whose status says now that they are done, each with the fact that says so."""
    for fact in plan.world.created:
        word = status_of_fact(fact)
        is_done = word is not None and (class_of_status(word) == DONE or outcome_of_word(word) == "fulfilled")
        if is_done and rules.is_current(fact, now):
            yield _subject(fact, plan.person_uuid), fact


def _standing_entities(plan: WritePlan, now: datetime) -> Iterator[tuple[str, Fact]]:
    """Known entities whose status says now that they are neither done nor dropped, each with the fact that says so."""
    new = {one.entity.uuid for one in plan.resolved if one.is_new or one.is_derived}
    for fact in plan.world.created:
        word, uuid = status_of_fact(fact), _subject(fact, plan.person_uuid)
        is_over = word is None or class_of_status(word) in {DONE, DROPPED}
        if not is_over and uuid not in new and rules.is_current(fact, now):
            yield uuid, fact


def _entity_dropped_by(fact: Fact, person_uuid: str | None, now: datetime) -> str | None:
    """The entity that is over by this fact."""
    if is_superseding(fact.relation):
        return fact.target_uuid if fact.kind == "event" or rules.is_current(fact, now) else None
    word = status_of_fact(fact)
    is_dropped = word is not None and class_of_status(word) == DROPPED and rules.is_current(fact, now)
    return _subject(fact, person_uuid) if is_dropped else None


def _subject(status: Fact, person_uuid: str | None) -> str:
    """What a status is of; one of the user is of its target, as a person is neither done nor dropped."""
    return status.target_uuid if status.source_uuid == person_uuid else status.source_uuid


def _dropped_facts(plan: WritePlan) -> Iterator[Fact]:
    """Facts that the write ends or calls wrong; not those of which only a date was wrong."""
    facts = {fact.uuid: fact for fact in (*plan.world.known, *plan.world.created)}
    for one in plan.retirements.answers:
        old, new = facts[one.uuid], facts.get(one.replaced_by or "")
        is_dated = one.kind == "voided" and new is not None and _says_the_same(old, new)
        if one.kind not in {"fulfilled", "moved"} and not is_dated:
            yield old


def _says_the_same(old: Fact, new: Fact) -> bool:
    return (old.source_uuid, old.target_uuid, old.value) == (new.source_uuid, new.target_uuid, new.value)
