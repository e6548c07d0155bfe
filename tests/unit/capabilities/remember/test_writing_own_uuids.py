"""A uuid chosen by one of many callers: safe to repeat, and no way to learn of the episodes of others."""

from typing import Any

import pytest
from tests.builders import new_uuid
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import ConflictingContent

ANNA, BEN = Caller(principal="anna"), Caller(principal="ben")
HELD = Caller(principal="anna", groups=("work",))
REMOTE = Caller.model_validate({"token": "12345678"})
"""The local user with a token."""


@pytest.fixture
def world() -> WritingWorld:
    return WritingWorld()


def shape(answer: Any) -> dict[str, Any]:
    """An answer without what differs between any two."""
    return {key: value for key, value in answer.model_dump().items() if key not in {"episode_uuid", "message"}}


@pytest.mark.parametrize(("owner", "other"), [(LOCAL, BEN), (ANNA, BEN), (ANNA, HELD), (ANNA, REMOTE)])
async def test_the_uuid_of_anothers_episode_is_as_good_as_any(
    world: WritingWorld, owner: Caller, other: Caller
) -> None:
    theirs = await world.tell("A note.", caller=owner, uuid=new_uuid(), group_id="diary")
    taken = await world.tell("Mine.", caller=other, uuid=theirs.episode_uuid, group_id="work")
    free = await world.tell("Mine, too, at length.", caller=other, uuid=new_uuid(), group_id="work")
    assert shape(taken) | {"name": ""} == shape(free) | {"name": ""}
    assert world.graph.tables.episodes[theirs.episode_uuid].content == "A note."
    assert world.graph.tables.episodes[taken.episode_uuid].content == "Mine."


@pytest.mark.parametrize("sent", ["chosen", "answered"])
async def test_a_repeat_by_the_chosen_or_the_answered_uuid_is_known(world: WritingWorld, sent: str) -> None:
    chosen = new_uuid()
    first = await world.tell("Mine.", caller=BEN, uuid=chosen)
    again = chosen if sent == "chosen" else first.episode_uuid
    assert (await world.tell("Mine.", caller=BEN, uuid=again)).status == "already_stored"
    with pytest.raises(ConflictingContent, match="was stored before with other content"):
        await world.tell("Something else.", caller=BEN, uuid=again)
    assert len(world.graph.tables.episodes) == 1


async def test_the_local_user_without_a_token_gets_the_uuid_that_was_asked_for(world: WritingWorld) -> None:
    chosen = new_uuid()
    assert (await world.tell("Mine.", uuid=chosen)).episode_uuid == chosen
