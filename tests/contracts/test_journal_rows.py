"""Contract of ``Journal``: rows, their states and receipts."""

from array import array

import pytest
from tests.builders import (
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    an_intent,
    an_update,
    at,
)

from graphiti_pkm.core.model.records import Deletions, WriteIntent, WriteKind
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.errors import ConflictingContent


async def appended(journal: Journal, count: int = 1, group_id: str = "t1") -> list[WriteIntent]:
    writes = [a_write(an_episode(group_id=group_id)) for _ in range(count)]
    for write in writes:
        await journal.append(write, {}, "hash", {"message": "stored"})
    return writes


async def states(journal: Journal) -> dict[str, int]:
    return {state: count for state, count in (await journal.counts()).items() if count}


async def test_an_empty_journal_holds_nothing(journal: Journal) -> None:
    assert await journal.unfinished(None) == []
    assert await journal.rows(0, 10) == []
    assert await journal.newest_uuids(10) == []
    assert await journal.written_until_now() == []
    assert await journal.stored_answer("nothing") is None
    assert await journal.claim_job("me", 60) is None
    assert await states(journal) == {}
    assert await journal.episode_count() == 0
    assert await journal.damage() is None
    assert {"jobs_queued", "jobs_running", "jobs_failed"} <= (await journal.counts()).keys()


async def test_a_whole_write_comes_back_identical(journal: Journal) -> None:
    episode = an_episode("Zoë 王小明 🙂 \u202e\x07 '\"\\\n", valid_at=at(1660))
    sarah, tom = an_entity("Sarah", attributes={"n": 1, "l": [1, 2], "x": None}), an_entity("Tom")
    fact = a_fact(sarah, tom, valid_at=at(9999, 12, 31), attributes={"a": {"b": 0.1}}, episodes=("e",))
    write = a_write(
        episode,
        sarah,
        tom,
        a_name(sarah),
        fact,
        an_update(fact, voided=True),
        a_mention(episode, sarah),
        a_passage(episode),
        corrected_episodes=("x",),
        deletions=Deletions(facts=("f",), entities=("e",), episodes=("p",)),
        steering={"excluded_entity_types": ["Place"]},
    )
    vectors = {sarah.uuid: array("f", [0.1, -0.25, 1e-30]), fact.uuid: array("f", [1.0, 0.0, -0.0])}
    seq = await journal.append(write, vectors, "hash", {})
    (row,) = await journal.unfinished("t1")
    assert (row.seq, row.intent, row.vectors) == (seq, write, vectors)


async def test_sequence_numbers_rise(journal: Journal) -> None:
    numbers = [await journal.append(a_write(an_episode()), {}, "", {}) for _ in range(3)]
    assert numbers == sorted(set(numbers))
    assert numbers[0] > 0


async def test_a_row_goes_from_intent_over_written_to_applied(journal: Journal) -> None:
    first, second = await appended(journal, 2)
    assert [row.intent.uuid for row in await journal.unfinished("t1")] == [first.uuid, second.uuid]
    assert await states(journal) == {"intent": 2}
    await journal.written(first.uuid)
    assert [row.intent.uuid for row in await journal.unfinished(None)] == [second.uuid]
    assert await journal.written_until_now() == [first.uuid]
    assert await states(journal) == {"intent": 1, "written": 1}
    await journal.applied([first.uuid])
    assert await journal.written_until_now() == []
    assert await states(journal) == {"intent": 1, "applied": 1}


async def test_a_row_never_goes_back(journal: Journal) -> None:
    (write,) = await appended(journal)
    await journal.applied([write.uuid])
    assert await states(journal) == {"intent": 1}
    await journal.written(write.uuid)
    await journal.applied([write.uuid])
    await journal.written(write.uuid)
    await journal.fail(write.uuid, "refused")
    assert await states(journal) == {"applied": 1}


async def test_marks_on_unknown_rows_change_nothing(journal: Journal) -> None:
    await appended(journal)
    await journal.written("nothing")
    await journal.applied(["nothing"])
    await journal.applied([])
    await journal.withdraw("nothing")
    await journal.fail("nothing", "reason")
    assert await states(journal) == {"intent": 1}


async def test_unfinished_rows_are_told_by_group_oldest_first(journal: Journal) -> None:
    own = await appended(journal, 2)
    other = await appended(journal, 1, group_id="t2")
    last = await appended(journal)
    assert [row.intent for row in await journal.unfinished("t1")] == [*own, *last]
    assert [row.intent for row in await journal.unfinished("t2")] == other
    assert [row.intent for row in await journal.unfinished(None)] == [*own, *other, *last]
    assert await journal.unfinished("t3") == []


async def test_a_withdrawn_row_leaves_nothing_behind(journal: Journal) -> None:
    first, second = await appended(journal, 2)
    await journal.withdraw(first.uuid)
    assert [row.intent for row in await journal.rows(0, 10)] == [second]
    assert await journal.stored_answer(first.episodes[0].uuid) is None
    assert await states(journal) == {"intent": 1}
    await journal.append(first, {}, "again", {})
    assert (await journal.stored_answer(first.episodes[0].uuid)) == ("again", {})


async def test_a_failed_row_is_shown_and_never_replayed(journal: Journal) -> None:
    first, second = await appended(journal, 2)
    await journal.fail(first.uuid, "refused three times")
    assert [row.intent for row in await journal.unfinished(None)] == [second]
    assert [row.intent for row in await journal.rows(0, 10)] == [second]
    assert await journal.find([first.uuid, second.uuid]) != []
    assert [row.intent for row in await journal.find([first.uuid, second.uuid])] == [second]
    assert await states(journal) == {"failed": 1, "intent": 1}
    assert await journal.stored_answer(first.episodes[0].uuid) is None


