"""What a server counted when it ends, and what an agent without any right to write leaves."""

import sqlite3
from contextlib import closing
from pathlib import Path

from mcp.client import Client
from tests.e2e.support import call, over_http, over_stdio, serving

from graphiti_pkm.storage.journal.connection import MEMORY

THING = {"episode_body": "Redis keeps sessions.", "entities": [{"name": "Redis", "type": "Tool"}]}


def counted(data_dir: Path) -> list[tuple[int, bool]]:
    """How often what was returned, and whether it matched."""
    with closing(sqlite3.connect(data_dir / MEMORY)) as db:
        return [(hits, relevance > 0) for hits, relevance in db.execute("SELECT hits, relevance FROM usage")]


async def search(client: Client, times: int = 5) -> None:
    for _ in range(times):
        (node,) = (await call(client, "search_nodes", query="redis"))["nodes"]
        assert node["name"] == "Redis"


async def test_a_server_that_is_told_to_stop_writes_the_hits_that_wait(data_dir: Path) -> None:
    with serving(data_dir) as server:
        async with over_http(server.endpoint) as client:
            await call(client, "add_memory", **THING)
            await search(client)
    assert counted(data_dir) == [(5, True)]


async def test_a_server_whose_client_goes_writes_them_too_and_a_reader_is_counted(data_dir: Path) -> None:
    async with over_stdio(data_dir) as client:
        await call(client, "add_memory", **THING)
    assert counted(data_dir) == []
    async with over_stdio(data_dir, read_only=True) as client:
        await search(client)
    assert counted(data_dir) == [(5, True)]


async def test_nothing_is_counted_when_it_is_off(data_dir: Path) -> None:
    async with over_stdio(data_dir, fitness="off") as client:
        await call(client, "add_memory", **THING)
        await search(client)
    assert counted(data_dir) == []
