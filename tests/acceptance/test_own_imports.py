"""This package's own imports in a scratch graph: what is central, what leads where, and that the contracts hold."""

import asyncio
import itertools
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import grimp
import networkx as nx
import pytest
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, serving

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "graphiti_pkm"
GRAPH = "imports"
BATCH = 500
"""Items that add_nodes and add_edges take at once."""


@pytest.fixture(scope="module")
def imports() -> nx.DiGraph:
    """Which module imports which, read from the source by what import-linter reads it with."""
    found = grimp.build_graph(PACKAGE, cache_dir=None)
    graph = nx.DiGraph()
    graph.add_nodes_from(sorted(map(short, found.modules)))
    graph.add_edges_from(
        (short(module), short(imported))
        for module in sorted(found.modules)
        for imported in sorted(found.find_modules_directly_imported_by(module))
    )
    return graph


def short(module: str) -> str:
    return module.removeprefix(f"{PACKAGE}.")


def part_of(module: str) -> str:
    """The package of ours, or the module beside them, that a module is in."""
    return module.partition(".")[0]


@pytest.fixture(scope="module")
def server(shared_dir: Path, imports: nx.DiGraph) -> Any:
    """With the imports in a scratch graph, added by the tools."""
    with serving(shared_dir, toolsets="memory,reasoning") as served:
        asyncio.run(tell(served, imports))
        yield served


async def tell(server: Served, imports: nx.DiGraph) -> None:
    nodes = [{"label": module, "type": part_of(module)} for module in imports]
    edges = [{"source": one, "target": other, "relation": "imports"} for one, other in imports.edges]
    async with over_http(server.endpoint) as client:
        for start in range(0, len(nodes), BATCH):
            added = await call(client, "add_nodes", graph=GRAPH, nodes=nodes[start : start + BATCH])
            assert added["added"] == len(nodes[start : start + BATCH]), added["failed"]
        for start in range(0, len(edges), BATCH):
            added = await call(client, "add_edges", graph=GRAPH, edges=edges[start : start + BATCH])
            assert added["added"] == len(edges[start : start + BATCH]), added["failed"]


async def test_the_graph_is_the_package(server: Served, imports: nx.DiGraph) -> None:
    async with over_http(server.endpoint) as client:
        told = await call(client, "get_graph_info", graph=GRAPH)
    assert (told["node_count"], told["edge_count"]) == (len(imports), imports.size())
    assert told["is_dag"] is nx.is_directed_acyclic_graph(imports)
    assert told["node_types"] == dict(Counter(map(part_of, imports)))


async def test_the_most_central_module(server: Served, imports: nx.DiGraph) -> None:
    async with over_http(server.endpoint) as client:
        ranked = (await call(client, "pagerank", graph=GRAPH, top_n=5))["rankings"]
        joined = (await call(client, "degree_centrality", graph=GRAPH, top_n=5))["rankings"]
    expected = nx.pagerank(imports, tol=1e-10)
    best = sorted(expected, key=lambda module: (-round(expected[module], 6), module))[:5]
    assert [each["label"] for each in ranked] == best
    assert {"errors", "core.model.record"} <= set(best[:3])  # what all the others may import, and the base of records
    assert joined[0]["total"] == max(dict(imports.degree).values())


async def test_the_path_from_the_command_to_the_graph(server: Served, imports: nx.DiGraph) -> None:
    async with over_http(server.endpoint) as client:
        told = await call(client, "shortest_path", graph=GRAPH, source="cli.main", target="storage.graph.store")
        back = await call(client, "shortest_path", graph=GRAPH, source="storage.graph.store", target="cli.main")
    path = told["path"]
    assert (path[0], path[-1]) == ("cli.main", "storage.graph.store")
    assert all(imports.has_edge(one, other) for one, other in itertools.pairwise(path))
    assert told["length"] == nx.shortest_path_length(imports, "cli.main", "storage.graph.store")
    assert back["path"] is None
    assert back["reason"]


def all_dependencies(told: dict[str, Any]) -> set[str]:
    return {*told["direct_dependencies"], *told["indirect_dependencies"]}


async def test_what_breaks_without_a_module(server: Served, imports: nx.DiGraph) -> None:
    """Whatever reaches a module over imports depends on it; both lists fit one answer."""
    async with over_http(server.endpoint) as client:
        for module in ("storage.graph.mapping", "capabilities.remember.write_plan"):
            told = await call(client, "impact_of_removal", graph=GRAPH, node=module, limit=500)
            assert {*told["direct_dependents"], *told["indirect_dependents"]} == nx.ancestors(imports, module)
            assert all_dependencies(told) == nx.descendants(imports, module)
            assert "cli.main" in told["indirect_dependents"]
        info = await call(client, "get_graph_info", graph=GRAPH)
    assert info["node_count"] == len(imports)  # nothing was removed


async def test_the_paths_between_layers_are_what_the_import_contracts_say(server: Served, imports: nx.DiGraph) -> None:
    """No path leads from a lower layer to a higher one, nor between siblings."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [
        [part.strip() for part in layer.split("|")]
        for contract in contracts["contracts"]
        if contract["type"] == "layers" and contract["containers"] == [PACKAGE]
        for layer in contract["layers"]
    ]
    place = {part: number for number, parts in enumerate(layers) for part in parts}
    async with over_http(server.endpoint) as client:
        edges = await every_edge(client)
        reached = [await call(client, "impact_of_removal", graph=GRAPH, node=part, limit=500) for part in place]
    assert len(edges) == imports.size()
    for one, other in edges:
        above, below = part_of(one), part_of(other)
        assert above == below or place[above] < place[below], (one, other)
    for part, told in zip(place, reached, strict=True):
        upwards = {each for each in all_dependencies(told) if place[part_of(each)] < place[part]}
        assert not upwards, part


def test_sessions_matching_engine_and_formats_are_modules_with_tests_of_their_own(imports: nx.DiGraph) -> None:
    sessions, matching = "capabilities.scratch.tenants", "capabilities.scratch.matching.matching"
    engine, formats = ("capabilities.scratch.graphs.graph", "capabilities.scratch.formats.registry")
    for one, other in itertools.permutations((sessions, matching, engine, formats), 2):
        knows = imports.has_edge(one, other)
        assert knows is ((one, other) in {(sessions, engine), (matching, sessions), (matching, engine)}), (one, other)
    tests = ROOT / "tests"
    for place in (
        "unit/capabilities/scratch/test_scratch_graphs.py",
        "integration/test_scratch_matching.py",
        "unit/capabilities/scratch/graphs/test_graph.py",
        "unit/capabilities/scratch/formats/test_fuzzing.py",
    ):
        assert (tests / place).is_file()


async def every_edge(client: Client) -> list[tuple[str, str]]:
    """All edges, page after page."""
    edges: list[tuple[str, str]] = []
    cursor = None
    while True:
        page = await call(client, "find_edges", graph=GRAPH, limit=500, **({"cursor": cursor} if cursor else {}))
        edges += [(edge["source"], edge["target"]) for edge in page["edges"]]
        cursor = page["next_cursor"]
        if cursor is None:
            assert len(edges) == page["total"]
            return edges
