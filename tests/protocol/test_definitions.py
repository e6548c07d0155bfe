"""Sweeps over the definitions of all tools."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.protocol.support import (
    BUDGET,
    EVERYTHING,
    SNAPSHOTS,
    SPECS,
    TOGETHER,
    WITH_MODEL,
    World,
    answered,
    budget_used,
    definition_named,
    definition_of,
    definition_tokens,
    definitions,
    text,
)

from graphiti_pkm.capabilities.search.requests import SearchMemoryFacts
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.server.tools.guard import guarded
from graphiti_pkm.server.tools.instructions import build_instructions
from graphiti_pkm.server.tools.registry import TOOLSETS, known_tools
from graphiti_pkm.settings.loader import Settings

TOOLS = sorted(SPECS)
WALKS = {"find_entity_path", "get_entity_subgraph"}
CLASSIC = {
    "search_memories": 50,
    "find_memories_by_name": 50,
    "reference.search_nodes": None,
    "reference.open_nodes": None,
}
"""They answer as other servers do, without pages; with the most entities, if a caller may give it."""
SCRATCH = {tool.name for toolset in TOOLSETS if toolset.name == "reasoning" for tool in toolset.tools}
"""These read one scratch graph and search no groups."""
"""Bounded as a whole: what did not fit is asked for of one entity, in pages."""
LISTS = ("facts", "nodes", "episodes", "entities", "sources", "changes")
ORDER_OF_A_DESCRIPTION = re.compile(r"^[A-Z][^\n]+\.\nUse [^\n]+\.$")


async def definition(name: str) -> dict[str, Any]:
    return await definition_named(name)


def nodes(schema: object) -> Iterator[dict[str, Any]]:
    """Every schema inside a schema, names of properties left aside."""
    if isinstance(schema, dict):
        yield schema
        for key, part in schema.items():
            for inner in part.values() if key in ("properties", "$defs") else [part]:
                yield from nodes(inner)
    elif isinstance(schema, list):
        for part in schema:
            yield from nodes(part)


@pytest.mark.parametrize("name", TOOLS)
async def test_every_definition_equals_its_snapshot(name: str) -> None:
    path = SNAPSHOTS / f"{name}.json"
    assert path.exists(), f"no snapshot of {name}: make snapshots, then read the difference"
    assert await definition(name) == json.loads(path.read_text(encoding="utf-8"))


async def test_no_snapshot_outlives_its_tool() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.json")} == set(TOOLS)


def test_tool_names_are_unique_over_all_toolsets_that_may_be_on_together() -> None:
    names = [tool.name for toolset in TOOLSETS for tool in toolset.tools if toolset.name != "reference"]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("name", "title"),
    [("get_entity_connections", "Get Entity Connections"), ("get_entity_timeline", "Get Entity Timeline")],
)
async def test_the_two_traversal_tools_are_annotated_as_specified(name: str, title: str) -> None:
    assert (await definition(name))["annotations"] == {
        "title": title,
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": True,
    }


@pytest.mark.parametrize("name", TOOLS)
async def test_every_tool_has_title_annotations_and_output_schema(name: str) -> None:
    tool = await definition(name)
    hints = tool["annotations"]
    assert tool["title"] == hints["title"] == name.rpartition(".")[2].replace("_", " ").title().replace(" By ", " by ")
    assert {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} <= set(hints)
    assert tool["outputSchema"]["type"] == "object"
    assert hints["openWorldHint"] == (name in {"get_entity_connections", "get_entity_timeline"})


async def test_only_what_deletes_is_destructive() -> None:
    destructive = {
        tool.name for tool in await definitions(EVERYTHING) if tool.annotations and tool.annotations.destructive_hint
    }
    of_memory = {"delete_episode", "delete_entity_edge", "forget", "clear_graph"}
    of_memory |= {"delete_entities", "delete_relations", "delete_observations"}
    assert destructive == of_memory | {
        *("delete_graph", "merge_nodes", "remove_node", "remove_edge", "transitive_reduction")
    }


@pytest.mark.parametrize("name", TOOLS)
async def test_every_tool_that_answers_a_list_has_a_limit_with_default_and_maximum_and_a_cursor(name: str) -> None:
    tool = await definition(name)
    if not tool["annotations"]["readOnlyHint"] or not set(LISTS) & set(tool["outputSchema"]["properties"]):
        return
    if name in WALKS | {"subgraph"} | set(CLASSIC):
        return
    given = tool["inputSchema"]["properties"]
    bounds = [parameter for parameter in given if parameter.startswith("max_") or parameter == "limit"]
    limits = [given[parameter] for parameter in bounds if not parameter.endswith("_degree")]
    assert limits
    assert all({"default", "minimum", "maximum"} <= set(part) for part in limits)
    assert "cursor" in given
    page = {"total", "returned", "truncated", "next_cursor", *(() if name in SCRATCH else ("scope",))}
    assert page <= set(tool["outputSchema"]["properties"])


@pytest.mark.parametrize("name", sorted(CLASSIC))
async def test_a_tool_of_another_server_has_its_limits_and_says_what_was_cut(name: str) -> None:
    tool = await definition(name)
    told = {"truncated", "cut", "relations_total"} if CLASSIC[name] else {"cut"}
    assert told <= set(tool["outputSchema"]["properties"])
    assert tool["inputSchema"]["properties"].get("limit", {}).get("maximum") == CLASSIC[name]
    assert CLASSIC[name] or "At most 50 entities and 200 relations" in tool["description"]


@pytest.mark.parametrize("name", sorted(WALKS))
async def test_a_walk_has_limits_with_maxima_and_says_when_it_was_cut(name: str) -> None:
    tool = await definition(name)
    limits = [part for part in tool["inputSchema"]["properties"].values() if part.get("type") == "integer"]
    assert len(limits) >= 2
    assert all({"default", "minimum", "maximum"} <= set(part) for part in limits)
    assert {"truncated", "scope", "message"} <= set(tool["outputSchema"]["properties"])


async def test_the_limits_of_traversal_are_the_specified_ones() -> None:
    connections = (await definition("get_entity_connections"))["inputSchema"]["properties"]["max_connections"]
    timeline = (await definition("get_entity_timeline"))["inputSchema"]["properties"]["max_episodes"]
    assert connections == {"default": 50, "minimum": 1, "maximum": 200, "type": "integer"}
    assert timeline == {"default": 20, "minimum": 1, "maximum": 100, "type": "integer"}


@pytest.mark.parametrize("name", ["get_entity_connections", "get_entity_timeline"])
async def test_traversal_needs_an_entity_and_no_query(name: str) -> None:
    schema = (await definition(name))["inputSchema"]
    assert schema["required"] == ["entity_uuid"]
    assert "query" not in schema["properties"]


@pytest.mark.parametrize("name", TOOLS)
async def test_input_schemas_hold_no_title_null_or_union_at_the_top(name: str) -> None:
    schema = (await definition(name))["inputSchema"]
    assert not {"anyOf", "oneOf", "allOf"} & set(schema)
    for node in nodes(schema):
        assert "title" not in node
        assert node.get("type") != "null"
        assert node.get("default", "") is not None


@pytest.mark.parametrize("name", TOOLS)
async def test_output_schemas_hold_no_title_and_no_embedding(name: str) -> None:
    schema = (await definition(name))["outputSchema"]
    assert not any("title" in node for node in nodes(schema))
    properties = [name for node in nodes(schema) for name in node.get("properties", {})]
    assert not [name for name in properties if "embedding" in name]


@pytest.mark.parametrize("name", TOOLS)
async def test_every_description_says_what_then_when_and_what_instead(name: str) -> None:
    text = (await definition(name))["description"]
    assert ORDER_OF_A_DESCRIPTION.match(text)
    assert "instead" in text
    assert 10 <= len(text.split()) <= 90
    assert not re.search(r"Args:|Returns:|[{}]|\b(?:NOT|MUST|ALWAYS|NEVER|IMPORTANT)\b", text)


@pytest.mark.parametrize("name", TOOLS)
async def test_every_tool_named_in_a_definition_exists(name: str) -> None:
    tool = await definition(name)
    texts = [tool["description"], *(node.get("description", "") for node in nodes(tool["inputSchema"]))]
    named = set(re.findall(r"\b(?:add|search|get|delete|clear)_[a-z_]+", " ".join(map(str, texts))))
    assert named <= known_tools()


async def test_descriptions_name_what_their_specification_demands() -> None:
    connections = (await definition("get_entity_connections"))["description"]
    add_memory = (await definition("add_memory"))["description"]
    for word in ("search_memory_facts", "search_nodes", "max_connections", "group_ids"):
        assert word in connections
    for word in ("search_nodes", "get_entity_connections", "entity_uuid", "episode_body"):
        assert word in add_memory


UPSTREAM = {
    "add_memory": [
        "name", "episode_body", "group_id", "source", "source_description", "uuid", "reference_time",
        "excluded_entity_types", "custom_extraction_instructions", "previous_episode_uuids", "update_communities",
        "saga", "saga_previous_episode_uuid",
    ],
    "search_nodes": ["query", "group_ids", "max_nodes", "entity_types", "center_node_uuid"],
    "search_memory_facts": ["query", "group_ids", "max_facts", "center_node_uuid", "edge_types"],
    "get_episodes": ["group_ids", "max_episodes"],
    "get_episode_entities": ["episode_uuids"],
    "get_entity_edge": ["uuid"],
    "delete_entity_edge": ["uuid"],
    "delete_episode": ["uuid"],
    "get_status": [],
    "add_triplet": [
        "source_node_name", "edge_name", "fact", "target_node_name", "group_id", "source_node_uuid", "target_node_uuid",
    ],
    "clear_graph": ["group_ids"],
    "summarize_saga": ["saga_name", "group_id"],
    "build_communities": ["group_ids"],
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(UPSTREAM))
async def test_a_client_of_the_upstream_server_finds_its_parameters(name: str) -> None:
    (tool,) = [tool for tool in await definitions(WITH_MODEL) if tool.name == name]
    assert set(UPSTREAM[name]) <= set(tool.input_schema["properties"])
    assert set(tool.input_schema.get("required", [])) <= set(UPSTREAM[name])


FORMER = {
    "valid_at_after": "valid_after",
    "valid_at_before": "valid_before",
    "invalid_at_after": "invalid_after",
    "invalid_at_before": "invalid_before",
}
"""Upstream's names of filters, and ours before there was one name everywhere."""


