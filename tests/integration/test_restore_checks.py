"""A backup that is not whole in every row is refused before anything is touched, by the journal itself."""

import hashlib
import json
import sqlite3
from array import array
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.builders import an_entity, an_episode, an_intent

from graphiti_pkm.core.model.records import BackLinkJob, ExtractJob, WriteIntent
from graphiti_pkm.errors import DamagedStore, InvalidInput
from graphiti_pkm.storage.journal.store import SqliteJournal

Spoil = Callable[[sqlite3.Connection], object]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "data")
    yield journal
    await journal.close()


async def a_memory(journal: SqliteJournal) -> list[WriteIntent]:
    await journal.record_embedding("model", 2)
    intents = []
    for number in range(3):
        entity = an_entity(f"Person {number}")
        job = BackLinkJob(entity_uuid=entity.uuid, names=(entity.name,), before=entity.created_at)
        episode = an_episode(f"Note {number}.")
        extraction = ExtractJob(uuid=f"job-{number}", episode_uuid=episode.uuid)
        intent = an_intent(episodes=[episode], entities=[entity], jobs=(job,), extractions=(extraction,))
        await journal.append(intent, {entity.uuid: array("f", [0.6, 0.8])}, "hash", {"message": "stored"})
        intents.append(intent)
    return intents


def run(statement: str) -> Spoil:
    return lambda c: c.execute(statement)


def change_intent(change: Callable[[dict[str, object]], object]) -> Spoil:
    def spoil(connection: sqlite3.Connection) -> None:
        intent = json.loads(connection.execute("SELECT intent FROM contents WHERE seq = 2").fetchone()[0])
        change(intent)
        connection.execute("UPDATE contents SET intent = ? WHERE seq = 2", (json.dumps(intent),))

    return spoil


SPOILT: dict[str, Spoil] = {
    "a row that is no JSON": run("UPDATE contents SET intent = 'x' WHERE seq = 2"),
    "a row with a field that there is not": change_intent(lambda intent: intent.update(colour="red")),
    "a row without its group": change_intent(lambda intent: intent.pop("group_id")),
    "a row of another uuid": change_intent(lambda intent: intent.update(uuid="another")),
    "a row of another group": change_intent(lambda intent: intent.update(group_id="another")),
    "a vector cut short": run("UPDATE contents SET vectors = substr(vectors, 1, 5) WHERE seq = 2"),
    "vectors of another dimension": run("UPDATE contents SET dimension = 1, vectors = x'0000803f' WHERE seq = 2"),
    "a vector that is not finite": run("UPDATE contents SET vectors = x'0000c07f0000c07f' WHERE seq = 2"),
    "uuids of vectors that are no list": run("UPDATE contents SET vector_uuids = '{}', vectors = x'' WHERE seq = 2"),
    "an answer that is no JSON": run("UPDATE contents SET answer = 'x' WHERE seq = 2"),
    "a write without its content": run("DELETE FROM contents WHERE seq = 2"),
    "a content without its write": run("DELETE FROM writes WHERE seq = 2"),
    "an open job that is none": run("UPDATE jobs SET payload = '{}' WHERE id = 2"),
    "a reading that is none": run("UPDATE extractions SET payload = '[]' WHERE id = 2"),
    "a saved graph of nobody": run("INSERT INTO saved_graphs VALUES ('u', '1', 'n', 'yesterday', '[]', 1, 0, '{}')"),
    "no table of episodes": run("DROP TABLE episodes"),
    "no table of what was spent": run("DROP TABLE model_usage"),
    "one more column": run("ALTER TABLE writes ADD COLUMN colour TEXT"),
    "another column": run("ALTER TABLE contents RENAME COLUMN answer TO reply"),
    "a view in the place of a table": lambda c: c.executescript(
        "ALTER TABLE jobs RENAME TO work; CREATE VIEW jobs AS SELECT * FROM work"
    ),
}


def digest(directory: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in directory.iterdir()
        if "-shm" not in path.name
    }


@pytest.mark.parametrize("name", SPOILT)
async def test_a_backup_with_anything_wrong_is_refused_and_not_a_byte_is_changed(
    journal: SqliteJournal, tmp_path: Path, name: str
) -> None:
    kept = await a_memory(journal)
    backup = tmp_path / "backup"
    await journal.backup(backup)
    with closing(sqlite3.connect(backup)) as spoilt, spoilt:
        SPOILT[name](spoilt)
    before = digest(tmp_path / "data")
    for call in (journal.verify_backup, journal.restore):
        with pytest.raises((DamagedStore, InvalidInput), match="Nothing was changed") as raised:
            await call(backup)
        assert "Person" not in str(raised.value)
    assert digest(tmp_path / "data") == before
    assert [row.intent for row in await journal.rows(0, 10)] == kept


async def test_a_whole_backup_is_taken(journal: SqliteJournal, tmp_path: Path) -> None:
    kept = await a_memory(journal)
    await journal.backup(tmp_path / "backup")
    assert await journal.verify_backup(tmp_path / "backup") == 3
    assert await journal.restore(tmp_path / "backup") == 3
    assert [row.intent for row in await journal.rows(0, 10)] == kept