async def test_rows_come_in_order_after_a_sequence_number(journal: Journal) -> None:
    writes = await appended(journal, 5)
    await journal.written(writes[1].uuid)
    await journal.applied([writes[1].uuid])
    await journal.written(writes[2].uuid)
    await journal.withdraw(writes[3].uuid)
    first = await journal.rows(0, 2)
    assert [row.intent for row in first] == writes[:2]
    second = await journal.rows(first[-1].seq, 10)
    assert [row.intent for row in second] == [writes[2], writes[4]]
    assert await journal.rows(second[-1].seq, 10) == []


async def test_the_newest_writes_are_those_the_graph_should_hold_newest_first(journal: Journal) -> None:
    writes = await appended(journal, 5)
    for write in (writes[3], writes[0], writes[1]):
        await journal.written(write.uuid)
    await journal.applied([writes[0].uuid])
    assert await journal.newest_uuids(10) == [writes[3].uuid, writes[1].uuid, writes[0].uuid]
    assert await journal.newest_uuids(2) == [writes[3].uuid, writes[1].uuid]


async def test_writes_are_found_by_uuid_in_order(journal: Journal) -> None:
    writes = await appended(journal, 3)
    found = await journal.find([writes[2].uuid, "nothing", writes[0].uuid])
    assert [row.intent for row in found] == [writes[0], writes[2]]
    assert await journal.find([]) == []


async def test_written_rows_come_oldest_first_and_at_most_a_thousand(journal: Journal) -> None:
    writes = [an_intent() for _ in range(1001)]
    for write in writes:
        await journal.append(write, {}, "", {})
        await journal.written(write.uuid)
    assert await journal.written_until_now() == [write.uuid for write in writes[:1000]]


async def test_a_write_is_journalled_once(journal: Journal) -> None:
    (write,) = await appended(journal)
    with pytest.raises(ValueError, match="journalled already"):
        await journal.append(write.model_copy(update={"episodes": ()}), {}, "", {})
    assert await states(journal) == {"intent": 1}


async def test_a_receipt_gives_request_and_answer_of_the_memory(journal: Journal) -> None:
    episode = an_episode()
    answer: dict[str, object] = {"message": "Größe 🙂", "entities": [{"uuid": "e"}], "linked": 3, "note": None}
    await journal.append(a_write(episode), {}, "hash", answer)
    assert await journal.stored_answer(episode.uuid) == ("hash", answer)
    assert await journal.stored_answer(episode.uuid[:8]) is None


async def test_episodes_are_counted_until_they_are_deleted_or_fail(journal: Journal) -> None:
    episodes = [an_episode() for _ in range(4)]
    writes = [an_intent(episodes=[episode]) for episode in episodes]
    for write in writes:
        await journal.append(write, {}, "hash", {})
    assert await journal.episode_count() == 4
    await journal.fail(writes[0].uuid, "refused")
    await journal.withdraw(writes[1].uuid)
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=[episodes[2].uuid]))
    await journal.append(deletion, {}, "hash", {})
    assert await journal.episode_count() == 1


async def test_what_a_call_says_about_reading_its_episode_is_kept(journal: Journal) -> None:
    episode, other = an_episode(), an_episode()
    said = {"excluded_entity_types": ["Place"], "custom_extraction_instructions": "Be brief."}
    await journal.append(a_write(episode, steering=said), {}, "", {})
    await journal.append(a_write(other), {}, "", {})
    assert await journal.steering(episode.uuid) == said
    assert await journal.steering(other.uuid) == await journal.steering("nothing") == {}


async def test_only_an_added_memory_has_a_receipt(journal: Journal) -> None:
    episode = an_episode()
    await journal.append(a_write(episode, kind=WriteKind.JOB), {}, "hash", {})
    assert await journal.stored_answer(episode.uuid) is None


async def test_a_deleted_memory_has_no_receipt_and_may_be_added_again(journal: Journal) -> None:
    episode = an_episode()
    await journal.append(a_write(episode), {}, "first", {})
    delete = a_write(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(episode.uuid,)))
    await journal.append(delete, {}, "", {})
    assert await journal.stored_answer(episode.uuid) is None
    await journal.append(a_write(episode), {}, "second", {})
    assert await journal.stored_answer(episode.uuid) == ("second", {})


async def test_a_withdrawn_deletion_brings_the_receipt_back(journal: Journal) -> None:
    episode = an_episode()
    await journal.append(a_write(episode), {}, "first", {})
    delete = a_write(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(episode.uuid,)))
    await journal.append(delete, {}, "", {})
    await journal.withdraw(delete.uuid)
    assert await journal.stored_answer(episode.uuid) == ("first", {})


async def test_the_first_memory_with_a_uuid_keeps_it(journal: Journal) -> None:
    episode = an_episode()
    await journal.append(a_write(episode), {}, "first", {})
    with pytest.raises(ConflictingContent):
        await journal.append(a_write(episode.model_copy(update={"group_id": "t2"})), {}, "second", {})
    assert await journal.stored_answer(episode.uuid) == ("first", {})
    assert await states(journal) == {"intent": 1}


async def test_attempts_that_never_ended_are_counted_until_one_ends(journal: Journal) -> None:
    write = an_intent()
    await journal.append(write, {}, "", {})
    assert [await journal.begin_attempt(write.uuid) for _ in range(2)] == [1, 2]
    await journal.end_attempt(write.uuid)
    assert await journal.begin_attempt(write.uuid) == 1
    assert await journal.begin_attempt("nothing") == 0


async def test_a_journal_that_takes_writes_has_no_reason_not_to(journal: Journal) -> None:
    assert await journal.refusal() is None
    await appended(journal)
    assert await journal.refusal() is None
