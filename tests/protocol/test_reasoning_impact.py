"""What the removal of a node changes for another one, and how much of an impact an answer shows."""

import pytest
from mcp.client import Client
from tests.protocol.support import EVERYTHING, World, error_of
from tests.protocol.test_reasoning_queries import ask, draw

POOL, OUTAGE = "connection pool exhaustion", "checkout outage"
CYCLE = ["failed health checks", "node evictions", "overloaded nodes"]
INCIDENT = [
    ("traffic spike", "slow queries"),
    ("leaked connections", "slow queries"),
    ("slow queries", POOL),
    (POOL, CYCLE[0]),
    (CYCLE[0], CYCLE[1]),
    (CYCLE[1], CYCLE[2]),
    (CYCLE[2], CYCLE[0]),
    (CYCLE[0], OUTAGE),
    (CYCLE[2], OUTAGE),
    ("config push", OUTAGE),
    ("config push", CYCLE[2]),
]


@pytest.fixture
def world() -> World:
    return World(EVERYTHING)


async def draw_incident(client: Client) -> None:
    await draw(client, [(cause, effect, "causes") for cause, effect in INCIDENT])


async def test_a_target_that_follows_from_the_node_gets_what_no_longer_leads_to_it(client: Client) -> None:
    await draw_incident(client)
    found = await ask(client, "impact_of_removal", node=POOL, target=OUTAGE)
    (lost,) = found["newly_unreachable"]
    assert sorted(lost["sources"]) == ["leaked connections", "slow queries", "traffic spike"]
    assert (lost["lost"], found["newly_unreachable_total"]) == ([OUTAGE], 3)
    assert f"no longer leads to '{OUTAGE}'" in found["note"]
    assert "3 of the 7" in found["note"]
    assert "2 of its 3 roots" in found["note"]


async def test_a_target_is_never_answered_with_a_silent_zero(client: Client) -> None:
    await draw_incident(client)
    for node, target in ((CYCLE[1], OUTAGE), ("config push", "traffic spike"), (OUTAGE, "config push"), (POOL, POOL)):
        found = await ask(client, "impact_of_removal", node=node, target=target)
        assert (found["newly_unreachable"], found["newly_unreachable_total"]) == ([], 0)
        assert found["note"].startswith("Asked: "), (node, target)
    assert "no path" in (await ask(client, "impact_of_removal", node="config push", target="traffic spike"))["note"]


async def test_a_target_that_needs_the_node_gets_what_it_no_longer_reaches(client: Client) -> None:
    await draw(client, [("app", "api", "calls"), ("api", "db", "calls"), ("app", "log", "calls")])
    found = await ask(client, "impact_of_removal", node="api", target="app")
    assert [(one["sources"], one["lost"]) for one in found["newly_unreachable"]] == [(["app"], ["db"])]
    assert found["note"] == "Asked: what 'app' no longer reaches without 'api': 1 of the 2 other nodes."


async def test_the_best_single_fix_comes_first_and_a_cycle_says_whom_each_node_cuts_off(client: Client) -> None:
    await draw_incident(client)
    found = await ask(client, "common_causes", target=OUTAGE)
    through = {one["label"]: one["cuts_off"] for one in found["through"]}
    assert through == {"slow queries": 2, POOL: 2, CYCLE[0]: 2, CYCLE[1]: 0, CYCLE[2]: 0}
    assert [*through.values()] == sorted(through.values(), reverse=True)
    assert "cuts_off" in found["note"]
    assert "roots themselves" not in found["note"]


async def test_relations_that_name_the_cause_second_are_not_followed_in_silence(client: Client) -> None:
    await draw(client, [("outage", "full disk", "was caused by"), ("full disk", "log storm", "due to")])
    found = await ask(client, "common_causes", target="log storm")
    assert [one["label"] for one in found["roots"]] == ["outage"]
    assert found["note"].startswith("Edges of 'due to', 'was caused by' name the cause second, yet are followed")
    assert "was caused by" in (await ask(client, "common_causes", target="outage"))["note"]


async def test_a_cut_of_all_roots_is_called_so(client: Client) -> None:
    await draw(client, [("rain", "flood", "causes"), ("flood", "outage", "causes"), ("worm", "outage", "causes")])
    found = await ask(client, "common_causes", target="outage")
    assert sorted(found["smallest_cut"]) == ["rain", "worm"]
    assert "The smallest cut is the roots themselves" in found["note"]


async def test_direct_dependents_are_apart_and_all_that_fit_are_there(client: Client) -> None:
    direct = [f"direct {number}" for number in range(18)]
    await draw(client, [(one, "base", "imports") for one in direct] + [("main", direct[0], "imports")])
    found = await ask(client, "impact_of_removal", node="base")
    assert sorted(found["direct_dependents"]) == sorted(direct)
    assert (found["indirect_dependents"], found["truncated"], found["note"]) == (["main"], False, None)
    assert (found["direct_dependents_total"], found["indirect_dependents_total"]) == (18, 1)
    base = await ask(client, "impact_of_removal", node="main")
    assert (base["direct_dependencies"], base["indirect_dependencies"]) == ([direct[0]], ["base"])
    cut = await ask(client, "impact_of_removal", node="base", limit=3)
    assert (len(cut["direct_dependents"]), cut["indirect_dependents"], cut["truncated"]) == (3, [], True)
    assert "limit" in cut["note"]


async def test_many_cycles_are_told_by_the_shortest_and_by_all_edges_that_break_them(client: Client) -> None:
    names = [f"package.module_{number}" for number in range(9)]
    await draw(client, [(one, other, "imports") for one in names for other in names if one != other])
    found = await ask(client, "find_cycles")
    assert (found["count"], found["truncated"]) == (20, True)
    assert {len(cycle) for cycle in found["cycles"]} == {2}
    assert found["breaking_edges_total"] == len(found["breaking_edges"]) == 36
    assert found["reason"].endswith("these are the shortest; limit shows more.")
    assert (await ask(client, "find_cycles", limit=50))["count"] == 50


async def test_the_unique_beginning_of_a_label_is_taken_to_read_and_not_to_write(client: Client) -> None:
    rossi, other = "Rossi 2018 Deep learning of sparse graphs in chemistry", "Word Vectors"
    await draw(
        client, [(rossi, other, "cites"), ("Kim 2019 Trees", other, "cites"), ("Kim 2019 Woods", other, "cites")]
    )
    found = await ask(client, "shortest_path", source="rossi 2018", target=other)
    assert (found["source_matched"], found["path"]) == (rossi, [rossi, other])
    for text in ("Rossi 201", "Kim 2019"):  # no word boundary; two of them
        assert (await client.call_tool("get_neighbors", {"node": text})).is_error, text
    assert (await client.call_tool("remove_node", {"label": "Rossi 2018"})).is_error
    edge = {"source": "Rossi 2018", "target": other, "relation": "extends"}
    assert (await client.call_tool("add_edge", edge)).is_error
    assert (await ask(client, "get_graph_info"))["node_count"] == 4


async def test_two_bad_ends_are_reported_together(client: Client) -> None:
    await draw(client, [("a", "b", "cites")])
    told = error_of(await client.call_tool("shortest_path", {"source": "Nobody", "target": "Nothing else"}))
    assert "'Nobody'" in told
    assert "'Nothing else'" in told
