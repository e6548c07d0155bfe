"""Graphiti's pipeline on stored episodes: what it finds, what it is shown, and that it writes nothing."""

import json
from collections.abc import AsyncIterator

import pytest
from tests.builders import OTHER_GROUP, a_fact, a_name, an_entity, at, new_uuid
from tests.integration.pipeline_world import (
    ACME,
    ANNA,
    COMPANY,
    PERSON,
    WORKS_AT,
    PipelineWorld,
    entities_of,
    facts_of,
    opened,
    works_at_acme,
)
from tests.scripted_model import ScriptedModel

from graphiti_pkm.core.ports.extraction import ExtractedEnding, Extraction
from graphiti_pkm.errors import NotFound
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph


@pytest.fixture
async def world(sqlite_graph: SqliteGraph, scripted_model: ScriptedModel) -> AsyncIterator[PipelineWorld]:
    async with opened(sqlite_graph, scripted_model) as made:
        yield made


async def test_entities_and_facts_come_back_with_their_times(world: PipelineWorld) -> None:
    episode = await world.told("Anna Berg WORKS_AT Globex since 2020 until 2022-05-31. Anna Berg KNOWS_WITH Tom Vance.")
    found = await world.extract(episode)

    entities = entities_of(found)
    assert set(entities) == {"Anna Berg", "Globex", "Tom Vance"}
    assert not any(one.is_known or one.label or one.attributes for one in found.entities)
    job, friend = found.facts
    assert (job.relation, job.valid_at, job.invalid_at, job.is_known) == ("WORKS_AT", at(2020), at(2022, 5, 31), False)
    assert (job.source_uuid, job.target_uuid) == (entities["Anna Berg"].uuid, entities["Globex"].uuid)
    assert (friend.relation, friend.valid_at, friend.invalid_at) == ("KNOWS_WITH", at(2025), None)
    assert found.endings == ()
    assert entities["Globex"].summary == "Anna Berg WORKS_AT Globex since 2020 until 2022-05-31."


async def test_an_entity_of_the_graph_is_recognised_and_tells_what_its_summary_was(world: PipelineWorld) -> None:
    await world.keep(ANNA)
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2020."))
    anna = entities_of(found)["Anna Berg"]
    assert (anna.uuid, anna.is_known, anna.summary_before) == (ANNA.uuid, True, "An engineer.")
    assert anna.summary == "An engineer.\nAnna Berg WORKS_AT Globex since 2020."


async def test_an_entity_is_recognised_by_alias_and_spelling_without_asking_the_model(world: PipelineWorld) -> None:
    service = an_entity("User Service")
    await world.keep(ANNA, a_name(ANNA, "Annie"), service)
    found = await world.extract(await world.told("Annie OWNS_IT user-service since 2020."))
    assert {one.uuid: one.name for one in found.entities} == {ANNA.uuid: "Anna Berg", service.uuid: "User Service"}
    assert [(one.source_uuid, one.target_uuid) for one in found.facts] == [(ANNA.uuid, service.uuid)]
    assert "NodeResolutions" not in world.calls()


async def test_a_fact_told_again_is_that_of_the_graph_and_keeps_its_unknown_start(world: PipelineWorld) -> None:
    fact = works_at_acme(valid_at=None, value="5 days", quote="works at Acme")
    await world.keep(ANNA, ACME, fact)
    found = await world.extract(await world.told("Anna Berg WORKS_AT Acme."))
    (again,) = found.facts
    assert (again.uuid, again.is_known, again.valid_at, again.invalid_at) == (fact.uuid, True, None, None)
    assert (again.relation, again.text, again.attributes) == ("WORKS_AT", fact.text, {})
    assert found.endings == ()