async def test_a_filter_has_one_name_in_every_tool() -> None:
    for tool in await definitions(WITH_MODEL):
        assert not {name for name in tool.input_schema["properties"] if re.search("_at_(after|before)$", name)}


@pytest.mark.parametrize(("former", "name"), FORMER.items())
def test_upstreams_name_of_a_filter_is_taken_for_ours(former: str, name: str) -> None:
    tool = guarded(SPECS["search_memory_facts"])
    assert tool.validated({former: "2026"}) == tool.validated({name: "2026"})
    assert tool.validated({former: None, name: "2026"}) == tool.validated({former: " ", name: "2026"})
    assert tool.validated({former: "2026", name: ""}) == tool.validated({name: "2026"})
    assert SearchMemoryFacts(**{former: "2026"}) == SearchMemoryFacts(**{name: "2026"})


def test_a_filter_under_both_names_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"has no parameter valid_at_after; it takes .*valid_after"):
        guarded(SPECS["search_memory_facts"]).validated({"valid_at_after": "2025", "valid_after": "2026"})


_FOR_A_MODEL = {"excluded_entity_types", "custom_extraction_instructions", "previous_episode_uuids", "wait_seconds"}
_OF_SAGAS = {"saga", "saga_previous_episode_uuid"}


@pytest.mark.parametrize(
    ("settings", "hidden"),
    [
        (Settings(), {"update_communities", *_FOR_A_MODEL, *_OF_SAGAS}),
        (EVERYTHING, {"update_communities", *_FOR_A_MODEL}),
        (Settings(llm_model="a-model"), set[str]()),
    ],
)
async def test_what_a_model_never_uses_is_not_shown_and_still_accepted(settings: Settings, hidden: set[str]) -> None:
    (shown,) = [tool for tool in await definitions(settings) if tool.name == "add_memory"]
    accepted = guarded(SPECS["add_memory"]).parameters["properties"]
    assert accepted.keys() - shown.input_schema["properties"].keys() == hidden
    async with World(settings).connect() as client:
        call = {"episode_body": "I said so.", "previous_episode_uuids": [], "saga": "Spring", "wait_seconds": 0}
        assert answered(await client.call_tool("add_memory", call))["status"] == "stored"
        wrong = await client.call_tool("add_memory", {"episode_body": "I said so.", "wait_seconds": 99})
        assert "wait_seconds must be an integer from 0 to 45" in text(wrong)


