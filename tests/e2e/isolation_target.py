"""A server with the memories of several people on it, reached in each way there is."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
from mcp.client import Client
from mcp.client.sse import sse_client
from tests.e2e.isolation_world import Story
from tests.e2e.support import CALL_SECONDS, Served, Transport, over_http, serving
from tests.protocol.support import BESIDE
from tests.scripted_model import ScriptedModel

ATTACKERS = ("eve", "held", "local", "member", "former", "new")
"""The last has nothing of its own yet."""
ALL = [tool.name for toolset in BESIDE for tool in toolset.tools]
ADDING = {
    *("add_memory", "add_triplet", "create_entry", "create_project"),
    *("create_entities", "create_relations", "add_observations"),
}
TOOLS = sorted(ALL, key=lambda name: name in ADDING)
"""Last those that give an attacker groups of these names."""
MUCH = 100_000


@dataclass(frozen=True)
class Target:
    """The server, and what is on it."""

    server: Served
    story: Story
    transport: Transport

    @asynccontextmanager
    async def as_(self, name: str, **headers: str) -> AsyncIterator[Client]:
        authorization = {"authorization": self.story.headers[name]}
        if self.transport == "sse":
            named = {key.replace("_", "-"): value for key, value in headers.items()}
            async with Client(
                sse_client(f"{self.server.url}/sse", headers={**authorization, **named}), mode="legacy"
            ) as client:
                yield client
            return
        async with over_http(self.server.endpoint, **authorization, **headers) as client:
            yield client

    def web(self, name: str | None, **headers: str) -> httpx2.AsyncClient:
        """A bare client for what no well-behaved one sends."""
        known = {"authorization": self.story.headers[name]} if name else {}
        accept = {"accept": "application/json, text/event-stream"}
        return httpx2.AsyncClient(base_url=self.server.url, headers={**accept, **known, **headers}, timeout=40)


@contextmanager
def attacked(directory: Path, transport: Transport = "http", **settings: object) -> Iterator[Target]:
    """A server that Vera has told of her life, and each attacker but the new one a little."""
    story = Story()
    story.issue(directory)
    with ScriptedModel() as model:
        settings = {
            "toolsets": ",".join(toolset.name for toolset in BESIDE),
            "calls_per_minute": MUCH,
            "writes_per_minute": MUCH,
            "call_seconds": CALL_SECONDS,
            "llm_model": "scripted",
            "llm_base_url": model.url,
            **settings,
        }
        with serving(directory, transport, **settings) as server:
            target = Target(server, story, transport)
            asyncio.run(_tell(target))
            yield target


async def _tell(target: Target) -> None:
    async with target.as_("vera") as client:
        await target.story.tell_hers(client)
    for attacker in ATTACKERS[:-1]:
        async with target.as_(attacker) as client:
            await target.story.tell_own(attacker, client)
