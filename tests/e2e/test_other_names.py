"""A server that is told everything by the names of other servers of its kind."""

import subprocess
from pathlib import Path

import httpx2
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.e2e.support import COMMAND, call, environment, listens, over_http, until
from tests.ports import free_port


@pytest.mark.parametrize("words", [["momento"], ["graphiti-pkm"], ["python", "-m", "graphiti_pkm"]])
async def test_momento_serves_a_client_that_starts_it_without_a_word(words: list[str], data_dir: Path) -> None:
    name, *arguments = words
    command = str(Path(COMMAND).with_name(name))
    server = StdioServerParameters(
        command=command, args=arguments, env=environment(data_dir=data_dir), cwd=data_dir.parent
    )
    async with Client(stdio_client(server)) as client:
        assert "add_memory" in {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("way", ["environment", "flags"])
async def test_transport_address_port_and_path_are_those_that_were_named(way: str, data_dir: Path) -> None:
    port = free_port()
    named = {
        "NEO4J_TRANSPORT": "http",
        "NEO4J_MCP_SERVER_HOST": "127.0.0.1",
        "NEO4J_MCP_SERVER_PORT": str(port),
        "NEO4J_MCP_SERVER_PATH": "/memory/",
    }
    flags = [
        "--transport",
        "http",
        "--server-host",
        "127.0.0.1",
        "--server-port",
        str(port),
        "--server-path",
        "/memory/",
    ]
    log = data_dir.parent / "log"
    with (
        log.open("wb") as stderr,
        subprocess.Popen(  # noqa: ASYNC220  (it is only started here)
            [COMMAND, "serve", *(flags if way == "flags" else [])],
            env=environment(data_dir=data_dir) | (named if way == "environment" else {}),
            stdin=subprocess.DEVNULL,
            stdout=stderr,
            stderr=stderr,
        ) as server,
    ):
        try:
            until(lambda: listens("127.0.0.1", port) or server.poll() is not None, "the server to listen")
            assert server.poll() is None, log.read_text()
            assert httpx2.get(f"http://127.0.0.1:{port}/health").json() == {"status": "alive"}
            for path in ("/memory", "/memory/"):
                async with over_http(f"http://127.0.0.1:{port}{path}") as client:
                    assert await call(client, "get_status")
            assert httpx2.post(f"http://127.0.0.1:{port}/mcp", json={}).status_code == httpx2.codes.NOT_FOUND
            assert not listens("127.0.0.2", port)
        finally:
            server.terminate()