async def test_the_boost_of_a_call_is_shown_where_there_is_one_and_accepted_everywhere() -> None:
    for settings, is_shown in ((Settings(), False), (Settings(fitness="boost"), True)):
        (shown,) = [tool for tool in await definitions(settings) if tool.name == "search_nodes"]
        assert ("boost" in shown.input_schema["properties"]) == is_shown
        async with World(settings).connect() as client:
            answered(await client.call_tool("search_nodes", {"query": "tea", "boost": False}))


async def test_the_default_is_the_toolset_memory_with_at_most_eighteen_tools() -> None:
    assert [tool.name for tool in await definitions()] == [
        "add_memory",
        "search_nodes",
        "search_memory_facts",
        "search_episodes",
        "get_entity_connections",
        "get_entity_timeline",
        "get_episodes",
        "get_episode_entities",
        "get_entity_edge",
        "get_fact_sources",
        "what_changed",
        "retire_fact",
        "restore_fact",
        "update_entity",
        "delete_episode",
        "delete_entity_edge",
        "forget",
        "get_status",
    ]


def test_no_tool_reprocesses_episodes_or_adds_instructions_alone_and_communities_are_off_by_default() -> None:
    refused = re.compile("reprocess|reindex|extract|cluster|instruction", re.IGNORECASE)
    assert [name for name in TOOLS if refused.search(name)] == []
    assert [name for name in TOOLS if "communit" in name] == ["build_communities"]
    assert not {"build_communities", "communities"} & {tool.name for tool in TOOLSETS[0].tools}
    assert {"get_entity_connections", "get_entity_timeline"} <= set(TOOLS)


