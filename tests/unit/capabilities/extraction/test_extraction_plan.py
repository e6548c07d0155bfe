"""What a model found becomes one write by the rules for what is told; what a caller told stands."""

from datetime import datetime
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.extraction_world import ExtractionWorld, Findings
from tests.worlds.writing_world import line

from graphiti_pkm.capabilities.extraction.writing import OutdatedError
from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.core.model.access import LOCAL

NOW = at(2026, 6, 1)
ACME = {"source": "Anna", "relation": "WORKS_AT", "target": "Acme", "fact": "Anna works at Acme"}


@pytest.fixture
def world() -> ExtractionWorld:
    return ExtractionWorld(now=NOW)


async def test_what_is_new_is_created_with_its_mentions_and_one_write(world: ExtractionWorld) -> None:
    episode = await world.note("Anna works at Acme in Berlin.", reference_time="2026-03-01")
    found = Findings()
    found.entity("Anna", label="person", summary="An engineer.", attributes={"age": 41})
    found.fact("Anna", "WorksAt", "Acme", "Anna works at Acme.", valid_at=at(2026, 3))
    found.fact("Acme", "Located in", "Berlin", "Acme is in Berlin.", valid_at=at(2020))
    answer = await world.found(episode, found)
    assert sorted(line(fact) for fact in world.facts) == ["Acme LOCATED_IN Berlin", "Anna WORKS_AT Acme"]
    assert {fact.text: (fact.valid_at, fact.reference_time, fact.episodes) for fact in world.facts} == {
        "Anna works at Acme.": (None, at(2026, 3), (episode,)),
        "Acme is in Berlin.": (at(2020), at(2026, 3), (episode,)),
    }
    anna = world.entity("Anna")
    assert (anna.label, anna.summary, anna.summary_by_model, anna.attributes) == (
        "Person",
        "An engineer.",
        True,
        {"age": 41},
    )
    assert [world.mentions(name) for name in ("Anna", "Acme", "Berlin")] == [1, 1, 1]
    assert [one.outcome for one in answer.facts] == ["created", "created"]
    assert {one.name: one.outcome for one in answer.entities} == dict.fromkeys(("Anna", "Acme", "Berlin"), "created")
    vectors = world.graph.tables.vectors
    assert all(fact.uuid in vectors for fact in world.facts)
    assert anna.uuid in vectors
    assert len(world.extracted) == 1


@pytest.mark.parametrize("spelt", ["Anna", "ANNA", "anna ", "Annie"])
async def test_a_name_is_the_entity_that_holds_it(world: ExtractionWorld, spelt: str) -> None:
    episode = await world.note("Anna", entities=[{"name": "Anna", "aliases": ["Annie"], "type": "Person"}])
    found = Findings()
    found.fact(spelt, "LIKES", "Tea", f"{spelt} likes tea.")
    answer = await world.found(episode, found)
    assert [line(fact) for fact in world.facts] == ["Anna LIKES Tea"]
    assert {one.name: one.outcome for one in answer.entities} == {"Anna": "matched", "Tea": "created"}
    assert world.mentions("Anna") == 1


async def test_a_recognised_entity_is_kept_however_it_is_spelt(world: ExtractionWorld) -> None:
    await world.note("Anna Schmidt joined.", entities=[{"name": "Anna Schmidt"}])
    episode = await world.note("A. likes tea.")
    found = Findings()
    found.entity("A.", known=world.entity("Anna Schmidt"))
    found.fact("A.", "LIKES", "Tea", "Anna likes tea.")
    await world.found(episode, found)
    assert [line(fact) for fact in world.facts] == ["Anna Schmidt LIKES Tea"]
    assert world.mentions("Anna Schmidt") == 2
    uuid = world.entity("Anna Schmidt").uuid
    assert await world.graph.records.aliases([uuid], 10) == {uuid: []}


@pytest.mark.parametrize("name", ["me", "I", "the user", "Robin"])
async def test_the_person_is_me(name: str) -> None:
    world = ExtractionWorld(now=NOW, person="Robin")
    episode = await world.note("I like tea.")
    found = Findings()
    found.fact(name, "LIKES", "Tea", "Robin likes tea.")
    await world.found(episode, found)
    assert [line(fact) for fact in world.facts] == ["Robin LIKES Tea"]
    assert world.entity("Robin").label == "Person"


