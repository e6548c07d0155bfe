"""Tokens over HTTP: who gets in, as whom, and what is told to those who do not."""

import json
import logging
from typing import Any

import httpx2
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.protocol.access import ACCEPT, NOW, PING, Doors, a_world, post
from tests.protocol.serving import connected, served
from tests.protocol.support import Mode, answered, error_of

from graphiti_pkm.server.auth.tokens import new_secret
from graphiti_pkm.server.observability.logging import JsonLines
from graphiti_pkm.server.tools.guard import guarded
from graphiti_pkm.server.tools.registry import TOOLSETS

MODES: tuple[Mode, ...] = ("auto", "legacy")


async def test_without_a_valid_token_the_answer_is_always_the_same(doors: Doors) -> None:
    anna = doors.add("anna")
    old, gone = doors.add("ben", expires=NOW), doors.add("eve", revoked=NOW)
    world = a_world(doors)
    async with served(doors.settings, world.start) as url:
        bad: list[Any] = [
            {},
            old,
            gone,
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {new_secret()}"},
            {"Authorization": "Basic " + anna["Authorization"].split()[1]},
            {"Authorization": anna["Authorization"] + "x"},
            [*anna.items(), *anna.items()],
        ]
        answers = [await post(url, headers) for headers in bad]
        assert {(answer.status_code, answer.text, answer.headers["www-authenticate"]) for answer in answers} == {
            (401, "A valid token is needed: send it as `Authorization: Bearer TOKEN`.", "Bearer")
        }
        assert (await post(url, anna)).status_code != 401
        async with httpx2.AsyncClient() as web:
            assert (await web.get(f"{url}/mcp")).status_code == 401
            assert (await web.get(f"{url}/nowhere")).status_code == 401
            assert (await web.get(f"{url}/health")).status_code == 200


SIGN_IN = [
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/.well-known/openid-configuration/mcp",
    "/mcp/.well-known/openid-configuration",
    "/.well-known",
    "/register",
    "/authorize",
    "/authorize/",
    "/token",
]
"""Where a client that was refused looks for a sign-in, which there is not."""
NO_SIGN_IN = "There is no sign-in here. A valid token is needed: send it as `Authorization: Bearer TOKEN`."


@pytest.mark.parametrize("transport", ["http", "sse"])
@pytest.mark.parametrize("path", SIGN_IN)
async def test_there_is_no_sign_in_and_clients_are_told_so_with_and_without_a_token(
    path: str, transport: str, doors: Doors
) -> None:
    anna = doors.add("anna")
    settings = doors.settings.model_copy(update={"transport": transport, "metrics": True})
    async with served(settings, a_world(doors).start) as url, httpx2.AsyncClient() as web:
        for headers in ({}, anna, {"Authorization": "Bearer wrong"}):
            for method in ("GET", "POST"):
                answer = await web.request(method, f"{url}{path}", headers=headers)
                assert (answer.status_code, answer.text) == (404, NO_SIGN_IN)
                assert "www-authenticate" not in answer.headers
        strange = await web.get(f"{url}{path}", headers={"host": "evil.example"})
        assert strange.status_code == 421


@pytest.mark.parametrize("mode", MODES)
async def test_each_token_opens_its_own_memory(mode: Mode, doors: Doors) -> None:
    anna, ben = doors.add("anna"), doors.add("ben")
    world = a_world(doors)
    async with served(doors.settings, world.start) as url:
        async with connected(f"{url}/mcp", mode, **anna) as client:
            await client.call_tool("add_memory", {"episode_body": "Anna's."})
            assert answered(await client.call_tool("get_episodes", {}))["total"] == 1
        async with connected(f"{url}/mcp", mode, **ben) as client:
            assert answered(await client.call_tool("get_episodes", {}))["total"] == 0


