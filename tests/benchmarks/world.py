"""A throw-away memory, in process and behind an MCP client."""

import gc
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from mcp.client import Client
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.server.app import build_server
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

NUMPY: dict[str, Any] = {"local_runtime": "numpy"}
"""What everybody has; the extra ``fast`` has figures of its own."""


@contextmanager
def data_directory() -> Iterator[Path]:
    """A directory that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="pkm-bench-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@asynccontextmanager
async def memory(**settings: Any) -> AsyncIterator[Memory]:
    """An empty memory of its own."""
    with data_directory() as directory:
        async with open_memory(Settings(data_dir=directory, **NUMPY, **settings)) as opened:
            gc.collect()
            gc.freeze()  # as a server does; what earlier benchmarks of this process left is no part of what is measured
            yield opened


@asynccontextmanager
async def client_of(opened: Memory, **settings: Any) -> AsyncIterator[Client]:
    """An MCP client in this process, of a server over an open memory; ``settings`` differ from the memory's own."""

    @asynccontextmanager
    async def services() -> AsyncIterator[Services]:
        yield opened.services

    async with Client(build_server(opened.context.settings.model_copy(update=settings), services)) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a tool.

    The Python client would check it against the output schema on top, which takes it longer than the server takes
    for the answer; other clients do not, and it is no part of what is measured.
    """
    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
    result = await client.session.send_request(request, CallToolResult)
    if result.is_error or not isinstance(result.structured_content, dict):
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content
