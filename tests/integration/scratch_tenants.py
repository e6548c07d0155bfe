"""Many people with many scratch graphs at once, against a model of what each must have: ``python -m`` in a process.

Prints what was found as JSON: how many graphs were compared, and resident memory before, with all of them, and after
the last has expired, the first time and the second.
"""

import asyncio
import gc
import json
import random
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes import FakeEmbedder
from tests.protocol.support import EVERYTHING, World

from graphiti_pkm.capabilities.scratch.models.requests import EdgeInput, NodeInput
from graphiti_pkm.capabilities.scratch.requests import AddEdges, AddNodes, RemoveNode
from graphiti_pkm.capabilities.scratch.service import Reasoning
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import NotFound

HOUR = 3600.0
EDITORS = 2
"""Of one graph, at the same time."""
BATCH = 20
CALLS_AT_ONCE = 64


class QuickEmbedder(FakeEmbedder):
    """As many numbers as the product's model has; remembers nothing."""

    def __init__(self) -> None:
        super().__init__(384)

    async def embed(self, texts: Any, patience: float | None = None) -> list[Vector]:
        found = await super().embed(texts, patience)
        self.calls.clear()
        return found

    def _vector(self, text: str) -> Vector:
        spread = random.Random(text)  # noqa: S311 - the same each time, no secret
        vector = [0.0] * self.dimension
        for _ in range(4):
            vector[spread.randrange(self.dimension)] += 1.0
        return vector


@dataclass
class Expected:
    """What one graph must hold."""

    nodes: dict[str, int] = field(default_factory=dict)
    """Whose each is, by label."""
    edges: set[tuple[str, str, str]] = field(default_factory=set)


class Tenants:
    """People with graphs of the same names and the same labels, which differ in whose they are."""

    def __init__(self, people: int, graphs: int) -> None:
        """``graphs``: of each."""
        self._world = World(settings=EVERYTHING, embedder=QuickEmbedder())
        reasoning = self._world.services()[REASONING]
        assert isinstance(reasoning, Reasoning)
        self.reasoning: Any = reasoning
        self.clock = self._world.clock
        # Every other one is a token of the person before, held to a group.
        self.callers = [Caller(principal=f"person{n // 2}", groups=("work",) * (n % 2)) for n in range(people)]
        self.names = [f"graph {n}" for n in range(graphs)]
        self.all = [(person, name) for person in range(people) for name in self.names]
        self.expected: dict[tuple[int, str], Expected] = defaultdict(Expected)
        self._turns = asyncio.Semaphore(CALLS_AT_ONCE)

    async def edit(self, graphs: list[tuple[int, str]], seed: int) -> None:
        """Several at once change each of these graphs, while time passes and others expire."""
        editors = [self._edit(person, name, editor, seed) for person, name in graphs for editor in range(EDITORS)]
        random.Random(seed).shuffle(editors)  # noqa: S311 - an order to repeat
        await asyncio.gather(*editors)

    async def _edit(self, person: int, name: str, editor: int, seed: int) -> None:
        async with self._turns:
            dice = random.Random(f"{person} {name} {editor} {seed}")  # noqa: S311 - edits to repeat
            caller, expected = self.callers[person], self.expected[person, name]
            nodes, edges = self.reasoning.nodes, self.reasoning.edges
            labels = [f"part {editor} {seed} {n}" for n in range(BATCH)]
            added = [NodeInput(label=label, properties={"owner": person}) for label in labels]
            assert (await nodes.add_nodes(caller, AddNodes(nodes=added, graph=name))).added == BATCH
            expected.nodes |= dict.fromkeys(labels, person)
            self.clock.advance(dice.random())
            pairs = {(dice.choice(labels), dice.choice(labels)) for _ in range(2 * BATCH)}
            told = [EdgeInput(source=one, target=other, relation=f"of {person}") for one, other in sorted(pairs)]
            assert (await edges.add_edges(caller, AddEdges(edges=told, graph=name))).added == len(pairs)
            expected.edges |= {(one, other, f"of {person}") for one, other in pairs}
            gone = dice.choice(labels)
            await nodes.remove_node(caller, RemoveNode(label=gone, graph=name))
            del expected.nodes[gone]
            expected.edges -= {edge for edge in expected.edges if gone in edge}

    async def compare(self) -> int:
        """Every graph holds what it must and nothing else; told is how many there are."""
        there = 0
        for person, caller in enumerate(self.callers):
            named = {one.name for one in self.reasoning.graphs.list_graphs(caller).graphs}
            assert named == {name for whose, name in self.expected if whose == person}
            for name in named:
                async with self.reasoning.graphs.reading(caller, name) as opened:
                    content = opened.graph.content()
                expected = self.expected[person, name]
                assert {node.label: node.properties["owner"] for node in content.nodes} == expected.nodes
                assert {(edge.source, edge.target, edge.relation) for edge in content.edges} == expected.edges
                there += 1
        return there

    async def expire(self, kept: list[tuple[int, str]]) -> None:
        """Let time pass until only these are left, which are edited while the others go."""
        self.clock.advance(1.9 * HOUR)
        for person, name in kept:
            async with self.reasoning.graphs.reading(self.callers[person], name):
                pass
        for one in set(self.expected) - set(kept):
            del self.expected[one]
        self.clock.advance(0.2 * HOUR)
        await self.edit(kept, seed=2)
        for person, name in set(self.all) - set(kept):
            try:
                async with self.reasoning.graphs.reading(self.callers[person], name):
                    raise AssertionError(f"{name} of {person} should have expired")
            except NotFound:
                pass


async def cycle(people: int, graphs: int) -> dict[str, int]:
    """Make all, let half expire during edits, then the rest."""
    tenants = Tenants(people, graphs)
    await tenants.edit(tenants.all, seed=1)
    found = {"made": await tenants.compare(), "full": resident()}
    kept = tenants.all[::2]
    await tenants.expire(kept)
    found["kept"] = await tenants.compare()
    tenants.clock.advance(3 * HOUR)
    stop = asyncio.Event()
    sweeping = asyncio.create_task(tenants.reasoning.graphs.sweep_periodically(stop))
    await asyncio.sleep(0)
    stop.set()
    await sweeping
    tenants.expected.clear()
    found["left"] = await tenants.compare()
    gc.collect()
    found["end"] = resident()
    return found


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


async def main(people: int, graphs: int) -> dict[str, int]:
    """A first small cycle loads what stays loaded."""
    await cycle(people, 2)
    gc.collect()
    found = {"start": resident(), **await cycle(people, graphs)}
    return {**found, "again": (await cycle(people, graphs))["end"]}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))))  # noqa: T201 - a program's answer
