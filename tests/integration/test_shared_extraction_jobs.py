"""Who takes part in the readings that servers share: a memory in a file of one's own knows nothing of them."""

from multiprocessing import get_context
from pathlib import Path
from uuid import UUID

import pytest
from tests.scripted_model import ScriptedModel

from graphiti_pkm.bootstrap import open_memory
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.requests import AddMemory
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.server_id import SERVER_ID, server_id


async def test_a_memory_of_ones_own_knows_of_no_readings(tmp_path: Path, scripted_model: ScriptedModel) -> None:
    settings = Settings(data_dir=tmp_path, llm_model="scripted", llm_base_url=scripted_model.url)
    async with open_memory(settings) as memory:
        await memory.services[WRITING].add_memory(
            LOCAL, AddMemory(episode_body="Anna Berg WORKS_AT Acme.", wait_seconds=40)
        )
        assert (await memory.journal.extractions.sizes(None))["done"] == 1
        assert "takeover" not in memory.running.jobs
    assert not (tmp_path / SERVER_ID).exists()


def test_all_processes_of_a_directory_are_one_server(tmp_path: Path) -> None:
    with get_context("spawn").Pool(4) as pool:
        found = set(pool.map(server_id, [tmp_path / "data"] * 8))
    assert found == {server_id(tmp_path / "data")}
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["server-id"]
    assert server_id(tmp_path / "another") not in found


@pytest.mark.parametrize("damaged", ["", "\0" * 36, "no id"])
def test_a_damaged_id_is_made_anew(tmp_path: Path, damaged: str) -> None:
    (tmp_path / SERVER_ID).write_text(damaged, encoding="ascii")
    assert server_id(tmp_path) == server_id(tmp_path) == str(UUID((tmp_path / SERVER_ID).read_text()))
