"""What was forgotten is in no file of the data directory; whatever was cut short is finished by the next start."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.integration.planted import files_with
from tests.integration.rows_support import World, a_world, in_one_task

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

HIDDEN = "Zéphyrin-Quolltext"
BODY = f"Maria told me of {HIDDEN} yesterday. Tom runs every morning."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    async with in_one_task(a_world()) as entered:
        yield entered


def data_dir(world: World) -> Path:
    return world.memory.context.settings.data_dir


async def tell(world: World, group: str, body: str = BODY, **arguments: Any) -> dict[str, Any]:
    facts = [{"source": "Maria", "relation": "TOLD", "value": HIDDEN, "quote": HIDDEN}]
    told = {"entities": [{"name": "Maria"}, {"name": "Tom"}], "facts": facts, **arguments}
    return await world.call("add_memory", group_id=group, episode_body=body, **told)


async def test_the_words_of_a_deleted_episode_leave_every_file(world: World) -> None:
    told = await tell(world, "deleted")
    assert await world.memory.context.graph.wait_durable()
    assert {path.split("/")[0] for path in files_with(data_dir(world), HIDDEN)} == {
        "appendonlydir",
        "journal.sqlite3-wal",
    }
    answer = await world.call("delete_episode", uuid=told["episode_uuid"])
    assert "gone from the database's and the journal's files" in answer["message"]
    assert files_with(data_dir(world), HIDDEN) == []
    assert await world.memory.journal.open_erasures() == []
