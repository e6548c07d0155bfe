"""Requests whose parameters have another shape: the code of the answer says whose fault it is."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR
from tests.fakes import FakeGraph
from tests.fakes.reads import FakeRecords
from tests.protocol.access import ACCEPT, Doors, a_world
from tests.protocol.serving import served
from tests.protocol.support import World

HEADER_MISMATCH = -32020
CALLERS_FAULT = {INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, HEADER_MISMATCH}
ODD: list[Any] = [None, [], ["x"], {}, {"a": 1}, 7, True, 1.5, "", "x", "\u0000", "é" * 5_000]
REQUESTS: dict[str, dict[str, Any]] = {
    "tools/call": {"name": "get_status", "arguments": {}},
    "prompts/get": {"name": "journal_session", "arguments": {}},
    "resources/read": {"uri": "pkm://entity/11111111"},
    "tools/list": {"cursor": "x"},
    "prompts/list": {"cursor": "x"},
    "resources/list": {"cursor": "x"},
    "resources/templates/list": {"cursor": "x"},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "journal_session"},
        "argument": {"name": "topic", "value": "x"},
    },
    "logging/setLevel": {"level": "info"},
    "resources/subscribe": {"uri": "pkm://entity/11111111"},
    "resources/unsubscribe": {"uri": "pkm://entity/11111111"},
    "ping": {},
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
    "server/discover": {},
    "nobody/knows": {"a": 1},
}
MODERN = {"mcp-protocol-version": "2026-07-28"}
META = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
}


class Wire:
    """Sends whatever it is given, in the older protocol or in the newer one."""

    def __init__(self, web: httpx2.AsyncClient, session: str | None, token: dict[str, str] | None = None) -> None:
        self._web = web
        self._session = session
        self._token = token or {}

    def of(self, token: dict[str, str]) -> "Wire":
        """The same server for another token, without a session."""
        return Wire(self._web, None, token)

    async def ask(self, method: str, params: Any) -> dict[str, Any]:
        headers = self._headers(method)
        if self._session is None and isinstance(params, dict):
            params = {**params, **META}
            name = params.get("uri" if method.startswith("resources/") else "name")
            if isinstance(name, str) and name.isascii() and name.isprintable():
                headers["mcp-name"] = name
        message = {"jsonrpc": "2.0", "id": 5, "method": method, "params": params}
        answer = await self._web.post("/mcp", content=json.dumps(message), headers=headers)
        lines = [line.removeprefix("data:") for line in answer.text.splitlines() if line.startswith("data:")]
        found: dict[str, Any] = json.loads(lines[-1] if lines else answer.text)
        return found

    async def send(self, method: str, body: str) -> httpx2.Response:
        """Whatever stands in the body."""
        return await self._web.post("/mcp", content=body, headers=self._headers(method))

    def _headers(self, method: str) -> dict[str, str]:
        return {"mcp-session-id": self._session} if self._session else {**MODERN, "mcp-method": method, **self._token}


@asynccontextmanager
async def wire(doors: Doors, era: str, calls_per_minute: int = 100_000, **limits: int) -> AsyncIterator[Wire]:
    settings = doors.settings.model_copy(update={"calls_per_minute": calls_per_minute, **limits})
    headers = {**doors.add("anna"), "accept": ACCEPT, "content-type": "application/json"}
    async with (
        served(settings, a_world(doors).start) as url,
        httpx2.AsyncClient(base_url=url, headers=headers, timeout=20) as web,
    ):
        session = None
        if era == "older":
            hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": REQUESTS["initialize"]}
            session = (await web.post("/mcp", json=hello)).headers["mcp-session-id"]
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await web.post("/mcp", json=ready, headers={"mcp-session-id": session})
        yield Wire(web, session)


@pytest.mark.parametrize("era", ["older", "newer"])
async def test_no_shape_of_a_parameter_is_an_internal_error(era: str, doors: Doors) -> None:
    faults = {}
    async with wire(doors, era) as found:
        for method, good in REQUESTS.items():
            tried: Sequence[Any] = [
                *({**good, key: value} for key in good for value in ODD),
                {**good, "extra": [1]},
                *ODD,
            ]
            for params in tried:
                answer = await found.ask(method, params)
                error = answer.get("error", {})
                if error and error["code"] not in CALLERS_FAULT:
                    faults[method, json.dumps(params)[:80]] = error
                assert "Traceback" not in json.dumps(answer)
    assert faults == {}


@pytest.mark.parametrize("era", ["older", "newer"])
@pytest.mark.parametrize("method", [*REQUESTS, "tools/call of nothing"])
async def test_requests_of_every_kind_have_a_limit_which_is_the_tokens_own(
    era: str, method: str, doors: Doors, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="graphiti_pkm.audit")
    limits = {"calls_per_minute": 2, "writes_per_minute": 2}
    params = REQUESTS.get(method, {"name": "nothing", "arguments": {}})
    async with wire(doors, era, **limits) as found:
        answers = [await found.ask(method.partition(" ")[0], params) for _ in range(11)]
        assert "requests a minute are allowed" in answers[-1]["error"]["message"], answers[-1]
        assert "requests a minute are allowed" not in json.dumps(answers[:8])
        assert "too_many_calls" in str([getattr(line, "event", "") for line in caplog.records])
        answer = await found.of(doors.add("ben")).ask("tools/list", {})
        assert "requests a minute" not in json.dumps(answer)


NO_MESSAGES = [
    b'{"method": ["x"]}',
    b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]',
    b'"Words of somebody."',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": ["Words of somebody."]}',
    b'{"jsonrpc": "2.0",',
    b"\xff\xfe",
    b"",
]


@pytest.mark.parametrize("era", ["older", "newer"])
@pytest.mark.parametrize("workers", [1, 2])
async def test_what_is_no_message_is_refused_in_one_sentence(era: str, workers: int, doors: Doors) -> None:
    headers = {**doors.add("anna"), "accept": ACCEPT, "content-type": "application/json"}
    headers |= {**MODERN, "mcp-method": "ping"} if era == "newer" else {}
    settings = doors.settings.model_copy(update={"workers": workers})
    async with served(settings, a_world(doors).start) as url, httpx2.AsyncClient(headers=headers) as web:
        for body in NO_MESSAGES:
            answer = await web.post(f"{url}/mcp", content=body)
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert error["code"] in (INVALID_REQUEST, PARSE_ERROR)
            assert error["message"].count(".") <= 1
            assert len(error["message"]) < 80
            assert "omebody" not in answer.text


@pytest.mark.parametrize("era", ["older", "newer"])
@pytest.mark.parametrize("identity", ["1.5", "{}", "[1]", "true", "null", "NaN"])
async def test_a_request_whose_id_is_neither_text_nor_a_whole_number_is_refused(
    era: str, identity: str, doors: Doors
) -> None:
    """The SDK takes it for a notification: who asked would wait for an answer that never comes."""
    async with wire(doors, era) as sent:
        answer = await sent.send(
            "ping", f'{{"jsonrpc": "2.0", "id": {identity}, "method": "ping", "params": {json.dumps(META)}}}'
        )
        assert answer.status_code == 400
        assert answer.json()["error"]["code"] in (INVALID_REQUEST, PARSE_ERROR)


@pytest.mark.parametrize("era", ["older", "newer"])
async def test_a_name_that_is_no_text_and_an_argument_that_a_prompt_does_not_have_are_invalid(
    era: str, doors: Doors
) -> None:
    async with wire(doors, era) as found:
        for name in ([], ["get_status"], {}):
            error = (await found.ask("tools/call", {"name": name, "arguments": {}}))["error"]
            assert error["code"] == (INVALID_PARAMS if era == "older" else HEADER_MISMATCH)
        for arguments in ({"nope": "x"}, {"topic": "x", "nope": "y"}):
            error = (await found.ask("prompts/get", {"name": "journal_session", "arguments": arguments}))["error"]
            assert error["code"] == INVALID_PARAMS
            assert error["message"] == "journal_session has no argument nope. Its arguments: topic."


class BrokenRecords(FakeRecords):
    async def find_uuids(self, *_: Any, **__: Any) -> list[str]:
        raise KeyError("words of somebody")


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_our_own_fault_is_an_internal_error_without_its_text(mode: Any) -> None:
    graph = FakeGraph()
    graph.records = BrokenRecords(graph)
    async with World(graph=graph).connect(mode) as client:
        with pytest.raises(MCPError) as failed:
            await client.read_resource("pkm://entity/11111111")
        assert failed.value.error.code == INTERNAL_ERROR
        assert "somebody" not in str(failed.value)