async def test_each_ending_names_the_fact_that_brought_it(world: PipelineWorld) -> None:
    berlin, rome = an_entity("Berlin"), an_entity("Rome")
    job, home = works_at_acme(), a_fact(ANNA, berlin, "LIVES_IN", text="Anna Berg LIVES_IN Berlin.", valid_at=at(2023))
    await world.keep(ANNA, ACME, berlin, rome, job, home)
    text = (
        "Anna Berg LIVES_IN Rome since 2025-02. Anna Berg WORKS_AT Globex since 2025-03. [[Acme]] and [[Berlin]] too."
    )
    found = await world.extract(await world.told(text))
    facts = facts_of(found)
    assert not any(one.is_known for one in found.facts)
    assert set(found.endings) == {
        ExtractedEnding(
            fact_uuid=home.uuid, by_uuid=facts["Anna Berg LIVES_IN Rome since 2025-02."].uuid, invalid_at=at(2025, 2)
        ),
        ExtractedEnding(
            fact_uuid=job.uuid, by_uuid=facts["Anna Berg WORKS_AT Globex since 2025-03."].uuid, invalid_at=at(2025, 3)
        ),
    }


async def test_one_fact_ended_by_two_comes_with_both(world: PipelineWorld) -> None:
    job = works_at_acme()
    await world.keep(ANNA, ACME, job)
    found = await world.extract(
        await world.told("Anna Berg WORKS_AT Globex since 2025-02. Anna Berg WORKS_AT Initech since 2025-03.")
    )
    texts = {one.uuid: one.text for one in found.facts}
    assert {(one.fact_uuid, texts[one.by_uuid], one.invalid_at) for one in found.endings} == {
        (job.uuid, "Anna Berg WORKS_AT Globex since 2025-02.", at(2025, 2)),
        (job.uuid, "Anna Berg WORKS_AT Initech since 2025-03.", at(2025, 3)),
    }


async def test_a_fact_without_a_start_is_ended_from_what_is_known_of_it(world: PipelineWorld) -> None:
    job = works_at_acme(valid_at=None)
    await world.keep(ANNA, ACME, job)
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2025-02."))
    assert [(one.fact_uuid, one.invalid_at) for one in found.endings] == [(job.uuid, at(2025, 2))]


async def test_what_is_told_late_is_ended_by_the_known_fact_and_not_by_the_text(world: PipelineWorld) -> None:
    job = works_at_acme()
    await world.keep(ANNA, ACME, job)
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2019."))
    (late,) = found.facts
    assert (late.is_known, late.valid_at, late.invalid_at) == (False, at(2019), None)
    assert found.endings == (ExtractedEnding(fact_uuid=late.uuid, by_uuid=job.uuid, invalid_at=at(2024)),)


async def test_a_fact_told_again_is_ended_by_a_later_one_that_it_contradicts(world: PipelineWorld) -> None:
    rome, later = an_entity("Rome"), a_fact(ANNA, an_entity("Rome"), "LIVES_IN", text="Anna is in Rome.")
    later = later.model_copy(update={"target_uuid": rome.uuid, "valid_at": at(2025)})
    job = works_at_acme(text="Anna works there.")
    await world.keep(ANNA, ACME, rome, job, later)
    world.model.change(script={"EdgeDuplicate": {"WORKS_AT": {"duplicate_facts": [0], "contradicted_facts": [1]}}})
    found = await world.extract(await world.told("Anna Berg WORKS_AT Acme since 2024."))
    assert [(one.uuid, one.is_known, one.valid_at, one.invalid_at) for one in found.facts] == [
        (job.uuid, True, at(2024), None)
    ]
    assert found.endings == (ExtractedEnding(fact_uuid=job.uuid, by_uuid=later.uuid, invalid_at=at(2025)),)


async def test_an_end_of_the_text_is_told(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme())
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2019 until 2020."))
    assert [(one.valid_at, one.invalid_at) for one in found.facts] == [(at(2019), at(2020))]
    assert found.endings == ()


async def test_nothing_ends_where_a_fact_of_unknown_start_was_told(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme(valid_at=None))
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2019."))
    assert [(one.valid_at, one.invalid_at) for one in found.facts] == [(at(2019), None)]
    assert found.endings == ()


