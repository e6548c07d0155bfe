"""A found fact that an older one of the graph contradicts with a later start: an ending by that one, never one told."""

import pytest
from tests.builders import at
from tests.worlds.extraction_world import ExtractionWorld, Findings

from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.records import Fact

ROME = {"source": "Anna", "relation": "LIVES_IN", "target": "Rome", "fact": "Anna lives in Rome."}
BOB = {"source": "Bob", "relation": "LIVES_IN", "target": "Rome", "fact": "Bob drinks tea and lives in Rome."}
TEA = {"source": "Anna", "relation": "DRINKS", "target": "Tea", "fact": "Anna drinks tea.", "valid_at": "2024-01-01"}


def a_world(retirement: str) -> ExtractionWorld:
    return ExtractionWorld(now=at(2026, 6, 1), retirement=retirement)


def fact_of(world: ExtractionWorld, text: str) -> Fact:
    return next(one for one in world.facts if one.text == text)


async def told_late(world: ExtractionWorld, relation: str) -> tuple[ExtractionAnswer, Fact, Fact]:
    """An older home of Anna, found after the one of which the graph knows since when."""
    await world.note("Now.", {**ROME, "valid_at": "2025-01-01"}, reference_time="2025-01-01")
    episode = await world.note("Then.", reference_time="2026-03-01")
    home = fact_of(world, ROME["fact"])
    found = Findings()
    found.entity("Anna", known=world.entity("Anna"))
    late = found.fact("Anna", relation, "Oslo", "Anna was in Oslo.", valid_at=at(2020))
    found.ending_of(late, home.uuid, at(2025))
    answer = await world.found(episode, found)
    return answer, fact_of(world, "Anna was in Oslo."), home


@pytest.mark.parametrize("retirement", ["guarded", "automatic"])
async def test_a_fact_told_late_is_ended_by_the_one_after_it_and_can_be_restored(retirement: str) -> None:
    world = a_world(retirement)
    answer, late, home = await told_late(world, "LIVES_IN")
    assert (late.valid_at, late.invalid_at) == (at(2020), at(2025))
    assert [(one.uuid, one.replaced_by) for one in answer.retired] == [(late.uuid, home.uuid)]
    (change,) = (await world.graph.changes.fact_changes([late.uuid], [world.group], 5))[late.uuid]
    assert (change.kind, change.replaced_by) == ("retired", home.uuid)
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=late.uuid, reason="Both homes are hers."))
    assert fact_of(world, late.text).invalid_at is None


@pytest.mark.parametrize(("retirement", "relation"), [("propose", "LIVES_IN"), ("guarded", "STUDIES_IN")])
async def test_what_is_not_trusted_is_proposed(retirement: str, relation: str) -> None:
    answer, late, _ = await told_late(a_world(retirement), relation)
    assert (late.invalid_at, answer.retired) == (None, [])
    assert [one.uuid for one in answer.proposed] == [late.uuid]


async def test_a_fact_of_a_caller_that_is_told_again_is_not_ended_by_what_has_nothing_to_do_with_it() -> None:
    world = a_world("guarded")
    await world.note("One.", TEA, reference_time="2024-01-01")
    await world.note("Two.", {**BOB, "valid_at": "2025-01-01"}, reference_time="2025-01-01")
    episode = await world.note("Three.", reference_time="2025-06-01")
    tea, bob = fact_of(world, TEA["fact"]), fact_of(world, BOB["fact"])
    found = Findings()
    for name in ("Anna", "Tea"):
        found.entity(name, known=world.entity(name))
    found.known_fact(tea)
    found.ending_of(tea.uuid, bob.uuid, at(2025))
    answer = await world.found(episode, found)
    assert fact_of(world, tea.text).invalid_at is None
    assert (answer.retired, [one.uuid for one in answer.proposed]) == ([], [tea.uuid])


async def test_what_was_corrected_ends_nothing() -> None:
    world = a_world("automatic")
    await world.note("One.", {**ROME, "valid_at": "2025-01-01"}, reference_time="2025-01-01")
    wrong = fact_of(world, ROME["fact"])
    right = {**ROME, "target": "Bern", "fact": "Anna lives in Bern.", "replaces": "Rome", "change": "corrected"}
    await world.note("No, in Bern.", right, reference_time="2025-02-01")
    episode = await world.note("Then.", reference_time="2026-03-01")
    found = Findings()
    late = found.fact("Anna", "STUDIES_IN", "Oslo", "Anna studies in Oslo.", valid_at=at(2020))
    found.ending_of(late, wrong.uuid, at(2025))
    answer = await world.found(episode, found)
    assert fact_of(world, "Anna studies in Oslo.").invalid_at is None
    assert answer.retired == answer.proposed == []
