"""An entity that one episode introduced goes with it: links from earlier episodes alone do not keep it."""

import json

import pytest
from tests.builders import at
from tests.worlds.writing_world import WritingWorld, the

from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.storage.commit import Committer


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld(now=at(2026, 6))


def deleting(world: WritingWorld) -> Deleting:
    return Deleting(world.context, Groups(world.graph, world.context.settings), Committer(world.context))


async def introduced(world: WritingWorld, linked: int = 3) -> AddMemoryResponse:
    """Marit is named by three notes before one declares her; none is linked if another one has that first name."""
    for text in ("Marit called.", "Marit wrote.", "I met Marit."):
        await world.tell(text)
        world.clock.advance(seconds=60)
    answer = await world.tell("Marit again.", entities=[{"name": "Marit", "type": "Person"}])
    assert answer.linked == linked
    world.clock.advance(seconds=60)
    return answer


async def test_the_only_episode_that_introduced_an_entity_takes_it_along(world: WritingWorld) -> None:
    told = await introduced(world)
    answer = await deleting(world).delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
    assert (answer.removed_names, answer.kept_because) == (["Marit"], [])
    assert (answer.removed["entities"], answer.removed["mentions"]) == (1, 4)
    assert (world.graph.tables.entities, world.graph.tables.mentions) == ({}, {})
    again = await world.tell("x", entities=[{"name": "Marit Sandvik", "aliases": ["Marit"]}])
    assert (again.entities[0].aliases, again.linked) == (["Marit"], 3)


async def test_an_entity_that_a_later_note_or_a_fact_names_stays(world: WritingWorld) -> None:
    told = await introduced(world)
    later = await world.tell("Marit sang.")
    answer = await deleting(world).delete_episode(LOCAL, DeleteEpisode(uuid=told.episode_uuid))
    assert answer.removed_names == []
    assert world.mentions("Marit") == 4
    await world.tell("x", {"source": "Marit", "relation": "KNOWS", "target": "Tom"})
    await deleting(world).delete_episode(LOCAL, DeleteEpisode(uuid=later.episode_uuid))
    assert world.entity("Marit")


async def test_an_entity_whose_only_link_goes_is_not_taken_for_one_that_was_introduced(world: WritingWorld) -> None:
    await introduced(world)
    first = min(world.graph.tables.episodes.values(), key=lambda one: one.created_at)
    await deleting(world).delete_episode(LOCAL, DeleteEpisode(uuid=first.uuid))
    assert world.mentions("Marit") == 3


@pytest.mark.parametrize("mode", ["redact", "delete"])
async def test_what_is_forgotten_takes_what_only_it_introduced(world: WritingWorld, mode: str) -> None:
    told = await introduced(world)
    forgetting = Forgetting(world.context, Groups(world.graph, world.context.settings), Committer(world.context))
    preview = await forgetting.forget(LOCAL, Forget(episode_uuid=told.episode_uuid, episodes=mode))  # type: ignore[arg-type]
    assert preview.entities == ["Marit"]
    await forgetting.forget(LOCAL, Forget(episode_uuid=told.episode_uuid, episodes=mode, confirm=preview.confirm))  # type: ignore[arg-type]
    assert world.graph.tables.entities == {}
    assert len(world.graph.tables.episodes) == (4 if mode == "redact" else 3)


async def test_the_advice_on_a_name_much_like_another_ends_in_one_entity_with_all_links(world: WritingWorld) -> None:
    sandvik = await world.tell("Marit Sandvik moved in.", entities=[{"name": "Marit Sandvik", "type": "Person"}])
    world.clock.advance(seconds=60)
    told = await introduced(world, linked=0)
    report = the(told, "similar_existing")
    assert report.candidates == [f"Marit Sandvik ({sandvik.entities[0].uuid[:8]})"]
    decoder = json.JSONDecoder()
    deleted, _ = decoder.raw_decode(report.call[report.call.index("delete_episode ") + 15 :])
    await deleting(world).delete_episode(LOCAL, DeleteEpisode(**deleted))
    entity, _ = decoder.raw_decode(report.call[report.call.index('{"name"') :])
    again = await world.tell("Marit again.", entities=[entity])
    assert (again.entities[0].aliases, again.needs_attention) == (["Marit"], [])
    assert len(world.graph.tables.entities) == 1
    assert world.mentions("Marit Sandvik") == 5