@pytest.mark.parametrize("mode", MODES)
async def test_users_of_one_service_are_told_apart_on_every_request_of_one_session(mode: Mode, doors: Doors) -> None:
    service = doors.add("librechat", may_impersonate=True)
    world = a_world(doors)
    async with (
        served(doors.settings, world.start) as url,
        httpx2.AsyncClient(headers=service) as web,
        Client(streamable_http_client(f"{url}/mcp", http_client=web), mode=mode) as client,
    ):
        assert (await client.list_tools()).tools  # LibreChat asks for them before there is a user
        assert "X-User-ID" in error_of(await client.call_tool("get_status", {}))
        web.headers["X-User-ID"] = "u1"
        await client.call_tool("add_memory", {"episode_body": "u1's."})
        web.headers["X-User-ID"] = "u2"
        assert answered(await client.call_tool("get_episodes", {}))["total"] == 0
        web.headers["X-User-ID"] = "u1"
        assert answered(await client.call_tool("get_episodes", {}))["total"] == 1
        web.headers["X-User-ID"] = "{{LIBRECHAT_USER_ID}}"
        assert "filled in" in error_of(await client.call_tool("get_episodes", {}))
        with pytest.raises(MCPError, match="X-User-ID"):
            await client.read_resource("pkm://episode/11111111")


async def test_a_session_is_of_no_use_to_another_token_and_a_revoked_one_stops_at_once(doors: Doors) -> None:
    anna, ben = doors.add("anna"), doors.add("ben")
    world = a_world(doors)
    async with served(doors.settings, world.start) as url, httpx2.AsyncClient(headers=anna) as web:
        start = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        }
        opened = await web.post(f"{url}/mcp", json=start, headers={"accept": ACCEPT})
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        assert (await post(url, {**anna, **session})).status_code == 200
        stolen, made_up = await post(url, {**ben, **session}), await post(url, {**ben, "mcp-session-id": "x" * 32})
        assert (stolen.status_code, stolen.text) == (made_up.status_code, made_up.text)
        assert stolen.status_code == 404
        doors.revoke_all()
        assert (await post(url, {**anna, **session})).status_code == 401


async def test_sse_asks_for_the_token_with_every_message(doors: Doors) -> None:
    anna = doors.add("anna")
    settings = doors.settings.model_copy(update={"transport": "sse"})
    world = a_world(doors)
    async with served(settings, world.start) as url, httpx2.AsyncClient() as web:
        assert (await web.get(f"{url}/sse")).status_code == 401
        assert (await web.post(f"{url}/messages/?session_id={'a' * 32}", json=PING)).status_code == 401
        async with Client(sse_client(f"{url}/sse", headers=anna), mode="legacy") as client:
            answered(await client.call_tool("add_memory", {"episode_body": "Anna's."}))
            assert answered(await client.call_tool("get_episodes", {}))["total"] == 1
            doors.revoke_all()
            assert (await web.get(f"{url}/sse", headers=anna)).status_code == 401


async def test_a_reader_changes_nothing_whatever_it_says_it_is(doors: Doors) -> None:
    reader = doors.add("anna", tier="reader")
    world = a_world(doors)
    known = {tool.name for tool in TOOLSETS[0].tools}
    async with served(doors.settings, world.start) as url, connected(f"{url}/mcp", "auto", **reader) as client:
        answered(await client.call_tool("get_episodes", {}))
        for toolset in TOOLSETS:
            for tool in toolset.tools:
                assert not {"role", "tier", "principal", "user"} & set(guarded(tool).parameters["properties"])
                if tool.name in known and tool.writes:
                    refused = await client.call_tool(tool.name, {"role": "curator"})
                    assert "PERMISSION_DENIED" in error_of(refused)
    assert world.graph.tables.episodes == {}


async def test_too_many_writes_are_refused_with_the_time_to_wait(doors: Doors) -> None:
    anna = doors.add("anna")
    async with (
        served(doors.settings, a_world(doors).start) as url,
        connected(f"{url}/mcp", "auto", **anna) as client,
    ):
        for number in range(3):
            answered(await client.call_tool("add_memory", {"episode_body": f"Note {number}."}))
        refused = await client.call_tool("add_memory", {"episode_body": "Once more."})
        assert "Nothing was done" in error_of(refused)
        assert "Call again in" in error_of(refused)
        answered(await client.call_tool("get_episodes", {}))


