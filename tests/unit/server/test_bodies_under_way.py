"""Bodies of requests of one token that are under way at the same time take a bounded number of bytes."""

import asyncio
from datetime import UTC, datetime

import pytest
from starlette.types import Message, Receive, Scope, Send

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.core.ports.metrics import UNCOUNTED
from graphiti_pkm.server.auth.access_gate import AccessGate
from graphiti_pkm.server.auth.callers import TOKEN, Limits
from graphiti_pkm.server.transports.sessions import MOST_BYTES, Sessions
from graphiti_pkm.settings.loader import Settings

SETTINGS = Settings(transport="http")
LARGEST = 4 * 1024 * 1024
ANNA, BEN = ({TOKEN: Token(hash=one * 64, principal=one, created=datetime(2026, 3, 1, tzinfo=UTC))} for one in "ab")


class Waiting:
    """An endpoint that holds every request until it is told to answer."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})


class Client:
    """Sends requests of a token to sessions before an endpoint that waits."""

    def __init__(self) -> None:
        self.endpoint = Waiting()
        self.sessions = Sessions(self.endpoint, SETTINGS, Limits(SETTINGS), AccessGate(UNCOUNTED))
        self.running: list[asyncio.Task[Message]] = []

    async def request(self, token: Scope, size: int | None, method: str = "POST") -> Message:
        """The start of the answer; ``size``: None for a body whose length is not said."""
        header = (b"transfer-encoding", b"chunked") if size is None else (b"content-length", str(size).encode())
        version = (b"mcp-protocol-version", b"2026-07-28")  # one without sessions
        scope = {"type": "http", "method": method, "path": "/mcp", "headers": [header, version], **token}
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.sessions(scope, receive, send)
        return sent[0]

    async def hold(self, token: Scope, size: int | None) -> None:
        """Leave a request under way."""
        self.running.append(asyncio.create_task(self.request(token, size)))
        await asyncio.sleep(0)

    async def end(self) -> list[int]:
        """Let all be answered."""
        self.endpoint.may_answer.set()
        return [answer["status"] for answer in await asyncio.gather(*self.running)]


@pytest.mark.parametrize("size", [LARGEST, None])
async def test_a_token_has_so_many_bytes_of_bodies_under_way(size: int | None) -> None:
    client = Client()
    for _ in range(MOST_BYTES // LARGEST):
        await client.hold(ANNA, size)
    refused = await client.request(ANNA, size)
    assert refused["status"] == 429
    assert (b"retry-after", b"1") in refused["headers"]
    await client.hold(ANNA, 0)
    await client.hold(BEN, size)
    assert set(await client.end()) == {200}


async def test_what_was_answered_leaves_room() -> None:
    client = Client()
    for _ in range(MOST_BYTES // LARGEST):
        await client.hold(ANNA, LARGEST)
    await client.end()
    assert (await client.request(ANNA, LARGEST))["status"] == 200


async def test_a_body_that_is_too_long_anyway_counts_as_the_longest_that_is_read() -> None:
    client = Client()
    await client.hold(ANNA, 1_000 * MOST_BYTES)
    await client.hold(ANNA, LARGEST)
    assert await client.end() == [200, 200]