async def test_an_event_is_not_ended(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme(kind="event"))
    found = await world.extract(await world.told("Anna Berg WORKS_AT Globex since 2025-02."))
    assert (len(found.facts), found.endings) == (1, ())


async def test_no_reading_plan_retired_fact_or_side_data_is_shown_to_the_model(world: PipelineWorld) -> None:
    anna = ANNA.model_copy(update={"attributes": {"bias": "skew-77"}})
    own = {"value": "8 hours-77", "quote": "said-77", "measure": "measure-77", "attributes": {"counter": "count-77"}}
    hidden = [
        works_at_acme(kind="reading", text="Anna Berg WORKS_AT Acme reading-77."),
        works_at_acme(kind="plan", text="Anna Berg WORKS_AT Acme plan-77."),
        works_at_acme(voided=True, expired_at=at(2025), text="Anna Berg WORKS_AT Acme voided-77."),
        works_at_acme(invalid_at=at(2024, 6), expired_at=at(2025), text="Anna Berg WORKS_AT Acme retired-77."),
    ]
    shown = works_at_acme(**own)
    await world.keep(anna, ACME, shown, *hidden)
    extractor = world.extractor((PERSON, COMPANY), (WORKS_AT,))
    text = "Anna Berg WORKS_AT Acme since 2025-02. Anna Berg WORKS_AT Globex since 2025-03. We met [[Anna]]."
    found = await world.extract(await world.told(text), extractor)

    (about_names,) = world.asked("NodeResolutions")
    assert "An engineer." in about_names
    prompts = world.asked("EdgeDuplicate")
    assert prompts
    assert all(shown.text in prompt for prompt in prompts)
    assert not [prompt for prompt in (request.prompt for request in world.model.requests) if "-77" in prompt]
    assert {one.fact_uuid for one in found.endings} == {shown.uuid}


async def test_what_was_told_before_is_read_and_nothing_else(world: PipelineWorld) -> None:
    when = at(2025, 3)
    before = await world.told("Before-1.", at(2025, 1))
    long = await world.told("Before-2." + "x" * 5_000, at(2025, 2))
    await world.told("After-1.", at(2025, 4))
    await world.told("Elsewhere-1.", at(2025, 1), group_id=OTHER_GROUP)
    await world.told('{"a": "Other-form-1"}', at(2025, 1), source="json")
    episode = await world.told("Anna Berg WORKS_AT Globex since 2020.", when)
    await world.told("Recorded-later-1.", at(2025, 1), created_at=at(2027))
    await world.extract(episode)

    (prompt,) = world.asked("ExtractedEdges")
    assert prompt.index(before.content) < prompt.index(long.content[:2_000])
    assert long.content[:2_001] not in prompt
    for word in ("After-1", "Elsewhere-1", "Other-form-1", "Recorded-later-1"):
        assert word not in prompt
    assert prompt.count(episode.content) == 1


async def test_earlier_episodes_may_be_chosen_from_the_same_group(world: PipelineWorld) -> None:
    chosen = await world.told("Chosen-1.", at(2026))
    await world.told("Not-chosen-1.", at(2024))
    foreign = await world.told("Foreign-1.", at(2024), group_id=OTHER_GROUP)
    episode = await world.told("Anna Berg WORKS_AT Globex since 2020.")
    await world.extract(episode, previous_episode_uuids=(chosen.uuid, foreign.uuid, episode.uuid, new_uuid()))
    (prompt,) = world.asked("ExtractedEdges")
    assert [word in prompt for word in ("Chosen-1", "Not-chosen-1", "Foreign-1")] == [True, False, False]
    assert prompt.count(episode.content) == 1


