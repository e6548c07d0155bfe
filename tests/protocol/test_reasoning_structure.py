"""Which nodes of a scratch graph matter, and what hangs on them, over both protocol generations."""

from itertools import combinations, permutations

import pytest
from mcp.client import Client
from tests.protocol.support import EVERYTHING, World, error_of, text
from tests.protocol.test_reasoning_queries import F6, ask, draw, f5

TRIANGLES = [*permutations("abc", 2), *permutations("def", 2), ("c", "M"), ("M", "d")]
"""Two triangles joined by M."""
MOST_CHARACTERS = 15_000 * 4
"""Of a default answer: 15,000 tokens, by bytes / 4."""


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def test_an_impact_tells_what_a_removal_would_cut_off_and_removes_nothing(client: Client) -> None:
    await draw(client, F6, ["Island"])
    found = await ask(client, "impact_of_removal", node="AuthService")
    assert found["newly_unreachable"] == [
        {"source": "LoginController", "lost": ["UserRepository", "PostgresDB"], "lost_total": 2}
    ]
    assert (found["components_before"], found["components_after"]) == (2, 3)
    assert (found["parts"], found["parts_sizes"]) == ([["UserRepository", "PostgresDB"], ["LoginController"]], [2, 1])
    assert (found["dependents"], found["dependencies"]) == (["LoginController"], ["UserRepository", "PostgresDB"])
    assert (found["truncated"], found["note"]) == (False, None)
    info = await ask(client, "get_graph_info")
    assert (info["node_count"], info["edge_count"]) == (5, 3)
    island = await ask(client, "impact_of_removal", node="Island")
    assert (island["components_before"], island["components_after"], island["parts"]) == (2, 1, [])


async def test_what_can_be_reached_another_way_is_not_lost(client: Client) -> None:
    await f5(client)
    found = await ask(client, "impact_of_removal", node="auth")
    assert (found["newly_unreachable"], found["dependencies"]) == ([], ["database"])
    assert (found["components_before"], found["components_after"]) == (1, 1)
    many = [(f"caller {number}", "hub") for number in range(120)] + [("hub", "end")]
    await draw(client, many)
    found = await ask(client, "impact_of_removal", node="hub", limit=3)
    assert (len(found["dependents"]), found["dependents_total"], found["truncated"]) == (3, 120, True)
    assert (len(found["newly_unreachable"]), found["newly_unreachable_total"]) == (3, 100)
    assert found["note"] == "What becomes unreachable was looked at for the 100 nearest dependents."


async def test_what_joins_two_clusters_has_the_highest_betweenness(client: Client) -> None:
    await draw(client, TRIANGLES)
    found = await ask(client, "betweenness_centrality")
    assert found["rankings"][0] == {"label": "M", "score": 0.6}
    assert [one["label"] for one in found["rankings"]] == ["M", "c", "d", "a", "b", "e", "f"]
    assert (found["total"], found["truncated"], found["note"]) == (7, False, None)
    along = await ask(client, "betweenness_centrality", undirected=False, top_n=2)
    assert along["rankings"][0] == {"label": "M", "score": 0.3}
    assert along["truncated"] is True


async def test_betweenness_of_many_nodes_is_an_estimate_and_says_so(client: Client) -> None:
    await draw(client, [(f"n{node}", f"n{(node + 1) % 1_200}") for node in range(1_200)])
    found = await ask(client, "betweenness_centrality", undirected=False)
    assert found["note"] in {
        f"Estimated: paths were counted from {counted} of 1,200 nodes, drawn at random." for counted in range(1, 257)
    }


async def test_degrees_are_raw_counts_by_total_then_label(client: Client) -> None:
    await f5(client)
    found = await ask(client, "degree_centrality")
    assert found["rankings"] == [
        {"label": "api", "in_degree": 0, "out_degree": 2, "total": 2},
        {"label": "auth", "in_degree": 1, "out_degree": 1, "total": 2},
        {"label": "database", "in_degree": 2, "out_degree": 0, "total": 2},
        {"label": "users", "in_degree": 1, "out_degree": 1, "total": 2},
    ]
    await draw(client, [("api", "auth", "calls"), ("users", "users", "calls")])
    found = await ask(client, "degree_centrality", top_n=2)
    assert found["rankings"] == [
        {"label": "users", "in_degree": 2, "out_degree": 2, "total": 4},
        {"label": "api", "in_degree": 0, "out_degree": 3, "total": 3},
    ]
    assert (found["total"], found["truncated"]) == (4, True)


