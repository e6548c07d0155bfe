"""How something stands: the user's own word, one at a time; words of one meaning and coarse classes are known."""

from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, attention

from graphiti_pkm.capabilities.history.requests import RetireFact, WhatChanged
from graphiti_pkm.core.facts.statuses import class_of_status, keys_of_class, same_meaning
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.reading.views import Views
from graphiti_pkm.errors import InvalidInput

STATUS = {"source": "ADR 7", "relation": "HAS_STATUS"}


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6, 1))


async def told(world: WritingWorld, day: str, value: str | None, **fields: Any) -> AddMemoryResponse:
    answer = await world.tell("A note.", {**STATUS, "value": value, **fields}, reference_time=day)
    world.clock.advance(seconds=1)
    return answer


def statuses(world: WritingWorld) -> dict[str, tuple[datetime | None, datetime | None]]:
    """Each word with when it held."""
    return {
        str(fact.value): (fact.valid_at, fact.invalid_at)
        for fact in world.facts
        if fact.relation == "HAS_STATUS" and not fact.voided
    }


@pytest.mark.parametrize(
    ("word", "named"),
    [
        ("proposed", "open"),
        ("pending", "open"),
        ("In-Review.", "open"),
        ("to-do", "open"),
        ("Reopened", "open"),
        ("in progress", "active"),
        ("approved", "active"),
        ("paused", "on hold"),
        ("on hold", "on hold"),
        ("postponed", "on hold"),
        ("deprecated", "dropped"),
        ("cancelled", "dropped"),
        ("DONE!", "done"),
        ("not done", None),
        ("partly superseded", None),
        ("late", None),
        ("", None),
    ],
)
def test_the_class_of_a_status(word: str, named: str | None) -> None:
    assert class_of_status(word) == named


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("accepted", "Approved.", True),
        ("on hold", "On-Hold", True),
        ("late", "Late!", True),
        ("late", "shaky", False),
        ("open", "reopened", False),
        ("late", "pending", False),
        ("paused", "pending", False),
        ("in progress", "pending", False),
        ("postponed", "paused", False),
        ("rejected", "superseded", False),
    ],
)
def test_words_of_one_meaning(one: str, other: str, *, is_same: bool) -> None:
    assert same_meaning(one, other) is is_same
    assert same_meaning(other, one) is is_same


def test_only_a_class_has_the_keys_of_its_words() -> None:
    assert set(keys_of_class("On-hold") or ()) == {"onhold", "paused", "suspended", "postponed", "deferred", "blocked"}
    assert keys_of_class("pending") is None
    assert keys_of_class("late") is None


@pytest.mark.parametrize("fields", [{"value": "approved"}, {"value": None, "target": "approved"}])
async def test_a_status_is_kept_as_the_users_word(world: WritingWorld, fields: dict[str, str | None]) -> None:
    await told(world, "2026-05-01", **{"value": None, **fields})
    (fact,) = world.facts
    assert (fact.relation, fact.target_name, fact.value) == ("HAS_STATUS", "status", "approved")
    assert fact.attributes == {}
    assert fact.text == "ADR 7 has status: approved"


async def test_a_relation_however_spelt_is_the_same_and_punctuation_is_no_part_of_a_word(world: WritingWorld) -> None:
    await told(world, "2026-05-01", "Done!", relation="has-status")
    (fact,) = world.facts
    assert (fact.relation, fact.value, fact.attributes) == ("HAS_STATUS", "Done", {})


async def test_a_target_of_its_own_stays(world: WritingWorld) -> None:
    await told(world, "2026-05-01", "approved", target="the board")
    assert world.lines() == ["ADR 7 HAS_STATUS the board [approved]"]


async def test_a_new_status_ends_the_one_before(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "draft")
    await told(world, "2026-02-10", "in review")
    answer = await told(world, "2026-03-10", "accepted", valid_at="2026-03-01")
    assert [one.kind for one in answer.retired] == ["retired"]
    assert "possible_conflict" not in attention(answer)
    assert statuses(world) == {
        "draft": (None, at(2026, 2, 10)),
        "in review": (at(2026, 2, 10), at(2026, 3, 1)),
        "accepted": (at(2026, 3, 1), None),
    }
    history = await world.changes.what_changed(
        LOCAL, WhatChanged(since="2026-06-01", entity_uuid=world.entity("ADR 7").uuid)
    )
    assert [one.change for one in history.changes] == ["retired", "added", "retired", "added", "added"]


