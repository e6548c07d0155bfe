"""A server of ours started with what Graphiti's own MCP server is started with, on the Neo4j that it names."""

import os
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.e2e.support import COMMAND, call, environment
from tests.neo4j_server import Neo4jAddress, empty

FILES = Path(__file__).parents[1] / "data" / "graphiti_mcp_server"


async def told_and_found(client: Client) -> None:
    await call(client, "add_memory", episode_body="Anna works on Heron.", entities=[{"name": "Heron"}])
    found = await call(client, "search_nodes", query="Heron", names=["Heron"])
    assert [node["name"] for node in found["nodes"]] == ["Heron"]


async def test_its_env_file_serves_a_memory_on_its_neo4j(
    neo4j_server: Neo4jAddress, data_dir: Path, tmp_path: Path
) -> None:
    text = (FILES / "env.example").read_text(encoding="utf-8")
    # The test's own server, and no key: nobody asks OpenAI anything.
    for name, value in (
        ("NEO4J_URI", neo4j_server.uri), ("NEO4J_PASSWORD", neo4j_server.password), ("OPENAI_API_KEY", "")
    ):  # fmt: skip
        text = "\n".join(f"{name}={value}" if line.startswith(f"{name}=") else line for line in text.splitlines())
    (tmp_path / ".env").write_text(text)
    empty(neo4j_server)
    server = StdioServerParameters(command=COMMAND, args=["serve"], env=environment(data_dir=data_dir), cwd=tmp_path)
    log = tmp_path / "log"
    async with AsyncExitStack() as stack:
        stderr = stack.enter_context(log.open("w"))
        client = await stack.enter_async_context(Client(stdio_client(server, errlog=stderr)))
        await told_and_found(client)
        assert (await call(client, "get_status"))["backend"] == "Neo4j"
    empty(neo4j_server)
    told = log.read_text()
    assert f"{tmp_path / '.env'}: NEO4J_USER" in told.replace(os.sep * 2, os.sep)
    assert neo4j_server.password not in told