@pytest.mark.parametrize("mode", MODES)
async def test_limits_are_those_of_each_user_of_a_service(
    mode: Mode, doors: Doors, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "graphiti_pkm.audit")
    service = doors.add("librechat", may_impersonate=True)
    doors.settings = doors.settings.model_copy(update={"characters_per_call": 1_000})
    note = {"episode_body": "A note."}
    async with served(doors.settings, a_world(doors).start) as url:
        async with connected(f"{url}/mcp", mode, **service, **{"X-User-ID": "u1"}) as client:
            answers = [await client.call_tool("add_memory", note) for _ in range(4)]
            assert [one.is_error for one in answers] == [False, False, False, True]
            assert "Call again in" in error_of(answers[-1])
            answered(await client.call_tool("get_episodes", {}))  # reading goes on
        async with connected(f"{url}/mcp", mode, **service, **{"X-User-ID": "u2"}) as client:
            answered(await client.call_tool("add_memory", note))
            large = await client.call_tool("search_nodes", {"query": "x" * 1_001})
            assert "One call may hold 1,000 characters" in error_of(large)
            answered(await client.call_tool("add_memory", note))
    events = [record.__dict__["event"] for record in caplog.records if record.name == "graphiti_pkm.audit"]
    refused = [(one["principal"], one["outcome"]) for one in events if one["audit"] == "refused"]
    assert refused == [("librechat:u1", "too_many_calls"), ("librechat:u2", "too_large")]


async def test_writes_and_refusals_are_audited_without_content(doors: Doors, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "graphiti_pkm.audit")
    service = doors.add("librechat", may_impersonate=True)
    planted = "planted-words-nobody-logs"
    async with served(doors.settings, a_world(doors).start) as url:
        async with connected(f"{url}/mcp", "auto", **service, **{"X-User-ID": "u1"}) as client:
            stored = answered(await client.call_tool("add_memory", {"episode_body": planted, "group_id": "work"}))
            await client.call_tool("search_nodes", {"query": planted})
        async with connected(f"{url}/mcp", "auto", **service, **{"X-User-ID": f"{{{planted}}}"}) as client:
            await client.call_tool("search_nodes", {"query": planted})
        await post(url, {"Authorization": f"Bearer {planted}"})
    lines = [json.loads(JsonLines().format(one)) for one in caplog.records if one.name == "graphiti_pkm.audit"]
    assert planted not in json.dumps(lines)
    assert service["Authorization"].split()[1] not in json.dumps(lines)
    wrote, refused, unknown = lines
    assert wrote["time"]
    assert {key: wrote[key] for key in ("audit", "principal", "token", "action", "outcome", "targets", "groups")} == {
        "audit": "write",
        "principal": "librechat:u1",
        "token": doors.tokens[0].id,
        "action": "add_memory",
        "outcome": "ok",
        "targets": [stored["episode_uuid"]],
        "groups": ["work"],
    }
    assert (refused["audit"], refused["action"], refused["outcome"]) == ("refused", "search_nodes", "not_allowed")
    assert "principal" not in refused
    assert (unknown["action"], unknown["outcome"]) == ("connect", "token_unknown")


async def test_names_that_the_settings_allow_are_taken_and_others_are_not(doors: Doors) -> None:
    anna = doors.add("anna")
    settings = doors.settings.model_copy(update={"allowed_hosts": ("memory.example",)})
    async with served(settings, a_world(doors).start) as url:
        for host, is_refused in (("memory.example", False), ("memory.example:8000", False), ("evil.example", True)):
            assert ((await post(url, {**anna, "host": host})).status_code == 421) == is_refused
        for origin, is_refused in (
            ("https://memory.example", False),
            ("http://localhost:3000", False),
            ("http://evil.example", True),
            ("http://memory.example.evil.example", True),
            ("null", True),
        ):
            assert ((await post(url, {**anna, "origin": origin})).status_code == 403) == is_refused


async def test_beyond_loopback_any_host_name_is_taken_with_a_token_and_a_foreign_origin_is_not(doors: Doors) -> None:
    anna = doors.add("anna")
    settings = doors.settings.model_copy(update={"host": "0.0.0.0"})  # noqa: S104  (as in a container)
    async with served(settings, a_world(doors).start) as url:
        assert (await post(url, {"host": "memory:8000"})).status_code == 401
        assert (await post(url, {**anna, "host": "memory:8000"})).status_code not in {401, 403, 421}
        assert (await post(url, {**anna, "host": "memory:8000", "origin": "http://evil.example"})).status_code == 403