async def test_two_words_of_one_meaning_are_two_statuses(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "accepted")
    await told(world, "2026-02-10", "in force")
    assert statuses(world) == {"accepted": (None, at(2026, 2, 10)), "in force": (at(2026, 2, 10), None)}
    again = await told(world, "2026-03-10", "In-Force.")
    assert again.facts[0].outcome == "duplicate"
    assert len(world.facts) == 2


@pytest.mark.parametrize(
    ("order", "first"),
    [((0, 1, 2), None), ((2, 1, 0), at(2026, 1, 10)), ((0, 2, 1), None), ((1, 2, 0), at(2026, 1, 10))],
)
async def test_statuses_told_in_any_order_follow_each_other(
    world: WritingWorld, order: tuple[int, ...], first: datetime | None
) -> None:
    notes = [("2026-01-10", "proposed"), ("2026-02-10", "pending"), ("2026-03-10", "done")]
    for i in order:
        await told(world, *notes[i], **({"valid_at": notes[i][0]} if i else {}))
    assert statuses(world) == {
        "proposed": (first, at(2026, 2, 10)),
        "pending": (at(2026, 2, 10), at(2026, 3, 10)),
        "done": (at(2026, 3, 10), None),
    }


async def test_a_status_may_come_back(world: WritingWorld) -> None:
    for day, value in (("2026-01-10", "accepted"), ("2026-02-10", "superseded"), ("2026-03-10", "accepted")):
        await told(world, day, value)
    assert world.lines() == ["ADR 7 HAS_STATUS status [accepted]"]
    assert len(world.facts) == 3


async def test_statuses_of_other_things_end_nothing(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "late")
    await told(world, "2026-01-10", "accepted", source="ADR 8")
    assert world.lines() == ["ADR 7 HAS_STATUS status [late]", "ADR 8 HAS_STATUS status [accepted]"]


@pytest.mark.parametrize("said", ["value", "target"])
async def test_a_status_ends_the_one_before_whatever_its_word(world: WritingWorld, said: str) -> None:
    for day, word in (
        ("2026-01-10", "paused"),
        ("2026-02-10", "Running"),
        ("2026-03-10", "shaky"),
        ("2026-04-10", "done"),
    ):
        answer = await told(world, day, **{"value": None, said: word})
        assert "possible_conflict" not in attention(answer)
    assert statuses(world) == {
        "paused": (None, at(2026, 2, 10)),
        "Running": (at(2026, 2, 10), at(2026, 3, 10)),
        "shaky": (at(2026, 3, 10), at(2026, 4, 10)),
        "done": (at(2026, 4, 10), None),
    }
    assert {fact.target_name for fact in world.facts} == {"status"}


async def test_a_word_of_ones_own_told_again_or_late_has_its_place(world: WritingWorld) -> None:
    await told(world, "2026-03-10", "Running", valid_at="2026-03-10")
    again = await told(world, "2026-03-20", None, target="running")
    assert again.facts[0].outcome == "duplicate"
    await told(world, "2026-01-10", "half asleep", valid_at="2026-01-10")
    assert statuses(world) == {
        "half asleep": (at(2026, 1, 10), at(2026, 3, 10)),
        "Running": (at(2026, 3, 10), None),
    }


async def test_replaces_names_a_status_of_ones_own_word(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "running")
    answer = await told(world, "2026-02-10", "shaky", replaces="Running")
    assert [one.kind for one in answer.retired] == ["retired"]
    assert [line.split()[-1] for line in world.lines()] == ["[shaky]"]


async def test_a_planned_status_ends_nothing(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "proposed")
    await told(world, "2026-02-10", "accepted", kind="plan", valid_at="2026-09-01")
    assert world.lines() == ["ADR 7 HAS_STATUS status [proposed]"]


async def test_a_planned_status_comes_about_in_another_word(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "approved", kind="plan", valid_at="2026-02-01")
    answer = await told(world, "2026-02-10", "accepted")
    assert [one.kind for one in answer.retired] == ["fulfilled"]