@pytest.mark.parametrize("text", ["Anna works at Acme", "anna works at ACME.", "Anna is employed by Acme as engineer."])
async def test_what_the_caller_told_gets_no_second_copy(world: ExtractionWorld, text: str) -> None:
    episode = await world.note("Anna works at Acme.", ACME)
    before = world.facts
    found = Findings()
    found.fact("Anna", "WORKS_AT", "Acme", text)
    answer = await world.found(episode, found)
    assert world.facts == before
    assert [(one.outcome, one.uuid) for one in answer.facts] == [("known", before[0].uuid)]


async def test_a_known_fact_gains_the_episode(world: ExtractionWorld) -> None:
    first = await world.note("Anna works at Acme.", ACME)
    second = await world.note("Anna still works at Acme.")
    found = Findings()
    found.entity("Anna", known=world.entity("Anna"))
    found.entity("Acme", known=world.entity("Acme"))
    found.known_fact(world.facts[0])
    answer = await world.found(second, found)
    assert [fact.episodes for fact in world.facts] == [(first, second)]
    assert [one.outcome for one in answer.facts] == ["known"]


@pytest.mark.parametrize("kind", ["plan", "event"])
async def test_a_plan_or_event_that_is_repeated_stays_what_it_is(world: ExtractionWorld, kind: str) -> None:
    trip = {"source": "me", "relation": "VISITS", "target": "Rome", "fact": "I visit Rome", "kind": kind}
    await world.note("Rome!", {**trip, "valid_at": "2026-09-01"})
    second = await world.note("Rome again.")
    found = Findings()
    found.entity("Rome", known=world.entity("Rome"))
    found.known_fact(world.facts[0], valid_at=at(2026, 6, 1))
    await world.found(second, found)
    assert [(fact.kind, fact.valid_at, len(fact.episodes)) for fact in world.facts] == [(kind, at(2026, 9), 2)]


async def test_a_model_does_not_say_that_a_plan_has_come_about(world: ExtractionWorld) -> None:
    trip = {"source": "me", "relation": "MOVES_TO", "target": "Rome", "fact": "I will move to Rome", "kind": "plan"}
    await world.note("Rome!", trip)
    second = await world.note("Talked about Rome.")
    found = Findings()
    found.fact("me", "MOVES_TO", "Rome", "The user moves to Rome.")
    await world.found(second, found)
    assert sorted((fact.kind, fact.expired_at) for fact in world.facts) == [("plan", None), ("state", None)]


async def ended(world: ExtractionWorld, old: dict[str, Any], new: tuple[str, str, str]) -> Any:
    """One older fact, and a newer note in which a model finds one that contradicts it."""
    await world.note("Before.", old, reference_time="2026-01-01")
    episode = await world.note("After.", reference_time="2026-03-01")
    fact = world.facts[0]
    found = Findings()
    for name in (fact.source_name, fact.target_name):
        found.entity(name, known=world.entity(name))
    by = found.fact(*new, " ".join(new))
    found.ending(fact, by, at(2026, 3))
    return episode, await world.found(episode, found)


@pytest.mark.parametrize(
    ("retirement", "new", "outcome"),
    [
        ("guarded", ("Anna", "WORKS_AT", "Beta"), "retired"),
        ("guarded", ("Anna", "WORKED_AT", "Beta"), "retired"),
        ("guarded", ("Anna", "LEFT", "Acme"), "retired"),
        ("guarded", ("Acme", "DISMISSED", "Anna"), "retired"),
        ("guarded", ("Anna", "STUDIES_AT", "Beta"), "proposed"),
        ("guarded", ("Tom", "WORKS_AT", "Beta"), "proposed"),
        ("propose", ("Anna", "WORKS_AT", "Beta"), "proposed"),
        ("automatic", ("Anna", "STUDIES_AT", "Beta"), "retired"),
    ],
)
async def test_an_ending_is_done_only_where_it_can_be_trusted(
    retirement: str, new: tuple[str, str, str], outcome: str
) -> None:
    world = ExtractionWorld(now=NOW, retirement=retirement)
    episode, answer = await ended(world, ACME, new)
    old = next(fact for fact in world.facts if fact.text == ACME["fact"])
    is_done = outcome == "retired"
    assert old.invalid_at == (at(2026, 3) if is_done else None)
    assert [one.uuid for one in (answer.retired if is_done else answer.proposed)] == [old.uuid]
    assert "possible_conflict" not in answer.attention
    changes = (await world.graph.changes.fact_changes([old.uuid], [world.group], 5))[old.uuid]
    assert [(one.kind, one.episode_uuid, one.caller) for one in changes] == [
        (outcome, episode, "extraction (scripted-1)")
    ]


