"""Whose scratch graphs are whose, how long they stay, and what happens at once."""

import asyncio
from datetime import timedelta

import pytest
from tests.fakes import FakeClock, FakeEmbedder

from graphiti_pkm.capabilities.scratch.limits import ScratchNode
from graphiti_pkm.capabilities.scratch.matching.matching import Matcher, Missing
from graphiti_pkm.capabilities.scratch.models.requests import NodeInput
from graphiti_pkm.capabilities.scratch.nodes import ScratchNodes
from graphiti_pkm.capabilities.scratch.requests import (
    AddNode,
    AddNodes,
    FindNode,
    GetGraphInfo,
    GetNeighbors,
    ListNodes,
    RemoveNode,
)
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.capabilities.scratch.views import ScratchLooking
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import NotFound, TooLarge
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.scratch_limits import ScratchLimits

ANNA = Caller(principal="anna")


class World:
    """Scratch graphs over fakes."""

    def __init__(self, limits: ScratchLimits | None = None, embedder: FakeEmbedder | None = None) -> None:
        self.clock = FakeClock()
        self.embedder = embedder or FakeEmbedder()
        self.elapsed = FakeClock()
        given = limits or ScratchLimits()
        self.graphs = ScratchGraphs(given, timedelta(hours=2), self.clock, elapsed=self.elapsed.seconds)
        self.matcher = Matcher(self.graphs, self.embedder, Settings())
        self.nodes = ScratchNodes(self.graphs, self.matcher)
        self.looking = ScratchLooking(self.graphs, self.matcher)

    def pass_by(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.elapsed.advance(seconds)

    async def names(self, caller: Caller = LOCAL) -> list[str]:
        return sorted(one.name for one in self.graphs.list_graphs(caller).graphs)


@pytest.fixture
def world() -> World:
    return World()


async def test_a_graph_in_use_stays_and_its_use_counts_to_the_end(world: World) -> None:
    await world.nodes.add_node(LOCAL, AddNode(label="A", graph="used"))
    await world.nodes.add_node(LOCAL, AddNode(label="A", graph="idle"))
    async with world.graphs.reading(LOCAL, "used") as opened:
        world.pass_by(seconds=3 * 3600)
        assert world.graphs.sweep() == 1
        assert opened.graph.node_count == 1
    assert await world.names() == ["used"]
    world.pass_by(seconds=2 * 3600)
    assert await world.names() == ["used"]
    world.pass_by(seconds=1)
    assert await world.names() == []


@pytest.mark.parametrize("days", [-400, 400])
async def test_a_clock_that_is_set_neither_ends_nor_keeps_a_graph(world: World, days: int) -> None:
    await world.nodes.add_node(LOCAL, AddNode(label="A"))
    world.clock.advance(days=days)
    assert await world.names() == ["default"]
    world.pass_by(seconds=2 * 3600 + 1)
    assert await world.names() == []


async def test_a_tenant_is_what_a_caller_may_see_whatever_token_or_tier_it_comes_with(world: World) -> None:
    await world.nodes.add_node(ANNA, AddNode(label="A"))
    for same in (Caller(principal="anna", tier="librarian"), Caller(principal="anna", tier="reader", read_only=True)):
        assert await world.names(same) == ["default"]
    for other in (LOCAL, Caller(principal="ben"), Caller(principal="anna", groups=("work",))):
        assert await world.names(other) == []
        with pytest.raises(NotFound):
            await world.nodes.list_nodes(other, ListNodes())


async def test_whoever_waits_for_a_graph_that_is_deleted_gets_a_new_one_or_is_told(world: World) -> None:
    await world.nodes.add_node(LOCAL, AddNode(label="A"))
    async with world.graphs.writing(LOCAL):
        deleting = asyncio.create_task(world.graphs.delete_graph(LOCAL))
        await asyncio.sleep(0)
        adding = asyncio.create_task(_added(world, "B"))
        looking = asyncio.create_task(world.looking.get_graph_info(LOCAL, GetGraphInfo(graph="default")))
        await asyncio.sleep(0)
    assert (await deleting).nodes_deleted == 1
    await adding
    outcome = (await asyncio.gather(looking, return_exceptions=True))[0]
    assert isinstance(outcome, NotFound) or outcome.node_count == 1  # type: ignore[union-attr]
    assert [one.label for one in (await world.nodes.list_nodes(LOCAL, ListNodes())).nodes] == ["B"]


async def _added(world: World, label: str) -> None:
    async with world.graphs.writing(LOCAL) as opened:
        opened.graph.add_node(ScratchNode(label))


async def test_the_graphs_of_one_person_share_their_bytes() -> None:
    world = World(ScratchLimits(bytes=200_000))
    large = {"text": "x" * 9_000}

    async def fill() -> None:
        for number in range(40):
            await world.nodes.add_node(
                LOCAL, AddNode(label=f"node {number}", properties=large, graph=f"graph {number % 4}")
            )

    with pytest.raises(TooLarge, match="200,000 bytes together"):
        await fill()
    look_up_records = sum(one.node_count for one in world.graphs.list_graphs(LOCAL).graphs)
    assert 10 < look_up_records < 40
    await world.nodes.add_node(ANNA, AddNode(label="A", properties=large))
    await world.graphs.delete_graph(LOCAL, "graph 0")
    await world.nodes.add_node(LOCAL, AddNode(label="again", properties=large))


class SlowEmbedder(FakeEmbedder):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def embed(self, texts: list[str], patience: float | None = None) -> list[Vector]:  # type: ignore[override]
        self.asked.set()
        await self.may_answer.wait()
        return await super().embed(texts, patience)


async def test_while_labels_are_embedded_the_same_graph_answers() -> None:
    embedder = SlowEmbedder()
    world = World(embedder=embedder)
    embedder.may_answer.set()
    await world.nodes.add_node(LOCAL, AddNode(label="A"))
    embedder.may_answer.clear()
    embedder.asked.clear()
    adding = asyncio.create_task(
        world.nodes.add_nodes(LOCAL, AddNodes(nodes=[NodeInput(label=f"n {n}") for n in range(100)]))
    )
    await embedder.asked.wait()
    assert (await world.looking.get_graph_info(LOCAL, GetGraphInfo())).node_count == 1
    await world.nodes.remove_node(LOCAL, RemoveNode(label="A"))
    assert not adding.done()
    embedder.may_answer.set()
    assert (await adding).added == 100
    assert [len(texts) for texts in embedder.calls] == [1, 100]


async def test_a_node_that_goes_while_a_text_is_embedded_is_not_found() -> None:
    embedder = SlowEmbedder()
    world = World(embedder=embedder)
    embedder.may_answer.set()
    await world.nodes.add_nodes(LOCAL, AddNodes(nodes=[NodeInput(label="token store"), NodeInput(label="B")]))
    embedder.may_answer.clear()
    embedder.asked.clear()
    looking = asyncio.create_task(world.looking.get_neighbors(LOCAL, GetNeighbors(node="store token")))
    await embedder.asked.wait()
    await world.nodes.remove_node(LOCAL, RemoveNode(label="token store"))
    embedder.may_answer.set()
    with pytest.raises(NotFound):
        await looking


async def test_labels_without_vectors_are_embedded_by_the_look_ups_that_need_them(world: World) -> None:
    async with world.graphs.writing(LOCAL) as opened:
        for number in range(1_500):
            opened.graph.add_node(ScratchNode(f"imported thing {number}"))
    async with world.matcher.reading(LOCAL, "default", ["imported thing 7"]) as found:
        assert found.match("imported thing 7").how == "exact"
    assert world.embedder.calls == []
    async with world.matcher.reading(LOCAL, "default", ["quartz"]) as found:
        assert isinstance(found.meanings["quartz"], Missing)
        assert found.note is not None
        assert "500 of 1500" in found.note
    async with world.matcher.reading(LOCAL, "default", ["quartz"]) as found:
        assert found.note is None
    assert [len(texts) for texts in world.embedder.calls] == [1_001, 501]


async def test_a_model_that_does_not_answer_is_no_error(world: World) -> None:
    await world.nodes.add_node(LOCAL, AddNode(label="AuthService"))
    world.embedder.is_away = True
    answer = await world.nodes.add_node(LOCAL, AddNode(label="UserService"))
    assert answer.created is True
    assert answer.note is not None
    world.embedder.is_away = False
    found = await world.nodes.find_node(LOCAL, FindNode(query="service user"))
    assert [one.label for one in found.matches] == ["UserService"]


async def test_graphs_may_be_made_while_those_of_a_person_are_gone_through(world: World) -> None:
    """A write counts the bytes of all of a person's graphs in a thread, while others make new ones."""
    for name in ("first", "second"):
        await world.nodes.add_node(LOCAL, AddNode(label="A", graph=name))
    going_through = world.graphs._of(LOCAL.visibility)
    assert next(going_through).name == "first"
    await world.nodes.add_node(LOCAL, AddNode(label="A", graph="third"))
    assert [one.name for one in going_through] == ["second"]
