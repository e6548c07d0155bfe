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
        {"sources": ["LoginController"], "sources_total": 1, "lost": ["UserRepository", "PostgresDB"], "lost_total": 2}
    ]
    assert (found["components_before"], found["components_after"]) == (2, 3)
    assert (found["parts"], found["parts_sizes"]) == ([["UserRepository", "PostgresDB"], ["LoginController"]], [2, 1])
    assert (found["direct_dependents"], found["direct_dependencies"]) == (["LoginController"], ["UserRepository"])
    assert (found["indirect_dependents"], found["indirect_dependencies"]) == ([], ["PostgresDB"])
    assert (found["truncated"], found["note"]) == (False, None)
    info = await ask(client, "get_graph_info")
    assert (info["node_count"], info["edge_count"]) == (5, 3)
    island = await ask(client, "impact_of_removal", node="Island")
    assert (island["components_before"], island["components_after"], island["parts"]) == (2, 1, [])


async def test_what_can_be_reached_another_way_is_not_lost(client: Client) -> None:
    await f5(client)
    found = await ask(client, "impact_of_removal", node="auth")
    assert (found["newly_unreachable"], found["direct_dependencies"]) == ([], ["database"])
    assert (found["components_before"], found["components_after"]) == (1, 1)
    many = [(f"caller {number}", "hub") for number in range(120)] + [("hub", "end")]
    await draw(client, many)
    found = await ask(client, "impact_of_removal", node="hub", limit=3)
    assert (len(found["direct_dependents"]), found["direct_dependents_total"], found["truncated"]) == (3, 120, True)
    (lost,) = found["newly_unreachable"]  # all lose the same: it is said once
    assert (len(lost["sources"]), lost["sources_total"], lost["lost"]) == (3, 100, ["end"])
    assert found["newly_unreachable_total"] == 100
    assert found["note"].startswith("What becomes unreachable was looked at for the 100 nearest dependents.")


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
    assert found["components"] == [["a", "b", "c", "d", "e"]]
    assert await ask(client, "connected_components", mode="bridges") == found  # "bridges" is its former name
    assert (await ask(client, "connected_components"))["bridges"] is None
    one = await ask(client, "bridges", limit=1)
    assert (len(one["bridges"]), one["bridges_total"], one["truncated"]) == (1, 2, True)


async def test_communities_are_the_clusters_of_a_graph_whichever_way_its_edges_point(client: Client) -> None:
    cliques = [(f"{name}{one}", f"{name}{other}") for name in "xyz" for one, other in combinations(range(5), 2)]
    await draw(client, [*cliques, ("x0", "y0"), ("y1", "z1"), ("z2", "x2")])
    found = await ask(client, "connected_components", mode="communities")
    assert await ask(client, "communities") == found  # by its former name
    assert sorted(map(sorted, found["components"])) == [[f"{name}{number}" for number in range(5)] for name in "xyz"]
    assert (found["sizes"], found["count"], found["truncated"]) == ([5, 5, 5], 3, False)
    assert found["modularity"] == pytest.approx(0.5758, abs=1e-4)
    assert (await ask(client, "communities", limit=1))["truncated"] is True


async def test_communities_of_a_relation_leave_out_who_has_no_edge_of_it(client: Client) -> None:
    await draw(client, [("a", "b", "cites"), ("b", "c", "cites"), ("d", "e", "knows")], ["alone"])
    found = await ask(client, "connected_components", mode="communities", relation="cites")
    assert (sorted(map(sorted, found["components"])), found["left_out"]) == ([["a", "b", "c"]], 3)
    whole = await ask(client, "connected_components", mode="communities")
    assert (whole["count"], whole["left_out"]) == (3, None)


async def test_an_impact_is_that_of_one_relation_and_knows_who_is_next_to_it(client: Client) -> None:
    calls = [("app", "api", "calls"), ("api", "auth", "calls"), ("auth", "db", "calls"), ("job", "db", "calls")]
    await draw(client, [*calls, ("docs", "auth", "mentions"), ("tests", "docs", "mentions")])
    every = await ask(client, "impact_of_removal", node="auth")
    assert (every["indirect_dependents_total"], every["direct_dependents_total"]) == (2, 2)
    found = await ask(client, "impact_of_removal", node="auth", relation="calls")
    assert (found["direct_dependents"], found["indirect_dependents"]) == (["api"], ["app"])
    assert (found["direct_dependencies"], found["indirect_dependencies"]) == (["db"], [])
    assert [one["sources"] for one in found["newly_unreachable"]] == [["api", "app"]]
    await draw(client, [("app", "db", "calls")])
    on_db = await ask(client, "impact_of_removal", node="auth", relation="calls", target="db")
    assert [(one["sources"], one["lost"]) for one in on_db["newly_unreachable"]] == [(["api"], ["db"])]
    assert "No edge" in error_of(await client.call_tool("impact_of_removal", {"node": "auth", "relation": "cites"}))