@pytest.mark.parametrize(
    "old",
    [
        {**ACME, "kind": "plan"},
        {**ACME, "kind": "event"},
        {"source": "Anna", "relation": "SLEEPS", "kind": "reading", "measure": "sleep", "value": 6.5},
        {**ACME, "invalid_at": "2026-02-01"},
        {**ACME, "valid_at": "2026-03-01"},
        {**ACME, "valid_at": "2026-05-01"},
    ],
)
async def test_what_no_model_may_end(world: ExtractionWorld, old: dict[str, Any]) -> None:
    await world.note("Before.", old, reference_time="2026-01-01")
    before = world.facts[0]
    episode = await world.note("After.", reference_time="2026-03-01")
    found = Findings()
    found.entity("Anna", known=world.entity("Anna"))
    by = found.fact("Anna", old["relation"], "Beta", "Anna is at Beta.")
    found.ending(before, by, at(2026, 3))
    answer = await world.found(episode, found)
    assert world.fact(line(before)) == before
    assert (answer.retired, answer.proposed) == ([], [])


async def test_an_episode_does_not_end_what_its_caller_told(world: ExtractionWorld) -> None:
    episode = await world.note("Anna works at Acme.", ACME)
    found = Findings()
    by = found.fact("Anna", "WORKS_AT", "Beta", "Anna works at Beta.")
    found.ending(world.facts[0], by, NOW)
    answer = await world.found(episode, found)
    assert answer.retired == answer.proposed == []
    assert sorted(line(fact) for fact in world.facts if fact.invalid_at is None) == [
        "Anna WORKS_AT Acme",
        "Anna WORKS_AT Beta",
    ]


async def test_a_conflict_that_the_model_did_not_see_is_counted(world: ExtractionWorld) -> None:
    await world.note("Before.", ACME, reference_time="2026-01-01")
    episode = await world.note("After.", reference_time="2026-03-01")
    found = Findings()
    found.fact("Anna", "WORKS_AT", "Beta", "Anna works at Beta.")
    assert (await world.found(episode, found)).attention == {"possible_conflict": 1}


async def test_a_later_part_of_an_episode_ends_what_an_earlier_one_found(world: ExtractionWorld) -> None:
    episode = await world.note("A long story of Anna.", reference_time="2026-03-01")
    found = Findings()
    first = found.fact("Anna", "WORKS_AT", "Acme", "Anna works at Acme.", valid_at=at(2020))
    by = found.fact("Anna", "WORKS_AT", "Beta", "Anna works at Beta.", valid_at=at(2024))
    found.ending_of(first, by, at(2024))
    answer = await world.found(episode, found)
    assert {fact.text: fact.invalid_at for fact in world.facts} == {
        "Anna works at Acme.": at(2024),
        "Anna works at Beta.": None,
    }
    assert len(answer.retired) == 1


async def test_an_ending_that_was_undone_is_not_done_again(world: ExtractionWorld) -> None:
    episode, _ = await ended(world, ACME, ("Anna", "WORKS_AT", "Beta"))
    old = next(fact for fact in world.facts if fact.text == ACME["fact"])
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=old.uuid, reason="Both hold."))
    found = Findings()
    by = found.fact("Anna", "WORKS_AT", "Beta", "Anna works at Beta.")
    found.ending(old, by, at(2026, 3))
    await world.found(episode, found)
    assert next(fact for fact in world.facts if fact.uuid == old.uuid).invalid_at is None


