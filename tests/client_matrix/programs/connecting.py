"""How the programs here reach the server, and how they say what they found."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

TOOL, GIVEN, EXPECTED, COMMAND, *ARGUMENTS = sys.argv[1:]
"""The call to try, a word of its answer, and how the server is started."""
CALL = json.loads(GIVEN)


@asynccontextmanager
async def session() -> AsyncIterator[ClientSession]:
    """A session of the MCP SDK that the framework brings."""
    parameters = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as found:
        await found.initialize()
        yield found


def say(package: str, tools: dict[str, Any], answer: str) -> None:
    """``tools``: the schema of each as the framework would send it to a model; ``answer``: that of the call."""
    versions = {name: version(name) for name in (package, "mcp")}
    sys.stdout.write(json.dumps({"versions": versions, "tools": tools, "called": EXPECTED in answer}) + "\n")
