"""Figures for Prometheus over real HTTP: they equal what was done, are the operator's, and name nobody."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.fakes import FakeEmbedder
from tests.protocol.access import Doors, a_world, post
from tests.protocol.serving import connected, served
from tests.protocol.support import answered

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import COUNTED, LOOKED_UP, PREFIX
from graphiti_pkm.server.observability.prometheus import BUCKETS, PrometheusMetrics
from graphiti_pkm.server.tools.registry import known_tools
from graphiti_pkm.settings.loader import Settings

PLANTED = "Plantedword"
SECRET = "0123456789abcdef-of-the-scraper"  # noqa: S105  (a test's)
DOCS = Path(__file__).resolve().parents[2] / "DOCS"

Found = Mapping[tuple[str, frozenset[tuple[str, str]]], float]


async def asked(url: str, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient() as web:
        return await web.get(f"{url}/metrics", headers=headers)


async def figures(url: str, **headers: str) -> Found:
    """Every sample of an answer, by name and labels."""
    answer = await asked(url, **headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=")
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(found: Found, name: str, **labels: str) -> float | None:
    return found.get((PREFIX + name, frozenset(labels.items())))


async def test_calls_are_counted_by_tool_and_outcome_as_they_were_made(doors: Doors) -> None:
    async with served(doors.settings, a_world(doors).start, PrometheusMetrics()) as url:
        async with connected(f"{url}/mcp", "auto") as client:
            for number in range(3):
                answered(await client.call_tool("add_memory", {"episode_body": f"Note {number}."}))
            await client.call_tool("get_episodes", {"max_episodes": -1})
            await client.call_tool("get_episodes", {})
            await client.call_tool(f"{PLANTED}_tool", {})
            with pytest.raises(Exception, match="No such prompt"):
                await client.get_prompt(PLANTED)
        found = await figures(url)
    assert value(found, "calls_total", tool="add_memory", outcome="ok") == 3
    assert value(found, "calls_total", tool="get_episodes", outcome="ok") == 1
    assert value(found, "calls_total", tool="get_episodes", outcome="invalid_input") == 1
    assert value(found, "calls_total", tool="unknown", outcome="unknown_tool") == 1
    assert value(found, "calls_total", tool="prompts/get", outcome="protocol") == 1
    assert sum(count for (name, _), count in found.items() if name == f"{PREFIX}calls_total") == 7
    assert value(found, "call_seconds_count", tool="add_memory") == 3
    assert value(found, "call_seconds_bucket", tool="add_memory", le="60.0") == 3
    assert value(found, "calls_under_way") == 0
    assert value(found, "database_up") == 1
    assert value(found, "journal_writes", state="intent") == 0
    assert value(found, "journal_writes", state="written") == 3
    assert (found["process_resident_memory_bytes", frozenset()]) > 0


class Held(FakeEmbedder):
    """An embedder that answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.let = asyncio.Event(), asyncio.Event()

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        self.asked.set()
        await self.let.wait()
        return await super().embed(texts, patience)


async def test_a_call_is_under_way_while_it_is(doors: Doors) -> None:
    world, embedder = a_world(doors), Held()
    world.embedder = embedder
    async with (
        served(doors.settings, world.start, PrometheusMetrics()) as url,
        connected(f"{url}/mcp", "auto") as client,
    ):
        calling = asyncio.create_task(client.call_tool("search_nodes", {"query": "anything"}))
        await embedder.asked.wait()
        during = await figures(url)
        embedder.let.set()
        answered(await calling)
        after = await figures(url)
    assert [value(found, "calls_under_way") for found in (during, after)] == [1, 0]
    assert value(during, "calls_total", tool="search_nodes", outcome="ok") is None
    assert value(after, "calls_total", tool="search_nodes", outcome="ok") == 1


async def test_no_person_group_uuid_or_text_is_in_the_figures(doors: Doors) -> None:
    """Every label's value is one that the code names, whatever callers send."""
    service = doors.add("librechat", may_impersonate=True)
    operator = doors.add("local")
    async with served(doors.settings, a_world(doors).start, PrometheusMetrics()) as url:
        async with connected(f"{url}/mcp", "auto", **service, **{"X-User-ID": PLANTED}) as client:
            stored = answered(
                await client.call_tool(
                    "add_memory", {"episode_body": f"{PLANTED} was here.", "group_id": PLANTED, "name": PLANTED}
                )
            )
            await client.call_tool("search_nodes", {"query": PLANTED, "group_ids": [PLANTED]})
            await client.call_tool(PLANTED, {PLANTED: PLANTED})
        await post(url, {"Authorization": f"Bearer {PLANTED}", "X-User-ID": PLANTED})
        text = (await asked(url, **operator)).text
        found = await figures(url, **operator)
    for word in (PLANTED, stored["episode_uuid"], stored["episode_uuid"][:8], "librechat"):
        assert word not in text
    tools = known_tools() | {"unknown", "resources/read", "prompts/get"}
    own = {(name, labels) for name, labels in found if name.startswith(PREFIX)}
    assert {labels["tool"] for _, pairs in own if "tool" in (labels := dict(pairs))} <= tools
    assert {name for _, pairs in own for name, _ in pairs} <= {
        "tool",
        "outcome",
        "le",
        "reason",
        "kind",
        "state",
        "what",
    }


