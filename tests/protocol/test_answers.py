"""Answers over both protocol generations: structured content whole, text enough to go on."""

import json

import pytest
from mcp.client import Client
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_write, an_entity
from tests.corpus import DJANGO, HUB, HUB_FACTS_IN_OWN_GROUP, hub, load, weeks
from tests.protocol.support import World, answered, text, told


@pytest.fixture(autouse=True)
async def loaded(world: World) -> None:
    await load(world.graph, [*hub(), *weeks()], world.embedder)


async def test_connections_hold_every_field_of_a_fact_in_structured_content(client: Client) -> None:
    answer = answered(await client.call_tool("get_entity_connections", {"entity_uuid": HUB}))
    assert len(answer["facts"]) == 50
    for fact in answer["facts"]:
        assert {"uuid", "group_id", "source_node_uuid", "target_node_uuid", "created_at", "name", "fact"} <= set(fact)
        assert {"episodes", "expired_at", "valid_at", "invalid_at", "reference_time", "attributes"} <= set(fact)
        assert "HUB" in (fact["source_node_name"], fact["target_node_name"])


async def test_one_server_speaks_both_generations_of_the_protocol(world: World) -> None:
    async with world.connect("auto") as newer, world.connect("legacy") as older:
        assert (newer.protocol_version, older.protocol_version) == ("2026-07-28", "2025-11-25")
        assert (await newer.list_tools()).tools == (await older.list_tools()).tools
        asked = {"entity_uuid": HUB, "max_connections": 1}
        answers = [await client.call_tool("get_entity_connections", asked) for client in (newer, older)]
        assert answered(answers[0]) == answered(answers[1])


async def test_text_is_compact_json_without_nulls_whole_uuids_and_the_asked_entity(client: Client) -> None:
    result = await client.call_tool("get_entity_connections", {"entity_uuid": HUB})
    assert HUB not in text(result)
    assert "null" not in text(result)
    assert "\n" not in text(result)
    assert len(text(result)) <= 24_000
    lean, whole = told(result), answered(result)
    assert lean["next_cursor"] == whole["next_cursor"]
    assert lean["total"] == whole["total"] == HUB_FACTS_IN_OWN_GROUP
    for shown, fact in zip(lean["facts"], whole["facts"], strict=True):
        other = "target_node" if fact["direction"] == "out" else "source_node"
        assert fact["uuid"].startswith(shown["uuid"])
        assert len(shown["uuid"]) < 16
        assert fact[f"{other}_uuid"].startswith(shown[f"{other}_uuid"])
        assert fact[f"{other}_name"] in shown["fact"]
        assert shown["valid_at"] == fact["valid_at"].replace("T00:00:00+00:00", "").replace("+00:00", "Z")
        assert "group_id" not in shown


async def test_pages_followed_by_text_alone_give_every_fact_once(client: Client) -> None:
    found = told(await client.call_tool("search_nodes", {"names": ["HUB"], "group_ids": GROUP}))
    arguments = {"entity_uuid": found["nodes"][0]["uuid"], "group_ids": GROUP, "max_connections": 40}
    page = told(await client.call_tool("get_entity_connections", arguments))
    seen = [fact["uuid"] for fact in page["facts"]]
    while page["truncated"]:
        page = told(await client.call_tool("get_entity_connections", {**arguments, "cursor": page["next_cursor"]}))
        seen += [fact["uuid"] for fact in page["facts"]]
    assert len(seen) == len(set(seen)) == HUB_FACTS_IN_OWN_GROUP
    edge = answered(await client.call_tool("get_entity_edge", {"uuid": seen[0]}))
    assert edge["fact"]["uuid"].startswith(seen[0])


async def test_timeline_episodes_have_all_seven_keys(client: Client) -> None:
    answer = answered(await client.call_tool("get_entity_timeline", {"entity_uuid": DJANGO}))
    assert answer["episodes"]
    for episode in answer["episodes"]:
        assert {"uuid", "name", "content", "valid_at", "created_at", "source", "group_id"} <= set(episode)
    assert answer["episodes"][-1]["name"] == "Week 25"


@pytest.mark.parametrize(
    "arguments",
    [
        {"group_ids": OTHER_GROUP},
        {"group_ids": [OTHER_GROUP]},
        {"group_ids": json.dumps([OTHER_GROUP])},
        {"group_ids": OTHER_GROUP, "cursor": None, "query": None, "max_nodes": None},
    ],
)
async def test_a_list_may_come_as_one_value_as_json_and_a_parameter_as_null(
    client: Client, arguments: dict[str, object]
) -> None:
    answer = answered(await client.call_tool("search_nodes", {"names": "Spoke 03", **arguments}))
    assert [node["name"] for node in answer["nodes"]] == ["Spoke 03"]
    assert answer["scope"]["group_ids"] == [OTHER_GROUP]


@pytest.mark.parametrize("given", ["true", "null", "[1, 2]", '{"a": 1}'])
async def test_a_text_that_looks_like_json_stays_a_text(client: Client, world: World, given: str) -> None:
    answered(await client.call_tool("add_memory", {"episode_body": given, "name": given}))
    assert (world.writing.requests[0].episode_body, world.writing.requests[0].name) == (given, given)


