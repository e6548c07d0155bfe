"""commit_graph: what memory takes of a scratch graph, what it cannot, and whose memory it is."""

from typing import Any

import pytest
from tests.builders import a_name, a_write, an_entity, at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.memory import CommitGraphResponse
from graphiti_pkm.capabilities.scratch.models.requests import EdgeChoice
from graphiti_pkm.capabilities.scratch.requests import CommitGraph
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound

CALLS = ScratchEdge("api", "auth", "calls")


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def commit(world: ScratchWorld, caller: Caller = LOCAL, **fields: Any) -> CommitGraphResponse:
    return await world.reasoning.committing.commit_graph(caller, CommitGraph(**fields))


def edge_from(source: str, target: str, relation: str | None = None) -> EdgeChoice:
    return EdgeChoice(source=source, target=target, relation=relation)


async def test_only_what_was_chosen_is_written_and_the_episode_says_each_fact(world: ScratchWorld) -> None:
    await world.draw(
        ScratchNode("api", "service"), CALLS, ScratchEdge("api", "auth", "trusts"), ScratchEdge("auth", "db", "reads")
    )
    answer = await commit(world, edges=[edge_from("API", "auth", "calls")], nodes=["db"], dry_run=False)
    assert (answer.status, answer.entities_created, answer.facts_created) == ("committed", 3, 1)
    assert [fact.relation for fact in world.facts] == ["CALLS"]
    (episode,) = world.graph.tables.episodes.values()
    assert episode.content == "Committed from the scratch graph 'default'.\n\napi calls auth.\nIt also names db."
    assert (episode.name, episode.source_description) == ("Scratch graph 'default'", "scratch graph")
    assert (world.facts[0].quote, world.entity("api").label) == ("api calls auth.", "Service")
    rest = await commit(world)
    assert (rest.facts_created, rest.entities_created, rest.unchanged) == (2, 0, 1)
    both = await commit(world, edges=[edge_from("api", "auth")])
    assert [(edge.relation, edge.outcome) for edge in both.edges] == [("TRUSTS", "created")]


async def test_properties_of_an_edge_say_what_memory_is_told(world: ScratchWorld) -> None:
    told = {"fact": "The api has called auth since May", "valid_at": "2026-05", "weight": 3}
    await world.draw(ScratchEdge("api", "auth", "calls", told), ScratchNode("auth", properties={"summary": "logs in"}))
    await world.draw(ScratchEdge("Anna", "sleep", "slept", {"kind": "reading", "value": 7.5, "unit": "h"}))
    await commit(world, dry_run=False)
    calls, slept = sorted(world.facts, key=lambda fact: fact.relation)
    assert (calls.text, calls.valid_at) == ("The api has called auth since May", at(2026, 5))
    assert calls.attributes == {"told_start": "2026-05"}
    assert (slept.kind, slept.value, slept.unit) == ("reading", "7.5", "h")
    assert world.entity("auth").summary == "logs in"
    assert (await commit(world, dry_run=False)).status == "nothing"


async def test_what_memory_cannot_take_is_left_out_with_its_reason(world: ScratchWorld) -> None:
    await world.draw(
        CALLS,
        ScratchEdge("api", "auth", "->"),
        ScratchEdge("api", "db", "reads", {"valid_at": "one day"}),
        ScratchEdge("db", "db", "copies"),
        ScratchEdge("api", "x" * 201, "calls"),
        ScratchEdge("api", "auth", "measures", {"kind": "reading"}),
    )
    answer = await commit(world, dry_run=False)
    assert (answer.status, answer.facts_created) == ("committed", 2)
    reasons = {one.what[:30]: one.reason for one in answer.left_out}
    assert reasons["api -->-> auth"].startswith("relation needs 1 to 200 characters")
    assert reasons["api -reads-> db"].startswith("valid_at")
    assert "reading without a value" in reasons["api -measures-> auth"]
    assert reasons["x" * 30] == "a name has at most 200 characters"
    assert len(reasons) == 5
    assert sorted(world.lines()) == ["api CALLS auth", "db COPIES db"]


async def test_what_is_near_or_in_doubt_is_told_before_anything_is_written(world: ScratchWorld) -> None:
    await world.tell("x", {"source": "Payment Service", "relation": "USES", "target": "Stripe"})
    await world.draw(ScratchNode("Payment Servise", "service"), ScratchNode("User"))
    preview = await commit(world)
    assert [one.what for one in preview.needs_attention] == ["similar_existing"]
    assert "preview" in preview.needs_attention[0].call
    assert "'User' stands for the person whose memory this is" in preview.message
    assert len(world.graph.tables.episodes) == 1


async def test_whoever_may_not_write_there_commits_nothing(world: ScratchWorld) -> None:
    await world.draw(CALLS)
    reader = Caller(read_only=True)
    with pytest.raises(NotAllowed, match="Nothing was written"):
        await commit(world, reader, dry_run=False)
    ben = Caller(principal="ben", tier="contributor", groups=("work",))
    with pytest.raises(NotFound, match="no scratch graph"):
        await commit(world, ben)
    await world.draw(CALLS, caller=ben)
    with pytest.raises(NotAllowed):
        await commit(world, ben, group_id="default", dry_run=False)
    answer = await commit(world, ben, dry_run=False)
    assert (answer.status, answer.group_id) == ("committed", "work")
    (fact,) = world.facts
    assert fact.group_id.endswith("_work")
    assert fact.group_id != "work"


async def test_what_is_not_in_the_graph_or_too_much_is_refused_with_what_to_do(world: ScratchWorld) -> None:
    await world.draw(CALLS, ScratchNode("v1.2"), ScratchNode("v12!"))
    for fields, error, match in (
        ({"nodes": ["nobody"]}, NotFound, "find_node"),
        ({"nodes": ["v12"]}, InvalidInput, r"'v1.2', 'v12!'"),
        ({"edges": [edge_from("auth", "api")]}, NotFound, "find_edges"),
        ({"edges": [edge_from("api", "auth", "reads")]}, NotFound, "no edge 'reads'"),
        ({"graph": "other"}, NotFound, "default"),
    ):
        with pytest.raises(error, match=match):
            await commit(world, **fields, dry_run=False)
    await world.draw(*(ScratchNode(f"node {number}") for number in range(501)), graph="big")
    with pytest.raises(InvalidInput, match="at most 500 nodes"):
        await commit(world, graph="big", dry_run=False)
    assert world.facts == []
    some = await commit(world, graph="big", nodes=[f"node {number}" for number in range(3)], dry_run=False)
    assert some.entities_created == 3


async def test_a_loaded_entity_is_named_as_memory_names_it_and_not_at_all_if_it_is_another_ones_name(
    world: ScratchWorld,
) -> None:
    first, second = an_entity("Anna", group_id="default"), an_entity("anna", group_id="default")
    await world.graph.apply(a_write(first, second, a_name(first), group_id="default"), {})
    await world.draw(
        ScratchNode("Anna", properties={"memory_uuid": first.uuid}),
        ScratchNode("Anna (2)", properties={"memory_uuid": second.uuid}),
        ScratchEdge("Anna", "Ben", "knows"),
        ScratchEdge("Anna (2)", "Ben", "likes"),
    )
    assert [node.label for node in (await commit(world)).nodes] == ["Ben"]
    answer = await commit(world, dry_run=False)
    assert [one.what for one in answer.left_out] == ["Anna (2)", "Anna (2) -likes-> Ben"]
    (fact,) = world.facts
    assert (fact.source_uuid, fact.relation) == (first.uuid, "KNOWS")
