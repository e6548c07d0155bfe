"""A client that costs next to nothing: many of them share the machine with the server that they measure.

The SDK's own checks every answer against its schema, which takes longer than most calls.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2

_ACCEPT = "application/json, text/event-stream"
_VERSION = "2025-06-18"
_PATIENCE = 60.0


class LeanClient:
    """One session over streamable HTTP."""

    def __init__(self, web: httpx2.AsyncClient, url: str) -> None:
        self._web = web
        self._url = url
        self._headers = {"accept": _ACCEPT, "mcp-protocol-version": _VERSION}
        self._number = 0

    async def begin(self) -> None:
        """Say hello; a server without sessions gives none."""
        hello = {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": {"name": "lean", "version": "1"}}
        answer = await self._send({"id": 0, "method": "initialize", "params": hello})
        if session := answer.headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        await self._send({"method": "notifications/initialized"})

    async def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The structured answer, also of an error, which has a ``code``."""
        self._number += 1
        params = {"name": tool, "arguments": arguments}
        answer = await self._send({"id": self._number, "method": "tools/call", "params": params})
        found = _message(answer)
        if "result" not in found:
            return {"code": f"protocol {found['error']['code']}"}
        structured: dict[str, Any] = found["result"]["structuredContent"]
        return structured

    async def _send(self, message: dict[str, Any]) -> httpx2.Response:
        answer = await self._web.post(self._url, json={"jsonrpc": "2.0", **message}, headers=self._headers)
        answer.raise_for_status()
        return answer


@asynccontextmanager
async def lean_client(url: str, **headers: str) -> AsyncIterator[LeanClient]:
    """A client that has begun."""
    async with httpx2.AsyncClient(headers=headers, timeout=_PATIENCE) as web:
        client = LeanClient(web, url)
        await client.begin()
        yield client


def _message(answer: httpx2.Response) -> dict[str, Any]:
    """The answer among the events of a stream, or the body."""
    if answer.headers["content-type"].startswith("application/json"):
        whole: dict[str, Any] = answer.json()
        return whole
    lines = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: {")]
    last: dict[str, Any] = json.loads(lines[-1])
    return last