async def test_entities_and_facts_reach_the_service_with_nulls_left_out(client: Client, world: World) -> None:
    fact = {"source": "me", "relation": "SLEPT", "kind": None, "value": 5, "target": None}
    arguments = {
        "episode_body": "I slept 5 hours.",
        "entities": {"name": "sleep", "type": None},
        "facts": json.dumps([fact]),
        "saga": "nights",
    }
    answered(await client.call_tool("add_memory", arguments))
    request = world.writing.requests[0]
    assert [entity.name for entity in request.entities] == ["sleep"]
    assert (request.facts[0].kind, request.facts[0].value) == ("state", 5)
    assert request.steering == {"saga": "nights"}


async def test_an_empty_answer_tells_what_the_group_holds(client: Client) -> None:
    answer = told(await client.call_tool("search_nodes", {"query": "Django", "group_ids": ["non-existent-group"]}))
    assert answer["total"] == 0
    assert answer["scope"]["group_ids"] == ["non-existent-group"]


async def test_one_engine_stands_behind_the_three_searches(client: Client, world: World) -> None:
    """They find by words when they cannot by meaning, and say so in the same words."""
    searches = ("search_nodes", "search_memory_facts", "search_episodes")
    for available in (True, False):
        world.embedder.is_available = available
        world.embedder.calls.clear()
        answers = [
            answered(await client.call_tool(search, {"query": "hub works django", "group_ids": GROUP}))
            for search in searches
        ]
        assert all(answer["returned"] for answer in answers)
        assert len({answer["scope"].get("note") for answer in answers}) == 1
        assert (answers[0]["scope"].get("note") is None) is available
        assert world.embedder.calls == ([["hub works django"]] * 3 if available else [])


@pytest.mark.parametrize(
    ("tool", "items", "asked"),
    [
        ("search_episodes", "episodes", {"query": "hub works django"}),
        ("search_nodes", "nodes", {"query": "hub works django", "center_node_uuid": HUB}),
        ("search_memory_facts", "facts", {"query": "hub works django", "center_node_uuid": HUB}),
    ],
)
async def test_the_parts_of_a_score_add_up_to_it_and_are_not_in_the_text(
    client: Client, tool: str, items: str, asked: dict[str, str]
) -> None:
    result = await client.call_tool(tool, {**asked, "group_ids": GROUP})
    found = answered(result)[items]
    assert {part for item in found for part in item["why"]} >= {"words", "meaning"}
    for item in found:
        assert sum(item["why"].values()) == pytest.approx(item["score"], abs=0.004)
    assert all("why" not in item for item in told(result)[items])


async def test_an_entity_and_an_episode_are_read_as_resources(client: Client) -> None:
    entity = (await client.read_resource(f"pkm://entity/{DJANGO}")).contents[0].model_dump()
    assert json.loads(entity["text"])["name"] == "Django project"
    assert entity["mime_type"] == "application/json"
    newest = answered(await client.call_tool("get_episodes", {"group_ids": GROUP, "max_episodes": 1}))["episodes"][0]
    episode = (await client.read_resource(f"pkm://episode/{newest['uuid']}")).contents[0].model_dump()
    assert json.loads(episode["text"])["content"] == newest["content"]


async def test_status_answers_with_groups(client: Client) -> None:
    assert set(answered(await client.call_tool("get_status", {}))["groups"]) == {GROUP, OTHER_GROUP}


async def test_waiting_for_a_model_is_told_to_who_asks_for_progress_in_both_generations(world: World) -> None:
    for mode in ("auto", "legacy"):
        came: list[tuple[float, float | None, str | None]] = []

        async def progress(
            done: float, most: float | None, what: str | None, to: list[tuple[float, float | None, str | None]] = came
        ) -> None:
            to.append((done, most, what))

        async with world.connect(mode) as client:
            arguments = {"episode_body": "x", "wait_seconds": 20}
            answered(await client.call_tool("add_memory", arguments, progress_callback=progress))
            answered(await client.call_tool("add_memory", {"episode_body": "x"}))
        assert came == [(0, 20, "extraction queued")]
    assert world.writing.waits == [20, 0, 20, 0]


@pytest.mark.parametrize("seconds", [-1, 46, "soon"])
async def test_nobody_waits_longer_than_a_client_does(world: World, client: Client, seconds: object) -> None:
    result = await client.call_tool("add_memory", {"episode_body": "x", "wait_seconds": seconds})
    assert result.is_error
    assert "0 to 45" in text(result)
    assert world.writing.requests == []


async def test_a_search_ends_where_the_scores_fall_away_and_paging_reaches_the_rest(
    client: Client, world: World
) -> None:
    group = "formats"
    tool = an_entity("adr-tools", group_id=group)
    ends = [an_entity(name, group_id=group) for name in ("Markdown", "Nygard", "Windows", "Pandoc")]
    said = (
        "adr-tools writes Markdown",
        "adr-tools follows Nygard",
        "adr-tools runs on Windows",
        "adr-tools feeds Pandoc",
    )
    facts = [a_fact(tool, one, "HAS", text=text) for one, text in zip(ends, said, strict=True)]
    await load(world.graph, [a_write(tool, *ends, *facts)], world.embedder)
    asked = {"query": "adr-tools writes Markdown", "group_ids": group}
    result = await client.call_tool("search_memory_facts", asked)
    page = told(result)
    assert [fact["fact"] for fact in page["facts"]] == ["adr-tools writes Markdown"]
    assert answered(result)["truncated"] is True
    assert "truncated" not in page, "all that fits is there, and weaker says what follows"
    rest = told(await client.call_tool("search_memory_facts", {**asked, "cursor": page["next_cursor"]}))
    assert len(rest["facts"]) == page["weaker"]
    assert "weaker" not in rest
