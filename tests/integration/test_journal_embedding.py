"""Of which model the vectors of an older journal, or of a damaged one, are taken to be."""

import sqlite3
from array import array
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.builders import a_write, an_entity

from graphiti_pkm.core.model.records import Vectors
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.schema import MIGRATIONS
from graphiti_pkm.storage.journal.store import SqliteJournal

WITHOUT_RECORD = MIGRATIONS[:5]


async def older(directory: Path, vectors: Vectors) -> None:
    """A journal that does not say of which model its vectors are."""
    journal = SqliteJournal(directory, now=lambda: datetime.now(UTC), migrations=WITHOUT_RECORD)
    await journal.append(a_write(an_entity("Sarah", uuid="sarah")), vectors, "", {})
    await journal.close()


async def test_an_older_journal_with_vectors_has_those_of_the_only_model_there_was(tmp_path: Path) -> None:
    await older(tmp_path, {"sarah": array("f", [1.0] + [0.0] * 383)})
    journal = SqliteJournal(tmp_path)
    embedder = LocalEmbedder(Settings(data_dir=tmp_path))
    recorded = RecordedEmbedding(model=embedder.model, dimension=embedder.dimension)
    assert await journal.embedding() == recorded
    assert [len(row.vectors) for row in await journal.rows(0, 9)] == [1]
    await journal.close()


async def test_an_older_journal_without_vectors_says_nothing(tmp_path: Path) -> None:
    await older(tmp_path, {})
    current = SqliteJournal(tmp_path)
    assert await current.embedding() is None
    await current.close()


@pytest.mark.parametrize(("model", "kept"), [("one", 2), ("other", 1)])
async def test_vectors_saved_from_a_damaged_journal_are_kept_if_they_are_of_the_backups_model(
    tmp_path: Path, model: str, kept: int
) -> None:
    journal = SqliteJournal(tmp_path)
    await journal.record_embedding("one", 2)
    for number in range(2):
        if number == 1:
            await journal.backup(tmp_path / "copy")
            await journal.begin_change(model, 2)
            await journal.end_change()
        one = an_entity("Sarah")
        await journal.append(a_write(one), {one.uuid: array("f", [0.6, 0.8])}, "", {})
    await journal.close()
    with closing(sqlite3.connect(journal.path)) as file:
        (page,) = file.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'jobs_by_state'").fetchone()
        (size,) = file.execute("PRAGMA page_size").fetchone()
    content = journal.path.read_bytes()
    start = (page - 1) * size
    journal.path.write_bytes(content[:start] + b"\xff" * 500 + content[start + 500 :])
    damaged = SqliteJournal(tmp_path)
    await damaged.restore(tmp_path / "copy")
    assert sum(len(row.vectors) for row in await damaged.rows(0, 9)) == kept
    await damaged.close()
