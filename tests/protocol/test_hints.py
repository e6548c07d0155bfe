"""Hints through a client: what is suggested, when the text says so, and what is asked back."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent
from tests.protocol.access import Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, REFERENCE, SPECS, TOGETHER, World, answered, definitions, error_of, text

from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.server.tools.hints import PREREQUISITE as HINT
from graphiti_pkm.server.tools.hints import SUGGESTED
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.settings.serving import HintMode

HOLACRACY: dict[str, Any] = {"entities": [{"name": "Holacracy", "type": "Concept", "observations": ["has circles"]}]}
NOTE: dict[str, Any] = {"episode_body": "Tom came.", "entities": [{"name": "Tom", "type": "Person"}]}
MODES: tuple[HintMode, ...] = ("off", "advise", "confirm")


def a_server(hints: HintMode = "advise", settings: Settings = EVERYTHING) -> World:
    world = World(settings.model_copy(update={"hints": hints}))
    world.writes_really = True
    return world


def texts(result: CallToolResult) -> list[str]:
    return [one.text for one in result.content if isinstance(one, TextContent)]


def hinted(result: CallToolResult) -> str | None:
    """The hint of an answer, which text and structured content have alike, or neither."""
    (only,), hint = texts(result), answered(result).get(HINT)
    assert json.loads(only).get(HINT) == hint
    assert SUGGESTED not in only
    return hint


# advise


async def test_created_without_a_search_then_searched_then_created_again() -> None:
    async with a_server().connect() as client:
        first = await client.call_tool("create_entities", HOLACRACY)
        assert hinted(first) == (
            "search_nodes was not called before: a search shows what is known already, and under which name."
        )
        assert answered(first)["result"][0]["name"] == "Holacracy"  # it was carried out
        search = await client.call_tool("search_nodes", {"query": "Holacracy"})
        assert hinted(search) is None
        assert answered(search)[SUGGESTED] == ["add_memory", "create_relations", "get_entity_connections"]
        again = await client.call_tool("create_entities", HOLACRACY)
        assert hinted(again) is None
        assert answered(again)[SUGGESTED] == ["create_relations", "add_evidence"]


async def test_a_search_counts_for_whoever_may_see_the_same_and_for_nobody_else(doors: Doors) -> None:
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100})
    world, anna, ben = a_world(doors), doors.add("anna"), doors.add("ben")
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", "auto", **anna) as client:
            answered(await client.call_tool("search_nodes", {"query": "Tom"}))
        async with connected(f"{url}/mcp", "legacy", **ben) as client:
            assert hinted(await client.call_tool("add_memory", NOTE)) is not None
        async with connected(f"{url}/mcp", "legacy", **anna) as client:  # another session, another protocol
            assert hinted(await client.call_tool("add_memory", NOTE)) is None


async def test_a_search_that_failed_does_not_count() -> None:
    async with a_server().connect() as client:
        error_of(await client.call_tool("search_nodes", {"query": "Tom", "limit": 0}))
        assert hinted(await client.call_tool("add_memory", NOTE)) is not None


async def test_only_what_is_offered_and_permitted_is_suggested(doors: Doors) -> None:
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    world, reader, writer = a_world(doors), doors.add("anna", tier="reader"), doors.add("anna")
    narrow = {**writer, "X-MCP-Toolsets": "memory"}
    searches = (
        (reader, ["get_entity_connections"]),
        (narrow, ["add_memory", "get_entity_connections"]),
        (writer, ["add_memory", "create_relations", "get_entity_connections"]),
    )
    async with served(doors.settings, world.start) as url:
        for headers, suggested in searches:
            async with connected(f"{url}/mcp", "auto", **headers) as client:
                assert answered(await client.call_tool("search_nodes", {"query": "x"}))[SUGGESTED] == suggested
    async with a_server(settings=Settings(exclude_tools=("add_memory",))).connect() as client:
        assert answered(await client.call_tool("search_nodes", {"query": "x"}))[SUGGESTED] == ["get_entity_connections"]
    async with a_server(settings=Settings(tools=("add_memory",))).connect() as client:
        told = await client.call_tool("add_memory", NOTE)  # nothing can be called first or next
        assert (hinted(told), SUGGESTED in answered(told)) == (None, False)


async def test_a_hint_does_not_repeat_what_needs_attention_says() -> None:
    async with a_server().connect() as client:
        note = {"episode_body": "We use PostgreSQL.", "entities": [{"name": "PostgreSQL Server", "type": "Tool"}]}
        assert hinted(await client.call_tool("add_memory", note)) is not None
        near = {"episode_body": "A PostgreSQL.", "entities": [{"name": "The PostgreSQL Server", "type": "Tool"}]}
        told = await client.call_tool("add_memory", near)
        (notice,) = answered(told)["needs_attention"]
        assert (notice["what"], notice["candidates"][0][:17]) == ("similar_existing", "PostgreSQL Server")
        assert hinted(told) is None
        spelt = {"entities": [{"name": "Postgre SQL Server", "type": "Tool", "observations": ["has rows"]}]}
        told = await client.call_tool("create_entities", spelt)
        assert answered(told)["known_as"] == {"Postgre SQL Server": "PostgreSQL Server"}
        assert hinted(told) is None


async def test_a_tool_that_the_answer_itself_names_is_not_suggested_beside_it() -> None:
    async with a_server().connect() as client:
        names = ("Tom", "Ida")
        sent = [{"name": name, "type": "Person", "observations": [f"{name} sings"]} for name in names]
        answered(await client.call_tool("create_entities", {"entities": sent}))
        found = answered(await client.call_tool("search_memories", {"query": "Tom"}))
        assert found[SUGGESTED] == ["create_entities", "create_relations", "get_entity_connections"]
        related = [{"source": "Tom", "target": "Ida", "relationType": "KNOWS"}]
        answered(await client.call_tool("create_relations", {"relations": related}))
        found = answered(await client.call_tool("search_memories", {"query": "Tom"}))
        assert "get_entity_connections" in found["hint"]
        assert found[SUGGESTED] == ["create_entities", "create_relations"]


async def test_a_preview_suggests_nothing_but_itself() -> None:
    async with a_server().connect() as client:
        summary = "A store of rows with transactions and an optimizer."
        named = [{"name": name, "type": "Tool", "summary": summary} for name in ("Postgres DB", "The Postgres DB")]
        told = answered(await client.call_tool("add_memory", {"episode_body": "A store.", "entities": named}))
        keep, remove = (one["uuid"] for one in told["entities"])
        asked = {"keep_uuid": keep, "remove_uuid": remove, "reason": "One store."}
        refused = await client.call_tool("merge_entities", asked)
        error_of(refused)
        assert (refused.structured_content or {})["hint"] == "flag one of them first, so that others can object."
        answered(await client.call_tool("flag_for_review", {"entity_uuid": keep, "reason": "Twice?"}))
        preview = await client.call_tool("merge_entities", asked)
        assert SUGGESTED not in answered(preview)
        assert (answered(preview)["similarity"], hinted(preview)) == (pytest.approx(1, abs=0.15), None)
        merged = await client.call_tool("merge_entities", {**asked, "confirm": answered(preview)["confirm"]})
        assert hinted(merged) is None
        assert answered(merged)[SUGGESTED] == ["unmerge_entities"]


async def test_after_a_deletion_nobody_is_told_to_look_first() -> None:
    async with a_server().connect() as client:
        stored = answered(await client.call_tool("add_memory", NOTE))
        assert hinted(await client.call_tool("delete_episode", {"uuid": stored["episode_uuid"]})) is None


async def test_the_tools_of_the_reference_server_answer_as_it_does() -> None:
    async with a_server(settings=REFERENCE).connect() as client:
        entity = {"name": "Tom", "entityType": "Person", "observations": ["came"]}
        for tool, arguments in (("create_entities", {"entities": [entity]}), ("search_nodes", {"query": "Tom"})):
            result = await client.call_tool(tool, arguments)
            assert [json.loads(one) for one in texts(result)] == [answered(result)]


# off


async def test_off_adds_nothing() -> None:
    async with a_server("off").connect() as plain, a_server("advise").connect() as advised:
        for tool, arguments in (("create_entities", HOLACRACY), ("search_nodes", {"query": "Holacracy"})):
            before, after = await plain.call_tool(tool, arguments), await advised.call_tool(tool, arguments)
            assert not {SUGGESTED, HINT} & answered(before).keys()
            assert len(before.content) == 1
            assert answered(after)[SUGGESTED]
            assert answered(before).keys() == answered(after).keys() - {SUGGESTED, HINT}


async def test_definitions_cost_the_same_with_hints_and_only_confirm_adds_a_parameter() -> None:
    by_mode = {mode: await definitions(EVERYTHING.model_copy(update={"hints": mode})) for mode in MODES}
    assert by_mode["off"] == by_mode["advise"]
    for plain, asking in zip(by_mode["off"], by_mode["confirm"], strict=True):
        added = asking.input_schema["properties"].keys() - plain.input_schema["properties"].keys()
        has_own = "confirm" in plain.input_schema["properties"]
        wants = bool(SPECS[plain.name].hints.prerequisites) and not has_own
        assert added == ({"confirm"} if wants else set()), plain.name
        assert plain.output_schema == asking.output_schema


# confirm


async def test_a_call_without_its_prerequisite_waits_for_its_own_confirmation() -> None:
    world = a_server("confirm")
    async with world.connect() as client:
        result = await client.call_tool("add_memory", NOTE)
        told = dict(result.structured_content or {})
        assert error_of(result) == told["message"]
        assert (told["error"], told["code"], told["can_proceed"]) == (
            *("PREREQUISITE_SUGGESTED", "prerequisite_suggested"),
            True,
        )
        assert "consider calling search_nodes first" in told["message"]
        assert told["hint"] == "A search shows what is known already, and under which name."
        assert told["confirm"] in told["message"]
        assert not world.graph.tables.episodes
        others = [
            {**NOTE, "confirm": "0" * 12},
            {**NOTE, "confirm": 7},
            {**NOTE, "episode_body": "Tom went.", "confirm": told["confirm"]},
        ]
        for other in others:
            assert (await client.call_tool("add_memory", other)).is_error
        error_of(await client.call_tool("create_entry", {"confirm": told["confirm"]}))
        assert not world.graph.tables.episodes
        stored = await client.call_tool("add_memory", {**NOTE, "confirm": told["confirm"]})
        assert hinted(stored) is not None
        assert list(world.graph.tables.episodes) == [answered(stored)["episode_uuid"]]
    async with world.connect() as client:  # another process, which signs with the same key
        assert not (await client.call_tool("add_memory", {**NOTE, "confirm": told["confirm"]})).is_error


async def test_after_the_prerequisite_nothing_is_asked_back() -> None:
    async with a_server("confirm").connect() as client:
        answered(await client.call_tool("search_nodes", {"query": "Tom"}))
        assert hinted(await client.call_tool("add_memory", NOTE)) is None
        assert hinted(await client.call_tool("add_memory", {**NOTE, "confirm": "none needed"})) is None


async def test_a_wrong_argument_is_told_before_anything_is_asked_back() -> None:
    async with a_server("confirm").connect() as client:
        for arguments in ({}, {**NOTE, "colour": "red"}):
            result = await client.call_tool("add_memory", arguments)
            assert "Bad arguments" in error_of(result)


async def test_a_deletion_that_nobody_looked_at_is_asked_back() -> None:
    world = a_server("confirm")
    async with world.connect() as client:
        answered(await client.call_tool("search_nodes", {"query": "Tom"}))
        uuid = answered(await client.call_tool("add_memory", NOTE))["episode_uuid"]
        result = await client.call_tool("delete_episode", {"uuid": uuid})
        assert "consider calling get_episodes first" in error_of(result)
        assert uuid in world.graph.tables.episodes
        confirm = (result.structured_content or {})["confirm"]
        answered(await client.call_tool("delete_episode", {"uuid": uuid, "confirm": confirm}))
        assert uuid not in world.graph.tables.episodes


async def test_a_merge_has_its_own_preview_after_the_suggestion() -> None:
    async with a_server("confirm").connect() as client:
        answered(await client.call_tool("search_nodes", {"query": "x"}))
        summary = "A store of rows with transactions and an optimizer."
        named = [{"name": name, "type": "Tool", "summary": summary} for name in ("Postgres DB", "The Postgres DB")]
        told = answered(await client.call_tool("add_memory", {"episode_body": "A store.", "entities": named}))
        keep, remove = (one["uuid"] for one in told["entities"])
        answered(await client.call_tool("flag_for_review", {"entity_uuid": keep, "reason": "Twice?"}))
        asked = {"keep_uuid": keep, "remove_uuid": remove, "reason": "One store."}
        suggestion = await client.call_tool("merge_entities", asked)
        assert "consider calling flag_similar_entities first" in error_of(suggestion)
        confirm = (suggestion.structured_content or {})["confirm"]
        preview = answered(await client.call_tool("merge_entities", {**asked, "confirm": confirm}))
        merged = answered(await client.call_tool("merge_entities", {**asked, "confirm": preview["confirm"]}))
        assert (preview["status"], merged["status"]) == ("preview", "merged")


async def test_a_confirmation_is_of_the_one_who_was_asked(doors: Doors) -> None:
    update = {"toolsets": EVERYTHING.toolsets, "writes_per_minute": 100, "hints": "confirm"}
    doors.settings = doors.settings.model_copy(update=update)
    world, anna, ben = a_world(doors), doors.add("anna"), doors.add("ben")
    async with (
        served(doors.settings, world.start) as url,
        connected(f"{url}/mcp", "auto", **anna) as hers,
        connected(f"{url}/mcp", "auto", **ben) as his,
    ):
        confirm = ((await hers.call_tool("add_memory", NOTE)).structured_content or {})["confirm"]
        error_of(await his.call_tool("add_memory", {**NOTE, "confirm": confirm}))
        answered(await hers.call_tool("add_memory", {**NOTE, "confirm": confirm}))


# What hints have no part in


@asynccontextmanager
async def refusals(doors: Doors, tier: Tier, hints: HintMode) -> AsyncIterator[dict[str, Any]]:
    """What a token of this tier is answered to a call of each tool with nothing in it, and what it is refused."""
    update = {"toolsets": EVERYTHING.toolsets, "writes_per_minute": 1_000, "hints": hints}
    doors.settings = doors.settings.model_copy(update=update)
    world, token = a_world(doors), doors.add("anna", tier=tier)
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **token) as client:
        results = {name: await client.call_tool(name, {"tier": "curator"}) for name in sorted(TOGETHER)}
        denied = {
            name: (text(result), result.structured_content)
            for name, result in results.items()
            if (result.structured_content or {}).get("code") == "permission_denied"
        }
        yield {"denied": denied, "codes": {name: _code(result) for name, result in results.items()}}
    assert world.graph.tables.episodes == {}


def _code(result: CallToolResult) -> object:
    return (result.structured_content or {}).get("code")


@pytest.mark.parametrize("tier", TIERS)
async def test_every_tool_permits_and_refuses_a_tier_the_same_in_every_mode(tier: Tier, doors: Doors) -> None:
    seen = []
    for hints in MODES:
        async with refusals(doors, tier, hints) as one:
            seen.append(one)
    assert seen[0] == seen[1] == seen[2]
    needed = {name for name in TOGETHER if TIERS.index(SPECS[name].tier) > TIERS.index(tier)}
    assert seen[0]["denied"].keys() == needed
    for name, (message, told) in seen[0]["denied"].items():
        assert (told["error"], told["code"], told["message"]) == ("PERMISSION_DENIED", "permission_denied", message)
        assert told["hint"] == f"{name} needs tier {SPECS[name].tier}, and yours is {tier}."


async def test_no_other_failure_is_reported_as_a_lack_of_permission(doors: Doors) -> None:
    doors.settings = doors.settings.model_copy(update={"toolsets": EVERYTHING.toolsets})
    world, token = a_world(doors), doors.add("anna", groups=("work",))
    nobody = {"fact_uuid": "11111111-1111-4111-8111-111111111111"}
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **token) as client:
        calls = [
            ("invalid_input", "search_nodes", {"colour": "red"}),
            ("not_found", "get_fact_sources", nobody),
            ("not_allowed", "search_nodes", {"query": "x", "group_ids": "home"}),
            ("invalid_cursor", "get_episodes", {"cursor": "x"}),
            ("unknown_tool", "no_such_tool", {}),
        ]
        for code, tool, arguments in calls:
            result = await client.call_tool(tool, arguments)
            assert (_code(result), "PERMISSION_DENIED" in error_of(result)) == (code, False), tool
        world.graph.is_down = True
        result = await client.call_tool("get_episodes", {})
        assert (_code(result), "PERMISSION_DENIED" in error_of(result)) == ("unavailable", False)
