"""Contract of ``Journal``: of which model its vectors are, and how they are taken out."""

from array import array
from pathlib import Path

from tests.builders import a_write, an_entity, an_episode
from tests.fakes import FakeClock

from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.core.ports.ports import Journal

VECTOR = array("f", [0.6, 0.8])


async def appended(journal: Journal, count: int = 1) -> list[WriteIntent]:
    """Writes with a vector each."""
    writes = []
    for _ in range(count):
        one = an_entity("Sarah")
        writes.append(a_write(one, an_episode("Sarah")))
        await journal.append(writes[-1], {one.uuid: VECTOR}, "hash", {"message": "stored"})
    return writes


async def held(journal: Journal) -> list[int]:
    """How many vectors each row gives out."""
    return [len(row.vectors) for row in await journal.rows(0, 100)]


async def test_the_first_model_is_recorded_and_stays(journal: Journal) -> None:
    assert await journal.embedding() is None
    await journal.record_embedding("one", 2)
    await journal.record_embedding("other", 3)
    assert await journal.embedding() == RecordedEmbedding(model="one", dimension=2)


async def test_while_models_change_no_row_gives_a_vector_out_and_afterwards_only_new_ones(journal: Journal) -> None:
    await journal.record_embedding("one", 2)
    await appended(journal, 3)
    await journal.begin_change("other", 3)
    assert await journal.embedding() == RecordedEmbedding(model="other", dimension=3, is_changing=True)
    assert await held(journal) == [0, 0, 0]
    assert [len(row.vectors) for row in await journal.unfinished(None)] == [0, 0, 0]
    after, rounds = 0, 0
    while (last := await journal.remove_vectors(after, 2)) is not None:
        assert last > after
        after, rounds = last, rounds + 1
    await journal.end_change()
    assert rounds == 2
    assert await journal.embedding() == RecordedEmbedding(model="other", dimension=3)
    assert await held(journal) == [0, 0, 0]
    await appended(journal)
    assert await held(journal) == [0, 0, 0, 1]


async def test_a_change_that_was_interrupted_loses_no_vector_by_itself(journal: Journal) -> None:
    writes = await appended(journal)
    await journal.begin_change("other", 3)
    await journal.written(writes[0].uuid)
    await journal.end_change()
    assert await held(journal) == [1]


async def test_a_backup_brings_back_what_its_vectors_are(journal: Journal, tmp_path: Path) -> None:
    await journal.record_embedding("one", 2)
    await appended(journal)
    await journal.backup(tmp_path / "copy")
    await journal.begin_change("other", 3)
    await journal.restore(tmp_path / "copy")
    assert await journal.embedding() == RecordedEmbedding(model="one", dimension=2)
    assert await held(journal) == [1]


async def test_jobs_that_embed_what_is_missing_are_one_a_group_until_it_is_begun(journal: Journal) -> None:
    job = EmbedMissingJob()
    for group in ("t1", "t1", "t2"):
        write = a_write(an_episode(group_id=group)).model_copy(update={"jobs": (job,)})
        await journal.append(write, {}, "", {})
    assert (await journal.counts())["jobs_queued"] == 2
    claimed = await journal.claim_job("me", 60)
    assert claimed is not None
    assert claimed[1:] == ("t1", job)
    await journal.append(a_write(an_episode(group_id="t1")).model_copy(update={"jobs": (job,)}), {}, "", {})
    assert (await journal.counts())["jobs_queued"] == 2


async def test_a_job_that_waits_is_given_again_after_its_delay_with_all_its_attempts(
    journal: Journal, clock: FakeClock
) -> None:
    job = EmbedMissingJob()
    await journal.append(a_write(an_episode()).model_copy(update={"jobs": (job,)}), {}, "", {})
    for _ in range(10):
        claimed = await journal.claim_job("me", 60)
        assert claimed is not None
        await journal.advance_job(claimed[0], job, delay_seconds=30)
        assert await journal.claim_job("me", 60) is None
        clock.advance(30)
    assert (await journal.counts())["jobs_failed"] == 0
