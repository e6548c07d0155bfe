"""What one process keeps of the vectors follows what another does to the file."""

from pathlib import Path

from tests.builders import a_write, an_entity
from tests.contracts.test_graph_vectors import AHEAD, entities, leaning

from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile


async def test_a_graph_that_another_process_cleared_and_filled_again_is_read_anew(tmp_path: Path) -> None:
    here, there = (SqliteGraph(JournalFile(tmp_path, name=MEMORY)) for _ in range(2))
    former, kept = an_entity("Former"), an_entity("Kept")
    await here.writer.apply(a_write(former, kept), {former.uuid: AHEAD, kept.uuid: leaning(0.5)})
    assert set(await here.search.nearest_entities(AHEAD, entities(), 5)) == {former.uuid, kept.uuid}

    await there.clear()
    await there.writer.apply(a_write(kept), {kept.uuid: leaning(0.9)})

    found = await here.search.nearest_entities(AHEAD, entities(), 5)
    assert list(found) == [kept.uuid]
    assert abs(found[kept.uuid] - 0.9) < 1e-4
    await here.close()
    await there.close()


def set_aside(directory: Path) -> None:
    for file in directory.glob(f"{MEMORY}*"):
        file.rename(file.with_name(f"damaged-{file.name}"))


async def test_another_file_in_the_place_of_a_damaged_one_is_read_anew(tmp_path: Path) -> None:
    """Its vectors have the numbers of those that are gone."""
    here = SqliteGraph(JournalFile(tmp_path, name=MEMORY))
    former, other, kept = (an_entity(name) for name in ("Former", "Other", "Kept"))
    await here.writer.apply(a_write(former, other), {former.uuid: AHEAD, other.uuid: AHEAD})
    assert len(await here.search.nearest_entities(AHEAD, entities(), 5)) == 2

    set_aside(tmp_path)
    there = SqliteGraph(JournalFile(tmp_path, name=MEMORY))
    await there.writer.apply(a_write(kept), {kept.uuid: AHEAD})

    assert list(await here.search.nearest_entities(AHEAD, entities(), 5)) == [kept.uuid]
    await here.close()
    await there.close()
