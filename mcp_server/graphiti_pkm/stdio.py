r"""The stdio transport, with an answer also for a request that holds half a surrogate pair.

The SDK drops a line that is no valid JSON without an answer, and its parser refuses ``"\ud800"``, which Python and
JavaScript clients do send; their call would hang until it times out. Such a line is read again with U+0000 in its
place, which every tool refuses with a message that says what to do.
"""

import re
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

from graphiti_pkm.toolsets.backend import Backend

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
    r"|\\."
)


def without_half_pairs(line: str) -> str:
    """A JSON text with NUL escapes in place of half surrogate pairs."""
    return _ESCAPE.sub(lambda found: "\\u0000" if found["half"] else found[0], line)


async def serve_stdio(
    server: Server[Backend],
    stdin: anyio.AsyncFile[str] | None = None,
    stdout: anyio.AsyncFile[str] | None = None,
) -> None:
    """Serve one client until it closes its side."""
    async with stdio_server(stdin, stdout) as (lines, answers), lines, _read_again(lines) as requests:
        await server.run(requests, answers, server.create_initialization_options())


@asynccontextmanager
async def _read_again(
    lines: AsyncIterable[SessionMessage | Exception],
) -> AsyncIterator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    send, receive = anyio.create_memory_object_stream[SessionMessage | Exception](0)

    async def forward() -> None:
        async with send:
            async for item in lines:
                await send.send(_repaired(item) if isinstance(item, ValidationError) else item)

    async with receive, anyio.create_task_group() as tasks:
        tasks.start_soon(forward)
        yield receive
        tasks.cancel_scope.cancel()


def _repaired(error: ValidationError) -> SessionMessage | Exception:
    line = error.errors(include_url=False)[0]["input"]
    if not isinstance(line, str):
        return error
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(without_half_pairs(line), by_name=False))
    except ValidationError:
        return error
