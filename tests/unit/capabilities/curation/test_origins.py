"""Who made a record: the principal and token of the transport, and where the record comes from."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError
from tests.protocol.support import EVERYTHING, World, answered
from tests.worlds.extraction_world import ExtractionWorld, Findings
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import Origin
from graphiti_pkm.core.ports.graph import RecordKind

ANNA = Caller(principal="svc:anna", token="0a1b2c3d")  # noqa: S106 the id of a token
BY_ANNA = Origin(created_by="svc:anna", token="0a1b2c3d", source_type="conversation")  # noqa: S106 same
TEA = {"source": "Tom", "relation": "LIKES", "target": "tea", "fact": "Tom likes tea."}


async def origin(world: Any, kind: RecordKind, uuid: str) -> Origin | None:
    found: dict[str, Origin] = await world.graph.records.origins(kind, [uuid], await world.graph.records.groups())
    return found.get(uuid)


async def test_what_a_caller_says_is_its_own_in_every_record() -> None:
    world = WritingWorld()
    stored = await world.tell("Tom likes tea.", TEA, caller=ANNA)
    assert await origin(world, "episode", stored.episode_uuid) == BY_ANNA
    for one in stored.entities:
        assert await origin(world, "entity", one.uuid) == BY_ANNA
    assert await origin(world, "fact", stored.facts[0].uuid or "") == BY_ANNA


async def test_a_later_mention_by_another_leaves_who_made_it() -> None:
    world = WritingWorld()
    stored = await world.tell("Tom likes tea.", TEA)
    mine = {one.name: one.uuid for one in stored.entities}
    world.clock.advance(seconds=1)
    token = Caller(token="ffffffff")  # noqa: S106 the id of a token of the local principal
    named = [{"name": "Tom", "type": "Person", "summary": "A sailor.", "aliases": ["Tommy"]}]
    again = await world.tell("Tom, called Tommy, likes tea, and coffee.", TEA, caller=token, entities=named)
    assert world.entity("Tom").summary == "A sailor."
    assert await origin(world, "entity", mine["Tom"]) == LOCAL.origin()
    assert await origin(world, "fact", stored.facts[0].uuid or "") == LOCAL.origin()
    assert await origin(world, "episode", again.episode_uuid) == token.origin()


async def test_an_entity_has_uuid_name_and_when_it_was_made_with_an_offset() -> None:
    world = World(EVERYTHING, writes_really=True)
    async with world.connect() as client:
        for body in ("Tom came.", "Tom went."):
            told = answered(await client.call_tool("add_memory", {"episode_body": body, "entities": [{"name": "Tom"}]}))
            world.clock.advance(seconds=7200)
            (node,) = answered(await client.call_tool("search_nodes", {"query": "Tom"}))["nodes"]
            entity = world.graph.tables.entities[told["entities"][0]["uuid"]]
            assert (node["uuid"], node["name"]) == (entity.uuid, "Tom")
            made = datetime.fromisoformat(node["created_at"])
            assert made.utcoffset() is not None
            assert made == entity.created_at
    assert len(world.graph.tables.entities) == 1
    assert entity.created_at < world.clock.instant - timedelta(hours=1)


async def test_what_a_model_finds_is_an_inference_from_what_was_told() -> None:
    world, found = ExtractionWorld(), Findings()
    token = Caller(token="ffffffff")  # noqa: S106 the id of a token of the local principal
    episode = (await world.tell("Tom knows Ida.", caller=token)).episode_uuid
    found.fact("Tom", "KNOWS", "Ida", "Tom knows Ida.")
    world.clock.advance(seconds=1)
    await world.found(episode, found)
    derived = token.origin("inference")
    assert await origin(world, "fact", world.fact("Tom KNOWS Ida").uuid) == derived
    assert await origin(world, "entity", world.entity("Ida").uuid) == derived
    assert await origin(world, "episode", episode) == token.origin()


async def test_tools_of_another_server_and_scratch_graphs_tell_it_too() -> None:
    world = World(EVERYTHING, writes_really=True)
    async with world.connect() as client:
        made = [{"name": "Zed", "type": "Person", "observations": ["sails"]}]
        answered(await client.call_tool("create_entities", {"entities": made}))
        world.clock.advance(seconds=1)
        edges = [{"source": "Uma", "target": "Vic", "relation": "KNOWS"}]
        answered(await client.call_tool("add_edges", {"edges": edges, "create_missing": True}))
        answered(await client.call_tool("commit_graph", {"dry_run": False}))
    uuids = {one.name: one.uuid for one in world.graph.tables.entities.values()}
    assert await origin(world, "entity", uuids["Zed"]) == LOCAL.origin()
    assert await origin(world, "entity", uuids["Uma"]) == LOCAL.origin("inference")


def test_there_are_three_kinds_of_sources() -> None:
    with pytest.raises(ValidationError):
        Origin.model_validate({"created_by": "anna", "source_type": "rumour"})
