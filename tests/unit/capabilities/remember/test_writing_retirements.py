"""What must not be ended, voided or lost, by the notes that once did it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.writing_world import TICK, WritingWorld, attention, line, ready_calls, the

from graphiti_pkm.core.model.answers import AddMemoryResponse, Attention

NOW = at(2026, 6, 1)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme", "fact": "I work at Acme"}
STATUS = {"source": "ADR 7", "relation": "HAS_STATUS"}
MANAGES = {"relation": "MANAGES", "target": "me"}
MET = {"source": "me", "relation": "MET", "kind": "event"}
SLEEP = {"source": "me", "relation": "SLEEPS", "kind": "reading", "measure": "sleep"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


async def told(world: WritingWorld, notes: Sequence[tuple[str, dict[str, Any]]]) -> AddMemoryResponse:
    """The answer to the last of several notes with one fact each."""
    answers = [await world.tell("A note.", fact, reference_time=day) for day, fact in notes]
    return answers[-1]


def intervals(world: WritingWorld) -> dict[str, tuple[datetime | None, datetime | None]]:
    return {line(fact): (fact.valid_at, fact.invalid_at) for fact in world.facts if not fact.voided}


async def settle(world: WritingWorld, report: Attention, chosen: str = "") -> AddMemoryResponse:
    """Send the ready call of a report, with another of its candidates if one is chosen."""
    call = ready_calls(report)[0]
    (fact,) = call["facts"]
    if chosen:
        fact["replaces"] = [chosen, *fact["replaces"][1:]]
    return await world.send(call)


@pytest.mark.parametrize("text", ["I was an intern at Acme", "I work at Acme"])
async def test_an_earlier_period_with_its_own_start_is_another_fact(world: WritingWorld, text: str) -> None:
    past = {**ACME, "fact": text, "valid_at": "2018", "invalid_at": "2020"}
    answer = await told(world, [("2026-01-10", ACME), ("2026-02-10", past)])
    assert (answer.facts[0].outcome, answer.retired, attention(answer)) == ("created", [], [])
    assert {(fact.valid_at, fact.invalid_at) for fact in world.facts} == {(None, None), (at(2018), at(2021))}
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_an_end_before_a_fact_was_known_to_hold_is_asked_about(world: WritingWorld) -> None:
    answer = await told(world, [("2026-01-10", ACME), ("2026-02-10", {**ACME, "invalid_at": "2020"})])
    assert (answer.facts[0].outcome, answer.retired) == ("created", [])
    assert len(the(answer, "possible_conflict").candidates) == 1
    assert world.lines() == ["me WORKS_AT Acme"]


async def test_an_end_on_the_day_a_fact_was_told_closes_it(world: WritingWorld) -> None:
    await told(world, [("2026-01-10T14:00", ACME), ("2026-02-10", {**ACME, "invalid_at": "2026-01-10"})])
    assert [fact.invalid_at for fact in world.facts] == [at(2026, 1, 10, 14)]


@pytest.mark.parametrize("wanted", ["current", "accepted"])
async def test_an_older_note_imported_later_ends_where_the_newer_is_known(world: WritingWorld, wanted: str) -> None:
    older = {**STATUS, "target": "proposed", "replaces": wanted}
    answer = await told(world, [("2026-05-10", {**STATUS, "target": "accepted"}), ("2026-04-10", older)])
    assert answer.retired == []
    assert "not ended" in the(answer, "empty_interval").detail
    assert intervals(world) == {
        "ADR 7 HAS_STATUS status [accepted]": (None, None),
        "ADR 7 HAS_STATUS status [proposed]": (at(2026, 4, 10), at(2026, 5, 10)),
    }
    assert world.lines() == ["ADR 7 HAS_STATUS status [accepted]"]


async def test_an_older_note_ends_at_the_first_of_several_that_followed(world: WritingWorld) -> None:
    await told(
        world,
        [
            ("2026-05-10", {**STATUS, "target": "accepted"}),
            ("2026-05-20", {**STATUS, "target": "superseded", "replaces": "current"}),
            ("2026-04-10", {**STATUS, "target": "proposed", "replaces": "current"}),
        ],
    )
    assert intervals(world)["ADR 7 HAS_STATUS status [proposed]"] == (at(2026, 4, 10), at(2026, 5, 10))
    assert world.lines() == ["ADR 7 HAS_STATUS status [superseded]"]


async def test_a_start_told_as_a_day_ends_what_was_told_that_day(world: WritingWorld) -> None:
    later = {**STATUS, "target": "accepted", "replaces": "current", "valid_at": "2026-05-10"}
    notes = [("2026-05-10T14:00", {**STATUS, "target": "proposed"}), ("2026-05-10T15:00", later)]
    answer = await told(world, notes)
    assert len(answer.retired) == 1
    assert world.fact("ADR 7 HAS_STATUS status [proposed]").invalid_at == at(2026, 5, 10, 14)


@pytest.mark.parametrize(("start", "end"), [({}, at(2026, 5)), ({"valid_at": "2026-04-20"}, at(2026, 4, 20))])
async def test_what_has_long_held_takes_a_place_only_when_told(
    world: WritingWorld, start: dict[str, str], end: datetime
) -> None:
    vim, emacs = ({"source": "me", "relation": "USES", "target": name} for name in ("Vim", "Emacs"))
    again = {**vim, "replaces": "Emacs", **start}
    await told(world, [("2026-01-01", {**vim, "valid_at": "2024"}), ("2026-01-01", emacs), ("2026-05-01", again)])
    assert intervals(world) == {"me USES Vim": (at(2024), None), "me USES Emacs": (None, end)}


@pytest.mark.parametrize(
    ("correction", "voided"),
    [
        ({"value": 6, "valid_at": "2026-02-01"}, ["5"]),
        ({"value": 6, "valid_at": "2026-02-03T09:00"}, ["7"]),
        ({"value": 7, "valid_at": "2026-02-04"}, ["7"]),
        ({"value": 6, "replaces": "current"}, ["7"]),
        ({"value": 6, "replaces": "5"}, ["5"]),
        ({"value": 6}, []),
        ({"value": 6, "valid_at": "2026-02-02"}, []),
    ],
)
async def test_a_correction_voids_the_reading_it_names(
    world: WritingWorld, correction: dict[str, Any], voided: list[str]
) -> None:
    notes = [("2026-02-01", {**SLEEP, "value": 5}), ("2026-02-03", {**SLEEP, "value": 7})]
    answer = await told(world, [*notes, ("2026-02-05", {**SLEEP, **correction, "change": "corrected"})])
    assert [fact.value for fact in world.facts if fact.voided] == voided
    reports = [one for one in answer.needs_attention if one.what == "ambiguous_replacement"]
    assert [len(one.candidates) for one in reports] == ([] if voided else [2])


async def test_a_correction_settled_takes_the_place_of_the_one_chosen(world: WritingWorld) -> None:
    notes = [("2026-02-01", {**SLEEP, "value": 5}), ("2026-02-03", {**SLEEP, "value": 7})]
    answer = await told(world, [*notes, ("2026-02-05", {**SLEEP, "value": 6, "change": "corrected"})])
    await settle(world, the(answer, "ambiguous_replacement"), chosen=world.fact("me SLEEPS sleep [5]").uuid)
    kept = {(fact.value, fact.valid_at) for fact in world.facts if not fact.voided}
    assert kept == {("6", at(2026, 2, 1)), ("7", at(2026, 2, 3))}


@pytest.mark.parametrize(
    ("correction", "voided"),
    [
        ({"target": "Ann", "valid_at": "2026-02-03"}, ["Ann"]),
        ({"target": "Carl", "valid_at": "2026-02-10"}, ["Bob"]),
        ({"target": "Carl", "valid_at": "2026-02-02"}, ["Ann"]),
        ({"target": "Bob"}, ["Bob"]),
        ({"target": "Ann", "valid_at": "2026-02-10"}, []),
        ({"target": "Carl"}, []),
        ({"target": "Carl", "valid_at": "2026-02-20"}, []),
    ],
)
async def test_a_correction_voids_the_event_it_names(
    world: WritingWorld, correction: dict[str, Any], voided: list[str]
) -> None:
    notes = [
        ("2026-02-02", {**MET, "target": "Ann", "valid_at": "2026-02-02"}),
        ("2026-02-10", {**MET, "target": "Bob", "valid_at": "2026-02-10"}),
    ]
    answer = await told(world, [*notes, ("2026-02-12", {**MET, **correction, "change": "corrected"})])
    assert [fact.target_name for fact in world.facts if fact.voided] == voided
    assert ("ambiguous_replacement" in attention(answer)) == (not voided)


@pytest.mark.parametrize(
    ("correction", "voided"),
    [
        ({"target": "Acme", "valid_at": "2019"}, ["Acme"]),
        ({"target": "Zed", "valid_at": "2020"}, ["Acme"]),
        ({"target": "Beta", "valid_at": "2025"}, ["Beta"]),
        ({"target": "Zed"}, ["Beta"]),
        ({"target": "Acme"}, []),
    ],
)
async def test_a_correction_voids_the_state_it_names(
    world: WritingWorld, correction: dict[str, Any], voided: list[str]
) -> None:
    job = {"source": "me", "relation": "WORKS_AT"}
    notes = [
        ("2026-02-02", {**job, "target": "Acme", "valid_at": "2020"}),
        ("2026-02-10", {**job, "target": "Beta", "valid_at": "2024", "replaces": "current"}),
    ]
    answer = await told(world, [*notes, ("2026-02-12", {**job, **correction, "change": "corrected"})])
    assert [fact.target_name for fact in world.facts if fact.voided] == voided
    assert ("ambiguous_replacement" in attention(answer)) == (not voided)


@pytest.mark.parametrize(
    ("first", "second"), [("3.1", "3.10"), ("BBB", "BBB-"), ("50", "-50"), ("+5%", "-5%"), ("C++", "C#"), ("😀", "😢")]
)
async def test_values_that_differ_in_a_sign_are_two_facts(world: WritingWorld, first: str, second: str) -> None:
    rating = {"source": "Heron", "relation": "HAS_RATING"}
    answer = await told(
        world, [("2026-01-01", {**rating, "value": first}), ("2026-02-01", {**rating, "value": second})]
    )
    assert answer.facts[0].outcome == "created"
    assert "possible_conflict" in attention(answer)


async def test_a_start_learnt_later_does_not_erase_what_was_known(world: WritingWorld) -> None:
    berlin = {"source": "me", "relation": "LIVES_IN", "target": "Berlin"}
    answer = await told(world, [("2026-01-10", berlin), ("2026-04-10", {**berlin, "valid_at": "2026-03"})])
    assert (answer.facts[0].outcome, attention(answer)) == ("duplicate", ["possible_conflict"])
    assert [(fact.valid_at, fact.reference_time) for fact in world.facts] == [(None, at(2026, 1, 10))]
    await settle(world, the(answer, "possible_conflict"))
    assert intervals(world) == {"me LIVES_IN Berlin": (at(2026, 3), None)}


@pytest.mark.parametrize(
    ("plan", "done", "fulfilled", "asked"),
    [
        ({}, {"valid_at": "2026-02-15"}, True, False),
        ({}, {}, True, False),
        ({}, {"valid_at": "2026-02-10"}, True, False),
        ({}, {"valid_at": "2019"}, False, False),
        ({}, {"valid_at": "2026-02-09"}, False, False),
        ({"valid_at": "2026-09"}, {"valid_at": "2026-08-20"}, True, False),
        ({"valid_at": "2026-09"}, {"valid_at": "2026-02-20"}, False, True),
        ({"valid_at": "2026-03"}, {"valid_at": "2026-05"}, True, False),
    ],
)
@pytest.mark.parametrize("kind", ["event", "state"])
async def test_only_what_comes_after_a_plan_fulfils_it(
    world: WritingWorld, plan: dict[str, str], done: dict[str, str], kind: str, *, fulfilled: bool, asked: bool
) -> None:
    trip = {"source": "me", "relation": "VISITED", "target": "Oslo"}
    planned = {**trip, "kind": "plan", **plan}
    answer = await told(world, [("2026-02-10T09:00", planned), ("2026-05-20", {**trip, "kind": kind, **done})])
    assert [one.kind for one in answer.retired] == ["fulfilled"] * fulfilled
    assert ("possible_conflict" in attention(answer)) == asked


async def test_a_plan_fulfilled_early_is_settled_by_the_ready_call(world: WritingWorld) -> None:
    trip = {"source": "me", "relation": "VISITED", "target": "Oslo"}
    planned = {**trip, "kind": "plan", "valid_at": "2026-09"}
    done = {**trip, "kind": "event", "valid_at": "2026-03-20"}
    answer = await told(world, [("2026-02-10", planned), ("2026-05-20", done)])
    await settle(world, the(answer, "possible_conflict"))
    assert [fact.expired_at for fact in world.facts if fact.kind == "plan"] == [NOW + 2 * TICK]
    assert len([fact for fact in world.facts if fact.kind == "event"]) == 1


@pytest.mark.parametrize(("wanted", "change"), [("Maria", "changed"), ("Maria", "corrected")])
async def test_one_source_takes_the_place_of_another(world: WritingWorld, wanted: str, change: str) -> None:
    maria, tom = ({**MANAGES, "source": name} for name in ("Maria", "Tom"))
    answer = await told(world, [("2026-01-01", maria), ("2026-03-01", {**tom, "replaces": wanted, "change": change})])
    assert [one.fact for one in answer.retired] == ["Maria manages me"]
    assert world.lines() == ["Tom MANAGES me"]
    assert len(world.facts) == 2


async def test_a_source_that_had_ended_is_not_invented_as_a_target(world: WritingWorld) -> None:
    maria, tom = ({**MANAGES, "source": name} for name in ("Maria", "Tom"))
    answer = await told(
        world, [("2026-01-01", {**maria, "invalid_at": "2025"}), ("2026-03-01", {**tom, "replaces": "Maria"})]
    )
    assert answer.retired == []
    assert len(world.facts) == 2


@pytest.mark.parametrize("others", [[], ["Otto"], ["Otto", "Ida"]])
@pytest.mark.parametrize("change", ["changed", "corrected"])
async def test_current_is_ambiguous_where_another_source_holds_the_target(
    world: WritingWorld, others: list[str], change: str
) -> None:
    maria, tom = ({**MANAGES, "source": name} for name in ("Maria", "Tom"))
    notes = [("2026-01-01", maria), *(("2026-01-02", {**tom, "target": name}) for name in others)]
    answer = await told(world, [*notes, ("2026-03-01", {**tom, "replaces": "current", "change": change})])
    report = the(answer, "ambiguous_replacement")
    assert (answer.retired, len(report.candidates)) == ([], len(others) + 1)
    await world.settle(report, chosen=world.fact("Maria MANAGES me").uuid)
    assert world.fact("Maria MANAGES me").expired_at is not None
    assert world.lines() == sorted(["Tom MANAGES me", *(f"Tom MANAGES {name}" for name in others)])
    if change == "changed":
        assert world.fact("Maria MANAGES me").invalid_at == at(2026, 3)


@pytest.mark.parametrize("relation", ["WORKS_AT", "REPORTS_TO", "HAS_ROLE", "USES", "LIVES_IN"])
async def test_many_may_share_a_target_of_what_is_said_of_the_source(world: WritingWorld, relation: str) -> None:
    notes = [
        ("2026-01-01", {"source": "Maria", "relation": relation, "target": "Acme"}),
        ("2026-01-01", {"source": "me", "relation": relation, "target": "Beta"}),
        ("2026-03-01", {"source": "me", "relation": relation, "target": "Acme", "replaces": "current"}),
    ]
    answer = await told(world, notes)
    assert len(answer.retired) == 1
    assert world.lines() == [f"Maria {relation} Acme", f"me {relation} Acme"]


async def test_a_name_that_is_source_and_target_is_ambiguous(world: WritingWorld) -> None:
    maria, tom = ({**MANAGES, "source": name} for name in ("Maria", "Tom"))
    notes = [("2026-01-01", maria), ("2026-01-01", {**tom, "target": "Maria"})]
    answer = await told(world, [*notes, ("2026-03-01", {**tom, "replaces": "Maria"})])
    assert (answer.retired, len(the(answer, "ambiguous_replacement").candidates)) == ([], 2)


@pytest.mark.parametrize(("given", "events"), [({}, 2), ({"valid_at": "2026-02-02"}, 1)])
async def test_events_of_two_notes_are_one_only_at_a_told_instant(
    world: WritingWorld, given: dict[str, str], events: int
) -> None:
    ran = {**MET, "target": "Ann", **given}
    await told(world, [("2026-02-02", ran), ("2026-02-02", ran)])
    assert len(world.facts) == events


async def test_an_event_told_twice_in_one_note_is_one(world: WritingWorld) -> None:
    await world.tell("x", {**MET, "target": "Ann"}, {**MET, "target": "Ann"})
    assert len(world.facts) == 1