async def test_what_a_caller_corrected_is_not_found_again(world: ExtractionWorld) -> None:
    episode = await world.note("Anna works at Acme.")
    found = Findings()
    found.fact("Anna", "WORKS_AT", "Acme", "Anna works at Acme.")
    await world.found(episode, found)
    beta = {**ACME, "target": "Beta", "fact": "Anna works at Beta", "replaces": "Acme", "change": "corrected"}
    await world.note("No, at Beta.", beta)
    again = Findings()
    again.fact("Anna", "WORKS_AT", "Acme", "Anna works at Acme, I read.")
    answer = await world.found(episode, again)
    assert sorted((line(fact), fact.voided) for fact in world.facts) == [
        ("Anna WORKS_AT Acme", True),
        ("Anna WORKS_AT Beta", False),
    ]
    assert (answer.facts, answer.left_out) == ([], 1)


@pytest.mark.parametrize(
    ("told", "before", "is_known", "now"),
    [
        (None, "", True, "By model."),
        ("By caller.", "By caller.", True, "By caller."),
        ("By caller.", "", False, "By caller."),
    ],
)
async def test_a_summary_of_a_caller_stands(
    world: ExtractionWorld, told: str | None, before: str, is_known: bool, now: str
) -> None:
    episode = await world.note("Anna.", entities=[{"name": "Anna", "summary": told}])
    found = Findings()
    found.entity("Anna", world.entity("Anna") if is_known else None, summary="By model.", summary_before=before)
    await world.found(episode, found)
    assert world.entity("Anna").summary == now


async def test_a_summary_of_a_model_is_written_anew_unless_it_changed_meanwhile(world: ExtractionWorld) -> None:
    episode = await world.note("Anna.")
    for shown, written in (("", "First."), ("First.", "Second."), ("First.", "Stale.")):
        found = Findings()
        anna = world.entity("Anna") if shown else None
        found.entity("Anna", anna, summary=written, summary_before=shown)
        await world.found(episode, found)
    assert world.entity("Anna").summary == "Second."
    await world.note("Anna!", entities=[{"name": "Anna", "summary": "By caller."}])
    found = Findings()
    found.entity("Anna", world.entity("Anna"), summary="By model.")
    await world.found(episode, found)
    assert world.entity("Anna").summary == "By caller."


async def test_a_type_is_given_once(world: ExtractionWorld) -> None:
    episode = await world.note("Anna.", entities=[{"name": "Anna", "type": "Friend"}])
    found = Findings()
    found.entity("Anna", world.entity("Anna"), label="Person")
    found.entity("Acme", label="Entity")
    await world.found(episode, found)
    assert [world.entity(name).label for name in ("Anna", "Acme")] == ["Friend", None]


@pytest.mark.parametrize("word", ["approved", "in orbit"])
async def test_a_status_is_told_as_by_a_caller(world: ExtractionWorld, word: str) -> None:
    episode = await world.note("The plan is approved.")
    found = Findings()
    found.fact("Plan B", "HasStatus", word, f"Plan B is {word}.")
    await world.found(episode, found)
    assert [(line(fact), fact.attributes) for fact in world.facts] == [(f"Plan B HAS_STATUS status [{word}]", {})]
    assert word not in {entity.name for entity in world.graph.tables.entities.values()}


async def test_a_model_does_not_make_a_name_of_what_only_a_relation_names(world: ExtractionWorld) -> None:
    first = await world.note("Agreed.", {"source": "Plan B", "relation": "HAS_STATUS", "value": "accepted"})
    found = Findings()
    found.entity("status", known=world.entity("status"), summary="Where things stand.")
    found.fact("status", "CONCERNS", "Plan B", "The status concerns plan B.")
    await world.found(first, found)
    later = await world.tell("My status is fine.")
    assert later.entities == []


async def test_a_status_told_by_the_caller_is_not_ended_by_another_word_for_it(world: ExtractionWorld) -> None:
    episode = await world.note("Agreed.", {"source": "Plan B", "relation": "HAS_STATUS", "value": "accepted"})
    before = world.facts
    found = Findings()
    found.fact("Plan B", "HAS_STATUS", "approved by all", "Plan B is approved by all.")
    await world.found(episode, found)
    assert world.facts == before


