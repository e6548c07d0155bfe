"""The wire of stdio: nothing but frames, and an answer to each request that can be read at all."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from tests.protocol.support import World

from graphiti_pkm.server.app import build_server
from graphiti_pkm.server.transports.stdio import serve_stdio, without_half_pairs

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


class Wire:
    """The client's two ends."""

    def __init__(self, to_server: int, from_server: int) -> None:
        self._out = os.fdopen(to_server, "w", encoding="utf-8")
        self._in = os.fdopen(from_server, encoding="utf-8")

    async def ask(self, *lines: str) -> dict[str, Any]:
        """Send raw lines; the next frame that comes back."""
        await asyncio.to_thread(self._out.write, "".join(f"{line}\n" for line in lines))
        await asyncio.to_thread(self._out.flush)
        frame = json.loads(await asyncio.to_thread(self._in.readline))
        assert frame["jsonrpc"] == "2.0"
        return dict(frame)

    def close(self) -> None:
        self._out.close()


@asynccontextmanager
async def wire(world: World) -> AsyncIterator[Wire]:
    to_server, from_server = os.pipe(), os.pipe()
    stdin = anyio.wrap_file(os.fdopen(to_server[0], encoding="utf-8"))
    stdout = anyio.wrap_file(os.fdopen(from_server[1], "w", encoding="utf-8"))
    server = build_server(world.settings, world.start)
    client = Wire(to_server[1], from_server[0])
    task = asyncio.create_task(serve_stdio(server._lowlevel_server, server.draining, 5, stdin, stdout))
    yield client
    client.close()
    await task
    await stdin.aclose()
    await stdout.aclose()
    client._in.close()


def call(number: int, tool: str, arguments: str) -> str:
    return (
        f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}'
    )


async def test_each_request_is_answered_although_one_holds_half_a_surrogate_pair(world: World) -> None:
    async with wire(world) as client:
        hello = await client.ask(json.dumps(HELLO))
        assert hello["result"]["serverInfo"]["name"] == "graphiti-pkm"
        initialized = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        refused = await client.ask(initialized, call(2, "add_memory", '{"episode_body":"bad \\ud800 half"}'))
        assert refused["id"] == 2
        assert "half a surrogate pair" in refused["result"]["structuredContent"]["error"]
        stored = await client.ask(
            "no json at all", call(3, "add_memory", '{"episode_body":"good \\ud83d\\ude42 pair"}')
        )
        assert stored["id"] == 3
    assert [request.episode_body for request in world.writing.requests] == ["good 🙂 pair"]


@pytest.mark.parametrize(
    ("line", "repaired"),
    [
        (r'"\ud83d\ude42"', r'"\ud83d\ude42"'),
        (r'"\ud83d"', r'"\u0000"'),
        (r'"\uDE42\uD83D"', r'"\u0000\u0000"'),
        (r'"\\ud83d"', r'"\\ud83d"'),
        (r'"\\\ud83d \n"', r'"\\\u0000 \n"'),
        (r'"\ud83d\ud83d\ude42"', r'"\u0000\ud83d\ude42"'),
    ],
)
def test_only_halves_are_replaced(line: str, repaired: str) -> None:
    assert without_half_pairs(line) == repaired
