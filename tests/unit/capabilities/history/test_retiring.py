"""Ending a fact by hand, and undoing what ended it."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import a_change, a_fact, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import UNKNOWN
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.history.models import ChangedFactResponse
from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, WhatChanged
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import Fact, WriteKind
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound, WritePending

NOW = at(2026, 6, 1, 12)
ACME = {"source": "me", "relation": "WORKS_AT", "target": "Acme"}
GLOBEX = {"source": "me", "relation": "WORKS_AT", "target": "Globex", "valid_at": "2026-03-01"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=NOW)


async def told(world: WritingWorld, *facts: dict[str, Any], day: str = "2026-01-10") -> None:
    await world.tell("A note.", *facts, reference_time=day)
    world.clock.advance(seconds=1)


async def retire(world: WritingWorld, line: str, **fields: Any) -> ChangedFactResponse:
    answer = await world.retiring.retire_fact(
        LOCAL, RetireFact(fact_uuid=world.fact(line).uuid, reason="I left.", **fields)
    )
    world.clock.advance(seconds=1)
    return answer


async def restore(world: WritingWorld, line: str) -> ChangedFactResponse:
    answer = await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=world.fact(line).uuid, reason="A slip."))
    world.clock.advance(seconds=1)
    return answer


def values(fact: Fact) -> tuple[object, ...]:
    return (fact.valid_at, fact.invalid_at, fact.expired_at, fact.voided)


def events(world: WritingWorld) -> list[str]:
    return [change.kind for change in world.graph.tables.changes.values()]


async def test_a_fact_ends_now_with_who_and_why_in_the_record(world: WritingWorld) -> None:
    await told(world, ACME)
    answer = await retire(world, "me WORKS_AT Acme")
    fact = world.fact("me WORKS_AT Acme")
    assert (answer.changed, answer.fact.status) == (True, "ended")
    assert (fact.invalid_at, fact.expired_at) == (at(2026, 6, 1, 12).replace(second=1),) * 2
    (change,) = world.graph.tables.changes.values()
    assert (change.kind, change.fact_uuid, change.episode_uuid, change.replaced_by) == (
        "retired",
        fact.uuid,
        None,
        None,
    )
    assert (change.reason, change.caller, change.recorded_at) == ("I left.", "local", fact.expired_at)
    assert (change.previous_valid_at, change.previous_invalid_at, change.previous_expired_at) == (None, None, None)
    assert change.invalid_at == fact.invalid_at
    assert [row.intent.kind for row in world.journal.table.values()] == [WriteKind.ADD_MEMORY, WriteKind.RETIRE_FACT]


async def test_a_fact_ends_at_the_time_given_in_the_zone_of_the_settings() -> None:
    world = WritingWorld(now=NOW, timezone="Europe/Berlin")
    await told(world, {**ACME, "valid_at": "2025-01-01"})
    await retire(world, "me WORKS_AT Acme", invalid_at="2026-02-01")
    fact = world.fact("me WORKS_AT Acme")
    assert (fact.invalid_at, fact.expired_at) == (at(2026, 1, 31, 23), NOW.replace(second=1))


async def test_a_fact_ends_where_its_replacement_starts(world: WritingWorld) -> None:
    await told(world, ACME, GLOBEX)
    new = world.fact("me WORKS_AT Globex")
    await retire(world, "me WORKS_AT Acme", replaced_by=new.uuid[:8])
    assert world.fact("me WORKS_AT Acme").invalid_at == at(2026, 3, 1)
    assert [change.replaced_by for change in world.graph.tables.changes.values()] == [new.uuid]
    answer = await restore(world, "me WORKS_AT Acme")
    assert f"holds on beside it: {new.uuid[:8]}" in answer.message
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_AT Globex"]


async def test_an_end_to_come_leaves_the_fact_current_until_then(world: WritingWorld) -> None:
    await told(world, ACME)
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="2026-12-31")
    fact = world.fact("me WORKS_AT Acme")
    assert (fact.invalid_at, fact.expired_at, answer.fact.status) == (at(2026, 12, 31), None, "current")
    again = await retire(world, "me WORKS_AT Acme", invalid_at="2026-12-31")
    assert (again.changed, events(world)) == (False, ["retired"])
    assert "2026-12-31" in again.message
    sooner = await retire(world, "me WORKS_AT Acme", invalid_at="2026-07-01")
    assert (sooner.changed, world.fact("me WORKS_AT Acme").invalid_at) == (True, at(2026, 7, 1))


async def test_a_plan_that_is_dropped_is_over(world: WritingWorld) -> None:
    await told(world, {**ACME, "kind": "plan", "valid_at": "2027"})
    answer = await retire(world, "me WORKS_AT Acme")
    assert answer.fact.status == "ended"
    assert world.fact("me WORKS_AT Acme").invalid_at is None
    await restore(world, "me WORKS_AT Acme")
    assert values(world.fact("me WORKS_AT Acme")) == (at(2027), None, None, False)


async def test_a_plan_that_is_dropped_keeps_the_day_that_was_told(world: WritingWorld) -> None:
    await told(world, {**ACME, "kind": "plan", "valid_at": "2026-09-05"})
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="2026-05-07")
    assert (answer.fact.status, answer.fact.invalid_at) == ("ended", "2026-05-07T00:00:00+00:00")
    assert "(planned for 2026-09-05, dropped 2026-05-07)" in answer.message
    history = await world.changes.what_changed(LOCAL, WhatChanged(since="2026-01-01"))
    ending = history.changes[0]
    assert (ending.change, ending.invalid_at) == ("retired", "2026-05-07T00:00:00+00:00")
    assert ending.fact == "me works at Acme (planned for 2026-09-05, dropped 2026-05-07)"
    again = await retire(world, "me WORKS_AT Acme")
    assert (again.changed, "2026-05-07" in again.message) == (False, True)
    await restore(world, "me WORKS_AT Acme")
    assert values(world.fact("me WORKS_AT Acme")) == (at(2026, 9, 5), None, None, False)


async def test_retiring_and_restoring_twice_say_that_it_is_so_and_store_nothing(world: WritingWorld) -> None:
    await told(world, ACME)
    nothing = await restore(world, "me WORKS_AT Acme")
    assert (nothing.changed, "not retired" in nothing.message) == (False, True)
    await retire(world, "me WORKS_AT Acme")
    before = world.fact("me WORKS_AT Acme")
    again = await retire(world, "me WORKS_AT Acme")
    assert (again.changed, world.fact("me WORKS_AT Acme")) == (False, before)
    await restore(world, "me WORKS_AT Acme")
    twice = await restore(world, "me WORKS_AT Acme")
    assert twice.changed is False
    assert events(world) == ["retired", "restored"]
    assert len(world.journal.table) == 3


async def test_restoring_gives_back_the_values_from_before_round_after_round(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024-01-01", "invalid_at": "2027-01-01"})
    before = values(world.fact("me WORKS_AT Acme"))
    for end in ("2026-02-01", "2025-05-05", "2026-06-01"):
        await retire(world, "me WORKS_AT Acme", invalid_at=end)
        assert values(world.fact("me WORKS_AT Acme")) != before
        await restore(world, "me WORKS_AT Acme")
        assert values(world.fact("me WORKS_AT Acme")) == before


async def test_each_restoring_undoes_one_ending_the_newest_first(world: WritingWorld) -> None:
    await told(world, ACME)
    states = [values(world.fact("me WORKS_AT Acme"))]
    for end in ("2026-12-01", "2026-09-01", "2026-03-01"):
        await retire(world, "me WORKS_AT Acme", invalid_at=end)
        states.append(values(world.fact("me WORKS_AT Acme")))
    assert "restore_fact again" in (await restore(world, "me WORKS_AT Acme")).message
    assert values(world.fact("me WORKS_AT Acme")) == states[2]
    await retire(world, "me WORKS_AT Acme", invalid_at="2026-02-01")
    for state, is_last in ((states[2], False), (states[1], False), (states[0], True)):
        answer = await restore(world, "me WORKS_AT Acme")
        assert values(world.fact("me WORKS_AT Acme")) == state
        assert ("restore_fact again" in answer.message) is not is_last
    assert (await restore(world, "me WORKS_AT Acme")).changed is False


async def test_events_are_in_order_whatever_the_clock_does(world: WritingWorld) -> None:
    await told(world, ACME)
    fact = world.fact("me WORKS_AT Acme")
    for _ in range(3):
        await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=fact.uuid, reason="Left."))
        await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=fact.uuid, reason="Not so."))
        world.clock.advance(seconds=-3600)
        assert values(world.fact("me WORKS_AT Acme")) == (None, None, None, False)
    found = await world.graph.changes.fact_changes([fact.uuid], ["default"], 10)
    assert [change.kind for change in found[fact.uuid]] == ["restored", "retired"] * 3
    instants = [change.recorded_at for change in found[fact.uuid]]
    assert sorted(set(instants), reverse=True) == instants


async def test_what_a_note_replaced_is_restored_beside_what_replaced_it(world: WritingWorld) -> None:
    await told(world, ACME)
    await told(world, {**GLOBEX, "replaces": "Acme"}, day="2026-03-01")
    assert world.lines() == ["me WORKS_AT Globex"]
    answer = await restore(world, "me WORKS_AT Acme")
    assert world.lines() == ["me WORKS_AT Acme", "me WORKS_AT Globex"]
    assert "holds on beside it" in answer.message


async def test_what_was_corrected_is_restored_and_its_episode_loses_the_mark(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024"})
    await told(world, {**GLOBEX, "replaces": "Acme", "change": "corrected"}, day="2026-03-01")
    voided = world.fact("me WORKS_AT Acme")
    assert [episode.corrected for episode in world.graph.tables.episodes.values()] == [True, False]
    retired = await retire(world, "me WORKS_AT Acme")
    assert (retired.changed, "never held" in retired.message) == (False, True)
    await restore(world, "me WORKS_AT Acme")
    assert values(world.fact("me WORKS_AT Acme")) == (at(2024), None, None, False)
    assert voided.voided
    assert [episode.corrected for episode in world.graph.tables.episodes.values()] == [False, False]


async def test_an_episode_keeps_its_mark_while_something_else_in_it_is_wrong(world: WritingWorld) -> None:
    await told(world, ACME, {"source": "Tom", "relation": "WORKS_AT", "target": "Acme"})
    for source in ("me", "Tom"):
        wrong = {"source": source, "relation": "WORKS_AT", "target": "Globex", "replaces": "Acme"}
        await told(world, {**wrong, "change": "corrected"}, day="2026-03-01")
    first = next(iter(world.graph.tables.episodes))
    await restore(world, "me WORKS_AT Acme")
    assert world.graph.tables.episodes[first].corrected
    await restore(world, "Tom WORKS_AT Acme")
    assert not world.graph.tables.episodes[first].corrected


async def test_what_a_fact_gains_while_it_is_ended_it_keeps(world: WritingWorld) -> None:
    await told(world, ACME)
    await retire(world, "me WORKS_AT Acme", invalid_at="2026-05-01")
    await told(world, {**ACME, "valid_at": "2024-04-01", "invalid_at": "2026-05-01"}, day="2024-04-01")
    gained = world.fact("me WORKS_AT Acme")
    assert (gained.valid_at, len(gained.episodes)) == (at(2024, 4, 1), 2)
    await restore(world, "me WORKS_AT Acme")
    fact = world.fact("me WORKS_AT Acme")
    assert (values(fact), fact.episodes) == ((at(2024, 4, 1), None, None, False), gained.episodes)


async def test_an_end_that_was_told_is_no_retirement_to_undo(world: WritingWorld) -> None:
    await told(world, {**ACME, "invalid_at": "2025-12-01"})
    answer = await restore(world, "me WORKS_AT Acme")
    assert answer.changed is False
    assert "change corrected" in answer.message


async def test_what_version_one_retired_is_restored(world: WritingWorld) -> None:
    sarah, note = an_entity("Sarah", group_id="default"), an_episode(group_id="default")
    fact = a_fact(sarah, sarah, valid_at=at(2024), invalid_at=at(2025), expired_at=at(2026))
    event = a_change(fact, note, previous_valid_at=at(2024), recorded_at=at(2026))
    await world.graph.writer.apply(a_write(sarah, note, fact, event), {})
    await restore(world, "Sarah KNOWS Sarah")
    assert values(world.fact("Sarah KNOWS Sarah")) == (at(2024), None, None, False)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"invalid_at": "2025-12-31"}, "known to hold from 2026-01-10"),
        ({"invalid_at": "soon"}, "invalid_at"),
        ({"replaced_by": UNKNOWN}, "No fact"),
        ({"replaced_by": "Globex"}, "not a uuid"),
        ({"reason": "  "}, "reason needs"),
        ({"reason": "x" * 501}, "reason needs"),
        ({"reason": "a\0b"}, "NUL"),
        ({"reason": "\ud800"}, "surrogate"),
        ({"fact_uuid": UNKNOWN}, "No fact"),
        ({"fact_uuid": "Acme"}, "not a uuid"),
    ],
)
async def test_what_is_wrong_is_said_and_nothing_is_changed(
    world: WritingWorld, fields: dict[str, str], message: str
) -> None:
    await told(world, ACME)
    before = world.fact("me WORKS_AT Acme")
    arguments = {"fact_uuid": before.uuid, "reason": "Left.", **fields}
    with pytest.raises((InvalidInput, NotFound), match=message):
        await world.retiring.retire_fact(LOCAL, RetireFact(**arguments))
    assert world.fact("me WORKS_AT Acme") == before
    assert events(world) == []


async def test_a_fact_does_not_replace_itself_nor_one_of_another_group(world: WritingWorld) -> None:
    await told(world, ACME)
    own = world.fact("me WORKS_AT Acme").uuid
    with pytest.raises(InvalidInput, match="the fact itself"):
        await retire(world, "me WORKS_AT Acme", replaced_by=own)
    await world.tell("Elsewhere.", GLOBEX, group_id="work")
    with pytest.raises(InvalidInput, match="another group"):
        await retire(world, "me WORKS_AT Acme", replaced_by=world.fact("me WORKS_AT Globex").uuid)


@pytest.mark.parametrize("kind", ["event", "reading"])
async def test_an_instant_does_not_end(world: WritingWorld, kind: str) -> None:
    await told(world, {**ACME, "kind": kind, "value": 5})
    with pytest.raises(InvalidInput, match="change corrected"):
        await retire(world, "me WORKS_AT Acme [5]")
    assert events(world) == []


async def test_nobody_changes_what_they_may_not(world: WritingWorld) -> None:
    await told(world, ACME)
    uuid = world.fact("me WORKS_AT Acme").uuid
    for caller, error in ((Caller(read_only=True), NotAllowed), (Caller(principal="anna"), NotFound)):
        with pytest.raises(error):
            await world.retiring.retire_fact(caller, RetireFact(fact_uuid=uuid, reason="Left."))
        with pytest.raises(error):
            await world.retiring.restore_fact(caller, RestoreFact(fact_uuid=uuid, reason="Not so."))
    assert events(world) == []


async def test_a_fact_of_any_group_of_the_caller_is_found_by_its_uuid(world: WritingWorld) -> None:
    await world.tell("Elsewhere.", ACME, group_id="work")
    answer = await retire(world, "me WORKS_AT Acme")
    assert (answer.changed, answer.fact.group_id) == (True, "work")


async def test_a_change_that_waits_for_the_database_is_kept_by_its_name(world: WritingWorld) -> None:
    await told(world, ACME)
    for change in (retire, restore):
        world.graph.fail_next_apply()
        with pytest.raises(WritePending, match=rf"Kept as the (retiring|restoring) of fact {world.facts[0].uuid}"):
            await change(world, "me WORKS_AT Acme")
        await world.tell("The next note.")
    assert events(world) == ["retired", "restored"]


async def test_an_end_in_the_month_of_the_start_is_within_it(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2026-01-15"}, day="2026-01-20")
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="January 2026")
    assert world.fact("me WORKS_AT Acme").invalid_at == at(2026, 2)
    assert (answer.changed, answer.fact.told_end) == (True, "January 2026")


@pytest.mark.parametrize(
    ("end", "stored"), [("2025", at(2025, 5, 4)), ("2026", NOW.replace(second=1)), ("2027", at(2028))]
)
async def test_a_told_end_is_that_of_its_period_unless_more_is_known(
    world: WritingWorld, end: str, stored: datetime
) -> None:
    """Where the replacement began in it; now, where it is not over; else all of it."""
    await told(world, {**ACME, "valid_at": "2020"}, {**ACME, "target": "Beta", "valid_at": "2025-05-04"})
    beta = world.fact("me WORKS_AT Beta").uuid
    await retire(world, "me WORKS_AT Acme", invalid_at=end, replaced_by=beta)
    assert world.fact("me WORKS_AT Acme").invalid_at == stored


async def test_an_end_by_day_has_no_words_of_an_earlier_end(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024", "invalid_at": "2027"})
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="2026-02-03")
    assert (answer.fact.invalid_at, answer.fact.told_end) == ("2026-02-03T00:00:00+00:00", None)
    assert world.fact("me WORKS_AT Acme").attributes == {"told_start": "2024"}


async def test_what_is_restored_has_the_words_of_its_former_end(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024", "invalid_at": "2027"})
    await retire(world, "me WORKS_AT Acme", invalid_at="2026-02-03")
    answer = await restore(world, "me WORKS_AT Acme")
    assert (answer.fact.invalid_at, answer.fact.told_end) == ("2028-01-01T00:00:00+00:00", "2027")
    assert world.fact("me WORKS_AT Acme").attributes == {"told_start": "2024", "told_end": "2027"}


async def test_a_plan_dropped_in_the_month_of_its_day_is_over_now(world: WritingWorld) -> None:
    await told(world, {**ACME, "relation": "VISITS", "kind": "plan", "valid_at": "2026-06-20"})
    await retire(world, "me VISITS Acme", invalid_at="June 2026")
    assert world.fact("me VISITS Acme").invalid_at == NOW.replace(second=1)


async def test_a_later_end_is_moved_and_what_was_known_is_restored(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024", "invalid_at": "2027"})
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="until 2030")
    assert (answer.changed, answer.fact.status, answer.fact.told_end) == (True, "current", "2030")
    assert "2028-01-01 until now, was moved" in answer.message
    assert (await world.changes.what_changed(LOCAL, WhatChanged(kinds=["retired"]))).changes[0].former_invalid_at
    await restore(world, "me WORKS_AT Acme")
    assert world.fact("me WORKS_AT Acme").attributes == {"told_start": "2024", "told_end": "2027"}


async def test_a_vaguer_end_moves_nothing(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024", "invalid_at": "May 2027"})
    assert not (await retire(world, "me WORKS_AT Acme", invalid_at="2027")).changed


async def test_what_has_ended_ends_later_and_is_current_if_that_is_to_come(world: WritingWorld) -> None:
    await told(world, {**ACME, "valid_at": "2024"})
    await retire(world, "me WORKS_AT Acme", invalid_at="2026-05-01")
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="2026-05-20")
    assert (answer.fact.status, answer.fact.invalid_at) == ("ended", "2026-05-20T00:00:00+00:00")
    assert (await retire(world, "me WORKS_AT Acme", invalid_at="2027-05-20")).fact.status == "current"
    answer = await retire(world, "me WORKS_AT Acme", invalid_at="2025")
    assert (answer.fact.status, answer.fact.told_end) == ("ended", "2025")
    assert (await retire(world, "me WORKS_AT Acme", invalid_at="2024-12-01")).message.startswith("The end, 2026-01-01 ")