@pytest.mark.parametrize(
    ("source", "relation", "text"),
    [("\u200b", "LIKES", "x"), ("A" * 201, "LIKES", "x"), ("Anna", "!!", "x"), ("Anna", "LIKES", "\u200b ")],
)
async def test_what_has_no_usable_name_is_left_out_and_counted(
    world: ExtractionWorld, source: str, relation: str, text: str
) -> None:
    episode = await world.note("Anna likes tea.")
    found = Findings()
    found.fact(source, relation, "Tea", text)
    answer = await world.found(episode, found)
    assert world.facts == []
    assert answer.left_out == (2 if source != "Anna" else 1)


async def test_earlier_episodes_are_linked_to_what_a_model_names(world: ExtractionWorld) -> None:
    await world.note("Met Zoe at the lake.")
    episode = await world.note("Zoe moved.")
    found = Findings()
    found.fact("Zoe", "MOVED_TO", "Bonn", "Zoe moved to Bonn.")
    await world.found(episode, found)
    assert (world.mentions("Zoe"), world.mentions("Bonn")) == (2, 1)
    later = await world.tell("Zoe called.")
    assert [one.name for one in later.entities] == ["Zoe"]


async def test_a_second_reading_tells_what_it_no_longer_finds(world: ExtractionWorld) -> None:
    episode = await world.note("Anna works at Acme and likes tea.")
    first = Findings()
    first.fact("Anna", "WORKS_AT", "Acme", "Anna works at Acme.")
    first.fact("Anna", "LIKES", "Tea", "Anna likes tea.")
    former = await world.found(episode, first)
    second = Findings()
    second.fact("Anna", "WORKS_AT", "Acme", "Anna has a job at Acme.")
    second.fact("Acme", "SELLS", "Tea", "Acme sells tea.")
    answer = await world.found(episode, second, former)
    assert [(one.outcome, one.fact) for one in answer.facts] == [
        ("known", "Anna works at Acme."),
        ("created", "Acme sells tea."),
    ]
    assert [(one.outcome, one.fact) for one in answer.not_found] == [("not_found", "Anna likes tea.")]
    assert len(world.facts) == 3


async def test_a_model_that_was_shown_what_has_gone_reads_again(world: ExtractionWorld) -> None:
    await world.note("Anna works at Acme.", ACME)
    episode = await world.note("Anna again.")
    fact = world.facts[0]
    found = Findings()
    found.known_fact(fact)
    del world.graph.tables.facts[fact.uuid]
    with pytest.raises(OutdatedError):
        await world.found(episode, found)
    assert world.extracted == []


async def test_without_an_embedding_model_it_is_stored_all_the_same(world: ExtractionWorld) -> None:
    world.embedder.is_available = False
    episode = await world.note("Anna likes tea.")
    found = Findings()
    found.fact("Anna", "LIKES", "Tea", "Anna likes tea.")
    await world.found(episode, found)
    assert [line(fact) for fact in world.facts] == ["Anna LIKES Tea"]


@pytest.mark.parametrize(
    ("told", "found_start", "start"),
    [
        ({}, at(2026, 1), at(2026, 1)),
        ({}, at(2026, 3), None),
        ({"valid_at": "2025-05"}, at(2026, 1), at(2025, 5)),
    ],
)
async def test_a_start_that_no_caller_told_is_added(
    world: ExtractionWorld, told: dict[str, Any], found_start: datetime, start: datetime | None
) -> None:
    episode = await world.note("Anna works at Acme.", {**ACME, **told}, reference_time="2026-03-01")
    found = Findings()
    found.fact("Anna", "WORKS_AT", "Acme", "Anna has been at Acme.", valid_at=found_start)
    await world.found(episode, found)
    assert [fact.valid_at for fact in world.facts] == [start]


async def test_the_end_of_a_known_fact_ends_it(world: ExtractionWorld) -> None:
    await world.note("Anna works at Acme.", ACME, reference_time="2026-01-01")
    episode = await world.note("Anna left Acme in May.", reference_time="2026-05-20")
    found = Findings()
    found.entity("Anna", world.entity("Anna"))
    found.fact("Anna", "WORKS_AT", "Acme", "Anna worked at Acme until May.", invalid_at=at(2026, 5))
    answer = await world.found(episode, found)
    assert [(fact.invalid_at, len(fact.episodes)) for fact in world.facts] == [(at(2026, 5), 2)]
    assert [one.uuid for one in answer.retired] == [world.facts[0].uuid]