async def test_the_hypothesis_with_the_most_support_is_found_by_relation(client: Client) -> None:
    against = [(f"log {number}", "leak", "contradicts") for number in range(5)]
    supported = [(f"log {number}", "race", "supports") for number in range(3)]
    await draw(client, [*against, *supported, ("log 9", "leak", "supports")])
    found = await ask(client, "degree_centrality", relation="supports", top_n=1)
    assert found["rankings"] == [{"label": "race", "in_degree": 3, "out_degree": 0, "total": 3}]
    message = error_of(await client.call_tool("degree_centrality", {"relation": "backs"}))
    assert message == "No edge of this graph has the relation 'backs'; there are 'contradicts', 'supports'."


async def test_what_is_foundational_is_cited_by_many(client: Client) -> None:
    papers = [(f"paper {number}", "foundation", "cites") for number in range(4)]
    await draw(client, [*papers, ("paper 0", "paper 1", "cites"), ("author", "paper 3", "wrote")])
    by_degree = await ask(client, "degree_centrality", relation="cites", top_n=1)
    assert by_degree["rankings"] == [{"label": "foundation", "in_degree": 4, "out_degree": 0, "total": 4}]
    assert (await ask(client, "pagerank", relation="cites", top_n=1))["rankings"][0]["label"] == "foundation"


async def test_bridges_are_told_with_the_direction_they_have(client: Client) -> None:
    await draw(client, [*permutations("abc", 2), ("d", "c"), ("d", "e"), ("e", "d"), ("d", "d")])
    found = await ask(client, "bridges")
    assert found["articulation_points"] == ["c", "d"]
    assert found["bridges"] == [{"source": "d", "target": "c"}, {"source": "d", "target": "e"}]
    assert (found["articulation_points_total"], found["bridges_total"], found["truncated"]) == (2, 2, False)
    one = await ask(client, "bridges", limit=1)
    assert (len(one["bridges"]), one["bridges_total"], one["truncated"]) == (1, 2, True)


async def test_communities_are_the_clusters_of_a_graph_whichever_way_its_edges_point(client: Client) -> None:
    cliques = [(f"{name}{one}", f"{name}{other}") for name in "xyz" for one, other in combinations(range(5), 2)]
    await draw(client, [*cliques, ("x0", "y0"), ("y1", "z1"), ("z2", "x2")])
    found = await ask(client, "communities")
    assert sorted(map(sorted, found["communities"])) == [[f"{name}{number}" for number in range(5)] for name in "xyz"]
    assert (found["sizes"], found["count"], found["truncated"]) == ([5, 5, 5], 3, False)
    assert found["modularity"] == pytest.approx(0.5758, abs=1e-4)
    assert (await ask(client, "communities", limit=1))["truncated"] is True


async def test_default_answers_about_5000_nodes_are_bounded(client: Client) -> None:
    edges = [(f"node number {node}", f"node number {node // 2}") for node in range(1, 5_000)]
    await draw(client, [*edges, *((target, source) for source, target in edges if source != target)])
    for tool, arguments in (
        ("shortest_path", {"source": "node number 4999", "target": "node number 2500"}),
        ("all_paths", {"source": "node number 4999", "target": "node number 2500", "max_length": 20}),
        ("pagerank", {}),
        ("connected_components", {}),
        ("connected_components", {"mode": "strong"}),
        ("find_cycles", {}),
        ("degree_centrality", {}),
        ("betweenness_centrality", {}),
        ("impact_of_removal", {"node": "node number 1"}),
        ("bridges", {}),
        ("communities", {}),
    ):
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, (tool, text(result))
        assert len(text(result)) < MOST_CHARACTERS, tool
        assert "truncated" in (result.structured_content or {}) or tool == "shortest_path", tool


async def test_long_labels_do_not_make_an_answer_too_long(client: Client) -> None:
    labels = [f"{number} " + "long " * 95 for number in range(150)]
    await draw(client, [(labels[0], label) for label in labels[1:]])
    for tool in ("connected_components", "communities", "bridges"):
        result = await client.call_tool(tool, {})
        assert len(text(result)) <= 24_000, tool
        assert (result.structured_content or {})["truncated"] is True, tool
