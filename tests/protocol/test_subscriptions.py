"""Events of resources for clients of 2026-07-28, over HTTP and stdio: who may read hears of a change, nobody else."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.subscriptions import Subscription
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from tests.protocol.access import Doors
from tests.protocol.serving import PATIENCE, connected, served
from tests.protocol.support import World, answered
from tests.protocol.test_promises import request
from tests.protocol.test_shared_memories import Team
from tests.protocol.test_stdio import wire

from graphiti_pkm.server.transports.subscriptions import MOST_RESOURCES, MOST_STREAMS
from graphiti_pkm.settings.loader import Settings

CHANGES = "pkm://changes"
TOM = {"episode_body": "Tom came.", "entities": [{"name": "Tom", "type": "Person"}]}
NEWS = {"episode_body": "Tom works.", "facts": [{"source": "Tom", "relation": "WORKS_AT", "target": "Acme"}]}
MODERN = MODERN_PROTOCOL_VERSIONS[-1]


@pytest.fixture
def team(doors: Doors) -> Team:
    return Team(doors)


async def tom(client: Client, **fields: Any) -> str:
    told = answered(await client.call_tool("add_memory", TOM | fields))
    return f"pkm://entity/{told['entities'][0]['uuid']}"


async def heard(stream: Subscription) -> str:
    """The next event."""
    with anyio.fail_after(PATIENCE):
        event = await anext(stream)
    assert isinstance(event, ResourceUpdated)
    return event.uri


@asynccontextmanager
async def local(mode: str = MODERN) -> AsyncIterator[Client]:
    settings = Settings(transport="http")
    async with served(settings, World(settings).start) as url, connected(f"{url}/mcp", mode) as client:
        yield client


async def test_a_write_is_told_to_who_named_what_it_changed(team: Team) -> None:
    async with team.clients("anna", "anna") as (writer, reader):
        uri = await tom(writer)
        async with reader.listen(resource_subscriptions=[uri, CHANGES]) as stream:
            assert stream.honored.resource_subscriptions == [uri, CHANGES]
            await writer.call_tool("add_memory", NEWS)
            assert [await heard(stream), await heard(stream)] == [uri, CHANGES]
            await writer.call_tool("add_memory", {"episode_body": "Eva met Ben.", "facts": [
                {"source": "Eva", "relation": "MET", "target": "Ben"}]})  # fmt: skip
            assert await heard(stream) == CHANGES
            read = await reader.read_resource(CHANGES)
            assert "Eva met Ben" in str(read.contents[0])


async def test_another_principal_hears_nothing_of_it(team: Team) -> None:
    async with team.clients("anna", "eve", "anna") as (anna, eve, other):
        uri = await tom(anna)
        foreign = f"{CHANGES}?group=anna/default"
        asked = [uri, uri[: len("pkm://entity/") + 8], foreign, CHANGES]
        async with (
            eve.listen(resource_subscriptions=asked) as of_eve,
            other.listen(resource_subscriptions=[uri]) as of_anna,
        ):
            await anna.call_tool("add_memory", NEWS)
            assert await heard(of_anna) == uri  # so what eve would have heard has come as well
            await eve.call_tool("add_memory", NEWS)
            assert await heard(of_eve) == CHANGES
            await anna.call_tool("add_memory", {**NEWS, "episode_body": "Tom left.", "facts": [
                {"source": "Tom", "relation": "LEFT", "target": "Acme"}]})  # fmt: skip
            assert await heard(of_anna) == uri
            await eve.call_tool("add_memory", TOM)
            await eve.call_tool("add_memory", {"episode_body": "Ben met Tom.", "facts": [
                {"source": "Ben", "relation": "MET", "target": "Tom"}]})  # fmt: skip
            assert await heard(of_eve) == CHANGES


async def test_members_hear_of_a_shared_memory_until_they_leave(team: Team) -> None:
    team.open_to("anna")
    shared = f"{CHANGES}?group=team/decisions"
    async with team.clients("team", "anna") as (owner, anna):
        uri = await tom(owner, group_id="decisions")
        async with anna.listen(resource_subscriptions=[uri, shared, CHANGES]) as stream:
            await owner.call_tool("add_memory", {**NEWS, "group_id": "decisions"})
            assert [await heard(stream), await heard(stream)] == [uri, shared]
            team.close()
            assert {await heard(stream), await heard(stream)} == {uri, shared}  # that they may not read them any more
            await owner.call_tool("retire_fact", {"fact_uuid": await newest_fact(owner), "reason": "Left."})
            await anna.call_tool("add_memory", NEWS)
            assert await heard(stream) == CHANGES


async def newest_fact(client: Client) -> str:
    told = await client.call_tool("what_changed", {"since": "2020", "group_ids": "decisions", "kinds": ["added"]})
    return str(answered(told)["changes"][0]["fact_uuid"])


async def test_a_stream_ends_when_its_token_no_longer_counts(team: Team) -> None:
    async with team.clients("anna") as (anna,):
        uri = await tom(anna)
        async with anna.listen(resource_subscriptions=[uri]) as stream:
            team.doors.revoke_all()
            with anyio.fail_after(PATIENCE):
                assert [event async for event in stream] == []


async def test_only_resources_that_change_are_promised() -> None:
    async with (
        local() as client,
        client.listen(
            tools_list_changed=True,
            prompts_list_changed=True,
            resources_list_changed=True,
            resource_subscriptions=["pkm://episode/1", "file:///etc/passwd", "pkm://entity/", "pkm://entity/1"],
        ) as stream,
    ):
        assert stream.honored.model_dump(exclude_none=True) == {"resource_subscriptions": ["pkm://entity/1"]}


async def test_streams_and_what_they_name_are_bounded() -> None:
    async with local() as client:
        with pytest.raises(MCPError, match="resources at most"):
            async with client.listen(resource_subscriptions=[f"pkm://entity/{i}" for i in range(MOST_RESOURCES + 1)]):
                pass
        async with anyio.create_task_group() as streams:
            for _ in range(MOST_STREAMS):
                await streams.start(_listening, client)
            with pytest.raises(MCPError, match="streams of yours"):
                async with client.listen(resource_subscriptions=[CHANGES]):
                    pass
            streams.cancel_scope.cancel()


async def _listening(client: Client, *, task_status: anyio.abc.TaskStatus[None]) -> None:
    async with client.listen(resource_subscriptions=[CHANGES]):
        task_status.started()
        await anyio.sleep_forever()


async def test_over_stdio_the_local_user_hears_and_the_end_of_stdin_ends_the_server(world: World) -> None:
    world.writes_really = True
    async with wire(world) as client:
        listen = request("subscriptions/listen", MODERN, notifications={"resourceSubscriptions": [CHANGES]})
        acknowledged = await client.ask(json.dumps(listen))
        assert acknowledged["method"] == "notifications/subscriptions/acknowledged"
        call = request("tools/call", MODERN, name="add_memory", arguments=NEWS) | {"id": 2}
        answers = [await client.ask(json.dumps(call)), await client.ask()]
        assert {one.get("method", one.get("id")) for one in answers} == {2, "notifications/resources/updated"}
