"""What the check asks a memory that runs in a container."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2
import yaml
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.docker_check.tools import DOCKER, ROOT
from tests.e2e.support import call, over_http
from tests.protocol.support import DEFAULT_TOOLS

_SNIPPET = ROOT / "examples" / "clients" / "claude-code-http.json"
_USER = "66f0c2a1b5d4e3f2a1b0c9d8"
URL = "http://127.0.0.1:8000"


def is_ready() -> bool:
    """Whether /ready says so; False while nobody listens."""
    try:
        return httpx2.get(f"{URL}/ready").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def is_alive() -> bool:
    """Likewise /health."""
    try:
        return httpx2.get(f"{URL}/health").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def token_in(printed: str) -> str | None:
    """The token that ``tokens create`` shows."""
    first = printed.partition("\n")[0].strip()
    return first if re.fullmatch(r"\S{20,}", first) else None


def client_of(token: str, *, is_service: bool) -> dict[str, str]:
    """Headers and address as the configuration shown beside the commands has them."""
    file = DOCKER / "librechat.yaml" if is_service else _SNIPPET
    server: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["mcpServers"]["memory"]
    places = {"${MEMORY_TOKEN}": token, "{{LIBRECHAT_USER_ID}}": _USER, "TOKEN": token}
    headers: dict[str, str] = {}
    for name, value in server["headers"].items():
        place = next((place for place in places if place in value), "")
        headers[name] = value.replace(place, places.get(place, ""))
    return {"url": server["url"].replace("http://memory:8000", URL), **headers}


async def write_and_find(client_headers: dict[str, str]) -> list[str]:
    """tools/list, a note and finding it by meaning; what is wrong."""
    headers = dict(client_headers)
    async with over_http(headers.pop("url"), **headers) as client:
        tools = (await client.list_tools()).tools
        await call(client, "add_memory", episode_body="The kayak is stored in the boathouse.", name="Kayak")
    problems = [] if len(tools) == DEFAULT_TOOLS else [f"{len(tools)} tools"]
    return problems + await find(client_headers)


async def find(client_headers: dict[str, str]) -> list[str]:
    """Whether the note is there; what is wrong."""
    headers = dict(client_headers)
    async with over_http(headers.pop("url"), **headers) as client:
        found = await call(client, "search_episodes", query="Where do we keep our small vessel?")
    problems = [] if "boathouse" in json.dumps(found) else ["the note is not found"]
    return problems + ([f"search says {found['search']}"] if "search" in found else [])


async def over_stdio(command: list[str], log: Path) -> list[str]:
    """A client that starts the image itself; what is wrong."""
    with log.open("w") as errors:
        started = stdio_client(StdioServerParameters(command=command[0], args=command[1:]), errlog=errors)
        async with Client(started) as client:
            tools = (await client.list_tools()).tools
            await call(client, "get_status")
    return [] if len(tools) == DEFAULT_TOOLS else [f"{len(tools)} tools"]
