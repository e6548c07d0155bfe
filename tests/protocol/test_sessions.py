"""Sessions over HTTP: small, counted, so many of each token, and over when nobody uses them."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.types import INVALID_PARAMS
from tests.protocol.access import ACCEPT, PING, Doors, a_world
from tests.protocol.serving import served

LARGE = "x" * 100_000


def hello(filling: str = "") -> dict[str, Any]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {"experimental": {"x": {"y": filling}}},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


class Web:
    """A bare client with a token."""

    def __init__(self, web: httpx2.AsyncClient) -> None:
        self.web = web

    async def opened(self) -> httpx2.Response:
        return await self.web.post("/mcp", json=hello())

    async def session(self) -> dict[str, str]:
        opened = await self.opened()
        assert opened.status_code == 200, opened.text
        return {"mcp-session-id": opened.headers["mcp-session-id"]}

    async def status(self, session: dict[str, str]) -> int:
        return (await self.web.post("/mcp", json=PING, headers=session)).status_code


@asynccontextmanager
async def clients(doors: Doors, *headers: dict[str, str], **settings: Any) -> AsyncIterator[list[Web]]:
    given = doors.settings.model_copy(update={"calls_per_minute": 10_000, **settings})
    async with served(given, a_world(doors).start) as url:
        webs = [
            httpx2.AsyncClient(base_url=url, headers={"accept": ACCEPT, **each}, timeout=20)
            for each in headers or ({},)
        ]
        try:
            yield [Web(web) for web in webs]
        finally:
            for web in webs:
                await web.aclose()


def alive() -> int:
    """Sessions that the SDK keeps, with all that belongs to them."""
    gc.collect()
    return sum(isinstance(one, StreamableHTTPServerTransport) and not one.is_terminated for one in gc.get_objects())


async def settled(count: int) -> None:
    """Wait until the SDK keeps so many: what is too many ends after the answer that made it so."""
    while alive() != count:  # noqa: ASYNC110  (nobody tells when the SDK ends one)
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_what_opens_a_session_may_not_be_long(is_chunked: bool, doors: Doors) -> None:
    content = json.dumps(hello(LARGE)).encode()

    async def chunks() -> AsyncIterator[bytes]:
        yield content

    async with clients(doors, doors.add("anna")) as [anna]:
        before = alive()
        headers = {"content-type": "application/json"}
        refused = await anna.web.post("/mcp", content=chunks() if is_chunked else content, headers=headers)
        assert (refused.status_code, "65,536" in refused.text) == (413, True)
        assert alive() == before


async def test_nor_what_opens_it_again(doors: Doors) -> None:
    async with clients(doors, doors.add("anna")) as [anna]:
        session = await anna.session()
        again = await anna.web.post("/mcp", json=hello(LARGE), headers=session)
        assert f'"code":{INVALID_PARAMS}' in again.text
        assert await anna.status(session) == 200


async def test_nor_over_sse(doors: Doors) -> None:
    async with (
        clients(doors, doors.add("anna"), transport="sse") as [anna],
        anna.web.stream("GET", "/sse") as stream,
    ):
        lines = stream.aiter_lines()
        address = (await anext(line async for line in lines if line.startswith("data:"))).removeprefix("data:").strip()
        await anna.web.post(address, json=hello(LARGE))
        answer = await anext(line async for line in lines if line.startswith("data:"))
        assert f'"code":{INVALID_PARAMS}' in answer


async def test_a_token_that_opens_too_many_loses_those_it_used_least_recently_and_nobody_elses(doors: Doors) -> None:
    async with clients(doors, doors.add("anna"), doors.add("ben"), sessions_per_token=5) as [anna, ben]:
        before = alive()
        other = await ben.session()
        sessions = [await anna.session() for _ in range(5)]
        assert await anna.status(sessions[0]) == 200
        sessions += [await anna.session() for _ in range(40)]
        await settled(before + 6)
        assert [await anna.status(one) for one in sessions[-5:]] == [200] * 5
        assert {await anna.status(one) for one in sessions[:-5]} == {404}
        assert await ben.status(other) == 200


async def test_all_together_have_so_many_also_when_they_come_at_once(doors: Doors) -> None:
    async with clients(doors, doors.add("anna"), doors.add("ben"), sessions=6) as [anna, ben]:
        before = alive()
        await asyncio.gather(*(web.session() for web in (anna, ben) for _ in range(20)))
        await settled(before + 6)


async def test_a_stream_of_events_that_nobody_uses_gives_way_too(doors: Doors) -> None:
    """Or clients of one service with a stream each would keep out whoever comes next."""
    async with clients(doors, doors.add("anna"), sessions_per_token=2) as [anna]:
        first = await anna.session()
        async with anna.web.stream("GET", "/mcp", headers=first) as stream:
            assert stream.status_code == 200
            for _ in range(3):
                await anna.session()
            assert [line async for line in stream.aiter_lines() if line.startswith("data:")] == []  # it ends
        assert await anna.status(first) == 404


@pytest.mark.parametrize("fields", [{}, {"may_impersonate": True}])
async def test_opening_a_session_is_a_call(fields: dict[str, Any], doors: Doors) -> None:
    async with clients(doors, doors.add("anna", **fields), doors.add("ben"), calls_per_minute=6) as [anna, ben]:
        answers = [await anna.opened() for _ in range(12)]
        assert [one.status_code for one in answers] == [200] * 6 + [429] * 6
        assert int(answers[-1].headers["retry-after"]) > 0
        assert "at most 6 calls a minute" in answers[-1].text
        assert (await ben.opened()).status_code == 200


async def test_also_where_there_are_no_sessions_and_where_a_stream_is_one(doors: Doors) -> None:
    anna = doors.add("anna")
    async with clients(doors, anna, calls_per_minute=6, workers=2) as [web]:
        texts = [(await web.opened()).text for _ in range(8)]
        assert ["at most 6 calls a minute" in text for text in texts] == [False] * 6 + [True] * 2
    doors.path.with_name("limits.sqlite3").unlink(missing_ok=True)
    async with clients(doors, anna, calls_per_minute=6, transport="sse") as [web]:
        statuses = []
        for _ in range(8):
            async with web.web.stream("GET", "/sse") as stream:
                statuses.append(stream.status_code)
        assert statuses == [200] * 6 + [429] * 2


async def test_a_session_that_nobody_uses_ends(doors: Doors) -> None:
    async with clients(doors, doors.add("anna"), session_idle_seconds=0.05) as [anna]:
        before = alive()
        session = await anna.session()
        await settled(before)
        assert await anna.status(session) == 404


async def test_streams_of_one_token_are_bounded(doors: Doors) -> None:
    """Over SSE each is a session."""
    anna, ben = doors.add("anna"), doors.add("ben")
    async with (
        clients(doors, anna, ben, transport="sse", sessions_per_token=2) as [web, other],
        web.web.stream("GET", "/sse"),
        web.web.stream("GET", "/sse"),
        web.web.stream("GET", "/sse"),
        web.web.stream("GET", "/sse"),
    ):
        assert (await web.web.get("/sse")).status_code == 429
        async with other.web.stream("GET", "/sse") as stream:
            assert stream.status_code == 200