async def test_a_status_with_only_an_end_ends_no_other(world: WritingWorld) -> None:
    await told(world, "2026-03-10", "done")
    await told(world, "2026-03-10", "pending", invalid_at="2026-03-01")
    assert statuses(world) == {"done": (None, None), "pending": (None, at(2026, 3, 1))}


@pytest.mark.parametrize("wanted", ["proposed", "draft", "Draft", "current"])
async def test_replaces_names_a_status_by_value_or_word(world: WritingWorld, wanted: str) -> None:
    await told(world, "2026-01-10", "draft")
    answer = await told(world, "2026-02-10", "accepted", replaces=wanted)
    assert [one.kind for one in answer.retired] == ["retired"]
    assert statuses(world) == {"draft": (None, at(2026, 2, 10)), "accepted": (at(2026, 2, 10), None)}


async def test_an_old_status_told_only_now_has_its_word(world: WritingWorld) -> None:
    await told(world, "2026-02-10", "accepted", replaces="draft")
    assert statuses(world) == {"draft": (None, at(2026, 2, 10)), "accepted": (at(2026, 2, 10), None)}


async def test_a_corrected_status_never_was(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "accepted", valid_at="2026-01-01")
    await told(world, "2026-02-10", "rejected", change="corrected")
    assert statuses(world) == {"rejected": (at(2026, 1), None)}


async def test_the_setting_propose_leaves_the_old_status_until_it_is_accepted() -> None:
    world = WritingWorld(now=at(2026, 6, 1), retirement="propose")
    await told(world, "2026-01-10", "proposed")
    answer = await told(world, "2026-02-10", "accepted")
    assert "proposed_ending" in attention(answer)
    assert len(world.lines()) == 2
    old = world.fact("ADR 7 HAS_STATUS status [proposed]")
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=old.uuid, reason="So it is."))
    assert statuses(world) == {"proposed": (None, at(2026, 2, 10)), "accepted": (at(2026, 2, 10), None)}


@pytest.mark.parametrize("word", ["proposed", "running"])
async def test_a_status_of_an_older_version_with_the_word_as_its_target_ends_too(
    world: WritingWorld, word: str
) -> None:
    await told(world, "2026-01-10", word)
    old = world.facts[0]
    target = world.entity("status").model_copy(update={"name": word})
    world.graph.tables.entities[target.uuid] = target
    world.graph.tables.facts[old.uuid] = old.model_copy(update={"value": None})
    await told(world, "2026-02-10", "done")
    assert [line.split()[-1] for line in world.lines()] == ["[done]"]


@pytest.mark.parametrize("again", ["in progress", "In-Progress"])
async def test_a_status_of_an_older_version_with_the_word_beside_its_value_is_read_as_the_word(
    world: WritingWorld, again: str
) -> None:
    await told(world, "2026-01-10", "in progress")
    old = world.facts[0]
    world.graph.tables.facts[old.uuid] = old.model_copy(update={"value": "pending", "attributes": {"word": old.value}})
    answer = await told(world, "2026-02-10", again)
    assert answer.facts[0].outcome == "duplicate"
    answer = await told(world, "2026-03-10", "pending")
    assert [one.kind for one in answer.retired] == ["retired"]
    assert [fact.value for fact in world.facts] == ["pending", "pending"]
    view = Views(Groups(world.graph, world.context.settings), ZoneInfo("UTC"), world.clock).fact(
        world.facts[0], world.clock()
    )
    assert (view.value, view.attributes) == ("in progress", {})


async def test_a_status_restated_with_its_end_closes_that_word_only(world: WritingWorld) -> None:
    await told(world, "2026-01-10", "paused", valid_at="2026-01-10")
    answer = await told(world, "2026-03-10", "Paused", invalid_at="2026-03-01")
    assert [one.kind for one in answer.retired] == ["retired"]
    assert statuses(world) == {"paused": (at(2026, 1, 10), at(2026, 3, 1))}


@pytest.mark.parametrize("said", ["value", "target"])
async def test_a_status_of_300_characters_is_refused_and_nothing_is_stored(world: WritingWorld, said: str) -> None:
    with pytest.raises(InvalidInput, match=r"(?s)facts\[0\]\.\w+ has .*200.*Nothing was stored"):
        await told(world, "2026-01-10", **{"value": None, said: "x" * 300})
    assert list(world.facts) == []
