"""A server behind a real port, and clients of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from tests.protocol.support import Mode

from graphiti_pkm.core.ports.metrics import Counted
from graphiti_pkm.server.app import build_server
from graphiti_pkm.server.backend import Start
from graphiti_pkm.server.transports.http import Web, http_app, listen
from graphiti_pkm.settings.loader import Settings

PATIENCE = 60.0
"""Seconds that a client waits for an answer: the machine may be busy."""


@asynccontextmanager
async def served(settings: Settings, start: Start, counted: Counted | None = None) -> AsyncIterator[str]:
    """A real server on a free loopback port; gives its address."""
    server = build_server(settings, start, counted)
    app = http_app(server, server.backend, settings, server.draining)
    with listen("127.0.0.1", 0) as listening:
        web = Web(app, settings)
        async with server.backend.open():
            task = asyncio.create_task(web.serve(sockets=[listening]))
            try:
                yield f"http://127.0.0.1:{listening.getsockname()[1]}"
            finally:
                web.should_exit = True
                await task


@asynccontextmanager
async def connected(url: str, mode: Mode, **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=mode) as client,
    ):
        yield client
