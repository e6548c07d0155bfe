"""What is offered while a person types an argument: only names and uuids that the caller may see."""

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference
from tests.protocol.access import Doors, a_world
from tests.protocol.serving import connected, served
from tests.protocol.support import EVERYTHING, Mode, World, answered

from graphiti_pkm.server.tools.resources import CHANGES_OF_GROUP, ENTITY, EPISODE

REVIEW = PromptReference(name="review_entity")
NAMES = ["Ann Lee", "Anna", "Årsta Annex", "Zoe", "me"]


async def offered(
    client: Client, ref: PromptReference | ResourceTemplateReference, argument: str, typed: str
) -> list[str]:
    found = await client.complete(ref, {"name": argument, "value": typed})
    assert len(found.completion.values) <= 100
    return found.completion.values


async def remember(client: Client, **more: object) -> dict[str, object]:
    facts = [{"source": "me", "relation": "KNOWS", "target": name} for name in NAMES if name != "me"]
    return answered(await client.call_tool("add_memory", {"episode_body": "Whom I know.", "facts": facts, **more}))


@pytest.fixture
def world() -> World:
    world = World()
    world.writes_really = True
    return world


async def test_a_name_is_offered_by_the_beginning_of_each_of_its_words(client: Client) -> None:
    await remember(client)
    for typed, expected in (
        ("ann", ["Ann Lee", "Anna", "Årsta Annex"]),
        ("ANN L", ["Ann Lee"]),
        ("anna", ["Anna"]),
        ("lee", ["Ann Lee"]),
        ("ars", ["Årsta Annex"]),
        ("a", ["Ann Lee", "Anna"]),
        ("an", ["Ann Lee", "Anna"]),
        ("xyz", []),
        ("%", NAMES),
    ):
        assert set(await offered(client, REVIEW, "name", typed)) >= set(expected), typed
    assert await offered(client, REVIEW, "name", "ann") == ["Ann Lee", "Anna", "Årsta Annex"]
    assert await offered(client, PromptReference(name="journal_session"), "topic", "zo") == ["Zoe"]
    assert set(NAMES) >= set(await offered(client, REVIEW, "name", "")) >= set(NAMES) - {"me"}


async def test_uuids_are_offered_by_their_beginning_entities_also_by_name(client: Client, world: World) -> None:
    stored = await remember(client)
    episode = str(stored["episode_uuid"])
    of_episodes, of_entities = ResourceTemplateReference(uri=EPISODE), ResourceTemplateReference(uri=ENTITY)
    for typed in ("", episode[:1], episode[:12], episode):
        assert episode in await offered(client, of_episodes, "uuid", typed)
    (zoe,) = [one.uuid for one in world.graph.tables.entities.values() if one.name == "Zoe"]
    for typed in ("", zoe[:3], zoe, "zoe"):
        assert zoe in await offered(client, of_entities, "uuid", typed)
    assert await offered(client, of_entities, "uuid", "no such name") == []
    assert "Zoe" in str(await client.read_resource(f"pkm://entity/{zoe}"))


async def test_what_nobody_can_know_is_offered_nothing_and_what_is_not_there_is_said(client: Client) -> None:
    assert await offered(client, PromptReference(name="record_decision"), "decision", "we") == []
    assert await offered(client, REVIEW, "nothing", "x") == []
    for ref, said in (
        (PromptReference(name="nobody"), "No such prompt. There are: journal_session"),
        (ResourceTemplateReference(uri="pkm://nothing/{uuid}"), "No such resource template. There are: pkm://entity"),
    ):
        with pytest.raises(MCPError, match=said.replace("{", r"\{")):
            await client.complete(ref, {"name": "name", "value": ""})


async def test_every_template_that_is_listed_can_be_completed() -> None:
    async with World(EVERYTHING).connect() as client:
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert set(templates) > {ENTITY, EPISODE, CHANGES_OF_GROUP}
        for uri in templates:
            assert await offered(client, ResourceTemplateReference(uri=uri), "graph", "") == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_nobody_is_offered_what_others_or_other_groups_hold(mode: Mode, doors: Doors) -> None:
    anna, ben = doors.add("anna"), doors.add("ben")
    narrow = doors.add("anna", groups=("work",))
    async with served(doors.settings, a_world(doors).start) as url:
        async with connected(f"{url}/mcp", mode, **anna) as client:
            await remember(client)
            await remember(client, group_id="work", facts=[{"source": "me", "relation": "KNOWS", "target": "Wim"}])
            assert await offered(client, REVIEW, "name", "wim") == ["Wim"]
        async with connected(f"{url}/mcp", mode, **ben) as client:
            for typed in ("", "ann", "wim"):
                assert await offered(client, REVIEW, "name", typed) == []
                for uri in (ENTITY, EPISODE):
                    assert await offered(client, ResourceTemplateReference(uri=uri), "uuid", typed) == []
        async with connected(f"{url}/mcp", mode, **narrow) as client:
            assert await offered(client, REVIEW, "name", "ann") == []
            assert await offered(client, REVIEW, "name", "wim") == ["Wim"]
        async with connected(f"{url}/mcp", mode, **anna, **{"X-User-ID": "eve"}) as client:
            with pytest.raises(MCPError, match="X-User-ID is refused"):
                await offered(client, REVIEW, "name", "ann")


async def test_a_prompt_that_is_not_offered_is_not_completed(doors: Doors) -> None:
    anna = doors.add("anna", tier="reader")
    async with served(doors.settings, a_world(doors).start) as url, connected(f"{url}/mcp", "auto", **anna) as client:
        assert await offered(client, REVIEW, "name", "ann") == []
        with pytest.raises(MCPError, match="There are: review_entity"):
            await offered(client, PromptReference(name="journal_session"), "topic", "a")