async def test_common_causes_are_the_roots_what_most_ways_pass_and_the_best_cut(client: Client) -> None:
    ways = [("deploy", "overload"), ("promo", "overload"), ("overload", "failover"), ("bad disk", "failover")]
    await draw(
        client, [*ways, ("failover", "outage"), ("overload", "queue"), ("queue", "outage"), ("outage", "refunds")]
    )
    found = await ask(client, "common_causes", target="Outage")
    shares = [{"label": label, "share": share} for label, share in (("deploy", 0.4), ("promo", 0.4), ("bad disk", 0.2))]
    assert (found["roots"], found["roots_total"], found["ways"]) == (shares, 3, 5)
    assert (found["read_as"], found["note"]) == ("X → Y read as: X causes Y", None)
    assert [(one["label"], one["share"]) for one in found["through"]] == [
        ("overload", 0.8),
        ("failover", 0.6),
        ("queue", 0.4),
    ]
    assert sorted(found["smallest_cut"]) == ["bad disk", "overload"]
    root = await ask(client, "common_causes", target="deploy")
    assert (root["roots"], root["ways"], root["smallest_cut"]) == ([], 0, [])
    assert "Nothing leads to it" in root["note"]


INCIDENT = [
    ("expired certificate", "gateway errors", "causes"),
    ("gateway errors", "retry storm", "leads_to"),
    ("retry storm", "outage", "Triggers"),
    ("bad deploy", "outage", "causes"),
]


async def test_an_impact_of_a_cause_is_what_follows_from_it(client: Client) -> None:
    await draw(client, INCIDENT)
    found = await ask(client, "impact_of_removal", node="expired certificate")
    assert found["read_as"].startswith("X → Y read as: X causes Y, by the relations")
    assert "edges=needs" in found["read_as"]
    assert (found["direct_dependents"], found["indirect_dependents"]) == (["gateway errors"], ["retry storm", "outage"])
    assert (found["direct_dependencies"], found["note"]) == ([], None)
    assert (found["falls"], found["falls_total"]) == (["gateway errors", "retry storm"], 2)  # outage has another cause
    other = await ask(client, "impact_of_removal", node="expired certificate", edges="needs")
    assert other["read_as"] == "X → Y read as: X needs Y, as asked."
    assert (other["direct_dependents"], other["indirect_dependencies_total"], other["falls"]) == ([], 2, None)
    whole = await ask(client, "impact_of_removal", node="outage", target="bad deploy")
    assert (whole["direct_dependents"], whole["direct_dependencies_total"], whole["newly_unreachable"]) == ([], 2, [])


async def test_an_impact_reads_other_relations_as_needs_and_says_how_to_ask_for_causes(client: Client) -> None:
    await draw(client, F6)
    found = await ask(client, "impact_of_removal", node="AuthService")
    assert found["read_as"] == "X → Y read as: X needs Y. If X causes Y, set edges=causes."
    turned = await ask(client, "impact_of_removal", node="AuthService", edges="causes", target="LoginController")
    assert [*turned["direct_dependents"], *turned["indirect_dependents"]] == turned["falls"]
    assert turned["falls"] == ["UserRepository", "PostgresDB"]
    assert [(one["sources"], one["lost"]) for one in turned["newly_unreachable"]] == [
        (["UserRepository", "PostgresDB"], ["LoginController"])
    ]


async def test_an_impact_over_causes_and_other_edges_says_that_they_are_mixed(client: Client) -> None:
    await draw(client, [*INCIDENT, ("canary", "bad deploy", "prevents"), ("page", "logo", "shows")])
    found = await ask(client, "impact_of_removal", node="bad deploy")
    assert found["read_as"].startswith("X → Y read as: X causes Y, by")  # most of the edges there are causes
    assert found["note"] is not None
    assert "'causes' (1), 'prevents' (1)" in found["note"]
    assert "relation follows one" in found["note"]
    narrowed = await ask(client, "impact_of_removal", node="bad deploy", relation="CAUSES")
    assert (narrowed["note"], narrowed["direct_dependencies"]) == (None, [])


async def test_common_causes_say_which_relations_they_followed_if_there_are_several(client: Client) -> None:
    prevented = ("canary", "crash", "prevents")
    await draw(client, [("leak", "crash", "causes"), ("load", "leak", "causes"), prevented, ("crash", "page", "pages")])
    mixed = await ask(client, "common_causes", target="crash")
    assert mixed["roots_total"] == 2
    assert "Edges of 2 relations were followed alike: 'causes' (2), 'prevents' (1)" in mixed["note"]
    assert "relation follows one" in mixed["note"]
    assert "'prevents' work against" in mixed["note"]
    alone = await ask(client, "common_causes", target="crash", relation="causes")
    assert ([one["label"] for one in alone["roots"]], alone["note"]) == (["load"], None)
    against = await ask(client, "common_causes", target="crash", relation="Prevents")
    assert "'prevents' work against" in against["note"]


async def test_what_is_in_a_cycle_with_the_target_is_on_the_ways_to_it(client: Client) -> None:
    cycle = [("API timeouts", "retry storm"), ("retry storm", "outage"), ("outage", "API timeouts")]
    await draw(client, [("bad deploy", "API timeouts"), ("full disk", "API timeouts"), *cycle])
    found = await ask(client, "common_causes", target="outage")
    assert found["smallest_cut"] == ["API timeouts"]
    assert found["through"] == [
        {"label": label, "share": 1.0, "cuts_off": 2} for label in ("API timeouts", "retry storm")
    ]
    assert found["ways"] == 2
    assert "leads back" in found["note"]


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
