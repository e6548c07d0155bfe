"""Series of readings as they were told: after a rename, in several units, of one month, not public."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.told_world import ToldWorld
from tests.worlds.writing_world import attention

from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.core.model.access import LOCAL


@pytest.fixture
def world() -> ToldWorld:
    return ToldWorld(now=at(2026, 6))


async def read(world: ToldWorld, measure: str, day: int, value: object, unit: str | None = "h", **said: Any) -> Any:
    fact = {"source": "me", "relation": "SLEPT", "kind": "reading", "measure": measure, "value": value, "unit": unit}
    return await world.tell(f"{value} on {day}", {**fact, "valid_at": f"2026-03-{day:02}", **said})


async def test_a_renamed_measure_keeps_its_series(world: ToldWorld) -> None:
    for day, hours in ((1, 5), (2, 6), (3, 7)):
        await read(world, "sleep", day, hours)
    uuid = await world.update("sleep", name="night rest")
    await read(world, "sleep", 4, 8)
    answer = await read(world, "night rest", 5, 9)
    assert attention(answer) == []
    assert answer.facts[0].series == ["7 h (2026-03-03)", "8 h (2026-03-04)", "9 h (2026-03-05)"]
    for query in ("readings of sleep", "readings of night rest"):
        found = await world.facts_found(query)
        assert [one.value for one in found.facts] == ["5", "6", "7", "8", "9"]
        assert found.series is not None
        assert [one.readings for one in found.series] == [5]
    assert (await world.connections_of("night rest")).total == 5
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=uuid, reason="wrong"))
    assert (await world.facts_found("readings of sleep")).total == 5


async def test_readings_are_found_under_an_alias_of_their_measure(world: ToldWorld) -> None:
    await read(world, "sleep", 1, 5)
    await read(world, "night rest", 2, 6)
    assert (await world.facts_found("readings of sleep")).total == 1
    await world.update("sleep", add_aliases=["rest at night"])
    assert (await world.facts_found("readings of rest at night")).total == 1


async def test_readings_in_other_units_are_shown_beside_the_series(world: ToldWorld) -> None:
    await read(world, "sleep", 1, 6)
    await read(world, "sleep", 2, 7)
    await read(world, "sleep", 3, "3/10", None)
    found = (await world.facts_found("readings of sleep")).series or []
    assert [(one.unit, one.readings, one.last) for one in found] == [
        ("h", 2, "7 h (2026-03-02)"),
        ("/10", 1, "3/10 (2026-03-03)"),
    ]
    await read(world, "nap", 1, 6)
    await read(world, "nap", 2, 7, None)
    await read(world, "nap", 3, 8, None)
    found = (await world.facts_found("readings of nap")).series or []
    assert [(one.unit, one.readings, one.least) for one in found] == [
        (None, 2, "7 (2026-03-02)"),
        ("h", 1, "6 h (2026-03-01)"),
    ]


async def test_the_means_say_their_unit(world: ToldWorld) -> None:
    for day, (value, unit) in enumerate(((6, "h"), (7, "h"), (400, "min")), start=1):
        await read(world, "sleep", day, value, unit)
    [series] = (await world.facts_found("readings of sleep")).series or []
    assert (series.unit, series.mean) == ("min", {"2026-03": 393.33})


async def test_a_month_in_the_query_does_not_narrow_the_list_which_says_so(world: ToldWorld) -> None:
    await read(world, "mood", 1, 5, None)
    await read(world, "mood", 2, 6, None, valid_at="2026-04-02")
    found = await world.facts_found("readings of mood in March")
    assert found.total == 2
    said = "Readings of all times: for those of the query, give valid_after 2026-03-01 and valid_before 2026-04-01."
    assert found.scope.note == said
    narrowed = await world.facts_found("readings of mood in March", valid_after="2026-03-01", valid_before="2026-04-01")
    assert (narrowed.total, narrowed.scope.note) == (1, None)


async def test_points_of_a_series_that_are_not_public_are_marked(world: ToldWorld) -> None:
    await read(world, "sleep", 1, 5, confidential=True)
    await read(world, "sleep", 2, 6)
    [series] = (await world.facts_found("readings of sleep")).series or []
    assert [series.first, series.last, series.least, series.most] == [
        *("5 h (2026-03-01, not public)", "6 h (2026-03-02)"),
        *("5 h (2026-03-01, not public)", "6 h (2026-03-02)"),
    ]


async def test_points_of_a_series_have_the_dates_that_were_told(world: ToldWorld) -> None:
    """A month is no first of a month."""
    said = {"source": "me", "relation": "SLEPT", "kind": "reading", "measure": "sleep", "unit": "h"}
    for value, day in (("7", "February 2026"), ("6", "2026-03-02")):
        await world.tell(f"I slept {value} h.", {**said, "value": value, "valid_at": day})
    [series] = (await world.facts_found("readings of sleep")).series or []
    assert (series.first, series.last) == ("7 h (February 2026)", "6 h (2026-03-02)")


async def test_a_value_of_ten_numbers_is_kept_as_told_and_has_no_number(world: ToldWorld) -> None:
    ten = "1 2 3 4 5 6 7 8 9 10"
    await read(world, "sleep", 1, 7, None)
    answer = await read(world, "sleep", 2, ten, None)
    assert (attention(answer), answer.facts[0].outcome) == ([], "created")
    found = await world.facts_found("readings of sleep")
    assert [one.value for one in found.facts] == ["7", ten]
    assert found.series is not None
    assert [(one.readings, one.without_number) for one in found.series] == [(2, 1)]


async def test_what_was_corrected_is_counted_beside_the_series(world: ToldWorld) -> None:
    for day, hours in ((1, 5), (2, 6), (3, 7)):
        await read(world, "sleep", day, hours)
    await read(world, "sleep", 2, 8, replaces="6", change="corrected")
    found = await world.facts_found("readings of sleep")
    assert found.message == "Found 4 of 4 reading(s) of sleep, 1 of them voided, oldest first"
    assert [one.readings for one in found.series or ()] == [3]
    assert "4 of 4 reading(s) of sleep, 1 of them voided" in (await world.connections_of("sleep")).message
