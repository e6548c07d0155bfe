"""Episodes told to a whole memory: stored and found when the call returns, under the uuid and instant they have."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from uuid import UUID

import pytest
import pytest_asyncio
from tests.builders import new_uuid
from tests.integration.rows_support import World, a_world, in_one_task

from graphiti_pkm.core.model.records import Episode

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as world:
        yield world


async def stored(world: World, uuid: str) -> Episode:
    """As the graph has it."""
    (found,) = await world.memory.context.graph.records.get_episodes([uuid], ["default"])
    return found


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2025-10-31T14:30:00Z", "2025-10-31T14:30:00+00:00"),
        ("2025-10-31T14:30:00", "2025-10-31T14:30:00+00:00"),
        ("2025-10-31T14:30:00+02:00", "2025-10-31T12:30:00+00:00"),
    ],
)
async def test_an_episode_has_a_uuid_of_the_servers_and_the_instant_it_was_given(
    world: World, given: str, shown: str
) -> None:
    told = await world.call("add_memory", episode_body=f"At {given}.", reference_time=given)
    assert str(UUID(told["episode_uuid"])) == told["episode_uuid"]
    for asked in ({"episode_uuids": [told["episode_uuid"]]}, {"max_episodes": 100}):
        page = await world.call("get_episodes", **asked)
        (found,) = [episode for episode in page["episodes"] if episode["uuid"] == told["episode_uuid"]]
        assert (found["valid_at"], found["content"]) == (shown, f"At {given}.")
    assert (await stored(world, told["episode_uuid"])).valid_at == datetime.fromisoformat(shown)


async def test_an_episode_without_an_instant_happened_now(world: World) -> None:
    before = datetime.now(UTC)
    told = await world.call("add_memory", episode_body="Just now.")
    assert before <= datetime.fromisoformat(told["valid_at"]) <= datetime.now(UTC)


async def test_an_episode_under_a_uuid_of_the_callers_is_new_then_known(world: World) -> None:
    uuid = new_uuid()
    sent = {"uuid": uuid, "episode_body": "The lease was signed.", "entities": [{"name": "lease"}]}
    first = await world.call("add_memory", **sent)
    assert (first["episode_uuid"], first["status"]) == (uuid, "stored")
    assert (await stored(world, uuid)).content == "The lease was signed."
    assert (await world.call("add_memory", **sent))["status"] == "already_stored"
    assert (await world.call("get_episodes", episode_uuids=[uuid]))["total"] == 1


async def test_what_was_told_is_stored_and_found_when_the_call_returns(world: World) -> None:
    told = await world.call(
        "add_memory",
        episode_body="The cooperative bought a windmill.",
        group_id="sync",
        facts=[{"source": "cooperative", "relation": "OWNS", "target": "windmill"}],
    )
    assert told["status"] == "stored"
    asked = {"group_ids": "sync"}
    (episode,) = (await world.call("search_episodes", query="who acquired a mill", **asked))["episodes"]
    assert episode["uuid"] == told["episode_uuid"]
    (fact,) = (await world.call("search_memory_facts", query="cooperative windmill", **asked))["facts"]
    assert fact["uuid"] == told["facts"][0]["uuid"]
    (node,) = (await world.call("search_nodes", names=["windmill"], **asked))["nodes"]
    timeline = await world.call("get_entity_timeline", entity_uuid=node["uuid"])
    assert [one["uuid"] for one in timeline["episodes"]] == [told["episode_uuid"]]


async def test_links_that_are_left_to_a_job_are_told_and_their_end_can_be_seen(world: World) -> None:
    """Only the first 200 earlier mentions are linked inside the call."""
    notes = [f"Hatch {number} was seen." for number in range(203)]
    await asyncio.gather(*(world.call("add_memory", episode_body=note, group_id="jobs") for note in notes))
    told = await world.call("add_memory", episode_body="About it.", group_id="jobs", entities=[{"name": "Hatch"}])
    assert (told["status"], told["linked"], told["linking"]) == ("stored", 200, 1)
    asked = {"entity_uuid": told["entities"][0]["uuid"], "max_episodes": 1}
    while (timeline := await world.call("get_entity_timeline", **asked))["linking"] is not None:
        assert timeline["total"] >= 201
    assert timeline["total"] == 204
