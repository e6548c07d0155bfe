"""commit_graph: all mistakes in one answer, an episode of one's own, and no second preview."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice
from graphiti_pkm.capabilities.scratch.requests import CommitGraph, LoadMemoryGraph
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.errors import InvalidInput, NotFound


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def commit(world: ScratchWorld, **fields: Any) -> CommitGraphResponse:
    return await world.reasoning.committing.commit_graph(LOCAL, CommitGraph(**fields))


async def test_all_that_is_not_in_the_graph_is_reported_at_once(world: ScratchWorld) -> None:
    await world.draw(ScratchEdge("api", "auth", "calls"), ScratchNode("v1.2"), ScratchNode("v12!"))
    edges = [
        EdgeChoice(source="auth", target="api"),
        EdgeChoice(source="api", target="auth", relation="reads"),
        EdgeChoice(source="nobody", target="noone"),
    ]
    with pytest.raises(NotFound) as error:
        await commit(world, nodes=["v12", "apy", "api"], edges=edges, dry_run=False)
    for part in ("'apy'", "'v12'", "from 'auth' to 'api'", "'reads'", "'nobody'", "'noone'", "6 mistakes"):
        assert part in error.value.message
    assert error.value.message.count("othing was written") == 1


async def test_the_episode_has_a_title_a_note_and_a_date_if_they_are_given(world: ScratchWorld) -> None:
    await world.draw(ScratchEdge("api", "auth", "calls"))
    with pytest.raises(InvalidInput):
        await commit(world, valid_at="one fine day")
    told = {"title": "Review of May", "note": "The failover was the root cause.", "valid_at": "2026-05-04"}
    preview = await commit(world, **told)
    assert (preview.status, preview.episode) == ("preview", None)
    answer = await commit(world, **told, dry_run=False)
    (episode,) = world.graph.tables.episodes.values()
    assert (answer.episode, episode.name) == ("Review of May", "Review of May")
    assert episode.content == (
        "The failover was the root cause.\n\nCommitted from the scratch graph 'default'.\n\napi calls auth."
    )
    assert episode.valid_at == at(2026, 5, 4)


async def test_what_was_previewed_is_not_repeated_after_writing(world: ScratchWorld) -> None:
    told = {"valid_at": "2026-01-10", "source": "Anna", "relation": "MANAGES", "target": "Falcon"}
    await world.tell("Anna manages Falcon.", told)
    await world.draw(
        ScratchEdge("api", "auth", "calls"), ScratchEdge("Anna", "Falcon", "manages", {"valid_at": "2026-02-01"})
    )
    preview = await commit(world)
    assert len(preview.edges) == 2
    answer = await commit(world, dry_run=False)
    assert (answer.facts_created, answer.entities_created, answer.nodes) == (1, 2, [])
    assert [edge.relation for edge in answer.edges if edge.note is None] == []


async def test_a_fact_that_memory_took_back_is_not_called_known(world: ScratchWorld) -> None:
    led = {"source": "Anna", "relation": "MANAGES", "target": "Falcon"}
    await world.tell("Anna manages Falcon.", led)
    await world.reasoning.bridge.load_memory_graph(LOCAL, LoadMemoryGraph(entity_uuids=[world.uuid("Anna")]))
    await world.tell(
        "No, Ben manages Falcon.", {**led, "source": "Ben", "replaces": world.facts[0].uuid, "change": "corrected"}
    )
    assert world.facts[0].voided
    for dry_run in (True, False):
        answer = await commit(world, dry_run=dry_run)
        assert (answer.status, answer.unchanged, answer.facts_known) == ("nothing", 0, 0)
        assert [one.what for one in answer.left_out] == ["Anna -MANAGES-> Falcon"]
        assert "never" in answer.left_out[0].reason
        assert "known already" not in answer.message
