"""A fact of staging is one of the group only if nothing of it is lost then; others come beside it."""

from pathlib import Path
from typing import Any

import pytest
from tests.worlds.staging_world import StagingWorld

STAGING = "default_staging"


def texts(world: StagingWorld, group: str) -> list[str]:
    return sorted(one.text for one in world.facts if one.group_id == group)


READING = {"kind": "reading", "measure": "mood", "value": "7", "valid_at": "2025-01-05"}


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"kind": "event"},
        {"kind": "event", "valid_at": "2025-01-05"},
        {"kind": "plan", "valid_at": "2027-01-05"},
        READING,
    ],
)
async def test_facts_in_other_words_come_beside_what_the_target_states(tmp_path: Path, given: dict[str, Any]) -> None:
    world = StagingWorld(tmp_path)
    about = {"money": STAGING, "love": STAGING, "dogs": "default"}
    for what, group in about.items():
        body = f"Anna met Ben about {what}."
        await world.note(body, "Anna", "MET", "Ben", group_id=group, fact={"fact": body, **given})
    done = await world.migrate()
    whole = [f"Anna met Ben about {what}." for what in sorted(about)]
    assert (texts(world, "default"), done.copied.facts, done.joined.facts) == (whole, 2, 0)
    again = await world.migrate(moves=True)
    assert (texts(world, "default"), texts(world, STAGING)) == (whole, [])
    assert (again.copied.facts, again.known.facts, again.removed.facts) == (0, 2, 2)


async def test_an_event_without_a_date_is_the_same_only_in_the_same_note(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    for group in (STAGING, STAGING, "default"):
        event = {"kind": "event", "fact": "Anna met Ben"}
        await world.note("Anna met Ben.", "Anna", "MET", "Ben", group_id=group, fact=event)
    await world.migrate(moves=True)
    assert texts(world, "default") == ["Anna met Ben"] * 3


async def test_a_dated_event_in_the_same_words_is_joined(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    for group, fact in ((STAGING, "Anna met Ben"), ("default", "anna met Ben.")):
        event = {"kind": "event", "fact": fact, "valid_at": "2025-01-05"}
        await world.note("Anna met Ben.", "Anna", "MET", "Ben", group_id=group, fact=event)
    done = await world.migrate(moves=True)
    assert (texts(world, "default"), done.joined.facts) == (["anna met Ben."], 1)


async def test_a_sentence_that_the_server_composed_is_the_same_under_another_name(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    for group, name in (("default", "Anna Smith"), (STAGING, "Anna")):
        fact = {"source": name, "relation": "LIVES_IN", "target": "Rome"}
        named = [{"name": name, "type": "Person", "aliases": ["Anna"]}]
        world.clock.advance(seconds=1)
        await world.tell("She lives in Rome.", fact, entities=named, group_id=group)
    await world.note("Anna works at Acme.", "Anna", "WORKS_AT", "Acme", fact={"fact": "Anna has a job at Acme."})
    await world.note("Anna works at Acme.", "Anna", "WORKS_AT", "Acme", group_id=STAGING, fact={"fact": None})
    await world.migrate(moves=True)
    assert texts(world, "default") == ["Anna Smith lives in Rome", "Anna has a job at Acme.", "Anna works at Acme"]


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ({"valid_at": "2025"}, {"valid_at": "2025-01-01"}),
        ({}, {"because_of": "Rome"}),
        ({}, {"confidential": True}),
    ],
)
async def test_what_the_target_does_not_know_of_a_fact_comes_with_it(
    tmp_path: Path, here: dict[str, str], there: dict[str, str]
) -> None:
    world = StagingWorld(tmp_path)
    for group, given in (("default", here), (STAGING, there)):
        await world.note("Rome is a town.", "Rome", "IS_A", "town", group_id=group)
        await world.note("Anna knows Ben.", "Anna", "KNOWS", "Ben", group_id=group, fact=given)
    await world.migrate(moves=True)
    (own, come) = [one for one in world.facts if (one.group_id, one.relation) == ("default", "KNOWS")]
    assert own.attributes != come.attributes
