"""The alias of a role that went from one person to the next, in a real data directory: deleted, forgotten, rebuilt."""

from pathlib import Path

import pytest
from tests.integration.planted import files_with
from tests.storm.dump import differences, dump

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.forget.requests import DeleteEpisode, Forget
from graphiti_pkm.capabilities.forget.tools import DELETING, FORGETTING
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings

pytestmark = pytest.mark.timeout(120)
ROLE = "quolltrainer"


async def tell(memory: Memory, name: str, day: str, **fact: object) -> AddMemoryResponse:
    told = {
        "episode_body": f"{name} came.",
        "reference_time": day,
        "entities": [{"name": name, "type": "Person", "aliases": [f"my {ROLE}"]}],
        "facts": [{"source": "me", "relation": f"HAS_{ROLE}", "target": name, **fact}],
    }
    return await memory.services[WRITING].add_memory(LOCAL, AddMemory.model_validate(told))


async def forget(memory: Memory, told: AddMemoryResponse) -> None:
    uuid = told.entities[0].uuid
    preview = await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=uuid))
    await memory.services[FORGETTING].forget(LOCAL, Forget(entity_uuid=uuid, confirm=preview.confirm))


async def test_a_moved_alias_is_the_same_after_a_rebuild_and_gone_once_both_are_forgotten(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        judith = await tell(memory, "Judith Brandt", "2026-01-10")
        paul = await tell(memory, "Paul Weber", "2026-05-10", replaces="current")
        assert paul.entities[0].aliases == [f"my {ROLE}"]
        assert files_with(tmp_path, ROLE)
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        for told in (judith, paul):
            await forget(memory, told)
            before = dump(tmp_path)
            await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
            assert differences(before, dump(tmp_path)) == []
        assert files_with(tmp_path, ROLE) == []


async def test_the_note_that_moved_an_alias_can_be_deleted(tmp_path: Path) -> None:
    async with open_memory(Settings(data_dir=tmp_path)) as memory:
        await tell(memory, "Judith Brandt", "2026-01-10")
        paul = await tell(memory, "Paul Weber", "2026-05-10", replaces="current")
        await memory.services[DELETING].delete_episode(LOCAL, DeleteEpisode(uuid=paul.episode_uuid))
        before = dump(tmp_path)
        await memory.recovery.rebuilding.rebuild(lambda _done, _total: None)
        assert differences(before, dump(tmp_path)) == []
        again = await tell(memory, "Judith Brandt", "2026-06-10")
        assert again.entities[0].aliases == [f"my {ROLE}"]
