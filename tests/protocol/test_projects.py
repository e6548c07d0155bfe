"""The toolset projects through a client: what is listed, what defaults are, and two projects from end to end."""

from typing import Any

import pytest
from mcp.client import Client
from tests.protocol.support import EVERYTHING, World, answered, definitions, error_of, told

from graphiti_pkm.settings.loader import Settings

READS = {"list_projects", "search_entries_semantic", "get_entry_context", "get_project_memories"}
WRITES = {"create_project", "update_project", "create_entry"}


async def schema_of(name: str) -> dict[str, Any]:
    return next(dict(tool.input_schema) for tool in await definitions(EVERYTHING) if tool.name == name)


async def test_the_toolset_lists_its_tools_and_says_which_only_read() -> None:
    listed = await definitions(Settings(toolsets=("projects",)))
    hints = {tool.name: tool.annotations.read_only_hint for tool in listed if tool.annotations}
    assert hints == {**dict.fromkeys(READS, True), **dict.fromkeys(WRITES, False)}


@pytest.mark.parametrize(
    ("tool", "parameter", "expected"),
    [
        ("create_entry", "content", {"type": "string", "maxLength": 200_000}),
        ("create_entry", "type", {"enum": ["journal", "code_comment", "meeting", "task"], "default": "journal"}),
        ("create_entry", "extract_entities", {"type": "boolean", "default": True}),
        ("create_entry", "metadata", {"type": "object"}),
        ("create_project", "name", {"type": "string", "minLength": 1, "maxLength": 200}),
        ("create_project", "metadata", {"type": "object"}),
        ("search_entries_semantic", "query", {"type": "string"}),
        ("search_entries_semantic", "limit", {"default": 10, "minimum": 1, "maximum": 50}),
        ("search_entries_semantic", "similarity_threshold", {"default": 0.7, "minimum": 0, "maximum": 1}),
        ("get_entry_context", "entity_name", {"type": "string"}),
        ("get_entry_context", "limit", {"default": 20, "maximum": 100}),
        ("get_project_memories", "include_cross_project", {"default": True}),
        ("get_project_memories", "relevance_threshold", {"default": 0.5, "minimum": 0, "maximum": 1}),
        ("get_project_memories", "limit", {"default": 50}),
        ("list_projects", "limit", {"default": 50}),
    ],
)
async def test_a_parameter_has_its_default_and_its_range(tool: str, parameter: str, expected: dict[str, Any]) -> None:
    schema = await schema_of(tool)
    assert schema["properties"][parameter].items() >= expected.items()


@pytest.mark.parametrize(
    ("tool", "required"),
    [
        ("create_entry", ["content"]),
        ("search_entries_semantic", ["query"]),
        ("get_entry_context", ["entity_name"]),
        ("get_project_memories", ["project_id"]),
        ("create_project", ["name"]),
        ("update_project", ["project"]),
    ],
)
async def test_what_is_required(tool: str, required: list[str]) -> None:
    assert (await schema_of(tool))["required"] == required


async def test_nothing_of_it_is_in_the_default_toolset() -> None:
    shown = await definitions()
    assert not (READS | WRITES) & {tool.name for tool in shown}
    async with World().connect() as client:
        assert not [name for name in READS | WRITES if name in (client.instructions or "")]


async def two_projects(client: Client) -> dict[str, str]:
    """Six entries in the first, four in the second, two without; the uuids of both projects."""

    async def call(tool: str, **arguments: Any) -> dict[str, Any]:
        return answered(await client.call_tool(tool, arguments))

    uuids = {name: (await call("create_project", name=name))["project_id"] for name in ("Momento", "Other")}
    jwt, module, parser = ({"name": name} for name in ("JWT tokens", "authentication module", "invoice parser"))
    for day in range(1, 7):
        facts = [{"source": "authentication module", "relation": "USES", "target": "JWT tokens"}]
        text = f"The authentication module got JWT tokens, part {day}."
        await call("create_entry", content=text, project_id="Momento", timestamp=f"2025-10-{day:02d}",
                   entities=[jwt, module], facts=facts)  # fmt: skip
    for day in range(1, 5):
        text = f"The invoice parser reads JWT tokens, part {day}."
        await call("create_entry", content=text, project_id=uuids["Other"], timestamp=f"2025-11-{day:02d}",
                   entities=[jwt, parser])  # fmt: skip
    for day in (1, 2):
        await call("create_entry", content=f"JWT tokens alone, part {day}.", timestamp=f"2025-12-{day:02d}")
    return uuids


async def test_a_project_is_kept_apart_and_an_overview_is_one_call() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        uuids = await two_projects(client)
        asked = {"query": "JWT tokens", "project_id": uuids["Momento"], "similarity_threshold": 0}
        found = answered(await client.call_tool("search_entries_semantic", asked))
        assert len(found["entries"]) == 6
        assert {entry["project_id"] for entry in found["entries"]} == {uuids["Momento"]}
        listed = answered(await client.call_tool("list_projects", {}))
        assert {one["name"]: one["entries"] for one in listed["projects"]} == {"Momento": 6, "Other": 4}
        asked = {"project_id": "Momento", "relevance_threshold": 0.1}
        memories = answered(await client.call_tool("get_project_memories", asked))
        assert [one["name"] for one in memories["primary"]] == ["JWT tokens", "authentication module"]
        assert memories["secondary"] == []


