"""What the server promises of itself: events of resources in the present version, no other, over each transport."""

import json
from typing import Any

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp_types import METHOD_NOT_FOUND
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from tests.protocol.access import ACCEPT
from tests.protocol.serving import served
from tests.protocol.support import World
from tests.protocol.test_stdio import wire

from graphiti_pkm.settings.loader import Settings

VERSIONS = [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS]


def request(method: str, version: str, **params: Any) -> dict[str, Any]:
    """A message as a client of this version sends it."""
    if method == "initialize":
        params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    elif version in MODERN_PROTOCOL_VERSIONS:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def hello(version: str) -> dict[str, Any]:
    return request("server/discover" if version in MODERN_PROTOCOL_VERSIONS else "initialize", version)


async def over_http(web: httpx2.AsyncClient, message: dict[str, Any], version: str) -> dict[str, Any]:
    is_modern = version in MODERN_PROTOCOL_VERSIONS
    headers = {"mcp-protocol-version": version, "mcp-method": message["method"]} if is_modern else {}
    answer = await web.post("/mcp", json=message, headers={"accept": ACCEPT, **headers})
    lines = [line.removeprefix("data:") for line in answer.text.splitlines() if line.startswith("data:")]
    return dict(json.loads(lines[-1] if lines else answer.text))


def promises(node: object) -> list[str]:
    """The capabilities that are promised, by name."""
    found = []
    if isinstance(node, dict):
        for key, value in node.items():
            found += [key] if value is True else promises(value)
    return found


def check(answer: dict[str, Any], version: str) -> None:
    """Events of resources go over a stream that only clients of this version can open; no list ever changes."""
    capabilities = answer["result"]["capabilities"]
    assert {"tools", "prompts", "resources"} <= set(capabilities)
    assert promises(capabilities) == (["subscribe"] if version in MODERN_PROTOCOL_VERSIONS else [])


def test_every_version_is_looked_at() -> None:
    assert sorted(VERSIONS) == sorted(KNOWN_PROTOCOL_VERSIONS)


@pytest.mark.parametrize("version", VERSIONS)
async def test_only_what_is_sent_is_promised_over_stdio(version: str, world: World) -> None:
    async with wire(world) as client:
        answer = await client.ask(json.dumps(hello(version)))
    check(answer, version)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("version", VERSIONS)
async def test_only_what_is_sent_is_promised_over_http(version: str, workers: int) -> None:
    settings = Settings(transport="http", workers=workers)
    async with served(settings, World(settings).start) as url, httpx2.AsyncClient(base_url=url) as web:
        check(await over_http(web, hello(version), version), version)


async def test_no_event_is_promised_over_sse() -> None:
    settings = Settings(transport="sse")
    async with (
        served(settings, World(settings).start) as url,
        sse_client(f"{url}/sse") as streams,
        ClientSession(*streams) as session,
    ):
        result = await session.initialize()
    assert promises(result.capabilities.model_dump()) == []


@pytest.mark.parametrize("version", MODERN_PROTOCOL_VERSIONS)
async def test_who_subscribes_in_the_former_way_is_refused_at_once(version: str) -> None:
    settings = Settings(transport="http")
    subscribing = request("resources/subscribe", version, uri="pkm://entity/11111111")
    async with served(settings, World(settings).start) as url, httpx2.AsyncClient(base_url=url) as web:
        with anyio.fail_after(10):
            answer = await over_http(web, subscribing, version)
    assert answer["error"]["code"] == METHOD_NOT_FOUND
