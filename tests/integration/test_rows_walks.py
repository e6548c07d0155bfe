"""Rows of the catalogue about paths, subgraphs and sources: the real database behind the real client."""

from collections.abc import AsyncIterator

import pytest
from tests.corpus import DENSE_ENTITIES, dense, fixed_uuid
from tests.integration.planted import files_with
from tests.integration.rows_support import World, a_world, in_one_task

BODY = "Notes of the day.\n\nWe moved the API to Go because of memory: the old one ate 3 GB. Then we had lunch."


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world(toolsets=("memory", "graph"))) as entered:
        yield entered


async def dense_world(world: World) -> None:
    """F1, the dense fixture of the catalogue."""
    for write in dense():
        await world.memory.context.graph.writer.apply(write, {})


def numbered(number: int) -> str:
    return fixed_uuid(f"entity N{number % DENSE_ENTITIES:03d}")


async def test_in_the_dense_graph_paths_are_minimal_and_a_subgraph_is_bounded(world: World) -> None:
    await dense_world(world)
    for target, hops in ((10, 1), (11, 2), (25, 3), (31, 4), (-40, 4)):
        found = await world.call(
            "find_entity_path", source_uuid=numbered(0), target_uuid=numbered(target), max_paths=10
        )
        assert found["hops"] == hops
        routes = [path["path"] for path in found["paths"]]
        assert len(set(routes)) == len(routes)
        assert all(len(path["fact_uuids"]) == hops for path in found["paths"])
        assert all(route.startswith("N000 ") for route in routes)
    far = await world.call("find_entity_path", source_uuid=numbered(0), target_uuid=numbered(300))
    assert far["paths"] == []
    assert "nothing within 4 hop(s) joins the two" in far["message"]
    around = await world.call("get_entity_subgraph", entity_uuid=numbered(0), hops=2, max_nodes=50, max_facts=200)
    assert (around["truncated"], around["nodes_left_out"]) == (True, None)
    assert (len(around["nodes"]), len(around["facts"]), around["facts_total"]) == (41, 200, 355)
    cut = await world.call("get_entity_subgraph", entity_uuid=numbered(0), hops=2)
    assert (cut["truncated"], cut["nodes_left_out"], len(cut["nodes"])) == (True, 1, 20)


async def test_the_words_behind_a_fact_are_found_by_meaning(world: World) -> None:
    stored = await world.call(
        "add_memory",
        episode_body=BODY,
        name="API",
        facts=[{"source": "API", "relation": "USES", "target": "Go", "fact": "The API uses Go to save memory"}],
    )
    (fact,) = stored["facts"]
    sources = await world.call("get_fact_sources", fact_uuid=fact["uuid"])
    assert sources["sources"][0]["text"] == "We moved the API to Go because of memory: the old one ate 3 GB."
    assert sources["sources"][0]["score"] > 0.4
    assert (sources["total"], sources["sources"][0]["episode"]) == (1, "API")
    assert sources["message"].endswith("; its episodes hold 3")
    assert all(one["text"] == BODY[one["start"] : one["end"]] for one in sources["sources"])
    (paragraph, *_) = (await world.call("get_fact_sources", fact_uuid=fact["uuid"], mode="paragraph"))["sources"]
    assert paragraph["text"].endswith("Then we had lunch.")


async def test_a_cleared_group_does_not_come_back_with_a_rebuild(world: World) -> None:
    hidden = "Zéphyrin-Quolltext"
    body = f"{BODY} {hidden}."
    await world.call("add_memory", episode_body=body, group_id="gone", entities=[{"name": "Go", "aliases": [hidden]}])
    await world.call("add_memory", episode_body=BODY, group_id="kept", entities=[{"name": "Go"}])
    preview = await world.call("clear_graph", group_ids=["gone"])
    cleared = await world.call("clear_graph", group_ids=["gone"], confirm=preview["confirm"])
    assert cleared["status"] == "cleared"
    assert "gone from the database's and the journal's files" in cleared["message"]
    later = await world.call("add_memory", episode_body="Anew.", group_id="gone")
    assert files_with(world.memory.context.settings.data_dir, hidden) == []
    await world.memory.recovery.rebuilding.rebuild(lambda _done, _all: None)
    for group, bodies in (("gone", ["Anew."]), ("kept", [BODY])):
        episodes = await world.call("get_episodes", group_ids=[group])
        assert [one["content"] for one in episodes["episodes"]] == bodies
    assert (await world.call("get_episodes", group_ids=["gone"]))["episodes"][0]["uuid"] == later["episode_uuid"]
    assert (await world.call("search_nodes", query="Go", group_ids=["gone"]))["total"] == 0


async def test_episodes_of_a_period_are_searched_and_listed_in_order(world: World) -> None:
    for month in (1, 2, 3, 4):
        await world.call(
            "add_memory",
            episode_body=f"Stress came up in month {month}.",
            reference_time=f"2025-{month:02d}-15",
            entities=[{"name": "stress"}],
        )
    period = {"valid_after": "2025-02", "valid_before": "2025-04"}
    nodes = (await world.call("search_nodes", names=["stress"]))["nodes"]
    listed = await world.call("get_entity_timeline", entity_uuid=nodes[0]["uuid"], **period)
    wanted = ["Stress came up in month 2.", "Stress came up in month 3."]
    assert [one["content"] for one in listed["episodes"]] == wanted
    found = await world.call("search_episodes", query="stress", **period)
    assert sorted(one["content"] for one in found["episodes"]) == wanted
