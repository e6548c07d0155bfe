"""Natural labels of scratch graphs with the real model: a batch beside single calls, a look-up beside an embedding.

Told is processor time: server, client and model share this process, and what else the machine does is then in none.
"""

import random
from contextlib import suppress
from itertools import product
from statistics import median, quantiles
from time import process_time

from mcp.client import Client
from tests.benchmarks.measuring import Figure, Target, ms
from tests.benchmarks.world import call, client_of, memory

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.capabilities.scratch.models.requests import EdgeInput
from graphiti_pkm.capabilities.scratch.requests import AddEdges, FindNode
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.embedding.local.local import LocalEmbedder

NODES = 10_000
EDGES = 10_000
BATCH = 500
ONE_BY_ONE = 300
"""Edges of the other side, told for all of them."""
BY_MEANING = 20
"""Likewise, of edges whose ends have to be embedded."""
LOOK_UPS = 200

_FIRST = (
    "Payment", "Invoice", "Login", "Session", "Search", "Report", "Audit", "Order", "Cart", "Refund", "Coupon", "Stock",
    "Parcel", "Route", "Map", "Photo", "Video", "Mail", "Chat", "Calendar",
)  # fmt: skip
_SECOND = (
    "Import", "Export", "Cache", "Queue", "Index", "Archive", "Backup", "Billing", "Customer", "Partner", "Tenant",
    "Admin", "Mobile", "Desktop", "Batch", "Stream", "Event", "Error", "Metric", "Language",
)  # fmt: skip
_THIRD = (
    "Service", "Repository", "Controller", "Worker", "Gateway", "Parser", "Validator", "Scheduler", "Router", "Monitor",
    "Factory", "Adapter", "Client", "Server", "Builder", "Loader", "Writer", "Reader", "Model", "View", "Handler",
    "Policy", "Store", "Filter", "Planner",
)  # fmt: skip


async def figures(*, quick: bool) -> list[Figure]:
    """Through MCP, on a graph of 10,000 nodes; the model alone is another one, so that no cache is shared."""
    nodes = NODES // 10 if quick else NODES
    names = [words for words, _ in zip(product(_FIRST, _SECOND, _THIRD), range(nodes), strict=False)]
    dice = random.Random(6)  # noqa: S311 any will do
    dice.shuffle(names)
    async with memory(toolsets=("reasoning",)) as opened, client_of(opened) as client:
        alone = LocalEmbedder(opened.context.settings)
        await alone.embed(["ready"])
        labels = ["".join(words) for words in names]
        for start in range(0, nodes, BATCH):
            await call(client, "add_nodes", nodes=[{"label": label} for label in labels[start : start + BATCH]])
        said = [" ".join(words).lower() for words in names]
        otherwise = [f"the {a.lower()} {c.lower()} of {b.lower()}" for a, b, c in names]
        found = [
            await _edges(client, said, nodes, ONE_BY_ONE, "by natural labels", Target(">=", 20)),
            await _edges(client, otherwise, BATCH, BY_MEANING, "whose ends are found by meaning", None),
            *await _beside_the_model(opened, client, alone, names),
            *await _look_up(opened, client, alone, names, LOOK_UPS // (4 if quick else 1)),
        ]
        await alone.close()
        return found


async def _edges(client: Client, texts: list[str], edges: int, sample: int, what: str, aim: Target | None) -> Figure:
    ends = [(source, texts[(at * 7 + 1) % len(texts)]) for at, source in enumerate(texts)]
    together = [{"source": source, "target": target, "relation": "calls"} for source, target in ends[:edges]]
    apart = [{"source": target, "target": source, "relation": "is called by"} for source, target in ends[-sample:]]
    begun = process_time()
    for edge in apart:
        with suppress(RuntimeError):  # an end that nothing is like enough: an answer like any other
            await call(client, "add_edge", **edge)
    theirs = (process_time() - begun) * len(together) / len(apart)
    begun = process_time()
    for start in range(0, len(together), BATCH):
        await call(client, "add_edges", edges=together[start : start + BATCH])
    ours = process_time() - begun
    name = f"add_edges of {len(together):,} edges {what} on {len(texts):,} nodes, {BATCH} a call, against one by one"
    return Figure(name, ms(1000 * ours), f"{ms(1000 * theirs)} ({sample} of them, scaled)", theirs / ours, aim)


async def _beside_the_model(
    opened: Memory, client: Client, alone: LocalEmbedder, names: list[tuple[str, str, str]]
) -> list[Figure]:
    """Batches whose ends nobody embedded before, in turn with the embedding of as many texts of the same make."""
    assert opened.services[REASONING] is not None
    edges = opened.services[REASONING].edges
    texts = [f"a {third.lower()} which {first.lower()} and {second.lower()} use" for first, second, third in names]
    ends = min(2 * BATCH, len(texts) // 3)
    taken: dict[str, list[float]] = {"add": [], "through MCP": [], "embed": []}
    for at in range(len(texts) // ends // 3 * 3):
        some = texts[at * ends : (at + 1) * ends]
        wanted = [
            {"source": one, "target": two, "relation": "uses"} for one, two in zip(some[::2], some[1::2], strict=True)
        ]
        side = list(taken)[at % 3]
        request = AddEdges(edges=[EdgeInput(**edge) for edge in wanted])
        begun = process_time()
        if side == "add":
            await edges.add_edges(LOCAL, request)
        elif side == "embed":
            await alone.embed(some)
        else:
            await call(client, "add_edges", edges=wanted)
        taken[side].append(1000 * (process_time() - begun))
    ours, through, theirs = (median(times) for times in taken.values())
    name = f"add_edges{{}} of {ends // 2} edges whose ends need the model among {len(names):,} nodes, against the model"
    return [
        Figure(name.format(""), ms(ours), ms(theirs), ours / theirs, Target("<=", 1.2)),
        Figure(name.format(" and the client's part of MCP"), ms(through), ms(theirs), through / theirs),
    ]


async def _look_up(
    opened: Memory, client: Client, alone: LocalEmbedder, names: list[tuple[str, str, str]], rounds: int
) -> list[Figure]:
    """Texts that nobody embedded before, in turn; all sides get texts of the same make."""
    assert opened.services[REASONING] is not None
    nodes = opened.services[REASONING].nodes
    taken: dict[str, list[float]] = {"find": [], "through MCP": [], "embed": []}
    for at, (first, second, third) in enumerate(names[: 3 * rounds]):
        text = f"that {third.lower()} for {first.lower()} and {second.lower()}"
        side = list(taken)[at % 3]
        begun = process_time()
        if side == "find":
            await nodes.find_node(LOCAL, FindNode(query=text))
        elif side == "embed":
            await alone.embed([text])
        else:
            await call(client, "find_node", query=text)
        taken[side].append(1000 * (process_time() - begun))
    ours, through, theirs = (quantiles(times, n=20)[-1] for times in taken.values())
    name = f"find_node{{}} by meaning among {len(names):,} nodes, p95 of {rounds}, against one embedding call"
    return [
        Figure(name.format(""), ms(ours), ms(theirs), ours / theirs, Target("<=", 1.5)),
        Figure(name.format(" and the client's part of MCP"), ms(through), ms(theirs), through / theirs),
    ]
