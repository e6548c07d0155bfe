"""Analyses of a graph that others write to at the same time."""

import asyncio
import threading

import pytest
from tests.unit.capabilities.scratch.test_scratch_graphs import World

from graphiti_pkm.capabilities.scratch.analysis import ScratchAnalysis
from graphiti_pkm.capabilities.scratch.exchange import ScratchExchange
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchEdge
from graphiti_pkm.capabilities.scratch.requests import AddNode, ExportGraph, Pagerank
from graphiti_pkm.capabilities.scratch.snapshots import Snapshots
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.errors import Unavailable


class Slow(float):
    """A weight that takes as long to look at as the test wants."""

    def __init__(self, _: float) -> None:
        super().__init__()
        self.looked_at, self.goes_on = threading.Event(), threading.Event()

    def __abs__(self) -> float:
        self.looked_at.set()
        self.goes_on.wait(30)
        return super().__abs__()


async def test_an_analysis_that_is_cancelled_holds_its_graph_until_its_thread_is_done() -> None:
    world = World()
    analysis = ScratchAnalysis(world.graphs, Snapshots(world.matcher, seconds=2.0))
    weight = Slow(2)
    async with world.graphs.writing(LOCAL, "default") as opened:
        opened.graph.apply(Content(edges=(ScratchEdge("A", "B", "uses", {"w": weight}),)))
    ranking = asyncio.create_task(
        analysis.pagerank(LOCAL, Pagerank(graph="default", top_n=10, weight="w", relation=None))
    )
    await asyncio.to_thread(weight.looked_at.wait, 30)
    ranking.cancel()
    writing = asyncio.create_task(world.nodes.add_node(LOCAL, AddNode(label="C")))
    for _ in range(50):  # of the loop; a cancelled call without a thread is gone after the first ones
        await asyncio.sleep(0)
    assert not ranking.done()
    assert not writing.done()
    weight.goes_on.set()
    await asyncio.wait({ranking, writing})
    assert ranking.cancelled()
    assert (await writing).created
    ranked = await analysis.pagerank(LOCAL, Pagerank(graph="default", top_n=10, weight="w", relation=None))
    assert sorted(one.label for one in ranked.rankings) == ["A", "B", "C"]


async def test_a_picture_that_takes_too_long_is_an_error_that_says_what_to_do() -> None:
    world = World()
    snapshots = Snapshots(world.matcher, seconds=0.01)
    exchange = ScratchExchange(world.graphs, world.matcher, snapshots)
    ends = [(one, (one * step + 7) % 300) for one in range(300) for step in (1, 3, 17)]
    edges = tuple(ScratchEdge(f"n{one}", f"n{other}", f"r{one}") for one, other in ends)
    async with world.graphs.writing(LOCAL, "default") as opened:
        opened.graph.apply(Content(edges=edges))
    try:
        with pytest.raises(Unavailable, match=r"300 nodes and 894 edges .* 0.01 s .* dot or mermaid"):
            await exchange.export_graph(LOCAL, ExportGraph(graph="default", format="svg", max_chars=200_000))
    finally:
        await snapshots.close()
