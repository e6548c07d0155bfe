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

from graphiti_pkm.core.model.job_records import BackLinkJob, ExtractJob
from graphiti_pkm.core.model.records import Deletions, EpisodeText, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.errors import DamagedStore, InvalidInput
from graphiti_pkm.storage.journal.store import SqliteJournal

Spoil = Callable[[sqlite3.Connection], object]


@pytest.fixture
async def journal(tmp_path: Path) -> AsyncIterator[SqliteJournal]:
    journal = SqliteJournal(tmp_path / "data")
    yield journal
    await journal.close()


async def a_memory(journal: SqliteJournal) -> list[WriteIntent]:
    """Three notes, of which the first is deleted by a fourth write."""
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
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(intents[0].episodes[0].uuid,)))
    await journal.append(deletion, {}, "", {})
    return [*intents, deletion]


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
    "a zero vector": run("UPDATE contents SET vectors = zeroblob(length(vectors)) WHERE seq = 2"),
    "a vector named twice": run(
        """UPDATE contents SET vectors = vectors || vectors, vector_uuids = '["a","a"]' WHERE seq = 2"""
    ),
    "a vector of a number": run("UPDATE contents SET vector_uuids = '[1]' WHERE seq = 2"),
    "vectors of no model": run("DELETE FROM embedding"),
    "vectors of a model without a name": run("UPDATE embedding SET model = ' '"),
    "a change of vectors that is neither on nor off": run("UPDATE embedding SET is_changing = 2"),
    "a receipt missing": run("DELETE FROM episodes WHERE seq = 3"),
    "a receipt of another episode": run("UPDATE episodes SET uuid = 'another' WHERE seq = 3"),
    "a receipt too many": run("INSERT INTO episodes (uuid, seq) VALUES ('another', 3)"),
    "a receipt of a deletion": run("INSERT INTO episodes (uuid, seq) VALUES ('another', 4)"),
    "a receipt deleted by nothing": run("UPDATE episodes SET deleted_by = 'nonsense' WHERE seq = 3"),
    "a receipt deleted by a write that deletes something else": run(
        "UPDATE episodes SET deleted_by = (SELECT uuid FROM writes WHERE seq = 4) WHERE seq = 3"
    ),
    "a receipt deleted by itself": run(
        "UPDATE episodes SET deleted_by = (SELECT uuid FROM writes WHERE seq = 3) WHERE seq = 3"
    ),
    "a deleted receipt in force": run("UPDATE episodes SET deleted_by = NULL WHERE seq = 1"),
    "a receipt deleted by a write set aside": run("UPDATE writes SET state = 'failed', reason = 'x' WHERE seq = 4"),
    "a write set aside without a reason": run("UPDATE writes SET state = 'failed' WHERE seq = 3"),
    "a reason of a write that is not set aside": run("UPDATE writes SET reason = 'refused' WHERE seq = 3"),
    "a number of attempts that is none": run("UPDATE writes SET attempts = 'some' WHERE seq = 3"),
    "a time that is none": run("UPDATE writes SET recorded_at = 'yesterday' WHERE seq = 3"),
    "another time": run("UPDATE writes SET recorded_at = '9999-12-31T00:00:00+00:00' WHERE seq = 3"),
    "an answer to no request": run("UPDATE contents SET request_hash = '' WHERE seq = 3"),
    "a job in another group": run("UPDATE jobs SET group_id = 'another' WHERE id = 2"),
    "a job for another entity": run("UPDATE jobs SET entity_uuid = 'another' WHERE id = 2"),
    "a job missing": run("DELETE FROM jobs WHERE id = 2"),
    "a reading missing": run("DELETE FROM extractions WHERE id = 2"),
    "a vector too short to have a direction": lambda c: c.execute(
        "UPDATE contents SET vectors = ? WHERE seq = 2", (array("f", [1e-25, 0]).tobytes(),)
    ),
    "a reading in another group": run("UPDATE extractions SET group_id = 'another' WHERE id = 2"),
    "a reading of another episode": run("UPDATE extractions SET episode_uuid = 'another' WHERE id = 2"),
    "a reading of another name": run("UPDATE extractions SET job = 'another' WHERE id = 2"),
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
    assert await journal.verify_backup(tmp_path / "backup") == 4
    assert await journal.restore(tmp_path / "backup") == 4
    assert [row.intent for row in await journal.rows(0, 10)] == kept


async def test_what_forgetting_and_setting_aside_leave_is_whole(journal: SqliteJournal, tmp_path: Path) -> None:
    """Rows that lost what they were checked by: their receipts stand, their episodes and deletions are gone."""
    notes = await a_memory(journal)
    forgotten, deleted = (notes[number].episodes[0] for number in (1, 2))
    text = EpisodeText(uuid=forgotten.uuid, name="A note", content="[forgotten]")
    await journal.append(an_intent(kind=WriteKind.FORGET, forgets=Forgetting(episodes=(text,))), {}, "", {})
    refused = an_intent(
        kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(deleted.uuid,)), forgets=Forgetting()
    )
    await journal.append(refused, {}, "", {})
    await journal.fail(refused.uuid, "refused 3 times")
    for group_id in (notes[0].group_id, "another"):
        clearing = an_intent(
            group_id=group_id,
            kind=WriteKind.CLEAR_GROUP,
            deletions=Deletions(groups=(notes[0].group_id,)),
            forgets=Forgetting(),
        )
        await journal.backup(tmp_path / f"before {group_id}")
        assert await journal.verify_backup(tmp_path / f"before {group_id}") == await _count(journal)
        await journal.append(clearing, {}, "", {})
    again = an_intent(episodes=[an_episode("Afterwards.")])
    await journal.append(again, {}, "hash", {"message": "stored"})
    await journal.backup(tmp_path / "cleared")
    assert await journal.restore(tmp_path / "cleared") == await _count(journal)
    assert await journal.stored_answer(again.episodes[0].uuid) is not None
    assert await journal.stored_answer(deleted.uuid) is None


async def _count(journal: SqliteJournal) -> int:
    counts = await journal.counts()
    return sum(counts[state] for state in ("intent", "written", "applied", "failed"))


async def test_the_mark_of_a_rebuild_in_a_backup_is_not_that_of_the_memory(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    await a_memory(journal)
    await journal.begin_rebuild("repair")
    await journal.rebuild_cleared()
    await journal.backup(tmp_path / "backup")
    await journal.end_rebuild()
    await journal.restore(tmp_path / "backup")
    mark = await journal.rebuild_in_progress()
    assert mark is not None
    assert (mark.command, mark.is_cleared) == ("restore", False)


async def test_a_backup_made_while_vectors_change_is_taken_and_the_change_remembered(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    await a_memory(journal)
    await journal.begin_change("other", 3)
    await journal.backup(tmp_path / "backup")
    await journal.remove_vectors(0, 10)
    await journal.end_change()
    assert await journal.restore(tmp_path / "backup") == 4
    assert await journal.embedding() == RecordedEmbedding(model="other", dimension=3, is_changing=True)
    assert not any(row.vectors for row in await journal.rows(0, 10))
