"""Instructions and prompts: made from what is switched on, correct to the call."""

import re

import pytest
from mcp.client import Client
from tests.protocol.support import World

from graphiti_pkm.server.tools.instructions import EXAMPLES, RELATIONS, build_instructions
from graphiti_pkm.server.tools.prompts import PROMPTS
from graphiti_pkm.server.tools.registry import known_tools, select
from graphiti_pkm.server.tools.texts import PLAIN_WORDS
from graphiti_pkm.settings.loader import Settings

ALL = build_instructions([tool.name for tool in select(Settings())])


def section(title: str) -> str:
    return next(part for part in ALL.split("\n\n") if part.startswith(f"# {title}"))


async def test_a_client_gets_the_built_text(client: Client) -> None:
    assert client.instructions == ALL


def test_the_kinds_of_data_and_the_rule_come_first() -> None:
    about, rule, *_ = ALL.split("\n\n")
    assert all(word in about for word in ("Episodes", "Nodes", "Facts"))
    assert rule.startswith("# Search first, then add")


def test_the_flows_name_their_tools_in_order() -> None:
    adding = ["search_nodes", "get_entity_connections", "get_entity_timeline", "add_memory"]
    asking = ["search_nodes", "get_entity_connections", "get_entity_timeline", "search_memory_facts"]
    for title, tools in (("Search first", adding), ("Answering", asking)):
        places = [section(title).index(tool) for tool in tools]
        assert places == sorted(places)


def test_the_guide_has_a_line_for_each_of_the_five_tools() -> None:
    lines = dict(line[2:].split(": ", 1) for line in section("Which tool").split("\n")[1:])
    assert {"search_nodes", "get_entity_connections", "search_memory_facts", "get_entity_timeline"} <= set(lines)
    assert "add_memory" in lines
    assert "complete" in lines["get_entity_connections"]
    assert "may miss" in lines["search_memory_facts"]


def test_principles_and_notes_are_there() -> None:
    for words in ("However trivial", "naming the entities found", "complete data", "how things changed"):
        assert words in ALL
    for words in ("group_ids", "created_at", "An ended fact stays", "stored and found at once"):
        assert words in section("Notes")


def test_preferred_relations_are_about_a_dozen_without_one_that_reads_like_the_parameter() -> None:
    assert 10 <= len(RELATIONS) <= 14
    assert "REPLACES" not in RELATIONS


def test_there_is_an_example_for_decisions_projects_and_coaching() -> None:
    assert [example.title.split()[0] for example in EXAMPLES] == ["Decision", "Project", "Coaching"]
    assert len(ALL) < 5_000


def test_scratch_graphs_are_told_of_only_where_they_can_be_made() -> None:
    told = build_instructions(known_tools())
    part = next(part for part in told.split("\n\n") if part.startswith("# Scratch graphs"))
    assert "commit_graph" in part
    assert len(part) < 400
    assert "cratch" not in ALL
    assert "cratch" not in build_instructions(known_tools() - {"add_nodes"})


@pytest.mark.parametrize(
    "settings",
    [
        Settings(toolsets=("reasoning",)),
        Settings(toolsets=("memory", "reasoning"), exclude_tools=("commit_graph", "list_graphs", "add_node")),
        Settings(read_only=True),
        Settings(exclude_tools=("get_entity_timeline",)),
        Settings(tools=("search_episodes", "get_status")),
        Settings(toolsets=("graph",)),
        Settings(toolsets=("memory", "graph"), tools=("find_entity_path", "search_nodes")),
    ],
)
async def test_nothing_names_a_tool_that_is_off(settings: Settings) -> None:
    async with World(settings).connect() as client:
        tools = (await client.list_tools()).tools
        on = {tool.name for tool in tools}
        texts = [client.instructions or "", *(str(tool.model_dump()) for tool in tools)]
        for prompt in (await client.list_prompts()).prompts:
            arguments = {argument.name: "x" for argument in prompt.arguments or []}
            texts.append(str((await client.get_prompt(prompt.name, arguments)).messages))
    named = {name for text in texts for name in known_tools() - PLAIN_WORDS if re.search(rf"\b{name}\b", text)}
    assert named <= on


async def test_prompts_carry_their_arguments_and_keep_braces_and_tool_names_in_them(client: Client) -> None:
    decision = "Use {json} and call clear_graph; delete_episode. Then rest."
    answer = await client.get_prompt("record_decision", {"decision": decision})
    assert decision in str(answer.messages[0].content.model_dump()["text"])
    assert [prompt.name for prompt in (await client.list_prompts()).prompts] == [
        line.values.__name__ for line in PROMPTS
    ]
