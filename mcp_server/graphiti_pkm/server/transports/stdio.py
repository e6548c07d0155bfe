r"""The stdio transport, which also answers requests that contain half a surrogate pair.

The SDK drops a line that is not valid JSON without an answer, and its parser refuses ``"\ud800"``, which Python and
JavaScript clients do send; their call would hang until it times out. Such a line is parsed again with U+0000 in its
place, which every tool refuses with a message that says what to do.

When stdin ends or a signal arrives, the SDK would drop unanswered requests. They are kept open until they are answered.
"""

import asyncio
import codecs
import os
import re
import threading
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import cast

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, jsonrpc_message_adapter
from pydantic import ValidationError

from graphiti_pkm.server.backend import Backend
from graphiti_pkm.server.transports.draining import LISTEN, CallUnderWay, Draining, end_within

_CHUNK = 65_536
_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a complete pair
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def without_half_pairs(line: str) -> str:
    """The JSON text with every half of a surrogate pair replaced by an escaped NUL."""
    return _ESCAPE.sub(lambda found: "\\u0000" if found["half"] else found[0], line)


async def serve_stdio(
    server: Server[Backend],
    draining: Draining,
    drain_seconds: float,
    stdin: anyio.AsyncFile[str] | None = None,
    stdout: anyio.AsyncFile[str] | None = None,
) -> None:
    """Serve one client until it closes stdin or ``draining`` begins; then answer the requests under way."""
    lines = _Stdin(draining, drain_seconds) if stdin is None else stdin
    # The SDK only iterates over it. A signal could not interrupt the SDK's own way of reading.
    source = cast("anyio.AsyncFile[str]", lines)
    async with (
        stdio_server(source, stdout) as (received, answers),
        received,
        _Wire(draining, drain_seconds).between(received, answers) as (requests, replies),
    ):
        await server.run(requests, replies, server.create_initialization_options())


class _Stdin:
    """Lines of stdin, until it ends or ``draining`` begins. Descriptor 0 is replaced, so nothing else can read it."""

    def __init__(self, draining: Draining, drain_seconds: float) -> None:
        self._draining = draining
        self._drain_seconds = drain_seconds
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._private = os.dup(0)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    async def __aiter__(self) -> AsyncIterator[str]:
        # A daemon thread, because nothing interrupts a read. It reads from the descriptor, because a file object would
        # be locked by the thread when the program ends.
        threading.Thread(target=self._read, args=(asyncio.get_running_loop(),), name="stdin", daemon=True).start()
        begun = asyncio.ensure_future(self._draining.begun.wait())
        try:
            while True:
                line = asyncio.ensure_future(self._lines.get())
                await asyncio.wait({line, begun}, return_when=asyncio.FIRST_COMPLETED)
                if not line.done():
                    line.cancel()
                    return
                if (text := line.result()) is None:
                    end_within(self._drain_seconds)
                    return
                yield text
        finally:
            begun.cancel()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        rest = ""
        with suppress(RuntimeError):  # the loop is closed
            while chunk := self._chunk():
                *whole, rest = (rest + self._decoder.decode(chunk)).split("\n")
                for line in whole:
                    loop.call_soon_threadsafe(self._lines.put_nowait, line)
            if rest:
                loop.call_soon_threadsafe(self._lines.put_nowait, rest)
            loop.call_soon_threadsafe(self._lines.put_nowait, None)

    def _chunk(self) -> bytes:
        try:
            return os.read(self._private, _CHUNK)
        except OSError:
            return b""


class _Wire:
    """Tracks requests and answers, and closes the stream of requests only when all are answered."""

    def __init__(self, draining: Draining, drain_seconds: float) -> None:
        self._draining = draining
        self._drain_seconds = drain_seconds
        self._open: dict[str | int, CallUnderWay] = {}

    @asynccontextmanager
    async def between(
        self, received: AsyncIterable[SessionMessage | Exception], answers: WriteStream[SessionMessage]
    ) -> AsyncIterator[
        tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
    ]:
        """The streams for the server, between those of a transport and the session."""
        to_server, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        replies, from_server = anyio.create_memory_object_stream[SessionMessage](0)

        async def forward() -> None:
            async with to_server:
                async for item in received:
                    message = _repaired(item) if isinstance(item, ValidationError) else item
                    self._begin(message)
                    await to_server.send(message)
                await self._draining.finished(self._drain_seconds, quiet=0)

        async def answer() -> None:
            async with answers, from_server:
                async for message in from_server:
                    await answers.send(message)
                    self._end(message)

        async with requests, anyio.create_task_group() as reading:
            reading.start_soon(forward)
            async with anyio.create_task_group() as writing:
                writing.start_soon(answer)
                yield requests, replies
                await replies.aclose()
            reading.cancel_scope.cancel()

    def _begin(self, item: SessionMessage | Exception) -> None:
        if isinstance(item, Exception):
            return
        if isinstance(item.message, JSONRPCRequest) and item.message.method != LISTEN:
            self._open[item.message.id] = self._draining.start()
        elif isinstance(item.message, JSONRPCNotification) and item.message.method == "notifications/cancelled":
            self._close((item.message.params or {}).get("requestId"))  # a cancelled request receives no answer

    def _end(self, message: SessionMessage) -> None:
        if isinstance(message.message, JSONRPCResponse | JSONRPCError):
            self._close(message.message.id)

    def _close(self, request: object) -> None:
        if isinstance(request, str | int) and request in self._open:
            self._open.pop(request).end()


def _repaired(error: ValidationError) -> SessionMessage | Exception:
    line = error.errors(include_url=False)[0]["input"]
    if not isinstance(line, str):
        return error
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(without_half_pairs(line), by_name=False))
    except ValidationError:
        return error
