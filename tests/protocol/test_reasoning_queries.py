"""Questions about scratch graphs over both protocol generations: paths, ranks, components, cycles, reduction."""

import json
from collections.abc import Iterable
from itertools import pairwise, permutations
from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.support import EVERYTHING, World, answered, error_of, text, told

F5 = "digraph { api -> auth; api -> users; auth -> database; users -> database; }"
F6 = (
    ("LoginController", "AuthService", "calls"),
    ("AuthService", "UserRepository", "queries"),
    ("UserRepository", "PostgresDB", "connects"),
)
LINE = ["LoginController", "AuthService", "UserRepository", "PostgresDB"]


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def ask(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    return answered(await client.call_tool(tool, arguments))


async def draw(client: Client, edges: Iterable[tuple[Any, ...]], nodes: Iterable[str] = ()) -> None:
    """Import edges of source, target, relation and, if there is one, a weight."""
    content = {
        "nodes": [{"label": label} for label in nodes],
        "edges": [
            {"source": source, "target": target, "relation": (*rest, "to")[0]}
            | ({"properties": {"weight": rest[1]}} if len(rest) > 1 else {})
            for source, target, *rest in edges
        ],
    }
    await ask(client, "import_graph", format="json", content=json.dumps(content))


async def f5(client: Client) -> None:
    await ask(client, "import_graph", format="dot", content=F5)


async def test_a_shortest_path_follows_edges_and_says_why_there_is_none(client: Client) -> None:
    await draw(client, F6, ["Island"])
    found = await ask(client, "shortest_path", source="LoginController", target="postgres-db")
    assert (found["path"], found["length"]) == (LINE, 3)
    assert (found["source_matched"], found["target_matched"]) == ("LoginController", "PostgresDB")
    back = await ask(client, "shortest_path", source="PostgresDB", target="LoginController")
    assert back["path"] is None
    assert back["reason"].startswith(
        "No path leads from 'PostgresDB' to 'LoginController'; edges are followed in their"
    )
    assert (await ask(client, "shortest_path", source="PostgresDB", target="LoginController", undirected=True))[
        "path"
    ] == LINE[::-1]
    assert (
        "undirected"
        not in (await ask(client, "shortest_path", source="Island", target="AuthService", undirected=True))["reason"]
    )
    for label in ("AuthService", "Island"):
        same = await ask(client, "shortest_path", source=label, target=label)
        assert (same["path"], same["length"]) == ([label], 0)


async def test_a_path_may_go_by_weight_or_along_one_relation(client: Client) -> None:
    await draw(client, [("a", "b", "road", 1), ("b", "c", "road", 1), ("a", "c", "train", 5), ("a", "c", "road", 7)])
    assert (await ask(client, "shortest_path", source="a", target="c"))["path"] == ["a", "c"]
    cheapest = await ask(client, "shortest_path", source="a", target="c", weight="weight")
    assert (cheapest["path"], cheapest["length"], cheapest["weight"]) == (["a", "b", "c"], 2, 2.0)
    along = await ask(client, "shortest_path", source="a", target="b", relation="TRAIN")
    assert along["path"] is None
    message = error_of(await client.call_tool("shortest_path", {"source": "a", "target": "b", "relation": "ship"}))
    assert message == "No edge of this graph has the relation 'ship'; there are 'road', 'train'."
    message = error_of(await client.call_tool("shortest_path", {"source": "a", "target": "b", "weight": "toll"}))
    assert message == "No edge has the property 'toll' that was given as weight. Properties of edges: 'weight'."


async def test_the_cheaper_route_wins_only_where_weight_is_named_and_a_negative_one_is_refused(client: Client) -> None:
    await draw(client, [("a", "b", "r", 1), ("b", "c", "r", 1), ("a", "c", "r", 5), ("c", "d", "r", -1)])
    assert (await ask(client, "shortest_path", source="a", target="c"))["length"] == 1
    arguments = {"source": "a", "target": "c", "weight": "weight"}
    assert "negative" in error_of(await client.call_tool("shortest_path", arguments))
    for tool in ("pagerank", "communities"):
        assert "negative" in error_of(await client.call_tool(tool, {"weight": "weight"}))


async def test_labels_of_a_question_are_matched_like_those_of_an_edge(client: Client) -> None:
    await draw(client, F6)
    found = await ask(client, "all_paths", source="login controller", target="auth_service")
    assert (found["source_matched"], found["target_matched"], found["paths"]) == (LINE[0], LINE[1], [LINE[:2]])
    assert (await ask(client, "impact_of_removal", node="AUTH-SERVICE"))["node_matched"] == "AuthService"
    missing = error_of(await client.call_tool("shortest_path", {"source": "Nobody", "target": "AuthService"}))
    assert missing.startswith("No node 'Nobody' in scratch graph 'default'")
    assert "There is no scratch graph 'typo'" in error_of(await client.call_tool("pagerank", {"graph": "typo"}))


async def test_all_paths_are_as_long_as_the_graph_has_them_and_longer_ones_are_told(client: Client) -> None:
    ways = [["a", *(f"{way}{step}" for step in range(way)), "z"] for way in (2, 5, 8, 11)]
    await draw(client, [step for way in ways for step in pairwise(way)])
    found = await ask(client, "all_paths", source="a", target="z")
    assert ([len(path) - 1 for path in found["paths"]], found["truncated"], found["longer"]) == (
        [3, 6, 9, 12],
        False,
        None,
    )
    some = await ask(client, "all_paths", source="a", target="z", max_length=6)
    assert (some["count"], some["truncated"], some["longer"]) == (2, True, [9, 12])
    assert some["reason"] == "Longer paths lead there too, of 9, 12 edges; max_length leaves them out."
    few = await ask(client, "all_paths", source="a", target="z", limit=1)
    assert (few["count"], few["truncated"], few["longer"]) == (1, True, [6])
    assert "There are more than 1 paths" in few["reason"]


async def test_all_paths_are_bounded_however_many_there_are(client: Client) -> None:
    await f5(client)
    found = await ask(client, "all_paths", source="api", target="database")
    assert (found["count"], found["truncated"]) == (2, False)
    assert sorted(found["paths"]) == [["api", "auth", "database"], ["api", "users", "database"]]
    short = await ask(client, "all_paths", source="api", target="database", max_length=1)
    assert (short["paths"], short["count"]) == ([], 0)
    assert short["reason"] == "No path of at most 1 edges leads there, but longer ones do, of 2 edges."
    assert (short["truncated"], short["longer"]) == (True, [2])
    await draw(client, [(f"n{one}", f"n{other}") for one, other in permutations(range(12), 2)])
    many = await ask(client, "all_paths", source="n0", target="n1", max_length=11)
    assert (many["count"], many["truncated"]) == (100, True)
    assert many["paths"][0] == ["n0", "n1"]
    assert many["reason"] == "There are more than 100 paths; these are the shortest."


async def test_pagerank_ranks_the_documents_example(client: Client) -> None:
    await f5(client)
    found = await ask(client, "pagerank")
    assert [one["label"] for one in found["rankings"]] == ["database", "auth", "users", "api"]
    scores = [one["score"] for one in found["rankings"]]
    assert scores == pytest.approx([0.4706, 0.1959, 0.1959, 0.1375], abs=5e-5)
    assert sum(scores) == pytest.approx(1)
    top = await ask(client, "pagerank", top_n=3)
    assert ([one["label"] for one in top["rankings"]], top["total"], top["truncated"]) == (
        ["database", "auth", "users"],
        4,
        True,
    )


async def test_a_graph_without_nodes_has_an_answer_to_every_question(client: Client) -> None:
    await draw(client, [], ["gone"])
    await ask(client, "remove_node", label="gone")
    assert (await ask(client, "pagerank"))["rankings"] == []
    assert (await ask(client, "degree_centrality"))["rankings"] == []
    assert (await ask(client, "betweenness_centrality"))["rankings"] == []
    assert (await ask(client, "connected_components"))["components"] == []
    assert (await ask(client, "connected_components", mode="strong"))["count"] == 0
    cycles = await ask(client, "find_cycles")
    assert (cycles["cycles"], cycles["has_cycles"], cycles["truncated"]) == ([], False, False)
    assert (await ask(client, "transitive_reduction"))["edges_removed"] == 0
    assert (await ask(client, "bridges"))["bridges"] == []
    assert (await ask(client, "communities"))["count"] == 0
    info = await ask(client, "get_graph_info")
    assert (info["is_connected"], info["density"]) == (False, 0)


async def test_components_are_weak_or_strong_the_largest_first(client: Client) -> None:
    await f5(client)
    weak = await ask(client, "connected_components")
    assert (weak["count"], weak["sizes"], sorted(weak["components"][0])) == (
        1,
        [4],
        ["api", "auth", "database", "users"],
    )
    assert (await ask(client, "connected_components", mode="strong"))["count"] == 4
    await draw(client, [("x", "y"), ("y", "x")], ["alone"])
    both = await ask(client, "connected_components", limit=2)
    assert (both["sizes"], both["count"], both["truncated"]) == ([4, 2], 3, True)
    assert (await ask(client, "connected_components", mode="strong"))["components"][0] == ["x", "y"]


async def test_cycles_are_bounded_and_the_shortest_come_first(client: Client) -> None:
    await f5(client)
    none = await ask(client, "find_cycles")
    assert (none["cycles"], none["has_cycles"], none["total"]) == ([], False, 0)
    assert (none["breaking_edges"], none["breaking_edges_are_fewest"]) == ([], True)
    await draw(client, [("a", "b", "one"), ("b", "a", "other")])
    one = await ask(client, "find_cycles")
    assert (one["cycles"], one["has_cycles"], one["count"], one["truncated"]) == ([["a", "b"]], True, 1, False)
    assert (one["total"], one["breaking_edges_total"], one["breaking_edges_are_fewest"]) == (1, 1, True)
    assert (await ask(client, "find_cycles", relation="one"))["has_cycles"] is False
    await draw(client, [("b", "c"), ("c", "a"), ("b", "d"), ("d", "a")])
    three = await ask(client, "find_cycles", limit=1)
    assert (three["count"], three["total"], three["truncated"]) == (1, 3, True)
    assert three["reason"] == "There are 3 cycles; these are the shortest; limit shows more."
    assert three["breaking_edges"] == [{"source": "a", "target": "b"}]
    for end in ("c", "d"):
        await ask(client, "remove_node", label=end)
    longer = await ask(client, "find_cycles", max_length=1)
    assert (longer["has_cycles"], longer["cycles"], longer["truncated"]) == (True, [["a", "b"]], True)
    assert longer["reason"].startswith("This is some cycle of the graph")
    await draw(client, [(f"n{first}", f"n{second}") for first, second in permutations(range(10), 2)])
    many = await ask(client, "find_cycles", limit=100)
    assert (many["count"], many["truncated"]) == (100, True)
    assert [len(cycle) for cycle in many["cycles"]] == [2] * 46 + [3] * 54
    assert (many["total"], many["reason"]) == (
        None,
        "There are at least 10,000 cycles; these are the shortest; limit shows more.",
    )
    assert many["breaking_edges_total"] == 46


async def test_a_reduction_lists_what_would_go_and_takes_it_out_only_if_asked(client: Client) -> None:
    await draw(client, [("a", "b", "needs"), ("b", "c", "needs"), ("a", "c", "needs"), ("a", "c", "knows")])
    listed = await ask(client, "transitive_reduction", relation="needs")
    assert (listed["edges_removed"], listed["edges"], listed["in_place"]) == (
        1,
        [{"source": "a", "target": "c", "relation": "needs"}],
        False,
    )
    assert "nothing was removed" in listed["message"]
    assert (await ask(client, "get_graph_info"))["edge_count"] == 4
    done = await ask(client, "transitive_reduction", relation="needs", in_place=True)
    assert (done["edges_removed"], done["in_place"]) == (1, True)
    left = {(one["source"], one["target"], one["relation"]) for one in (await ask(client, "find_edges"))["edges"]}
    assert left == {("a", "b", "needs"), ("b", "c", "needs"), ("a", "c", "knows")}
    assert (await ask(client, "transitive_reduction", in_place=True))["edges_removed"] == 1
    assert (await ask(client, "get_graph_info"))["edge_count"] == 2
    assert (await ask(client, "transitive_reduction"))["message"] == "Every edge is needed."
    await draw(client, [("c", "a", "needs")])
    message = error_of(await client.call_tool("transitive_reduction", {"in_place": True}))
    assert "'a' -> 'b' -> 'c' -> 'a'" in message
    assert (await ask(client, "get_graph_info"))["edge_count"] == 3


async def test_answers_hold_labels_and_never_a_number_of_a_node(client: Client) -> None:
    await draw(client, F6)
    for tool, arguments in (
        ("shortest_path", {"source": LINE[0], "target": LINE[3]}),
        ("all_paths", {"source": LINE[0], "target": LINE[3]}),
        ("connected_components", {}),
        ("bridges", {}),
        ("communities", {}),
        ("impact_of_removal", {"node": LINE[1]}),
    ):
        answer = await ask(client, tool, **arguments)
        lists = [value for name, value in answer.items() if isinstance(value, list) and name != "relations"]
        names = {name for value in lists for name in _strings(value)}
        assert names <= {*LINE}, tool
        assert not any("id" in key.split("_") or "uuid" in key or "index" in key for key in answer)


def _strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


async def test_small_scores_can_be_told_apart_by_the_text_alone(client: Client) -> None:
    ring = [(f"n{node}", f"n{(node + 1) % 3_000}") for node in range(3_000)]
    await draw(client, [*ring, ("n7", "n9"), ("n8", "n10")])
    result = await client.call_tool("pagerank", {})
    lean, whole = told(result)["rankings"], answered(result)["rankings"]
    assert all(0 < one["score"] < 0.001 for one in lean)
    assert [one["score"] for one in lean] == pytest.approx([one["score"] for one in whole], rel=0.01)
    assert len(text(await client.call_tool("connected_components", {}))) < 24_000
