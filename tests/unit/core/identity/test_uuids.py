"""Uuids as callers write them."""

import pytest
from tests.builders import a_write, an_entity
from tests.worlds.reading_world import UNKNOWN, World

from graphiti_pkm.core.identity.uuids import resolve_uuid
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import AmbiguousUuid, InvalidInput, NotFound

SARAH = "12345678-aaaa-4000-8000-000000000001"
TWIN = "12345678-aaab-4000-8000-000000000002"
LONE = "abcdef01-2345-4000-8000-000000000003"


async def a_world() -> World:
    world = World()
    await world.given(a_write(*(an_entity(f"E{i}", uuid=uuid) for i, uuid in enumerate((SARAH, TWIN, LONE)))))
    return world


async def resolved(world: World, text: str, caller: Caller | None = None) -> str:
    return await resolve_uuid(world.graph, world.groups, caller or world.caller, "entity", text)


@pytest.mark.parametrize("text", [LONE, LONE[:8], LONE[:9], LONE[:14], LONE[:12].replace("-", ""), f" {LONE.upper()} "])
async def test_a_uuid_may_be_whole_or_a_unique_start_of_eight_characters_or_more(text: str) -> None:
    assert await resolved(await a_world(), text) == LONE


async def test_a_start_that_fits_several_names_them() -> None:
    with pytest.raises(AmbiguousUuid) as raised:
        await resolved(await a_world(), "12345678")
    assert SARAH in raised.value.message
    assert TWIN in raised.value.message


@pytest.mark.parametrize(
    "text", ["invalid-uuid", "", "1234567", "12345678-zzzz", "123456789-aaaa", LONE + "0", "Sarah", "\ud800", "1\0"]
)
async def test_what_is_no_uuid_is_an_error_that_names_the_tool_to_ask(text: str) -> None:
    with pytest.raises(InvalidInput, match="is not a uuid; search_nodes finds entity uuids") as raised:
        await resolved(await a_world(), text)
    raised.value.message.encode()


async def test_a_start_that_fits_nothing_is_not_found() -> None:
    with pytest.raises(NotFound, match="search_nodes finds entity uuids"):
        await resolved(await a_world(), "99999999")


async def test_the_start_of_another_persons_uuid_fits_nothing() -> None:
    with pytest.raises(NotFound):
        await resolved(await a_world(), LONE[:8], Caller(principal="anna"))


@pytest.mark.parametrize("text", [UNKNOWN, "non-existent-uuid"])
async def test_a_whole_uuid_that_nothing_has_is_returned_as_it_is(text: str) -> None:
    assert await resolved(await a_world(), text) == text