async def test_the_searches_stand_in_the_guide_and_name_what_to_use_instead() -> None:
    searches = {name for name in TOGETHER if name.startswith("search_")}
    ours = {"search_nodes", "search_memory_facts", "search_episodes", "search_memories", "search_entries_semantic"}
    assert searches == ours
    for name in searches:
        text = (await definition(name))["description"]
        assert {other for other in TOOLS if other != name and f"{other} instead" in text}
    guide = build_instructions(TOGETHER)
    assert all(f"- {name}: " in guide for name in searches)


async def test_tools_and_instructions_fit_the_token_budget() -> None:
    assert sum((await budget_used()).values()) <= BUDGET


REASONING_BUDGET = 3_800
"""Tokens of the definitions of the toolset reasoning: only ever fewer."""


async def test_scratch_graphs_fit_their_token_budget() -> None:
    tools = await definitions(Settings(toolsets=["reasoning"]))
    assert sum(map(definition_tokens, tools)) <= REASONING_BUDGET


async def test_read_only_hides_what_writes_and_names_it_nowhere() -> None:
    tools = await definitions(Settings(read_only=True))
    assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
    told = json.dumps([definition_of(tool) for tool in tools]) + build_instructions([tool.name for tool in tools])
    assert not re.search("add_memory|delete_", told)
