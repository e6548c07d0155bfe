"""A client that asks and does not read: its connection, and what waits for it, must not be kept for ever."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.types import Receive, Scope, Send

from graphiti_pkm.server.transports.http import Web, listen
from graphiti_pkm.settings.loader import Settings

CHUNK = b"x" * 1_000_000
ASKED = b"GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


async def much(scope: Scope, _receive: Receive, send: Send) -> None:
    """An application whose answer is larger than all buffers on the way."""
    if scope["type"] != "http":
        raise NotImplementedError("it has nothing to start")
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(50):
        await send({"type": "http.response.body", "body": CHUNK, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


@asynccontextmanager
async def answering() -> AsyncIterator[tuple[Web, tuple[str, int]]]:
    settings = Settings(transport="http").model_copy(update={"body_seconds": 0.5})
    with listen("127.0.0.1", 0) as listening:
        web = Web(much, settings)
        task = asyncio.create_task(web.serve(sockets=[listening]))
        try:
            yield web, listening.getsockname()[:2]
        finally:
            web.should_exit = True
            await task


async def until_connected(web: Web, count: int) -> None:
    while len(web.connections) != count:  # noqa: ASYNC110  (nothing tells)
        await asyncio.sleep(0.02)


async def test_a_client_that_reads_nothing_is_left() -> None:
    async with answering() as (web, address):
        with socket.create_connection(address) as client:
            client.sendall(ASKED)
            await until_connected(web, 1)
            await until_connected(web, 0)


async def test_one_that_reads_slowly_is_served() -> None:
    async with answering() as (web, address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(ASKED)
        read = 0
        with contextlib.closing(writer):
            while read < 5 * len(CHUNK):
                read += len(await reader.read(65_536))
                await asyncio.sleep(0.02)
            assert len(web.connections) == 1
