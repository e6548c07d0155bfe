"""Arguments a model may get wrong: a short error that says what to do, and nothing stored."""

from typing import Any

from mcp.client import Client
from tests.e2e.support import Served, call, over_http
from tests.protocol.support import error_of, text

UNKNOWN = "00000000-0000-4000-8000-000000000000"
LONGEST_ERROR = 800


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("get_entity_connections", {"entity_uuid": "Heron"}, "invalid_input", "search_nodes finds"),
    ("get_entity_connections", {"entity_uuid": "00000000"}, "not_found", "search_nodes"),
    ("get_entity_edge", {"uuid": UNKNOWN}, "not_found", "search_memory_facts"),
    ("delete_episode", {"uuid": UNKNOWN}, "not_found", "search_episodes"),
    ("delete_entity_edge", {"uuid": "1234"}, "invalid_input", "uuid"),
    ("search_nodes", {"query": "x", "group_ids": "main:staging"}, "invalid_input", "main:staging"),
    ("add_memory", {"episode_body": "x", "group_id": "a b"}, "invalid_input", "group"),
    ("add_memory", {"episode_body": "x", "group_id": "0" * 32 + "_x"}, "invalid_input", "group"),
    ("add_memory", {"episode_body": "x", "reference_time": "last March"}, "invalid_input", "2026-03-14"),
    ("add_memory", {"episode_body": "x", "uuid": "mine"}, "invalid_input", "uuid"),
    ("add_memory", {"episode_body": "x", "source": "podcast"}, "invalid_input", "fact_triple"),
    ("add_memory", {"episode_body": ""}, "invalid_input", "episode_body"),
    ("add_memory", {"episode_body": " \n\t\u3000"}, "invalid_input", "episode_body"),
    ("search_memory_facts", {"query": "x", "valid_at_after": "2026-13-01"}, "invalid_input", "valid_after"),
    ("search_memory_facts", {"query": "x", "max_facts": 0}, "invalid_input", "from 1 to 200"),
    ("search_nodes", {"query": "x", "max_nodes": -1}, "invalid_input", "from 1 to 50"),
    ("get_episodes", {"max_episodes": 101}, "invalid_input", "from 1 to 100"),
    ("search_episodes", {"query": " "}, "invalid_input", "query"),
    ("search_nodes", {"query": ""}, "invalid_input", "names"),
    ("search_nodes", {}, "invalid_input", "names"),
    ("search_memory_facts", {"query": "\n"}, "invalid_input", "query"),
    ("get_episodes", {"cursor": "not a cursor"}, "invalid_cursor", "cursor"),
    ("get_episodes", {"cursor": "e30="}, "invalid_cursor", "cursor"),
]
"""Tool, arguments, code of the error and what its message says."""


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[str, str]:
    """Code and message of the error that a call gives."""
    result = await client.call_tool(tool, arguments)
    message = error_of(result)
    assert result.structured_content is not None
    assert len(message) <= LONGEST_ERROR
    return str(result.structured_content["code"]), message


async def test_a_wrong_argument_is_explained_and_nothing_is_stored(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_memory", episode_body="One note.")
        for tool, arguments, code, says in WRONG:
            given_code, message = await refused(client, tool, arguments)
            assert (given_code, says in message) == (code, True), f"{tool} {arguments}: {message}"
            assert ("Nothing was stored" in message) == (tool == "add_memory")
        assert (await call(client, "get_episodes"))["total"] == 1


async def test_a_cursor_of_another_call_is_refused(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        for number in range(3):
            await call(client, "add_memory", group_id="cursors", episode_body=f"Note {number}.")
        page = await call(client, "get_episodes", group_ids="cursors", max_episodes=2)
        other = {"group_ids": "default", "cursor": page["next_cursor"]}
        assert (await refused(client, "get_episodes", other))[0] == "invalid_cursor"
        rest = await call(client, "get_episodes", group_ids="cursors", max_episodes=2, cursor=page["next_cursor"])
        assert [episode["content"] for episode in rest["episodes"]] == ["Note 0."]


async def test_an_unknown_whole_uuid_and_an_unknown_group_are_empty_answers_that_say_so(server: Served) -> None:
    async with over_http(server.endpoint) as client:
        await call(client, "add_memory", group_id="known", episode_body="One note.")
        for tool in ("get_entity_connections", "get_entity_timeline"):
            page = await call(client, tool, entity_uuid=UNKNOWN)
            assert (page["total"], page["entity"]) == (0, None)
        page = await call(client, "search_nodes", query="note", group_ids="unknown_group")
        assert page["scope"]["group_ids"] == ["unknown_group"]
        assert "known" in page["scope"]["other_groups"]


async def test_a_repeated_uuid_gives_the_first_receipt_and_never_other_content(server: Served) -> None:
    told = {"group_id": "repeats", "uuid": "7d9c4c0e-3a44-4c39-9f0e-0f6a3a1f5b11", "episode_body": "Ines leads Heron."}
    async with over_http(server.endpoint) as client:
        first = await call(client, "add_memory", **told)
        again = await call(client, "add_memory", **told)
        assert (first["status"], again["status"]) == ("stored", "already_stored")
        assert again["episode_uuid"] == first["episode_uuid"] == told["uuid"]
        other = await client.call_tool("add_memory", {**told, "episode_body": "Tom leads Heron."})
        assert (other.structured_content or {})["code"] == "conflicting_content", text(other)
        (episode,) = (await call(client, "get_episodes", group_ids="repeats"))["episodes"]
        assert episode["content"] == "Ines leads Heron."
