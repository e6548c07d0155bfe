"""load_memory_graph says what it left out, and comparisons of loads know what they cannot know."""

from itertools import pairwise
from typing import Any

import pytest
from tests.builders import at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.answers import CompareGraphsResponse
from graphiti_pkm.capabilities.scratch.models.memory import LoadMemoryResponse
from graphiti_pkm.capabilities.scratch.requests import AddEdge, AllPaths, CompareGraphs, LoadMemoryGraph, ShortestPath
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.errors import InvalidInput, NotFound

CHAIN = ["deploy", "overload", "failover", "outage", "complaints", "refunds"]


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def cause(world: ScratchWorld, *names: str, **more: Any) -> None:
    for one, other in pairwise(names):
        fact = {"source": one, "relation": "CAUSES", "target": other, **more}
        await world.tell(f"{one} causes {other}.", fact)


async def load(world: ScratchWorld, *names: str, **fields: Any) -> LoadMemoryResponse:
    request = LoadMemoryGraph(entity_uuids=[world.uuid(name) for name in names], **fields)
    return await world.reasoning.bridge.load_memory_graph(LOCAL, request)


async def compared(world: ScratchWorld, graph: str = "then", other: str = "now") -> CompareGraphsResponse:
    return await world.reasoning.comparing.compare_graphs(LOCAL, CompareGraphs(graph=graph, other=other))


