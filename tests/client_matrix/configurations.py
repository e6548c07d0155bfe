"""The configurations in examples/clients: whatever each client would start or connect to, started and called."""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp import StdioServerParameters
from mcp.client import Client
from mcp.client.stdio import stdio_client
from tests.e2e.support import COMMAND, call, environment, over_http, run, serving
from tests.e2e.test_client_snippets import CLIENTS, STDIO, WITH_TOKEN, command_of, headers_of, http_server_of

PLACES = ("${MEMORY_TOKEN}", "{{MEMORY_TOKEN}}", "${input:memory-token}", "TOKEN")
USER = {"{{LIBRECHAT_USER_ID}}": "66f0c2a1b5d4e3f2a1b0c9d8"}


@dataclass(frozen=True)
class Connected:
    """What a client of a configuration was offered."""

    file: str
    over: str
    tools: int
    answers: bool


def connected(directory: Path) -> list[Connected]:
    """Every configuration but those of a bridge, which the frameworks' Node programs stand for."""
    return asyncio.run(_all(directory))


async def _all(directory: Path) -> list[Connected]:
    found = []
    for file in STDIO:
        async with _started(file, directory) as client:
            found.append(await _asked(file, "stdio", client))
    with serving(directory / "served") as served:
        for file in WITH_TOKEN:
            name = ["librechat", "--may-impersonate"] if file == "librechat-http-token.yaml" else ["anna"]
            made = run("tokens", "create", *name, "--json", data_dir=directory / "served")
            token = json.loads(made.stdout)["token"]
            server = http_server_of(file, served.url)
            headers = headers_of(server, **dict.fromkeys(PLACES, token), **USER)
            async with over_http(server["url"], **headers) as client:
                found.append(await _asked(file, "HTTP, token", client))
    assert {one.file for one in found} <= {path.name for path in CLIENTS.iterdir()}
    return found


@asynccontextmanager
async def _started(file: str, directory: Path) -> AsyncIterator[Client]:
    command, *arguments = command_of(file)
    path = {"PATH": f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"}
    parameters = StdioServerParameters(
        command=command,
        args=arguments,
        env=environment(data_dir=directory / "started") | path,
        cwd=tempfile.gettempdir(),
    )
    with (directory / f"{file}.log").open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            yield client


async def _asked(file: str, over: str, client: Client) -> Connected:
    tools = (await client.list_tools()).tools
    return Connected(file, over, len(tools), (await call(client, "get_status"))["status"] == "ok")
