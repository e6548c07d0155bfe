"""load_memory_graph: whose memory, how much of it, and what the nodes and edges say."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.builders import a_fact, a_write, an_entity, at
from tests.worlds.scratch_world import ScratchWorld

from graphiti_pkm.capabilities.scratch.limits import ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.models.memory import LoadMemoryResponse
from graphiti_pkm.capabilities.scratch.requests import LoadMemoryGraph
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound, TooLarge

BEN = Caller(principal="ben", tier="contributor")
WORKS = {"source": "Anna", "relation": "WORKS_AT", "target": "Acme"}


@pytest.fixture
def world() -> ScratchWorld:
    return ScratchWorld(now=at(2026, 6))


async def load(world: ScratchWorld, *names: str, caller: Caller = LOCAL, **fields: Any) -> LoadMemoryResponse:
    uuids = [world.uuid(name) for name in names] or None
    return await world.reasoning.bridge.load_memory_graph(caller, LoadMemoryGraph(**{"entity_uuids": uuids, **fields}))


async def test_another_persons_entity_is_not_found_and_nothing_is_made(world: ScratchWorld) -> None:
    await world.tell("Anna works at Acme.", WORKS)
    for caller in (BEN, Caller(groups=("work",))):
        with pytest.raises(NotFound, match="search_nodes finds"):
            await load(world, "Anna", caller=caller)
        found = await load(world, caller=caller, query="Anna")
        assert (found.entities_loaded, found.scope.group_ids) == (0, ["work" if caller.groups else "default"])
        assert world.reasoning.graphs.list_graphs(caller).graphs == []
    with pytest.raises(NotAllowed):
        await load(world, caller=Caller(groups=("work",)), query="Anna", group_ids="default")
    assert (await load(world, "Anna")).entities_loaded == 2
    with pytest.raises(NotFound):
        await world.drawn(caller=BEN)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"entity_uuids": []},
        {"query": ""},
        {"entity_uuids": ["not-a-uuid"]},
        {"entity_uuids": [f"{number:08x}" for number in range(51)]},
        {"query": "Anna", "limit": 1_001},
        {"query": "Anna", "hops": 11},
        {"query": "Anna", "graph": "x" * 200},
        {"query": "Anna", "as_of": "soon"},
    ],
)
async def test_what_does_not_fit_is_refused_before_a_graph_is_made(world: ScratchWorld, fields: dict[str, Any]) -> None:
    with pytest.raises((InvalidInput, ValidationError)):
        await load(world, **fields)
    assert world.reasoning.graphs.list_graphs(LOCAL).graphs == []


async def test_facts_of_one_relation_are_one_edge_that_the_newest_speaks_for(world: ScratchWorld) -> None:
    anna, acme = an_entity("Anna", group_id="default", label="Person"), an_entity("Acme", group_id="default")
    facts = [
        a_fact(anna, acme, "VISITED", group_id="default", kind="event", text=f"Visit {day}", valid_at=at(2026, 1, day))
        for day in range(1, 31)
    ]
    back = a_fact(acme, anna, "PAYS", group_id="default", kind="reading", measure="pay", value="7", unit="k")
    await world.graph.apply(a_write(anna, acme, *facts, back, group_id="default"), {})
    loaded = await load(world, "Anna", entity_uuids=[anna.uuid])
    assert (loaded.facts_loaded, loaded.edges_added, loaded.truncated) == (31, 2, False)
    graph = await world.drawn()
    assert graph.nodes[0] == ScratchNode("Anna", "Person", {"memory_uuid": anna.uuid, "memory_group": "default"})
    visits, pay = sorted(graph.edges, key=lambda edge: edge.relation, reverse=True)
    assert (visits.properties["facts"], len(visits.properties["fact_uuids"])) == (30, 20)
    assert (visits.properties["fact"], visits.properties["kind"]) == ("Visit 30", "event")
    assert {"measure": "pay", "value": "7", "unit": "k", "status": "reading"}.items() <= pay.properties.items()


async def test_another_moment_loaded_into_the_same_graph_takes_the_place_of_the_first(world: ScratchWorld) -> None:
    await world.tell("x", {**WORKS, "valid_at": "2025-01", "invalid_at": "2025-06"})
    await world.tell("y", {**WORKS, "valid_at": "2025-09"})
    await world.draw(ScratchNode("anna", properties={"mine": 1}))
    await load(world, "Anna", as_of="2025-03")
    (first,) = (await world.drawn()).edges
    assert (first.properties["valid_at"][:7], first.properties["invalid_at"][:7]) == ("2025-01", "2025-07")
    await load(world, "Anna", as_of="2026-01")
    graph = await world.drawn()
    assert (graph.edges[0].properties["valid_at"][:7], graph.edges[0].properties["invalid_at"]) == ("2025-09", None)
    assert graph.nodes[0].label == "anna"
    assert {"mine": 1, "memory_uuid": world.uuid("Anna")}.items() <= graph.nodes[0].properties.items()
    before = await load(world, "Anna", graph="before", as_of="2024")
    assert (before.entities_loaded, before.facts_loaded) == (1, 0)


async def test_limits_of_the_load_and_of_the_graph_are_told(world: ScratchWorld) -> None:
    await world.tell("x", *({**WORKS, "target": f"Company {number}"} for number in range(12)))
    cut = await load(world, "Anna", limit=5)
    assert (cut.entities_loaded, cut.nodes_left_out, cut.truncated) == (5, 8, True)
    assert "8 more entities did not fit" in cut.message
    small = ScratchWorld(now=at(2026, 6), scratch_nodes=3)
    await small.tell("x", *({**WORKS, "target": f"Company {number}"} for number in range(12)))
    with pytest.raises(TooLarge, match="at most 3 nodes"):
        await load(small, "Anna")
    assert small.reasoning.graphs.list_graphs(LOCAL).graphs == []


async def test_me_is_a_start_and_an_edge_that_was_drawn_stays_its_own(world: ScratchWorld) -> None:
    await world.tell("I know Anna.", {"source": "me", "relation": "KNOWS", "target": "Anna"})
    await world.draw(ScratchEdge("Anna", "Acme", "works_at"))
    loaded = await load(world, entity_uuids=["me"])
    assert (loaded.entities_loaded, loaded.node_count, loaded.edge_count) == (2, 3, 2)


async def test_what_may_only_have_held_then_is_not_loaded(world: ScratchWorld) -> None:
    await world.tell("Anna works at Acme.", WORKS, reference_time="2026-03-01")
    assert (await load(world, "Anna", as_of="2026-02")).facts_loaded == 0
    assert (await load(world, "Anna", as_of="2026-04")).facts_loaded == 1


async def test_a_query_that_nothing_fits_loads_nothing(world: ScratchWorld) -> None:
    await world.tell("Anna works at Acme.", WORKS)
    loaded = await load(world, query="zzzz quux")
    assert (loaded.entities_loaded, loaded.starts) == (0, [])
    assert "no entity fits" in loaded.message
    assert world.reasoning.graphs.list_graphs(LOCAL).graphs == []
    assert (await load(world, query="who is Anna")).starts == ["Anna"]
    world.embedder.is_available = False
    assert (await load(world, query="Anna")).starts == ["Anna"]


async def test_what_fits_a_query_without_a_fact_then_is_taken_only_if_nothing_else_is(world: ScratchWorld) -> None:
    await world.tell("x", {**WORKS, "valid_at": "2025-01"})
    await world.tell("y", {"source": "Anna Two", "relation": "WORKS_AT", "target": "Beta", "valid_at": "2026-01"})
    loaded = await load(world, query="Anna", as_of="2025-03")
    assert (loaded.starts, loaded.entities_loaded) == (["Anna"], 2)
    assert loaded.scope.note == "as_of read as 2025-03-01; for its end use as_of=2025-04-01."
    none = await load(world, query="Anna", as_of="2024-05-01", graph="before")
    assert sorted(none.starts) == ["Anna", "Anna Two"]
    assert none.scope.note == ("Of none of the entities that fit memory has a fact as of 2024-05-01.")