async def test_what_lies_beyond_is_named(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    await cause(world, "failover", "page of the on-call")
    loaded = await load(world, "deploy", hops=2)
    assert (loaded.entities_loaded, loaded.beyond_total) == (3, 2)
    assert [(one.label, one.facts) for one in loaded.beyond or ()] == [("failover", 2)]
    assert "2 entities next to them were not loaded" in loaded.message
    whole = await load(world, "deploy", hops=5)
    assert (whole.entities_loaded, whole.beyond, whole.beyond_total) == (7, None, None)


async def test_events_that_a_date_leaves_out_are_counted(world: ScratchWorld) -> None:
    await cause(world, "deploy", "overload", valid_at="2026-01-01")
    await cause(world, "deploy", "overload", kind="event", valid_at="2026-01-02")
    loaded = await load(world, "deploy", as_of="2026-02-01")
    assert (loaded.facts_loaded, loaded.events_left_out) == (1, 1)
    assert (await load(world, "deploy")).events_left_out is None


async def test_a_load_as_memory_knew_it_has_what_was_corrected_since(world: ScratchWorld) -> None:
    await cause(world, *CHAIN, "churn")
    before = world.clock.advance(seconds=1)
    world.clock.advance(days=1)
    for one, other, right in (("deploy", "overload", "bad query"), ("outage", "complaints", "late mail")):
        (wrong,) = [fact for fact in world.facts if fact.text == f"{one} causes {other}"]
        told = {"source": right, "relation": "CAUSES", "target": other, "replaces": wrong.uuid, "change": "corrected"}
        await world.tell(f"No, {right} causes {other}.", told)
    world.clock.advance(days=1)
    for graph, when in (("then", {"known_at": before.isoformat()}), ("now", {})):
        await load(world, "failover", "complaints", hops=10, graph=graph, **when)
    found = await compared(world)
    assert sorted((one.source, one.target) for one in found.edges_only_in_graph) == [
        ("deploy", "overload"),
        ("outage", "complaints"),
    ]
    assert sorted((one.source, one.target) for one in found.edges_only_in_other) == [
        ("bad query", "overload"),
        ("late mail", "complaints"),
    ]
    assert (found.edges_changed, found.cannot_know) == ([], None)
    for graph, when in (("then from one side", {"known_at": before.isoformat()}), ("now from one side", {})):
        await load(world, "failover", hops=10, graph=graph, **when)
    found = await compared(world, "then from one side", "now from one side")
    (told,) = found.cannot_know or ()
    assert (
        "2 nodes and 2 edges that only 'then from one side' has" in told
    )  # that load does not come to refunds and churn


async def asked(world: ScratchWorld, graph: str = "default", **fields: Any) -> LoadMemoryResponse:
    return await world.reasoning.bridge.load_memory_graph(LOCAL, LoadMemoryGraph(graph=graph, **fields))


async def labels(world: ScratchWorld, graph: str = "default") -> set[str]:
    return {node.label for node in (await world.drawn(graph)).nodes}


async def test_several_queries_start_from_all_that_fits_one_of_them(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    await cause(world, "heat", "fan")
    loaded = await asked(world, query=["overload", "fan"], hops=0)
    assert sorted(loaded.starts) == ["fan", "overload"]
    await asked(world, graph="one", query="overload", hops=0)  # a text is a list of one
    assert await labels(world, "one") == {"overload"}


async def test_an_episode_is_loaded_with_what_it_mentions(world: ScratchWorld) -> None:
    told = {"source": "deploy", "relation": "CAUSES", "target": "overload"}
    episode = (await world.tell("The deploy causes the overload.", told)).episode_uuid
    await cause(world, "overload", "failover")
    loaded = await asked(world, episode_uuids=[episode[:8]], hops=0)
    assert (sorted(loaded.starts), loaded.beyond_total) == (["deploy", "overload"], 1)
    assert [(one.label, one.facts) for one in loaded.beyond or ()] == [("overload", 1)]
    with pytest.raises(NotFound, match="episode"):
        await asked(world, episode_uuids=["11111111-1111-4111-8111-111111111111"])


async def test_a_group_is_loaded_whole_or_its_best_connected_part(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    await cause(world, "failover", "page")
    await world.tell("x causes y.", {"source": "x", "relation": "CAUSES", "target": "y"}, group_id="other")
    loaded = await asked(world, group_ids=["default"])
    assert (loaded.entities_loaded, loaded.truncated, loaded.nodes_left_out) == (7, False, None)
    part = await asked(world, graph="part", group_ids=["default"], limit=2, hops=0)
    assert (part.entities_loaded, part.truncated, part.nodes_left_out) == (2, True, 5)
    assert "failover" in await labels(world, "part")  # of three facts
    assert "5 more entities did not fit" in part.message
    assert await labels(world) == {*CHAIN, "page"}
    found = await compared(world, "default", "part")
    assert (found.node_counts.only_in_graph, found.cannot_know is not None) == (0, True)
    with pytest.raises(InvalidInput, match="group_ids alone"):
        await asked(world, graph="nothing")


async def test_types_narrow_what_fits_and_alone_are_loaded_whole(world: ScratchWorld) -> None:
    kinds = {"Anna": "Person", "Annas car": "Thing", "Bo": "Person"}
    typed = [{"name": name, "type": kind} for name, kind in kinds.items()]
    facts = [{"source": "Anna", "relation": "DRIVES", "target": "Annas car"}]
    episode = (await world.tell("Anna drives Annas car; Bo walks.", *facts, entities=typed)).episode_uuid
    people = await asked(world, entity_types=["person"], hops=0)
    assert sorted(people.starts) == ["Anna", "Bo"]
    fitting = await asked(world, query="car", entity_types=["Thing"], hops=0)
    assert fitting.starts == ["Annas car"]
    mentioned = await asked(world, episode_uuids=[episode], entity_types=["Person"], hops=0)
    assert sorted(mentioned.starts) == ["Anna", "Bo"]


async def test_three_corrected_causes_are_exactly_the_difference(world: ScratchWorld) -> None:
    await cause(world, *CHAIN, "churn")
    before = world.clock.advance(seconds=1)
    world.clock.advance(days=1)
    corrected = {
        ("deploy", "overload"): "bad query",
        ("outage", "complaints"): "late mail",
        ("refunds", "churn"): "rude reply",
    }
    for (one, other), right in corrected.items():
        (wrong,) = [fact for fact in world.facts if fact.text == f"{one} causes {other}"]
        told = {"source": right, "relation": "CAUSES", "target": other, "replaces": wrong.uuid, "change": "corrected"}
        await world.tell(f"No, {right} causes {other}.", told)
    world.clock.advance(days=1)
    for graph, when in (("then", {"known_at": before.isoformat()}), ("now", {})):
        await load(world, "failover", "complaints", "churn", hops=10, graph=graph, **when)
    found = await compared(world)
    assert {(one.source, one.target) for one in found.edges_only_in_graph} == corrected.keys()
    assert {(one.source, one.target) for one in found.edges_only_in_other} == {
        (right, other) for (_, other), right in corrected.items()
    }
    assert (found.edges_changed, found.cannot_know) == ([], None)


async def test_two_dates_of_a_whole_group_compare(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    before = world.clock.advance(seconds=1)
    world.clock.advance(days=1)
    (wrong,) = [fact for fact in world.facts if fact.text == "deploy causes overload"]
    right = {"source": "bad query", "relation": "CAUSES", "target": "overload"}
    await world.tell("No, bad query causes overload.", {**right, "replaces": wrong.uuid, "change": "corrected"})
    world.clock.advance(days=1)
    await asked(world, graph="then", group_ids=["default"], known_at=before.isoformat())
    await asked(world, graph="now", group_ids=["default"])
    assert "bad query" not in await labels(world, "then")  # memory knew nothing of it
    found = await compared(world)
    assert [(one.source, one.target) for one in found.edges_only_in_graph] == [("deploy", "overload")]
    assert [(one.source, one.target) for one in found.edges_only_in_other] == [("bad query", "overload")]
    assert found.cannot_know is None


async def test_a_graph_that_was_cut_removes_nothing(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    await load(world, "deploy", hops=5, graph="then")
    await load(world, "deploy", hops=5, limit=3, graph="now")
    found = await compared(world)
    assert (found.equal, found.nodes_only_in_graph, found.edges_only_in_graph) == (False, [], [])
    assert (found.node_counts.only_in_graph, found.edge_counts.only_in_graph) == (0, 0)
    (told,) = found.cannot_know or ()
    assert "3 nodes and 3 edges that only 'then' has" in told
    await load(world, "deploy", hops=5, graph="now")
    assert (await compared(world)).equal  # what a later load added is there
    await load(world, "deploy", hops=2, graph="less")
    assert (await compared(world, other="less")).cannot_know is not None


async def test_what_was_only_written_otherwise_is_no_change(world: ScratchWorld) -> None:
    for graph, day, kind, filled in (
        ("then", "2026-11-18", "effect", {}),
        ("now", "2026-11-18T00:00:00+00:00", "Effect", {"status": "current", "fact_uuids": ["1"]}),
    ):
        await world.draw(ScratchNode("outage", kind), graph=graph)
        await world.draw(ScratchEdge("deploy", "outage", "causes", {"valid_at": day, **filled}), graph=graph)
    assert (await compared(world)).equal
    await world.draw(ScratchEdge("deploy", "outage", "causes", {"valid_at": "2026-11-19", "status": "past"}))
    await world.draw(ScratchEdge("deploy", "outage", "causes", {"status": "current"}), graph="now")
    await world.draw(ScratchNode("outage", "symptom"))
    found = await compared(world, graph="default")
    assert [one.name for one in found.edges_changed[0].differences] == ["valid_at", "status"]
    assert [one.name for one in found.nodes_changed[0].differences] == ["type"]


async def test_no_path_in_a_part_of_memory_says_that_memory_may_have_one(world: ScratchWorld) -> None:
    await cause(world, *CHAIN)
    for name in ("deploy", "refunds"):
        await load(world, name, hops=1)
    asked = {"source": "deploy", "target": "refunds"}
    found = await world.reasoning.analysis.shortest_path(LOCAL, ShortestPath(**asked))
    assert found.path is None
    assert "loaded from memory in part" in (found.reason or "")
    every = await world.reasoning.analysis.all_paths(LOCAL, AllPaths(**asked))
    assert "loaded from memory in part" in (every.reason or "")
    await load(world, "deploy", hops=10)
    assert (await world.reasoning.analysis.shortest_path(LOCAL, ShortestPath(**asked))).length == 5
    back = ShortestPath(source="refunds", target="deploy", graph="whole")
    await load(world, "deploy", hops=10, graph="whole")
    reason = (await world.reasoning.analysis.shortest_path(LOCAL, back)).reason or ""
    assert reason.startswith("No path")
    assert "in part" not in reason


async def test_loaded_nodes_are_known_by_the_other_names_that_memory_has(world: ScratchWorld) -> None:
    told = {"source": "Authentication Service", "relation": "CAUSES", "target": "outage"}
    entities = [{"name": "Authentication Service", "aliases": ["Keycloak"]}]
    await world.tell("The Authentication Service (Keycloak) causes the outage.", told, entities=entities)
    await load(world, "outage")
    edge = AddEdge(source="keycloak", target="outage", relation="explains")
    added = await world.reasoning.edges.add_edge(LOCAL, edge)
    assert (added.source_matched, added.created) == ("Authentication Service", True)
    await world.draw(ScratchNode("Keycloak"))  # a node of this name is another one
    again = await world.reasoning.edges.add_edge(LOCAL, edge)
    assert (again.source_matched, again.created) == ("Keycloak", True)
