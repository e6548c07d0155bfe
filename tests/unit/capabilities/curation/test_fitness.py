"""Biases and useful facts: what is set, counted, shown and refused."""

import math

import pytest
from pydantic import ValidationError
from tests.builders import new_uuid
from tests.worlds.curation_world import CurationWorld

from graphiti_pkm.capabilities.curation.requests import AdjustBias
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN, redacted
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound

CURATOR = Caller(principal="anna", tier="curator")
STRANGER = Caller(principal="ben", tier="curator")
READER = Caller(principal="anna", tier="reader", read_only=True)


async def a_world() -> tuple[CurationWorld, str]:
    """Tom, who knows Sarah; and the uuid of that fact."""
    world = CurationWorld()
    told = {"source": "Tom", "relation": "KNOWS", "target": "Sarah"}
    answer = await world.tell("Tom knows Sarah.", told, caller=CURATOR)
    return world, answer.facts[0].uuid


async def test_a_bias_is_set_and_not_added_and_the_answer_has_the_old_one_and_what_it_makes() -> None:
    world, _ = await a_world()
    tom = world.entity("Tom")
    for _ in range(2):
        world.usage.searched(world.graph.tables.vectors[tom.uuid], [(tom.uuid, tom.group_id)])
    await world.usage.flush()
    first = await world.bias("Tom", 0.5, "  The one\n we use. ", CURATOR)
    assert (first.bias, first.previous_bias, first.bias_reason, first.bias_by) == (0.5, 0.0, "The one we use.", "anna")
    assert (first.query_count, first.relevance_sum, first.fitness_score, first.final_score) == (2, 2.0, 1.0, 1.5)
    second = await world.bias("Tom", -0.3, "Overrated.", CURATOR)
    assert (second.previous_bias, second.final_score) == (0.5, 0.7)
    assert second.bias_at == world.curated[-1].recorded_at.isoformat()
    assert [(one.qualities[0].bias, one.qualities[0].bias_reason) for one in world.curated] == [
        (0.5, "The one we use."),
        (-0.3, "Overrated."),
    ]
    again = await world.bias("Tom", -0.3, "Overrated.", CURATOR)
    assert (again.changed, len(world.curated)) == (False, 2)
    assert world.entity("Tom") == tom


async def test_a_bias_leaves_flag_and_confidence_and_they_leave_it() -> None:
    world, _ = await a_world()
    await world.rate("Tom", 0.25, caller=CURATOR)
    await world.bias("Tom", 1.0, caller=CURATOR)
    await world.flag("Tom", caller=CURATOR)
    (kept,) = world.graph.tables.qualities.values()
    assert (kept.confidence, kept.bias, kept.is_flagged) == (0.25, 1.0, True)


async def test_it_is_said_when_the_server_ranks_nothing_by_it() -> None:
    world, _ = await a_world()
    assert "ranks nothing by it" in (await world.bias("Tom", 0.5, caller=CURATOR)).message
    boosting = CurationWorld(fitness="boost")
    await boosting.tell("Tom came.", entities=[{"name": "Tom", "type": "Person"}], caller=CURATOR)
    assert "ranks nothing" not in (await boosting.bias("Tom", 0.5, caller=CURATOR)).message


@pytest.mark.parametrize("bias", [1.01, -1.01, math.nan, math.inf])
def test_a_bias_outside_of_its_range_is_refused(bias: float) -> None:
    with pytest.raises(ValidationError, match="bias"):
        AdjustBias(entity_uuid=new_uuid(), bias=bias, reason="x")


async def test_what_cannot_be_is_refused_and_changes_nothing() -> None:
    world, fact = await a_world()
    with pytest.raises(InvalidInput, match="reason"):
        await world.bias("Tom", 0.5, " \n", CURATOR)
    with pytest.raises(NotFound) as of_others:
        await world.bias("Tom", 0.5, caller=STRANGER)
    gone = new_uuid()
    with pytest.raises(NotFound) as of_nobody:
        await world.bias(gone, 0.5, caller=STRANGER)
    tom = world.entity("Tom").uuid
    assert of_others.value.message.replace(tom, gone) == of_nobody.value.message
    with pytest.raises(NotAllowed):
        await world.bias("Tom", 0.5, caller=READER)
    for caller, error in ((STRANGER, NotFound), (READER, NotAllowed)):
        with pytest.raises(error):
            await world.useful(fact, caller)
    with pytest.raises(NotFound):
        await world.useful(new_uuid(), CURATOR)
    with pytest.raises(InvalidInput):
        await world.useful("Tom knows Sarah", CURATOR)
    assert (world.curated, world.journal.usage.added) == ([], [])


async def test_a_useful_fact_is_counted_beside_its_returns_and_is_no_write() -> None:
    world, fact = await a_world()
    (stored,) = world.facts
    for _ in range(4):
        world.usage.traversed([(stored.uuid, stored.group_id)])
    await world.useful(fact[:8], CURATOR)
    answer = await world.useful(fact, CURATOR)
    assert (answer.fact_uuid, answer.traversal_count, answer.useful_count, answer.fitness) == (fact, 4, 2, 0.5)
    assert (world.curated, world.facts) == ([], [stored])


async def test_the_reason_of_a_bias_can_be_forgotten_and_the_bias_stays() -> None:
    world, _ = await a_world()
    await world.bias("Tom", 0.5, "Eve likes him.", CURATOR)
    (write,) = world.curated
    forgetting = WriteIntent(
        uuid=new_uuid(),
        group_id=write.group_id,
        kind=WriteKind.FORGET,
        recorded_at=write.recorded_at,
        forgets=Forgetting(qualities=(world.entity("Tom").uuid,)),
    )
    (left,) = redacted(write, {}, forgetting)[0].qualities
    assert (left.bias, left.bias_reason) == (0.5, FORGOTTEN)
