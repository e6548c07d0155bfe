"""Rows of the catalogue about the bridge between scratch graphs and memory: the real database, the real client."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.corpus import dense, fixed_uuid
from tests.integration.rows_support import World, a_world, in_one_task

from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge, ScratchNode
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.core.model.access import LOCAL, Caller

F6 = Content(
    nodes=(
        ScratchNode("LoginController", "controller"),
        ScratchNode("AuthService", "service"),
        ScratchNode("UserRepository", "repository"),
        ScratchNode("PostgresDB", "database"),
    ),
    edges=(
        ScratchEdge("LoginController", "AuthService", "calls"),
        ScratchEdge("AuthService", "UserRepository", "queries"),
        ScratchEdge("UserRepository", "PostgresDB", "connects"),
    ),
)


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world(toolsets=("memory", "graph", "reasoning"))) as entered:
        yield entered


async def draw(world: World, content: Content, graph: str = "default", caller: Caller = LOCAL) -> None:
    """A scratch graph, as import_graph makes one."""
    reasoning = world.memory.services[REASONING]
    async with reasoning.graphs.writing(caller, graph) as opened:
        opened.graph.apply(content)


async def drawn(world: World, graph: str = "default") -> Content:
    """What a scratch graph holds."""
    reasoning = world.memory.services[REASONING]
    async with reasoning.graphs.reading(LOCAL, graph) as opened:
        return opened.graph.content()


async def held(world: World) -> tuple[int, dict[str, Any]]:
    """Writes in the journal, and what the groups of the graph hold."""
    context = world.memory.context
    sizes = await context.graph.records.group_sizes(await context.graph.records.groups())
    return len(await context.journal.rows(0, 1_000)), {group: size.model_dump() for group, size in sizes.items()}


async def test_a_bounded_part_of_memory_is_loaded_and_memory_is_unchanged(world: World) -> None:
    for write in dense():
        await world.memory.context.graph.writer.apply(write, {})
    before = await held(world)
    start = fixed_uuid("entity N000")
    loaded = await world.call("load_memory_graph", graph="dense", entity_uuids=[start], hops=3, limit=50)
    assert (loaded["entities_loaded"], loaded["node_count"], loaded["nodes_added"]) == (50, 50, 50)
    assert (loaded["truncated"], loaded["nodes_left_out"], loaded["starts"]) == (True, 11, ["N000"])
    assert loaded["edge_count"] == loaded["edges_added"] == loaded["facts_loaded"] > 200
    graph = await drawn(world, "dense")
    assert {node.type for node in graph.nodes} == {"Concept"}
    assert graph.nodes[0].properties["memory_uuid"] == start
    edge = next(edge for edge in graph.edges if (edge.source, edge.target) == ("N000", "N001"))
    assert edge.properties["fact_uuids"] == [fixed_uuid("dense fact 0 1")]
    assert (edge.properties["status"], edge.properties["valid_at"]) == ("current", "2025-01-01T00:00:00+00:00")
    again = await world.call("load_memory_graph", graph="dense", entity_uuids=[start], hops=3, limit=50)
    assert (again["nodes_added"], again["edges_added"], again["node_count"]) == (0, 0, 50)
    assert await drawn(world, "dense") == graph
    assert await held(world) == before


async def test_a_graph_is_committed_once_and_only_when_asked_twice(world: World) -> None:
    await draw(world, F6)
    assert await held(world) == (0, {})
    preview = await world.call("commit_graph")
    assert (preview["status"], preview["entities_created"], preview["facts_created"]) == ("preview", 4, 3)
    assert preview["edges"][0] == {
        "source": "LoginController",
        "relation": "CALLS",
        "target": "AuthService",
        "outcome": "created",
        "interval": preview["edges"][0]["interval"],
        "sentence": "LoginController calls AuthService.",
        "kind": None,
        "value": None,
        "note": None,
    }
    assert await held(world) == (0, {})

    committed = await world.call("commit_graph", dry_run=False)
    assert (committed["status"], committed["episode"]) == ("committed", "Scratch graph 'default'")
    rows, sizes = await held(world)
    assert (rows, sizes) == (1, {"default": {"episodes": 1, "entities": 4, "facts": 3}})
    again = await world.call("commit_graph", dry_run=False)
    assert (again["status"], again["unchanged"]) == ("nothing", 3)
    await draw(world, F6, "drawn anew")
    anew = await world.call("commit_graph", graph="drawn anew", dry_run=False)
    assert (anew["status"], anew["entities_matched"], anew["facts_known"]) == ("nothing", 4, 3)
    assert await held(world) == (rows, sizes)

    found = (await world.call("search_nodes", names=["AuthService"]))["nodes"][0]
    assert found["labels"] == ["Entity", "Service"]
    facts = await world.call("get_entity_connections", entity_uuid=found["uuid"])
    assert {fact["fact"] for fact in facts["facts"]} == {
        "LoginController calls AuthService",
        "AuthService queries UserRepository",
    }
    sources = await world.call("get_fact_sources", fact_uuid=facts["facts"][0]["uuid"])
    assert sources["sources"][0]["is_quote"] is True


async def test_what_was_loaded_is_not_written_again_and_what_was_changed_or_added_is(world: World) -> None:
    told = {"source": "Anna", "relation": "WORKS_AT", "target": "Acme", "fact": "Anna works at Acme"}
    await world.call("add_memory", episode_body="Anna works at Acme.", facts=[told], reference_time="2025-03-01")
    await world.call("load_memory_graph", query="Anna", graph="work")
    assert (await world.call("commit_graph", graph="work", dry_run=False))["status"] == "nothing"
    ended = ScratchEdge("Anna", "Acme", "WORKS_AT", {"invalid_at": "2026-05-01"})
    led = ScratchEdge("Ben", "Acme", "leads", {"weight": 2})
    await draw(world, Content(nodes=(ScratchNode("Ben", "Person"),), edges=(ended, led)), "work")
    preview = await world.call("commit_graph", graph="work")
    outcomes = {(edge["source"], edge["relation"]): edge["outcome"] for edge in preview["edges"]}
    assert outcomes == {("Anna", "WORKS_AT"): "updated", ("Ben", "LEADS"): "created"}
    assert [(node["label"], node["outcome"]) for node in preview["nodes"]] == [("Ben", "created")]
    chosen = await world.call("commit_graph", graph="work", edges=[{"source": "anna", "target": "ACME"}], dry_run=False)
    assert (chosen["status"], chosen["facts_updated"], chosen["facts_created"]) == ("committed", 1, 0)
    facts = (await world.call("search_memory_facts", query="Anna Acme"))["facts"]
    assert [fact["invalid_at"][:10] for fact in facts] == ["2026-05-01"]
    rest = await world.call("commit_graph", graph="work", dry_run=False)
    assert (rest["facts_created"], rest["facts_updated"], rest["unchanged"]) == (1, 0, 1)


async def test_a_moment_shows_what_held_then_and_names_that_two_have_are_made_distinct(world: World) -> None:
    for body, facts in (
        ("Anna works at Acme.", [{"source": "Anna", "relation": "WORKS_AT", "target": "Acme", "valid_at": "2025-01"}]),
        (
            "Anna works at Beta.",
            [{"source": "Anna", "relation": "WORKS_AT", "target": "Beta", "valid_at": "2025-06", "replaces": "Acme"}],
        ),
    ):
        await world.call("add_memory", episode_body=body, facts=facts, reference_time="2025-06-01")
    for graph, moment in (("spring", "2025-03"), ("autumn", "2025-09"), ("before", "2024")):
        loaded = await world.call("load_memory_graph", graph=graph, query="Anna", as_of=moment)
        assert loaded["truncated"] is False
    seen = {graph: {(e.source, e.target) for e in (await drawn(world, graph)).edges} for graph in ("spring", "autumn")}
    assert seen == {"spring": {("Anna", "Acme")}, "autumn": {("Anna", "Beta")}}
    assert (await drawn(world, "before")).edges == ()
    await world.call("load_memory_graph", query="Anna", graph="all")
    assert {edge.target: edge.properties["status"] for edge in (await drawn(world, "all")).edges} == {
        "Acme": "ended",
        "Beta": "current",
    }
    await world.call("load_memory_graph", query="Anna", graph="now", include_invalidated=False)
    assert [edge.target for edge in (await drawn(world, "now")).edges] == ["Beta"]

    none = await world.call("load_memory_graph", query="zzzz quux", graph="none")
    assert (none["entities_loaded"], none["starts"]) == (0, [])

    await world.call("add_memory", episode_body="Another Anna.", group_id="club", entities=[{"name": "anna"}])
    loaded = await world.call("load_memory_graph", query="Anna", graph="all", group_ids=["club"])
    assert (loaded["renamed"], loaded["node_count"]) == (["anna (2)"], 4)
    again = await world.call("load_memory_graph", query="Anna", graph="all", group_ids=["club"])
    assert (again["renamed"], again["nodes_added"], again["starts"]) == (None, 0, ["anna (2)"])


async def test_an_entity_of_another_group_becomes_none_of_another_type(world: World) -> None:
    await world.call(
        "add_memory",
        group_id="work",
        episode_body="Zed runs the Zoo.",
        entities=[{"name": "Zed", "type": "Person"}, {"name": "Zoo", "type": "Place"}],
        facts=[{"source": "Zed", "relation": "RUNS", "target": "Zoo"}],
    )
    await world.call("add_memory", episode_body="Zed is an editor.", entities=[{"name": "Zed", "type": "Product"}])
    await world.call("load_memory_graph", query="Zed", group_ids=["work"])
    preview = await world.call("commit_graph")
    assert [(node["label"], node["outcome"]) for node in preview["nodes"]] == [("Zoo", "created")]
    told = await world.call("commit_graph", dry_run=False)
    assert any("another type" in one["reason"] for one in told["left_out"])
    assert (told["entities_created"], told["facts_created"]) == (1, 0)


async def test_two_labels_of_the_person_are_one_entity(world: World) -> None:
    likes = [{"source": who, "target": "Tea", "relation": "likes"} for who in ("me", "user")]
    await world.call("add_edges", create_missing=True, edges=likes)
    told = await world.call("commit_graph")
    assert (told["entities_created"], told["entities_matched"]) == (2, 0)
