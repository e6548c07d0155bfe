"""A value that the caller told is no state of its own because a model writes it as one."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.extraction_world import ExtractionWorld, Findings
from tests.worlds.writing_world import line

READING = {"source": "me", "relation": "WEIGHS", "kind": "reading", "measure": "weight", "value": "82", "unit": "kg"}
TEXT = {"fact": "I weigh 82 kg."}


@pytest.fixture
def world() -> ExtractionWorld:
    return ExtractionWorld(now=at(2026, 6, 1))


async def lines_with(world: ExtractionWorld, told: dict[str, Any], *found: tuple[str, str, str, str]) -> list[str]:
    episode = await world.note("A note.", told, reference_time="2026-03-01")
    findings = Findings()
    for one in found:
        findings.fact(*one)
    answer = await world.found(episode, findings)
    assert len(answer.facts) + (answer.left_out or 0) == len(found)
    return sorted(line(fact) for fact in world.facts)


@pytest.mark.parametrize(
    "found",
    [
        ("me", "WEIGHS", "82 kg", "I weigh 82 kg"),
        ("I", "WEIGHS", "82kg", "The user weighs 82kg."),
        ("me", "HAS_VALUE", "82", "The weight is 82."),
        ("82 kg", "IS_WEIGHT_OF", "me", "82 kg is what I weigh."),
        ("me", "HAS_BODY", "body", "I weigh 82 kg."),
        ("me", "HAS_WEIGHT", "weight", "The weight of the user is 82 kg."),
    ],
)
async def test_a_reading_that_the_caller_told_is_not_a_state_as_well(
    world: ExtractionWorld, found: tuple[str, str, str, str]
) -> None:
    assert await lines_with(world, {**READING, **TEXT}, found) == ["me WEIGHS weight [82]"]
    assert {one.name for one in world.graph.tables.entities.values()} == {"me", "weight"}
    (write,) = world.extracted
    assert write.facts == ()


async def test_an_amount_of_a_state_is_not_one_either(world: ExtractionWorld) -> None:
    told = {"source": "Anna", "relation": "WORKS_AT", "target": "Acme", "value": "5", "unit": "days"}
    found = ("Anna", "WORKS", "5 days", "Anna works 5 days a week.")
    assert await lines_with(world, told, found) == ["Anna WORKS_AT Acme [5]"]


@pytest.mark.parametrize(
    "found",
    [
        ("me", "WEIGHS", "84 kg", "I weigh 84 kg."),
        ("Tom", "WEIGHS", "82 kg", "Tom weighs 82 kg as well."),
        ("me", "LIKES", "Tea", "I like tea."),
        ("me", "WANTS_LESS", "weight", "I want to lose 5 kg."),
    ],
)
async def test_what_is_something_else_stays(world: ExtractionWorld, found: tuple[str, str, str, str]) -> None:
    assert len(await lines_with(world, {**READING, **TEXT}, found)) == 2


async def test_the_name_stays_where_another_fact_tells_of_it(world: ExtractionWorld) -> None:
    facts = (("me", "WEIGHS", "82 kg", "I weigh 82 kg."), ("82 kg", "IS_LIMIT_OF", "Boat", "The boat takes 82 kg."))
    assert await lines_with(world, {**READING, **TEXT}, *facts) == ["82 kg IS_LIMIT_OF Boat", "me WEIGHS weight [82]"]


async def test_a_reading_of_another_episode_takes_nothing(world: ExtractionWorld) -> None:
    await world.note("Before.", {**READING, **TEXT}, reference_time="2026-01-01")
    found = Findings()
    found.fact("me", "WEIGHS", "82 kg", "I weigh 82 kg.")
    await world.found(await world.note("After.", reference_time="2026-03-01"), found)
    assert len(world.facts) == 2


async def test_what_the_pipeline_left_out_is_counted_with_the_rest(world: ExtractionWorld) -> None:
    episode = await world.note("A note.", {**READING, **TEXT}, reference_time="2026-03-01")
    findings = Findings()
    findings.fact("me", "WEIGHS", "82 kg", "I weigh 82 kg.")
    findings.left_out = 3
    assert (await world.found(episode, findings)).left_out == 4
