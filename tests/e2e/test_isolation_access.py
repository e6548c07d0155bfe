"""Requests that no well-behaved client sends: headers, sessions and batches by which a memory might be opened."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from tests.e2e.isolation_target import Target, attacked
from tests.e2e.isolation_world import HERS_IN_ALL, VERAS
from tests.protocol.support import text

ROOM = "x" * 129
NAMES_NOBODY = [
    [],
    [""],
    ["{{LIBRECHAT_USER_ID}}"],
    ["${LIBRECHAT_USER_ID}"],
    ["$USER_ID"],
    ["%7B%7BLIBRECHAT_USER_ID%7D%7D"],
    ["undefined undefined"],
    ["undefined"],
    ["null"],
    ["None"],
    ["anna", "anna"],
    ["anna", "ben"],
    ["anna", ""],
    ["anna,anna"],
    ["anna;ben"],
    ["service:anna"],
    ["../anna"],
    ["anna%00"],
    ["anna*"],
    ["anna\u200b".encode()],
    ["änna".encode()],
    [b"\xff\xfe"],
    ["-anna"],
    [ROOM],
    ["\u0430nna".encode()],  # a Cyrillic letter
    ["аnnа".encode()],
    ["anna\u00ad".encode()],
    ["ａnna".encode()],
    ["anna\u202e".encode()],
    ["anna\u0301".encode()],
    ["\u2060anna".encode()],
    [b"anna\xa0"],
    ["anna\tben"],
    ["anna ben"],
    ["anna:ben"],
    [":anna"],
    ["anna/../ben"],
    ["anna'--"],
    ['"anna"'],
    ["${7*7}"],
    ["anna#ben"],
    ["anna?"],
    ["@anna"],
    [".anna"],
    ["nan"],
    ["NULL"],
    ["[object Object]"],
    ["anna", "undefined"],
    ["anna"] * 50,
]
NOT_ANNA = [
    "Anna",
    "ANNA",
    "anna.",
    "anna@x",
    "nna",
    "anna1",
    "vera",
    "local",
    "anna-",
    "anna+x",
    "a.nna",
    "an-na",
    "4nna",
]
"""Well-formed, and so users of their own."""
BAD_TOKENS: list[list[str]] = [
    [],
    [""],
    ["Bearer"],
    ["Bearer null"],
    ["Bearer ${MEMORY_TOKEN}"],
    ["Basic {secret}"],
    ["{secret}"],
    ["Bearer {secret}x"],
    ["Bearer {secret} {secret}"],
    ["Bearer Bearer {secret}"],
    ["Bearer {secret},Bearer {secret}"],
    ["Bearer {secret}", "Bearer {secret}"],
    ["Bearer {secret}", "Bearer wrong"],
    ["Bearer wrong", "Bearer {secret}"],
    ['Bearer "{secret}"'],
    ["Bearer {hash}"],
    ["Bearer\u00a0{secret}"],
    ["Bearer:{secret}"],
    ["Bearer={secret}"],
    ["Token {secret}"],
    ["Digest {secret}"],
    ["Negotiate {secret}"],
    ["ApiKey {secret}"],
    ["Bearer {secret};"],
    ["Bearer {secret}\tx"],
    ["Bearer {upper}"],
    ["Bearer {short}"],
    ["Bearer " + "a" * 8_000],
    ["bearer bearer {secret}"],
    ["Bearer {secret}", "", ""],
    ["", "Bearer {secret}"],
    ["null", "Bearer {secret}"],
]
OTHER_PLACES = [
    [("x-api-key", "{secret}")],
    [("cookie", "authorization=Bearer {secret}; token={secret}")],
    [("proxy-authorization", "Bearer {secret}")],
    [("x-authorization", "Bearer {secret}")],
    [("x-forwarded-authorization", "Bearer {secret}")],
    [("x-original-authorization", "Bearer {secret}")],
    [("x-forwarded-for", "127.0.0.1"), ("x-real-ip", "127.0.0.1")],
    [("forwarded", "for=127.0.0.1;host=localhost")],
    [("x-user-id", "vera")],
    [("x-remote-user", "vera"), ("remote-user", "vera")],
    [("x-original-url", "/health"), ("x-rewrite-url", "/health")],
    [("x-http-method-override", "GET")],
    [("connection", "authorization, upgrade"), ("upgrade", "websocket")],
]
"""Headers that open something elsewhere, none of which is asked here."""
PLACES = ["/mcp?token={secret}", "/mcp?access_token={secret}", "/mcp?authorization=Bearer%20{secret}", "/mcp/{secret}"]
ROUNDABOUT = [
    "/health/../mcp",
    "/health/..%2fmcp",
    "//mcp",
    "/mcp;/health",
    "/mcp%00",
    "/ready/mcp",
    "/health?/mcp",
    "/MCP",
]
"""Paths by which a check of the path might be led astray."""
BODY = "Anna keeps a heron."
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bare", "version": "1"}}


def rpc(method: str, number: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def tool(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return rpc("tools/call", number, name=name, arguments=arguments)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("doors") / "data") as found:
        yield found


async def post(web: httpx2.AsyncClient, message: Any, headers: list[tuple[str, Any]] | None = None) -> httpx2.Response:
    return await web.post("/mcp", json=message, headers=headers or [])


async def session(web: httpx2.AsyncClient, headers: list[tuple[str, Any]] | None = None) -> list[tuple[str, str]]:
    """A session of the older protocol, as the header that names it."""
    opened = await post(web, rpc("initialize", **HELLO), headers)
    return [("mcp-session-id", opened.headers["mcp-session-id"])]


def message(answer: httpx2.Response) -> dict[str, Any]:
    """The one JSON-RPC message of an answer."""
    lines = [line.removeprefix("data:") for line in answer.text.splitlines() if line.startswith("data:")]
    found: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)
    return found


def of_users(*values: Any) -> list[tuple[str, Any]]:
    return [("x-user-id", value) for value in values]


async def test_a_service_speaks_for_whom_one_clean_header_names_and_for_nobody_else(target: Target) -> None:
    async with target.web("service") as web:
        opened = await session(web)
        stored = message(await post(web, tool("add_memory", episode_body=BODY), [*opened, *of_users("anna")]))
        uuid = stored["result"]["structuredContent"]["episode_uuid"]
        asked = tool("get_episodes", episode_uuids=[uuid])
        mine = message(await post(web, asked, [*opened, *of_users("anna")]))
        assert mine["result"]["structuredContent"]["total"] == 1
        refusals = set()
        for values in NAMES_NOBODY:
            answer = message(await post(web, asked, [*opened, *of_users(*values)]))["result"]
            assert answer["structuredContent"]["code"] == "not_allowed", values
            refusals.add(json.dumps(answer["content"]))
            read = message(
                await post(web, rpc("resources/read", uri=f"pkm://episode/{uuid}"), [*opened, *of_users(*values)])
            )
            assert "X-User-ID" in read["error"]["message"], values
        assert len(refusals) == 1
        for value in NOT_ANNA:
            answer = message(await post(web, asked, [*opened, *of_users(value)]))
            assert BODY not in json.dumps(answer), value
            assert uuid not in json.dumps(message(await post(web, tool("get_status"), [*opened, *of_users(value)])))


async def test_only_a_service_may_name_anybody(target: Target) -> None:
    async with target.web("eve") as web:
        opened = await session(web)
        for values in (["vera"], ["eve"], [""], ["vera", "vera"], ["{{LIBRECHAT_USER_ID}}"]):
            answer = message(await post(web, tool("get_episodes", group_ids=VERAS), [*opened, *of_users(*values)]))
            assert answer["result"]["structuredContent"]["code"] == "not_allowed", values


async def test_every_request_without_exactly_one_good_token_is_answered_alike(target: Target) -> None:
    secret = target.story.headers["vera"].removeprefix("Bearer ")
    answers = set()
    async with target.web("vera") as own, target.web(None) as web:
        opened = await session(own)
        for values in BAD_TOKENS:
            sent = [
                value.format(
                    secret=secret, hash=target.story.tokens["vera"].hash, upper=secret.upper(), short=secret[:-1]
                )
                for value in values
                if "$" not in value
            ]
            headers: list[tuple[str, Any]] = [("authorization", value.encode()) for value in sent or values]
            for body in (
                rpc("initialize", **HELLO),
                tool("get_episodes"),
                rpc("resources/read", uri="pkm://episode/1"),
                [],
            ):
                for more in ([], opened):
                    answer = await post(web, body, [*headers, *more])
                    answers.add((answer.status_code, answer.text))
            for method in ("GET", "DELETE", "OPTIONS", "PUT"):
                answer = await web.request(method, "/mcp", headers=[*headers, *opened])
                answers.add((answer.status_code, answer.text))
        assert len(answers) == 1
        assert answers.pop()[0] == 401
        assert (await post(own, tool("get_status"), opened)).status_code == 200


async def test_a_token_counts_in_one_place_and_a_path_leads_around_nothing(target: Target) -> None:
    secret = target.story.headers["vera"].removeprefix("Bearer ")
    async with target.web("vera") as own, target.web(None) as web:
        opened = await session(own)
        for more in ([], opened):
            for headers in OTHER_PLACES:
                sent = [(name, value.format(secret=secret)) for name, value in headers]
                answer = await post(web, tool("get_episodes", group_ids=VERAS), [*sent, *more])
                assert answer.status_code == 401, headers
            for path in PLACES:
                answer = await web.post(path.format(secret=secret), json=tool("get_status"), headers=more)
                assert answer.status_code == 401, path
        for path in ROUNDABOUT:
            url = httpx2.URL(target.server.url).copy_with(raw_path=path.encode())
            for headers in ([], [("host", "evil.example")]):
                answer = await web.post(url, json=rpc("initialize", **HELLO), headers=headers)
                assert answer.status_code in {401, 405, 421}, path
                assert "result" not in answer.text


async def test_the_session_of_another_is_like_none(target: Target) -> None:
    async with target.web("vera") as vera, target.web("eve") as eve:
        hers, nobodys = await session(vera), [("mcp-session-id", "0" * 32)]
        for method in ("POST", "GET", "DELETE"):
            found = []
            for sent in (hers, nobodys):
                body = {"json": tool("get_episodes", group_ids=VERAS)} if method == "POST" else {}
                answer = await eve.request(method, "/mcp", headers=sent, **body)
                found.append((answer.status_code, answer.text, dict(answer.headers) | {"date": ""}))
            assert found[0] == found[1]
            assert found[0][0] == 404
        told = message(await post(vera, tool("get_episodes", group_ids=VERAS), hers))
        assert told["result"]["structuredContent"]["total"] == HERS_IN_ALL  # it is still open


async def test_neither_many_nor_large_openings_of_one_take_anything_from_another(target: Target) -> None:
    async with target.web("vera") as vera, target.web("eve") as eve:
        hers = await session(vera)
        filled = {**HELLO, "capabilities": {"experimental": {"x": {"y": "z" * 3_900_000}}}}
        for _ in range(20):
            assert (await post(eve, rpc("initialize", **filled))).status_code == 413
        for _ in range(300):
            last = await session(eve)
        assert (await post(eve, tool("get_status"), last)).status_code == 200
        told = message(await post(vera, tool("get_episodes", group_ids=VERAS), hers))
        assert told["result"]["structuredContent"]["total"] == HERS_IN_ALL


async def test_a_batch_is_not_taken_apart(target: Target) -> None:
    async with target.web("eve") as web:
        opened = await session(web)
        for batch in (
            [tool("get_status", 1), tool("get_episodes", 2)],
            [rpc("initialize", **HELLO), tool("get_status", 2)],
        ):
            for headers in ([], opened):
                answer = await post(web, batch, headers)
                assert answer.status_code == 400
                assert "result" not in answer.text


async def test_a_token_that_is_revoked_ends_every_session_at_once(target: Target) -> None:
    async with target.web("gone") as web:
        opened = await session(web)
        assert "result" in message(await post(web, tool("get_status"), opened))
        async with target.as_("gone") as client:
            assert not (await client.call_tool("get_status", {})).is_error
            target.story.revoke("gone")
            for sent in ([], opened):
                assert (await post(web, tool("get_status"), sent)).status_code == 401
            assert (await web.request("DELETE", "/mcp", headers=opened)).status_code == 401
            with pytest.raises(MCPError):
                await client.call_tool("get_status", {})


async def test_what_an_argument_says_of_the_caller_changes_nothing(target: Target) -> None:
    async with target.as_("eve") as client:
        for name in ("role", "tier", "principal", "user", "user_id", "x_user_id", "token", "caller"):
            refused = await client.call_tool("get_episodes", {"group_ids": VERAS, name: "vera"})
            assert refused.is_error
            assert f"no parameter {name}" in text(refused)
