"""Two server hosts, each with a data directory of its own, on one Neo4j."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.support import DEADLINE_SECONDS, call, over_http, serving, until
from tests.e2e.test_draining import Writer, stored
from tests.neo4j_server import Neo4jAddress, empty


@pytest.fixture
def settings(neo4j_server: Neo4jAddress) -> Iterator[dict[str, Any]]:
    """Of both hosts."""
    empty(neo4j_server)
    yield neo4j_server.product_settings()
    empty(neo4j_server)


async def test_a_killed_host_takes_nothing_acknowledged_along_and_the_other_goes_on(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    with (
        serving(tmp_path / "a", drain_seconds=30, **settings) as first,
        serving(tmp_path / "b", drain_seconds=30, **settings) as second,
    ):
        for host in (first, second):
            await asyncio.to_thread(until, host.ready, "the database")
        here, there = [Writer(first) for _ in range(2)], [Writer(second) for _ in range(2)]
        writers = [*here, *there]
        tasks = [asyncio.create_task(writer.write()) for writer in writers]
        await asyncio.wait_for(asyncio.gather(*(writer.busy.wait() for writer in writers)), DEADLINE_SECONDS)
        first.process.kill()  # be it with the lease of the group
        late = Writer(second)
        tasks.append(asyncio.create_task(late.write()))
        await asyncio.wait_for(late.busy.wait(), DEADLINE_SECONDS)
        told = {uuid for writer in (*writers, late) for uuid in writer.told}
        assert told <= await stored(second)
        async with over_http(second.endpoint) as client:  # who was made once, although four told of her at once
            found = await call(client, "search_nodes", names=["Ann"])
            assert [one["name"] for one in found["nodes"]] == ["Ann"]
        second.process.terminate()
        await asyncio.gather(*tasks)
        assert await asyncio.to_thread(second.process.wait) == 0
        assert [cut for writer in (*there, late) for cut in writer.cut] == []


async def test_a_cursor_goes_on_at_another_host_and_after_a_restart(settings: dict[str, Any], tmp_path: Path) -> None:
    arguments = {"max_episodes": 1}
    with serving(tmp_path / "a", **settings) as first, serving(tmp_path / "b", **settings) as second:
        async with over_http(first.endpoint) as client:
            for body in ("One.", "Two.", "Three."):
                await call(client, "add_memory", episode_body=body)
            page = await call(client, "get_episodes", **arguments)
        async with over_http(second.endpoint) as client:
            page = await call(client, "get_episodes", **arguments, cursor=page["next_cursor"])
    with serving(tmp_path / "b", **settings) as again:
        async with over_http(again.endpoint) as client:
            page = await call(client, "get_episodes", **arguments, cursor=page["next_cursor"])
    assert [one["content"] for one in page["episodes"]] == ["One."]
    keys = {(tmp_path / host / "signing.key").read_text() for host in ("a", "b")}
    assert len(keys) == 1
