"""The five interactions that scratch graphs were asked for with, as written, with the real model."""

from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest
from mcp.client import Client
from tests.e2e.support import Served, call, over_http, over_stdio, serving

NODES = [
    {"label": "LoginController", "type": "controller"},
    {"label": "AuthService", "type": "service"},
    {"label": "UserRepository", "type": "repository"},
    {"label": "PostgresDB", "type": "database"},
]
EDGES = [
    {"source": "LoginController", "target": "AuthService", "relation": "calls"},
    {"source": "AuthService", "target": "UserRepository", "relation": "queries"},
    {"source": "UserRepository", "target": "PostgresDB", "relation": "connects"},
]
DOT = "digraph { api -> auth; api -> users; auth -> database; users -> database; }"


@pytest.fixture(scope="module")
def server(shared_dir: Path) -> Iterator[Served]:
    with serving(shared_dir, toolsets="reasoning") as served:
        yield served


def edge(source: str, relation: str, target: str) -> dict[str, str]:
    return {"source": source, "target": target, "relation": relation}


async def chain(client: Client, graph: str, nodes: int, edges: int) -> None:
    """A graph of so many nodes and edges."""
    labels = [f"Module{number}" for number in range(nodes)]
    added = await call(client, "add_nodes", graph=graph, nodes=[{"label": label} for label in labels])
    assert added["added"] == nodes
    pairs = [(one, two) for step in range(1, nodes) for one, two in zip(labels, labels[step:], strict=False)][:edges]
    added = await call(client, "add_edges", graph=graph, edges=[edge(one, "imports", two) for one, two in pairs])
    assert added["added"] == edges


async def test_interaction_1_a_default_graph_answers_how_two_things_hang_together(data_dir: Path) -> None:
    async with over_stdio(data_dir, toolsets="reasoning") as client:
        added = await call(client, "add_nodes", nodes=NODES)
        assert (added["added"], added["existing"]) == (4, 0)
        added = await call(client, "add_edges", edges=EDGES)
        assert (added["added"], added["failed"]) == (3, [])
        found = await call(client, "shortest_path", source="LoginController", target="PostgresDB")
        assert found["path"] == ["LoginController", "AuthService", "UserRepository", "PostgresDB"]
        assert found["length"] == 3


