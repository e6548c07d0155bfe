"""Which entity a name stands for: the one of that name, or the one that the model says; a likeness decides nothing."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.builders import a_fact, an_entity, at
from tests.integration.pipeline_world import PipelineWorld, entities_of, opened
from tests.scripted_model import ScriptedModel

from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph

FIRST = an_entity("Invoice of the Berlin Office 2025-0001", summary="Paid in cash.")
SECOND = an_entity("Invoice of the Berlin Office 2025-0002")


@pytest.fixture
async def world(sqlite_graph: SqliteGraph, scripted_model: ScriptedModel) -> AsyncIterator[PipelineWorld]:
    async with opened(sqlite_graph, scripted_model) as made:
        yield made


def named(*entities: Entity) -> dict[str, Any]:
    return {"extracted_entities": [{"name": one.name, "entity_type_id": 0, "episode_indices": [0]} for one in entities]}


def told_of(source: Entity, relation: str, target: Entity) -> dict[str, Any]:
    text = f"{source.name} {relation} {target.name}."
    ends = {"source_entity_name": source.name, "target_entity_name": target.name, "relation_type": relation}
    return {**ends, "fact": text, "valid_at": "2025-02-01T00:00:00Z", "invalid_at": None, "episode_indices": [0]}


def script(world: PipelineWorld, candidate: int, *entities: Entity, edges: tuple[dict[str, Any], ...] = ()) -> None:
    said = {"entity_resolutions": [{"id": 0, "name": "", "duplicate_candidate_id": candidate}]}
    world.model.change(
        script={
            "ExtractedEntities": {"": named(*entities)},
            "ExtractedEdges": {"": {"edges": list(edges)}},
            "NodeResolutions": {"": said},
        }
    )


async def test_a_name_that_is_only_like_a_known_one_is_asked_about(world: PipelineWorld) -> None:
    acme = an_entity("Acme")
    await world.keep(FIRST, acme)
    script(world, -1, SECOND, acme, edges=(told_of(SECOND, "PAID_BY", acme),))
    found = await world.extract(await world.told("It is paid."))

    (asked,) = world.asked("NodeResolutions")
    assert FIRST.name in asked
    assert SECOND.name in asked
    entities = entities_of(found)
    assert {name: one.is_known for name, one in entities.items()} == {SECOND.name: False, "Acme": True}
    (fact,) = found.facts
    assert (fact.source_uuid, fact.target_uuid) == (entities[SECOND.name].uuid, acme.uuid)


async def test_one_that_the_model_takes_for_the_same_is_the_known_one_under_its_name(world: PipelineWorld) -> None:
    await world.keep(FIRST)
    script(world, 0, SECOND, edges=(told_of(SECOND, "PAID_BY", an_entity("Globex")),))
    found = await world.extract(await world.told("It is paid."))
    first = entities_of(found)[FIRST.name]
    assert (first.uuid, first.is_known, first.summary_before) == (FIRST.uuid, True, FIRST.summary)
    assert [one.source_uuid for one in found.facts] == [FIRST.uuid]
    assert SECOND.name not in entities_of(found)


async def test_two_names_of_one_text_stay_two_if_one_is_known(world: PipelineWorld) -> None:
    await world.keep(FIRST)
    script(world, -1, FIRST, SECOND, edges=(told_of(SECOND, "FOLLOWS", FIRST),))
    found = await world.extract(await world.told("One follows the other."))
    entities = entities_of(found)
    assert entities[FIRST.name].uuid == FIRST.uuid
    assert [(one.source_uuid, one.target_uuid) for one in found.facts] == [(entities[SECOND.name].uuid, FIRST.uuid)]


async def test_an_end_that_only_a_fact_names_is_asked_about_as_well(world: PipelineWorld) -> None:
    acme = an_entity("Acme")
    fact = a_fact(FIRST, acme, "PAID_BY", text=f"{FIRST.name} PAID_BY Acme.", valid_at=at(2024))
    await world.keep(FIRST, acme, fact)
    script(world, -1, acme, edges=(told_of(SECOND, "PAID_BY", acme),))
    found = await world.extract(await world.told("It is paid."))
    assert set(entities_of(found)) == {SECOND.name, "Acme"}
    assert FIRST.name in world.asked("NodeResolutions")[0]


async def test_a_later_part_is_asked_about_likenesses_of_known_names_too(world: PipelineWorld) -> None:
    await world.keep(FIRST)
    acme = an_entity("Acme")
    script(world, -1, FIRST, SECOND, edges=(told_of(SECOND, "PAID_BY", acme),))
    found = await world.extract(
        await world.told("Part one.\n" + "word " * 200 + "\nPart two."), world.extractor(part_characters=1_000)
    )
    assert sorted(one.name for one in found.entities) == sorted([FIRST.name, SECOND.name, "Acme"])
    assert all(FIRST.name in prompt for prompt in world.asked("NodeResolutions"))


async def test_every_name_and_fact_that_is_left_out_is_counted(world: PipelineWorld) -> None:
    bob, endless, nameless = an_entity("Bob"), an_entity("Endless " * 40), an_entity("\u200b")
    blank = {**told_of(bob, "READS", bob), "fact": "  "}
    edges = (told_of(bob, "READS", endless), told_of(bob, "READS", nameless), blank)
    script(world, -1, bob, endless, nameless, an_entity(" "), edges=edges)
    found = await world.extract(await world.told("Bob reads."))
    assert [one.name for one in found.entities] == ["Bob"]
    assert (found.facts, found.left_out) == ((), 6)


async def test_a_fact_between_two_that_the_model_takes_for_one_is_counted(world: PipelineWorld) -> None:
    await world.keep(FIRST)
    script(world, 0, FIRST, SECOND, edges=(told_of(SECOND, "FOLLOWS", FIRST),))
    found = await world.extract(await world.told("One follows the other."))
    assert [one.uuid for one in found.entities] == [FIRST.uuid]
    assert (found.facts, found.left_out) == ((), 1)


async def test_a_name_of_two_parts_is_left_out_once(world: PipelineWorld) -> None:
    script(world, -1, an_entity("Endless " * 40))
    text = "Part one.\n" + "word " * 200 + "\nPart two."
    found = await world.extract(await world.told(text), world.extractor(part_characters=1_000))
    assert (found.entities, found.left_out) == ((), 1)