async def test_types_become_labels_and_relations(world: PipelineWorld) -> None:
    text = "Anna Berg is a Person. Globex is a Company. Anna Berg WORKS_AT Globex since 2020."
    found = await world.extract(await world.told(text), world.extractor((PERSON, COMPANY), (WORKS_AT,)))
    assert {one.name: one.label for one in found.entities} == {"Anna Berg": "Person", "Globex": "Company"}
    assert [one.relation for one in found.facts] == ["WORKS_AT"]
    (prompt,) = world.asked("ExtractedEdges")
    assert "Employment" in prompt
    for label in ("Person", "Company"):
        assert f'"entity_types": {json.dumps(sorted(("Entity", label)))}' in prompt


async def test_a_type_that_is_excluded_is_neither_offered_nor_wanted(world: PipelineWorld) -> None:
    extractor = world.extractor((PERSON, COMPANY), excluded=("Person",))
    episode = await world.told("Anna Berg WORKS_AT Globex.")
    await world.extract(episode, extractor, excluded_entity_types=("company", "unheard of"))
    (prompt,) = world.asked("ExtractedEntities")
    assert "Leave out every entity that is one of these: Person (A Person); Company (A Company)." in prompt
    assert "entity_type_id': 0" in prompt
    assert "entity_type_id': 1" not in prompt
    world.model.forget_counts()
    nothing = await world.extract(episode, extractor, excluded_entity_types=("Company", "Entity"))
    assert (nothing, world.calls()) == (Extraction(), {})


async def test_an_untyped_end_of_a_fact_is_no_way_round_an_exclusion(world: PipelineWorld) -> None:
    edge = {"source_entity_name": "Anna Berg", "target_entity_name": "Nowhere", "relation_type": "LIKES", "fact": "So."}
    script = {"ExtractedEdges": {"Anna": {"edges": [{**edge, "valid_at": None, "invalid_at": None}]}}}
    world.model.change(script=script)
    episode = await world.told("Anna Berg is a Person. We met [[Anna Berg]].")
    found = await world.extract(episode, world.extractor((PERSON,), excluded=("Entity",)))
    assert [one.name for one in found.entities] == ["Anna Berg"]
    assert found.facts == ()
    assert set(entities_of(await world.extract(episode, world.extractor((PERSON,))))) == {"Anna Berg", "Nowhere"}


async def test_instructions_and_the_name_of_the_author_reach_the_model(world: PipelineWorld) -> None:
    episode = await world.told("Anna Berg WORKS_AT Globex since 2020.")
    await world.extract(episode, world.extractor(), person="Mira", instructions="Look for firms.")
    for prompt in (*world.asked("ExtractedEntities"), *world.asked("ExtractedEdges")):
        assert "Look for firms." in prompt
        assert 'is called "Mira"' in prompt


async def test_facts_the_caller_told_take_fewer_calls(world: PipelineWorld) -> None:
    told = [f"Anna Berg KNOWS_WITH Friend {name}." for name in "ABCDE"]
    episode = await world.told(" ".join((*told, "Tom Vance LIVES_IN Rome.")))
    await world.extract(episode)
    assert world.calls() == {"ExtractedEntities": 1, "ExtractedEdges": 1, "EdgeTimestamps": 6}
    world.model.forget_counts()
    found = await world.extract(episode, supplied_facts=tuple(told))
    assert [one.text for one in found.facts] == ["Tom Vance LIVES_IN Rome."]
    fewer = {"ExtractedEntities": 1, "ExtractedEdges": 1, "EdgeTimestamps": 1, "SummarizedEntities": 1}
    assert world.calls() == fewer


async def test_nothing_is_embedded_twice_in_a_job(world: PipelineWorld) -> None:
    await world.keep(ANNA, ACME, works_at_acme())
    world.embedder.calls.clear()
    await world.extract(await world.told("Anna Berg WORKS_AT Acme. Anna Berg WORKS_AT Globex since 2025-02."))
    texts = [text for call in world.embedder.calls for text in call]
    assert sorted(texts) == sorted(set(texts))
    assert {"Anna Berg", "Globex", "Anna Berg WORKS_AT Acme."} <= set(texts)


