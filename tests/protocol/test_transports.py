"""HTTP and SSE on loopback: who may connect, where, and what a supervisor is told."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client import Client
from mcp.client.sse import sse_client
from mcp.shared.exceptions import MCPError
from tests.protocol.serving import connected, served
from tests.protocol.support import DEFAULT_TOOLS, FailingStart, Mode, World, answered, error_of

from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.server.auth.access_gate import check_host
from graphiti_pkm.server.auth.tokens import Tokens
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.toolkit.services import Services

NOWHERE = Path("/nonexistent/memory")
"""No file of tokens is there."""
HTTP = Settings(transport="http", data_dir=NOWHERE)
MODES: tuple[Mode, ...] = ("auto", "legacy")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_http_answers_with_and_without_trailing_slash(mode: Mode, path: str) -> None:
    world = World(HTTP)
    async with served(HTTP, world.start) as url, connected(url + path, mode) as client:
        assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        answered(await client.call_tool("get_status", {}))


async def test_sse_serves_several_connections_over_one_start() -> None:
    settings = Settings(transport="sse", data_dir=NOWHERE)
    world = World(settings)
    starts: list[int] = []

    @asynccontextmanager
    async def start() -> AsyncIterator[Services]:
        starts.append(1)
        yield world.services()

    async with served(settings, start) as url:
        for _ in range(2):
            async with Client(sse_client(f"{url}/sse"), mode="legacy") as client:
                assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
                answered(await client.call_tool("get_status", {}))
    assert len(starts) == 1


@pytest.mark.parametrize("mode", MODES)
async def test_a_user_header_nobody_can_verify_is_refused(mode: Mode) -> None:
    world = World(HTTP)
    async with served(HTTP, world.start) as url, connected(f"{url}/mcp", mode, **{"X-User-ID": "eve"}) as client:
        result = await client.call_tool("add_memory", {"episode_body": "x"})
        assert "X-User-ID is refused" in error_of(result)
        assert result.structured_content is not None
        assert result.structured_content["code"] == "not_allowed"
        with pytest.raises(MCPError, match="X-User-ID is refused"):
            await client.read_resource("pkm://entity/11111111")
    assert not world.writing.requests


@pytest.mark.parametrize("mode", MODES)
async def test_a_toolsets_header_narrows_list_calls_and_instructions(mode: Mode) -> None:
    world = World(HTTP)
    async with served(HTTP, world.start) as url:
        async with connected(f"{url}/mcp", mode, **{"X-MCP-Toolsets": "memory"}) as client:
            assert len((await client.list_tools()).tools) == DEFAULT_TOOLS
        async with connected(f"{url}/mcp", mode, **{"X-MCP-Toolsets": ""}) as client:
            assert (await client.list_tools()).tools == []
            assert "search_nodes" not in (client.instructions or "")
            assert "no such tool" in error_of(await client.call_tool("get_status", {}))
        unknown = pytest.RaisesExc(MCPError, match="Known: memory")
        with pytest.RaisesGroup(unknown, flatten_subgroups=True):
            async with connected(f"{url}/mcp", mode, **{"X-MCP-Toolsets": "everything"}) as client:
                await client.list_tools()


@pytest.mark.parametrize("mode", MODES)
async def test_a_toolsets_header_hides_pictures_of_scratch_graphs_with_their_tools(mode: Mode) -> None:
    settings = HTTP.model_copy(update={"toolsets": ("memory", "reasoning")})
    world = World(settings)
    edge = {"source": "a", "target": "b", "relation": "calls", "create_missing": True}
    picture = "pkm://scratch/default.svg"
    async with served(settings, world.start) as url:
        async with connected(f"{url}/mcp", mode) as client:
            answered(await client.call_tool("add_edge", edge))
            assert (await client.read_resource(picture)).contents
        async with connected(f"{url}/mcp", mode, **{"X-MCP-Toolsets": "memory"}) as client:
            templates = (await client.list_resource_templates()).resource_templates
            assert {one.name for one in templates} == {"entity", "episode", "changes"}
            with pytest.raises(MCPError, match="not offered here"):
                await client.read_resource(picture)
        async with connected(f"{url}/mcp", mode, **{"X-MCP-Toolsets": "reasoning"}) as client:
            templates = (await client.list_resource_templates()).resource_templates
            assert "scratch_svg" in {one.name for one in templates}


async def test_health_is_alive_whatever_the_database_does_and_ready_tells_whether_it_answers() -> None:
    for is_down, status in ((False, 200), (True, 503)):
        world = World(HTTP)
        async with served(HTTP, world.start) as url, httpx2.AsyncClient() as web:
            async with connected(f"{url}/mcp", "auto") as client:
                await client.call_tool("get_status", {})
            world.embedder.is_available = False
            world.graph.is_down = is_down
            assert (await web.get(f"{url}/health")).json() == {"status": "alive"}
            ready = await web.get(f"{url}/ready")
            assert (ready.status_code, ready.json()["ready"]) == (status, not is_down)


async def test_ready_says_why_it_is_not() -> None:
    async with served(HTTP, FailingStart(Unavailable("The disk is full."))) as url, httpx2.AsyncClient() as web:
        async with connected(f"{url}/mcp", "auto") as client:
            error_of(await client.call_tool("get_status", {}))
        ready = await web.get(f"{url}/ready")
        assert ready.status_code == 503


@pytest.mark.parametrize(
    ("header", "value", "status"), [("host", "evil.example", 421), ("origin", "http://evil.example", 403)]
)
async def test_a_rebound_name_or_foreign_origin_is_refused(header: str, value: str, status: int) -> None:
    world = World(HTTP)
    async with served(HTTP, world.start) as url, httpx2.AsyncClient() as web:
        answer = await web.post(
            f"{url}/mcp",
            json={"jsonrpc": "2.0", "id": 1, "method": "ping"},
            headers={header: value, "accept": "application/json, text/event-stream"},
        )
        assert answer.status_code == status


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "memory.example", ""])  # noqa: S104
def test_an_address_others_can_reach_is_refused_with_the_reason_and_what_to_do(host: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no tokens to tell callers apart.*tokens create"):
        check_host(host, Tokens(tmp_path / "tokens.json"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.9"])
def test_loopback_addresses_are_served(host: str, tmp_path: Path) -> None:
    check_host(host, Tokens(tmp_path / "tokens.json"))