async def test_what_is_turned_away_is_counted_by_why(doors: Doors) -> None:
    anna, operator = doors.add("anna"), doors.add("local")
    doors.settings = doors.settings.model_copy(update={"calls_per_minute": 2})
    async with served(doors.settings, a_world(doors).start, PrometheusMetrics()) as url:
        for _ in range(2):
            await post(url, {})
        await post(url, {"Authorization": "Bearer nobody"})
        await post(url, {**anna, "host": "evil.example"})
        async with connected(f"{url}/mcp", "auto", **anna) as client:
            for _ in range(3):
                await client.call_tool("get_status", {})
        found = await figures(url, **operator)
    assert value(found, "refused_connections_total", reason="token_missing") == 2
    assert value(found, "refused_connections_total", reason="token_unknown") == 1
    assert value(found, "refused_connections_total", reason="unknown_host") == 1
    assert value(found, "calls_total", tool="get_status", outcome="ok") == 2
    assert value(found, "calls_total", tool="get_status", outcome="too_many_calls") == 1


async def test_a_database_that_is_away_is_told_as_down(doors: Doors) -> None:
    world = a_world(doors)
    async with served(doors.settings, world.start, PrometheusMetrics()) as url:
        async with connected(f"{url}/mcp", "auto") as client:
            answered(await client.call_tool("get_episodes", {}))
            world.graph.is_down = True
            await client.call_tool("get_episodes", {})
        found = await figures(url)
    assert value(found, "database_up") == 0
    assert value(found, "calls_total", tool="get_episodes", outcome="unavailable") == 1


async def test_with_tokens_the_figures_are_the_local_principals_alone(doors: Doors) -> None:
    anna, held = doors.add("anna", tier="curator"), doors.add("local", groups=("work",))
    service, local = doors.add("librechat", may_impersonate=True), doors.add("local", tier="reader")
    async with served(doors.settings, a_world(doors).start, PrometheusMetrics()) as url:
        for headers in ({}, anna, held, service, {**service, "X-User-ID": "local"}, {"Authorization": "Bearer x"}):
            refused = await asked(url, **headers)
            assert refused.status_code == 401
            assert PREFIX not in refused.text
        assert value(await figures(url, **local), "refused_connections_total", reason="not_allowed") == 4


async def test_the_scrapers_token_opens_the_figures_and_nothing_else(doors: Doors) -> None:
    scraper = {"Authorization": f"Bearer {SECRET}"}
    settings = Settings(**{**doors.settings.model_dump(), "metrics_token": SECRET})
    async with served(settings, a_world(doors).start, PrometheusMetrics()) as url:
        assert (await asked(url)).status_code == 401
        assert (await asked(url, **scraper)).status_code == 200
        doors.add("anna")
        assert (await asked(url, **scraper)).status_code == 200
        assert (await asked(url, Authorization=f"Bearer {SECRET}x")).status_code == 401
        assert (await post(url, scraper)).status_code == 401


async def test_there_are_no_figures_unless_they_are_asked_for(doors: Doors) -> None:
    async with served(doors.settings, a_world(doors).start) as url:
        assert (await asked(url)).status_code == 404


async def test_only_reading_them_is_answered_and_from_a_web_page_nothing(doors: Doors) -> None:
    async with served(doors.settings, a_world(doors).start, PrometheusMetrics()) as url, httpx2.AsyncClient() as web:
        assert (await web.post(f"{url}/metrics")).status_code == 405
        assert (await asked(url, Origin="http://evil.example")).status_code == 403
        assert (await asked(url, Host="evil.example")).status_code == 421


def test_the_table_in_the_documentation_is_the_list_in_the_code() -> None:
    page = (DOCS / "operations.md").read_text(encoding="utf-8")
    rows = dict(re.findall(rf"^\| `({PREFIX}\w+)(?:\{{[\w, ]+\}})?` \| (.+) \|$", page, re.MULTILINE))
    labels = dict(re.findall(rf"^\| `({PREFIX}\w+)\{{([\w, ]+)\}}` \|", page, re.MULTILINE))
    measures = (*COUNTED, *LOOKED_UP)
    assert rows == {measure.full_name: measure.help for measure in measures}
    assert labels == {measure.full_name: ", ".join(measure.labels) for measure in measures if measure.labels}
    assert f"up to {BUCKETS[-1]:g} s" in page