async def test_interaction_2_two_graphs_by_name_without_any_set_up(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_node", graph="before_refactor", label="AuthService")
        both = [{"label": "AuthService"}, {"label": "UserService"}]  # as alike as they are, they are two
        await call(client, "add_nodes", graph="after_refactor", nodes=both)
        counts = {each["name"]: each["node_count"] for each in (await call(client, "list_graphs"))["graphs"]}
        assert (counts["before_refactor"], counts["after_refactor"]) == (1, 2)


async def test_interaction_3_an_edge_by_natural_names(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_nodes", graph="fuzzy", nodes=NODES)
        told = await call(client, "add_edge", graph="fuzzy", **edge("auth service", "queries", "user repo"))
        assert told["created"] is True
        assert (told["source_matched"], told["target_matched"]) == ("AuthService", "UserRepository")
        assert told["edge"] == edge("AuthService", "queries", "UserRepository")
        longer = edge("the authentication service", "queries", "user repo")
        by_meaning = await call(client, "add_edge", graph="fuzzy", **longer)
        assert (by_meaning["status"], by_meaning["edge"]) == ("ambiguous", None)
        assert [one["label"] for one in by_meaning["source_candidates"]] == ["AuthService"]
        again = await call(client, "add_edge", graph="fuzzy", **edge("AUTH-SERVICE", "queries", "user repo"))
        assert (again["created"], again["source_matched"]) == (False, "AuthService")


async def test_interaction_4_found_again_after_the_context_was_lost(data_dir: Path) -> None:
    with serving(data_dir, toolsets="reasoning") as served:
        async with over_http(served.endpoint) as client:
            await chain(client, "default", 12, 18)
            await chain(client, "codebase", 45, 67)
        async with over_http(served.endpoint) as client:  # another connection, which knows of nothing
            graphs = (await call(client, "list_graphs"))["graphs"]
            sizes = {each["name"]: (each["node_count"], each["edge_count"]) for each in graphs}
            assert sizes == {"default": (12, 18), "codebase": (45, 67)}
            ranked = await call(client, "pagerank", graph="codebase", top_n=5)
            assert len(ranked["rankings"]) == 5


async def test_interaction_5_dot_in_and_the_first_three(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        added = await call(client, "import_graph", graph="dot", format="dot", content=DOT)
        assert (added["nodes_added"], added["edges_added"]) == (4, 4)
        ranked = (await call(client, "pagerank", graph="dot", top_n=3))["rankings"]
        assert [each["label"] for each in ranked] == ["database", "auth", "users"]
        assert [round(each["score"], 4) for each in ranked] == [0.4706, 0.1959, 0.1959]


async def test_a_restart_leaves_no_graph(data_dir: Path) -> None:
    for _ in range(2):
        async with over_stdio(data_dir, toolsets="reasoning") as client:
            assert (await call(client, "list_graphs"))["graphs"] == []
            await call(client, "add_node", label="A")
            assert len((await call(client, "list_graphs"))["graphs"]) == 1


async def test_research_foundations_bridges_and_the_way_of_citations(server: Served) -> None:
    """Foundational is what many cite: edges point from who cites to what is cited."""
    papers = ["Attention", "BERT", "GPT", "ResNet", "ViT", "CLIP"]
    cites = [
        ("BERT", "Attention"), ("GPT", "Attention"), ("GPT", "BERT"), ("ViT", "Attention"), ("ViT", "ResNet"),
        ("CLIP", "ViT"), ("CLIP", "ResNet"),
    ]  # fmt: skip
    async with over_http(server.endpoint) as client:
        await call(client, "add_nodes", graph="research", nodes=[{"label": each, "type": "paper"} for each in papers])
        await call(client, "add_edges", graph="research", edges=[edge(one, "cites", two) for one, two in cites])
        await call(client, "add_edge", graph="research", **edge("GPT", "authored-by", "Radford"), create_missing=True)
        ranked = (await call(client, "degree_centrality", graph="research", relation="cites"))["rankings"]
        most = max(ranked, key=lambda each: each["in_degree"])
        assert (most["label"], most["in_degree"]) == ("Attention", 3)
        between = (await call(client, "betweenness_centrality", graph="research"))["rankings"]
        expected = nx.betweenness_centrality(nx.Graph([*cites, ("GPT", "Radford")]))
        assert between[0]["label"] == max(expected, key=lambda label: expected[label])
        path = (await call(client, "shortest_path", graph="research", source="CLIP", target="Attention"))["path"]
        assert path == ["CLIP", "ViT", "Attention"]


async def test_debugging_the_best_supported_hypothesis_and_what_nothing_explains(server: Served) -> None:
    evidence = [
        edge("timeouts at noon", "supports", "pool exhausted"),
        edge("many idle connections", "supports", "pool exhausted"),
        edge("CPU is low", "supports", "lock contention"),
        edge("no waits in the log", "contradicts", "lock contention"),
        edge("CPU is low", "contradicts", "lock contention"),
        edge("pool exhausted", "located-in", "db.py"),
        edge("slow checkout", "caused-by", "pool exhausted"),
    ]
    labels = sorted({each[end] for each in evidence for end in ("source", "target")})
    async with over_http(server.endpoint) as client:
        await call(client, "add_nodes", graph="bug", nodes=[{"label": label} for label in labels])
        added = await call(client, "add_edges", graph="bug", edges=evidence)
        assert added["added"] == len(evidence)
        ranked = (await call(client, "degree_centrality", graph="bug", relation="supports"))["rankings"]
        support = {each["label"]: each["in_degree"] for each in ranked}
        assert (support["pool exhausted"], support["lock contention"]) == (2, 1)
        unexplained = await call(client, "list_nodes", graph="bug", max_in_degree=0)
        assert {node["label"] for node in unexplained["nodes"]} == {
            "timeouts at noon", "many idle connections", "CPU is low", "no waits in the log", "slow checkout",
        }  # fmt: skip
