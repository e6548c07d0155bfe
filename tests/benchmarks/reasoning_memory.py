"""What an edge of a scratch graph takes, each side in a process of its own."""

import asyncio
import subprocess
import sys

from tests.benchmarks.measuring import Figure, Target

NODES = 100_000
EDGES = 1_000_000
_TEMPLATE = """
import random
from pathlib import Path


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


{start}
dice = random.Random(1)
pairs = [(dice.randrange({nodes}), dice.randrange({nodes})) for _ in range({edges})]
before = resident()
for source, target in pairs:
    {add}
print((resident() - before) / {edges})
"""
_OURS = (
    """
from graphiti_pkm.capabilities.scratch.limits import Content, ScratchNode
from graphiti_pkm.settings.scratch_limits import ScratchLimits
from graphiti_pkm.capabilities.scratch.graphs.graph import ScratchGraph

graph = ScratchGraph(ScratchLimits(nodes={nodes}, edges={edges}, bytes=10**10))
graph.apply(Content(nodes=tuple(ScratchNode(f"node {{n}}") for n in range({nodes}))))
""",
    'graph.add_edge(source, target, "calls")',
)
_NETWORKX = (
    """
import networkx

graph = networkx.MultiDiGraph()
graph.add_nodes_from(range({nodes}))
""",
    'graph.add_edge(source, target, "calls")',
)


async def figures(*, quick: bool) -> list[Figure]:
    """The random graph that the algorithms are measured on, edges without properties."""
    nodes, edges = (NODES // 20, EDGES // 20) if quick else (NODES, EDGES)
    ours = await asyncio.to_thread(_bytes_an_edge, *_OURS, nodes, edges)
    theirs = await asyncio.to_thread(_bytes_an_edge, *_NETWORKX, nodes, edges)
    what = f"memory an edge of a scratch graph takes, {edges:,} edges on {nodes:,} nodes, against NetworkX"
    return [Figure(what, f"{ours:.0f} bytes", f"{theirs:.0f} bytes", theirs / ours, Target(">=", 5))]


def _bytes_an_edge(start: str, add: str, nodes: int, edges: int) -> float:
    text = _TEMPLATE.format(start=start.format(nodes=nodes, edges=edges), add=add, nodes=nodes, edges=edges)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    return float(run.stdout)
