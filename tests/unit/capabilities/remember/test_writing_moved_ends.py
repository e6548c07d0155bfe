"""The end that a corrected fact had set: it moves to where the correction starts."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, line

from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL

KARIN = {"source": "Karin", "relation": "MANAGES", "target": "me", "valid_at": "2025-01-01"}
TOMAS = {"source": "Tomas", "relation": "MANAGES", "target": "me", "valid_at": "2026-04-01", "replaces": "Karin"}
ROME = {"source": "me", "relation": "LIVES_IN", "target": "Rome", "valid_at": "2020-01-01"}
OSLO = {"source": "me", "relation": "LIVES_IN", "target": "Oslo", "valid_at": "2026-04-01", "replaces": "Rome"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6, 1))


async def told(world: WritingWorld, *facts: dict[str, Any]) -> Any:
    for fact in facts:
        answer = await world.tell("A note.", fact)
        world.clock.advance(seconds=1)
    return answer


def ends(world: WritingWorld) -> dict[str, tuple[datetime | None, datetime | None]]:
    return {line(fact): (fact.valid_at, fact.invalid_at) for fact in world.facts if not fact.voided}


@pytest.mark.parametrize(("start", "moved"), [("2026-03-15", at(2026, 3, 15)), ("2026-05-10", at(2026, 5, 10))])
@pytest.mark.parametrize("wanted", ["current", "uuid"])
async def test_a_corrected_start_moves_the_end_that_it_had_set(
    world: WritingWorld, start: str, moved: datetime, wanted: str
) -> None:
    answer = await told(world, KARIN, TOMAS)
    by = answer.facts[0].uuid if wanted == "uuid" else wanted
    answer = await told(world, {**TOMAS, "valid_at": start, "replaces": by, "change": "corrected"})
    assert ends(world) == {"Karin MANAGES me": (at(2025), moved), "Tomas MANAGES me": (moved, None)}
    karin = world.fact("Karin MANAGES me")
    assert [(one.kind, one.uuid == karin.uuid) for one in answer.retired] == [("voided", False), ("retired", True)]
    assert {one.replaced_by for one in answer.retired} == {answer.facts[0].uuid}
    history = await world.changes.what_changed(
        LOCAL, WhatChanged(since="2026-06-01", entity_uuid=world.entity("Karin").uuid)
    )
    assert [one.change for one in history.changes] == ["retired", "retired", "added"]


async def test_the_end_moves_again_with_a_second_correction_and_back_when_that_is_undone(world: WritingWorld) -> None:
    await told(world, KARIN, TOMAS)
    for start in ("2026-03-15", "2026-03-20"):
        await told(world, {**TOMAS, "valid_at": start, "replaces": "current", "change": "corrected"})
    karin = world.fact("Karin MANAGES me")
    assert karin.invalid_at == at(2026, 3, 20)
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=karin.uuid, reason="It was right before."))
    assert world.fact("Karin MANAGES me").invalid_at == at(2026, 3, 15)


async def test_another_target_of_the_same_source_moves_as_well(world: WritingWorld) -> None:
    await told(world, ROME, OSLO)
    await told(world, {**OSLO, "valid_at": "2026-05-10", "replaces": "current", "change": "corrected"})
    assert ends(world)["me LIVES_IN Rome"] == (at(2020), at(2026, 5, 10))


async def test_an_end_of_another_cause_stays(world: WritingWorld) -> None:
    await told(world, KARIN)
    await told(world, {**KARIN, "invalid_at": "2026-04-01"})
    await told(world, {**TOMAS, "replaces": None})
    await told(world, {**TOMAS, "valid_at": "2026-03-15", "replaces": "current", "change": "corrected"})
    assert ends(world)["Karin MANAGES me"] == (at(2025), at(2026, 4))


async def test_an_end_that_was_told_otherwise_since_stays(world: WritingWorld) -> None:
    await told(world, KARIN, TOMAS)
    karin = world.fact("Karin MANAGES me")
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=karin.uuid, reason="Not so."))
    await world.retiring.retire_fact(
        LOCAL, RetireFact(fact_uuid=karin.uuid, reason="She left.", invalid_at="2026-02-01")
    )
    await told(world, {**TOMAS, "valid_at": "2026-03-15", "replaces": "current", "change": "corrected"})
    assert ends(world)["Karin MANAGES me"] == (at(2025), at(2026, 2))


async def test_a_start_before_the_old_fact_leaves_its_end_and_is_reported(world: WritingWorld) -> None:
    await told(world, {**KARIN, "valid_at": "2026-03-20"}, TOMAS)
    answer = await told(world, {**TOMAS, "valid_at": "2026-03-15", "replaces": "current", "change": "corrected"})
    assert ends(world)["Karin MANAGES me"] == (at(2026, 3, 20), at(2026, 4))
    assert [one.what for one in answer.needs_attention] == ["empty_interval"]


async def test_one_call_that_ends_and_corrects_moves_the_end_too(world: WritingWorld) -> None:
    corrected = {**TOMAS, "valid_at": "2026-03-15", "replaces": "current", "change": "corrected"}
    await told(world, KARIN)
    await world.tell("A note.", TOMAS, corrected)
    assert ends(world)["Karin MANAGES me"] == (at(2025), at(2026, 3, 15))
