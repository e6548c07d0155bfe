"""Dates told as periods, through the tools: how they were known, and by which filters they are found."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
import pytest_asyncio
from tests.integration.rows_support import World, a_world, in_one_task

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world(timezone="Europe/Berlin")) as entered:
        yield entered


async def tell(world: World, group: str, body: str, day: str, **fact: Any) -> dict[str, Any]:
    facts = [{"source": "Ann", "target": "Acme", **fact}]
    return await world.call("add_memory", group_id=group, episode_body=body, reference_time=day, facts=facts)


async def test_a_date_is_known_in_the_words_of_then(world: World) -> None:
    await tell(world, "known", "Until 2027.", "2026-01-05", relation="WORKS_AT", valid_at="2020", invalid_at="2027")
    before = datetime.now(UTC)
    await tell(world, "known", "Until autumn.", "2026-02-05", relation="WORKS_AT", invalid_at="autumn 2027")

    async def shown(**given: Any) -> tuple[str, str]:
        page = await world.call("search_memory_facts", edge_types=["WORKS_AT"], group_ids=["known"], **given)
        return page["facts"][0]["told_end"], page["facts"][0]["invalid_at"]

    assert await shown() == ("autumn 2027", "2027-11-30T23:00:00+00:00")
    assert await shown(known_at=before.isoformat()) == ("2027", "2027-12-31T23:00:00+00:00")


async def test_a_date_told_as_a_month_is_found_by_every_day_of_it(world: World) -> None:
    await tell(world, "found", "It began in May.", "2026-06-05", relation="LEADS", kind="event", valid_at="May 2026")

    async def total(tool: str, **given: Any) -> int:
        return int((await world.call(tool, **given))["total"])

    node = (await world.call("search_nodes", names=["Ann"], group_ids=["found"]))["nodes"][0]["uuid"]
    for after, found in (("2026-05-15", 1), ("2026-05-31T23:59", 1), ("2026-06-01", 0)):
        assert await total("search_memory_facts", group_ids=["found"], valid_after=after) == found
        assert await total("get_entity_connections", entity_uuid=node, valid_after=after) == found


@pytest.mark.parametrize("which", ["valid", "invalid"])
async def test_a_period_that_ends_before_it_begins_is_refused(world: World, which: str) -> None:
    node = (await tell(world, which, "In 2024.", "2026-06-05", relation="LED", valid_at="2024"))["entities"][0]["uuid"]
    window = {f"{which}_after": "2024-06-01", f"{which}_before": "2024-03-01"}
    tools: dict[str, dict[str, Any]] = {"search_memory_facts": {"group_ids": [which]}}
    if which == "valid":
        tools["get_entity_connections"] = {"entity_uuid": node}
    for tool, given in tools.items():
        with pytest.raises(AssertionError, match=f"{which}_before must be later than {which}_after"):
            await world.call(tool, **given, **window)
