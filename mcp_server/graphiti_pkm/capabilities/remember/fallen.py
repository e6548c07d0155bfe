"""What a write makes fall: entities that it says to be superseded or dropped, and facts that it ends."""

from collections.abc import Iterator
from datetime import datetime

from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.write_plan import WritePlan
from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.statuses import DROPPED, class_of_status, is_superseding, status_of_fact
from graphiti_pkm.core.model.answers import Attention
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.reading.resting import RestingFacts

_MOST_ENTITIES = 5


async def still_resting(
    facts: RestingFacts, plan: WritePlan, writer: AttentionWriter, now: datetime
) -> list[Attention]:
    """A report for each entity that falls by the write, and one for all facts that end by it."""
    group_id, world = plan.episode.group_id, plan.world
    reports = []
    entities = dict(_fallen_entities(plan, now))
    for uuid, fact in list(entities.items())[:_MOST_ENTITIES]:
        resting = await facts.on_entity(group_id, uuid, now, world.touched)
        if resting.facts:
            reports.append(writer.still_rests(fact, rules.known_from(fact), resting))
    ended = list(_fallen_facts(plan))
    resting = await facts.on_facts(group_id, (fact.uuid for fact in ended), now, world.touched)
    if resting.facts:
        causes = {fact.uuid: fact for fact in ended}
        fallen = causes[resting.facts[0].cause_uuid or ""]
        reports.append(writer.still_rests(fallen, fallen.invalid_at, resting))
    return reports


def _fallen_entities(plan: WritePlan, now: datetime) -> Iterator[tuple[str, Fact]]:
    """Known entities with the fact that says so."""
    new = {one.entity.uuid for one in plan.resolved if one.is_new}
    for fact in plan.world.created:
        uuid = _fallen_by(fact, now)
        if uuid is not None and uuid not in new:
            yield uuid, fact


def _fallen_by(fact: Fact, now: datetime) -> str | None:
    if is_superseding(fact.relation):
        return fact.target_uuid if fact.kind == "event" or rules.is_current(fact, now) else None
    word = status_of_fact(fact)
    is_dropped = word is not None and class_of_status(word) == DROPPED and rules.is_current(fact, now)
    return fact.source_uuid if is_dropped else None


def _fallen_facts(plan: WritePlan) -> Iterator[Fact]:
    """Facts that ended or were wrong; not those of which only a date was wrong."""
    facts = {fact.uuid: fact for fact in (*plan.world.known, *plan.world.created)}
    for one in plan.retirements.answers:
        old, new = facts[one.uuid], facts.get(one.replaced_by or "")
        is_dated = one.kind == "voided" and new is not None and _says_the_same(old, new)
        if one.kind != "fulfilled" and not is_dated:
            yield old


def _says_the_same(old: Fact, new: Fact) -> bool:
    return (old.source_uuid, old.target_uuid, old.value) == (new.source_uuid, new.target_uuid, new.value)
