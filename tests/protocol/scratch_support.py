"""What the tests of scratch graphs share: the document's sample, and an embedder that is told its vectors."""

import math
from array import array
from typing import Any

from mcp.client import Client
from tests.fakes import FakeEmbedder
from tests.protocol.support import answered

from graphiti_pkm.core.model.records import Vector

F6_NODES = [
    {"label": "LoginController", "type": "controller"},
    {"label": "AuthService", "type": "service"},
    {"label": "UserRepository", "type": "repository"},
    {"label": "PostgresDB", "type": "database"},
]
F6_EDGES = [
    {"source": "LoginController", "target": "AuthService", "relation": "calls"},
    {"source": "AuthService", "target": "UserRepository", "relation": "queries"},
    {"source": "UserRepository", "target": "PostgresDB", "relation": "connects"},
]


class ToldEmbedder(FakeEmbedder):
    """Every text has a direction of its own, unless it was said how near it is to another one."""

    def __init__(self) -> None:
        super().__init__(256)
        self._axes: dict[str, int] = {}
        self._near: dict[str, tuple[str, float]] = {}

    def tell(self, query: str, cosines: dict[str, float]) -> None:
        """How near labels are to a query, both as they are embedded: in words."""
        self._near.update({label: (query, cosine) for label, cosine in cosines.items()})

    def _vector(self, text: str) -> Vector:
        vector = [0.0] * self.dimension
        query, cosine = self._near.get(text, (text, 1.0))
        vector[self._axis(text)] = math.sqrt(1 - cosine * cosine)
        vector[self._axis(query)] += cosine
        return array("f", vector)

    def _axis(self, text: str) -> int:
        return self._axes.setdefault(text, len(self._axes))


async def add(client: Client, *labels: str) -> None:
    await call(client, "add_nodes", nodes=[{"label": label} for label in labels])


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool."""
    return answered(await client.call_tool(tool, arguments))


async def build_f6(client: Client, graph: str = "default") -> None:
    await call(client, "add_nodes", nodes=F6_NODES, graph=graph)
    await call(client, "add_edges", edges=F6_EDGES, graph=graph)