async def test_without_weights_words_are_enough_to_find_a_fact_again(world: PipelineWorld) -> None:
    fact = works_at_acme()
    await world.keep(ANNA, ACME, fact)
    episode = await world.told("Anna Berg WORKS_AT Acme.")
    world.embedder.is_available = False
    world.embedder.dimension += 1  # as after a change of the model that was not followed by reembed
    found = await world.extract(episode)
    assert [one.uuid for one in found.facts] == [fact.uuid]


async def test_a_long_episode_is_read_in_parts_that_know_of_each_other(world: PipelineWorld) -> None:
    filler = "nothing of any form here\n" * 40
    job, home, other = (
        "Anna Berg WORKS_AT Globex since 2020.",
        "Annie LIVES_IN Rome since 2021.",
        "Tom Vance LIVES_IN Rome since 2022.",
    )
    text = f"{job}\n{filler}{home}\n{filler}{other}\n{job}"
    await world.keep(ANNA, a_name(ANNA, "Annie"))
    found = await world.extract(await world.told(text), world.extractor(part_characters=1_000))
    assert world.calls()["ExtractedEntities"] == 3
    assert all(len(part) <= 1_000 for part in (one.subject for one in world.model.requests))
    first, second, _ = world.asked("ExtractedEdges")
    assert [job in first, home in first, job in second] == [True, False, True]
    entities = entities_of(found)
    assert len(found.entities) == len(entities) == 4
    assert [one.text for one in found.facts] == [job, home, other]
    assert {one.target_uuid for one in found.facts[1:]} == {entities["Rome"].uuid}
    assert entities["Anna Berg"].summary.splitlines() == ["An engineer.", job, home]


async def test_an_entity_the_model_recognises_in_a_later_part_keeps_what_the_first_said(world: PipelineWorld) -> None:
    same = {"entity_resolutions": [{"id": 0, "name": "Anna", "duplicate_candidate_id": 0}]}
    world.model.change(script={"NodeResolutions": {"Anna LIVES_IN": same}})
    await world.keep(ANNA, an_entity("Rome"))
    text = "Anna Berg WORKS_AT Globex since 2020.\n" + "word " * 200 + "\nAnna LIVES_IN Rome since 2021."
    found = await world.extract(await world.told(text), world.extractor(part_characters=1_000))
    (anna,) = (one for one in found.entities if one.uuid == ANNA.uuid)
    assert anna.summary.splitlines()[1:] == [one.text for one in found.facts]
    assert len(found.facts) == 2


async def test_a_fact_of_an_earlier_part_is_ended_by_one_of_a_later(world: PipelineWorld) -> None:
    """The text tells no end of it."""
    ended = {"duplicate_facts": [], "contradicted_facts": [0]}
    world.model.change(script={"EdgeDuplicate": {"LEFT_IT": ended}})
    text = "Anna Berg WORKS_AT Globex since 2020.\n" + "word " * 200 + "\nAnna Berg LEFT_IT Globex since 2021."
    found = await world.extract(await world.told(text), world.extractor(part_characters=1_000))
    facts = {one.relation: one for one in found.facts}
    assert {relation: one.invalid_at for relation, one in facts.items()} == {"WORKS_AT": None, "LEFT_IT": None}
    told = {"fact_uuid": facts["WORKS_AT"].uuid, "by_uuid": facts["LEFT_IT"].uuid, "invalid_at": at(2021)}
    assert found.endings == (ExtractedEnding(**told),)


async def test_an_episode_that_is_gone_or_in_another_group_asks_nothing(world: PipelineWorld) -> None:
    episode = await world.told("Anna Berg WORKS_AT Globex.")
    for other in ({"uuid": new_uuid()}, {"group_id": OTHER_GROUP}):
        with pytest.raises(NotFound):
            await world.extract(episode.model_copy(update=other))
    assert world.calls() == {}
