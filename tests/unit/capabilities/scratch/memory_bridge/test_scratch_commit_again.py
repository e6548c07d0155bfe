"""commit_graph of what memory has, or had: another group, other dates, and what was forgotten meanwhile."""

from typing import Any

import pytest
from tests.builders import at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice
from graphiti_pkm.capabilities.scratch.requests import CommitGraph, LoadMemoryGraph
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.errors import NotFound

LED = {"source": "Anna", "relation": "MANAGES", "target": "Falcon", "valid_at": "2026-01-10"}


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def commit(world: ScratchWorld, **fields: Any) -> CommitGraphResponse:
    return await world.reasoning.committing.commit_graph(LOCAL, CommitGraph(**fields))


async def load(world: ScratchWorld, name: str, **fields: Any) -> None:
    uuid = next(one.uuid for one in world.graph.tables.entities.values() if one.name == name)
    await world.reasoning.bridge.load_memory_graph(LOCAL, LoadMemoryGraph(entity_uuids=[uuid], **fields))


async def test_another_group_gets_what_the_first_one_has(world: ScratchWorld) -> None:
    slept = {"kind": "reading", "measure": "sleep", "value": "5"}
    await world.draw(ScratchNode("Zeta", "Tool"), ScratchEdge("Zeta", "Eta", "USES"))
    await world.draw(ScratchEdge("Zeta", "sleep", "SLEPT", slept))
    assert (await commit(world, dry_run=False)).facts_created == 2
    other = await commit(world, dry_run=False, group_id="work")
    assert (other.status, other.facts_created, other.entities_created) == ("committed", 2, 3)
    for group in ("default", "work"):
        again = await commit(world, dry_run=False, group_id=group)
        assert (again.status, again.unchanged) == ("nothing", 2)
    assert len(world.facts) == 4


async def test_a_loaded_entity_is_named_in_another_group_as_its_own_memory_names_it(world: ScratchWorld) -> None:
    await world.tell("Anna manages Falcon.", LED)
    await world.draw(ScratchNode("anna", properties={"summary": "not of memory"}))
    await load(world, "Anna")
    answer = await commit(world, group_id="work", dry_run=False)
    assert (answer.facts_created, answer.entities_created) == (1, 2)
    (own,) = [one for one in world.graph.tables.entities.values() if one.name == "Anna" and "work" in one.group_id]
    assert own.summary == ""
    await load(world, "Falcon")
    assert len((await world.drawn()).nodes) == 2


async def test_an_end_that_memory_has_otherwise_is_not_taken_and_nothing_is_written(world: ScratchWorld) -> None:
    await world.tell("Anna manages Falcon.", LED)
    await world.tell("Anna left.", {**LED, "invalid_at": "2026-04-01"})
    episodes = len(world.graph.tables.episodes)
    await load(world, "Anna", as_of="2026-02-20")
    drawn = ScratchEdge("Anna", "Falcon", "manages", {"invalid_at": "2026-03-15"})
    await world.draw(drawn)
    await world.draw(drawn, graph="by hand")
    for graph in ("default", "by hand"):
        answer = await commit(world, graph=graph, dry_run=False)
        assert (answer.status, answer.facts_updated, answer.facts_known) == ("nothing", 0, 1)
        assert answer.edges[0].note == (
            "memory has it from 2026-01-10 until 2026-04-01 and keeps that; add_memory with change=corrected corrects "
            "a date"
        )
        assert "1 have other dates in memory, which stay, see note" in answer.message
        assert (await commit(world, graph=graph)).edges[0].note is not None
    assert len(world.graph.tables.episodes) == episodes


async def test_words_to_quote_are_no_reason_to_write(world: ScratchWorld) -> None:
    await world.tell("Anna leads it.", LED)
    await world.draw(ScratchEdge("Anna", "Falcon", "manages"))
    assert (await commit(world, dry_run=False)).status == "nothing"


async def test_what_memory_has_forgotten_is_gone_and_not_known(world: ScratchWorld) -> None:
    await world.tell("Anna manages Falcon.", LED)
    await world.tell("Anna knows Ben.", {"source": "Anna", "relation": "KNOWS", "target": "Ben"})
    await load(world, "Anna")
    (led,) = [uuid for uuid, fact in world.graph.tables.facts.items() if fact.relation == "MANAGES"]
    del world.graph.tables.facts[led]
    answer = await commit(world, dry_run=False)
    assert (answer.status, answer.unchanged, len(answer.left_out)) == ("nothing", 1, 1)
    assert answer.left_out[0].what == "Anna -MANAGES-> Falcon"
    assert "not there any more" in answer.left_out[0].reason
    await world.draw(ScratchEdge("Anna", "Falcon", "MANAGES", {"invalid_at": "2026-05-01"}))
    assert (await commit(world, dry_run=False)).status == "nothing"


async def test_a_sentence_that_memory_tells_otherwise_now_does_not_come_back(world: ScratchWorld) -> None:
    await world.tell("Anna manages Falcon with Clara.", {**LED, "fact": "Anna manages Falcon with Clara"})
    await load(world, "Anna")
    (uuid,) = world.graph.tables.facts
    fact = world.graph.tables.facts[uuid]
    world.graph.tables.facts[uuid] = fact.model_copy(update={"text": "Anna manages Falcon"})
    await world.draw(ScratchEdge("Anna", "Falcon", "MANAGES", {"invalid_at": "2026-05-01"}))
    await commit(world, dry_run=False)
    episode = list(world.graph.tables.episodes.values())[-1]
    assert "Anna manages Falcon (from 2026-01-10 until 2026-05-01)." in episode.content
    assert "Clara" not in episode.content
    assert (await world.drawn()).edges[0].properties["fact"] == "Anna manages Falcon"


async def test_a_choice_of_nothing_says_so(world: ScratchWorld) -> None:
    await world.draw(ScratchEdge("a", "b", "calls"))
    for chosen in ({"edges": []}, {"nodes": []}, {"edges": [], "nodes": []}):
        request = CommitGraph().model_copy(update=chosen)  # a client's empty list counts as left out
        answer = await world.reasoning.committing.commit_graph(LOCAL, request)
        assert "choose nothing; leave both out" in answer.message


async def test_a_name_that_is_not_there_is_answered_with_those_that_may_be_meant(world: ScratchWorld) -> None:
    await world.draw(ScratchEdge("Anna Berg", "Falcon", "leads"))
    with pytest.raises(NotFound, match=r"similar labels: 'Anna Berg'; nothing was written"):
        await commit(world, edges=[EdgeChoice(source="Anna", target="Falcon")])