async def test_what_happened_in_a_period_comes_in_order_and_an_entry_leads_to_its_entities_and_back() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        await two_projects(client)
        asked = {"entity_name": "JWT tokens", "after": "2025-10-03", "before": "2025-11-03"}
        page = answered(await client.call_tool("get_entry_context", asked))
        days = [entry["timestamp"][:10] for entry in page["entries"]]
        assert days == sorted(days)
        assert (days[0], days[-1], page["total"]) == ("2025-10-03", "2025-11-02", 6)
        entry = page["entries"][0]["entry_id"]
        entities = answered(await client.call_tool("get_episode_entities", {"episode_uuids": [entry]}))["entities"]
        assert {one["name"] for one in entities} == {"JWT tokens", "authentication module"}
        back = answered(await client.call_tool("get_entry_context", {"entity_name": "authentication module"}))
        assert entry in [one["entry_id"] for one in back["entries"]]


async def test_what_add_memory_and_create_entry_store_is_found_alike() -> None:
    """One kind of episode; only the searches of entries ask for the record that an entry has besides."""
    async with World(EVERYTHING, writes_really=True).connect() as client:
        bea = [{"name": "Bea"}]
        note = {"name": "note", "episode_body": "Bea rows on Mondays.", "entities": bea}
        said = answered(await client.call_tool("add_memory", note))
        entry = answered(await client.call_tool("create_entry", {"content": "Bea rows in May.", "entities": bea}))
        both = {said["episode_uuid"], entry["entry_id"]}
        asked: list[tuple[str, dict[str, Any]]] = [
            ("get_episodes", {}),
            ("search_episodes", {"query": "rows"}),
            ("get_entity_timeline", {"entity_uuid": entry["entities"][0]["uuid"]}),
        ]
        for tool, arguments in asked:
            answer = answered(await client.call_tool(tool, arguments))
            listed = answer.get("episodes") or answer.get("results") or answer.get("timeline")
            assert {one["uuid"] for one in listed} == both, tool


async def test_a_later_question_finds_entries_by_meaning_with_the_entities_that_matter() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        await two_projects(client)
        asked = {"query": "how is the authentication module secured", "project_id": "Momento", "limit": 1}
        found = answered(
            await client.call_tool(
                "search_entries_semantic", asked | {"include_entities": True, "similarity_threshold": 0.1}
            )
        )
        (entry,) = found["entries"]
        assert entry["entities"] == ["JWT tokens", "authentication module"]
        assert "authentication module" in entry["content"]


async def test_the_text_alone_is_enough_to_go_on() -> None:
    async with World(EVERYTHING, writes_really=True).connect() as client:
        uuids = await two_projects(client)
        text = told(await client.call_tool("list_projects", {}))
        short = {one["name"]: one["project_id"] for one in text["projects"]}
        assert short["Momento"] == uuids["Momento"][:8]
        page = told(await client.call_tool("get_entry_context", {"entity_name": "JWT tokens", "limit": 1}))
        assert page["entries"][0]["timestamp"] == "2025-12-02"
        more = {"entity_name": "JWT tokens", "limit": 1, "project_id": short["Momento"]}
        assert told(await client.call_tool("get_entry_context", more))["total"] == 6


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("create_entry", {"content": "  "}, "content"),
        ("create_entry", {"content": "x", "type": "poem"}, "one of journal, code_comment, meeting, task"),
        ("create_entry", {"content": "x", "project_id": "Nobody"}, "No project 'Nobody'"),
        ("create_entry", {"content": "x", "metadata": "no"}, "no JSON"),
        ("create_project", {"name": "x" * 201}, "200"),
        ("search_entries_semantic", {"query": "x", "limit": 51}, "from 1 to 50"),
        ("search_entries_semantic", {"query": "x", "similarity_threshold": 1.1}, "from 0"),
        ("search_entries_semantic", {"query": " "}, "query"),
        ("get_project_memories", {"project_id": "Nobody"}, "No project"),
        ("get_project_memories", {"project_id": "Nobody", "relevance_threshold": 1.1}, "from 0"),
        ("list_projects", {"status": "sleeping"}, "one of active, archived, completed"),
    ],
)
async def test_bad_input_is_an_error_that_says_what_fits_and_stores_nothing(
    tool: str, arguments: dict[str, Any], said: str
) -> None:
    world = World(EVERYTHING, writes_really=True)
    async with world.connect() as client:
        assert said in error_of(await client.call_tool(tool, arguments))
    assert world.graph.tables.episodes == {}
    assert world.graph.tables.projects == {}
