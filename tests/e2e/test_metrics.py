"""The figures of a real server on its real database."""

import asyncio
import json
from pathlib import Path

import httpx2
from prometheus_client.parser import text_string_to_metric_families
from tests.e2e.support import call, over_http, serving, until

PREFIX = "graphiti_pkm_"


async def test_database_embedder_and_journal_are_counted_as_they_were_used(data_dir: Path) -> None:
    with serving(data_dir, metrics=True, log_format="json") as server:
        until(server.ready, "the memory to open")
        before = figures(server.url)
        async with over_http(server.endpoint) as client:
            for number in range(2):
                await call(
                    client, "add_memory", episode_body=f"Zanzibar, day {number}.", entities=[{"name": "Zanzibar"}]
                )
            for _ in range(2):
                await call(client, "search_nodes", query="Zanzibar, an island")
        after = figures(server.url)
    assert before["database_up", ""] == after["database_up", ""] == 1
    assert after["journal_writes", "written"] + after["journal_writes", "applied"] == 2
    assert after["database_seconds_count", "write"] - before.get(("database_seconds_count", "write"), 0) >= 2
    assert after["database_seconds_count", "read"] > before["database_seconds_count", "read"]
    assert after["embedded_texts_total", ""] >= 4
    assert after["embedding_cached_texts_total", ""] >= 1  # the second search asks for what the first one has
    assert after["embedding_seconds_count", ""] >= 4
    assert ("database_connections_limit", "") not in after
    assert after["calls_total", "ok add_memory"] == 2
    assert ("database_errors_total", "read unavailable") not in after
    assert all(json.loads(line)["logger"] for line in server.log.read_text().splitlines())


async def test_whichever_worker_is_asked_answers_for_all(data_dir: Path) -> None:
    with serving(data_dir, metrics=True, workers=2) as server:
        until(server.ready, "the memory to open")

        async def ask() -> None:
            async with over_http(server.endpoint) as client:  # a connection of its own, so that both get some
                for _ in range(3):
                    await call(client, "get_status")

        await asyncio.gather(*(ask() for _ in range(8)))
        found = figures(server.url)
    assert found["calls_total", "ok get_status"] == 24
    assert found["call_seconds_count", "get_status"] == 24
    assert found["calls_under_way", ""] == 0
    pids = {labels for name, labels in found if name == "process_resident_memory_bytes"}
    assert len(pids) == 2
    assert str(server.process.pid) not in pids  # it hands out connections and answers none


def figures(url: str) -> dict[tuple[str, str], float]:
    """By name, and the values of the labels but the limit of a bucket."""
    text = httpx2.get(f"{url}/metrics").text
    assert "anzibar" not in text
    return {
        (sample.name.removeprefix(PREFIX), " ".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
