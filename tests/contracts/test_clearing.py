"""Contracts of clearing a group: the graph keeps nothing of it, the journal no receipt."""

from array import array

from tests.builders import (
    GROUP,
    OTHER_GROUP,
    a_change,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    at,
)

from graphiti_pkm.core.model.job_records import BackLinkJob, EraseJob
from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteIntent, WriteKind
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.ports import Journal

WIDE = Window(limit=50)


def a_story(group_id: str) -> WriteIntent:
    sarah, tom = an_entity("Sarah", group_id=group_id), an_entity("Tom", group_id=group_id)
    episode = an_episode("Sarah knows Tom in Berlin.", group_id=group_id)
    fact = a_fact(sarah, tom, text="Sarah knows Tom", episodes=(episode.uuid,))
    return a_write(
        sarah,
        tom,
        a_name(sarah),
        a_name(sarah, "Sal"),
        a_name(tom),
        episode,
        fact,
        a_mention(episode, sarah),
        a_passage(episode),
        a_change(fact, episode),
    )


def clearing(group_id: str) -> WriteIntent:
    return a_write(kind=WriteKind.CLEAR_GROUP, group_id=group_id, deletions=Deletions(groups=(group_id,)))


async def test_nothing_of_the_group_is_found_and_all_of_the_others(graph: Graph) -> None:
    mine, other = a_story(GROUP), a_story(OTHER_GROUP)
    await graph.writer.apply(mine, {})
    await graph.writer.apply(other, {})
    before = await graph.records.name_book(GROUP, None)
    assert before is not None
    clear = clearing(GROUP)
    await graph.writer.apply(clear, {})
    assert await graph.records.groups() == [OTHER_GROUP]
    assert await graph.writer.applied([clear.uuid, mine.uuid]) == {clear.uuid, mine.uuid}
    for group, story, count in ((GROUP, mine, 0), (OTHER_GROUP, other, 1)):
        sizes = (await graph.records.group_sizes([group])).get(group)
        assert sizes is None or (sizes.episodes, sizes.facts) == (count, count)
        assert len(await graph.records.get_names([name.key for name in story.names])) == 3 * count
        assert len(await graph.episodes.passages(story.episodes[0].uuid, without_vector=False, limit=5)) == count
        assert len(await graph.records.get_facts([story.facts[0].uuid], [GROUP, OTHER_GROUP])) == count
        assert len(await graph.search.search_entities(["sal"], EntityFilter(group_ids=(group,)), 5)) == count
        assert len(await graph.search.search_episodes(["berlin"], EpisodeFilter(group_ids=(group,)), 5)) == count
        assert len(await graph.search.search_facts(["tom"], FactFilter(group_ids=(group,), now=at(2027)), 5)) == count
        assert len(await graph.facts.retired_by_episode(story.episodes[0].uuid, [group], 5)) == count
    book = await graph.records.name_book(GROUP, before.version)
    assert book is not None
    assert book.names == ()


async def test_an_earlier_write_does_not_come_back_and_a_later_one_stays(graph: Graph) -> None:
    mine, clear, later = a_story(GROUP), clearing(GROUP), a_story(GROUP)
    for write in (mine, clear, later, mine, clear):
        await graph.writer.apply(write, {})
    found = await graph.episodes.recent_episodes(EpisodeFilter(group_ids=(GROUP,)), WIDE)
    assert [episode.uuid for episode in found.episodes] == [later.episodes[0].uuid]
    assert await graph.records.groups() == [GROUP]
    entity = later.entities[0].uuid
    assert (await graph.facts.connections(entity, FactFilter(group_ids=(GROUP,), now=at(2027)), WIDE)).total == 1


async def test_a_group_that_holds_nothing_is_cleared_without_harm(graph: Graph) -> None:
    await graph.writer.apply(clearing(GROUP), {})
    assert await graph.records.groups() == []


async def test_memories_of_a_cleared_group_have_no_receipt_those_of_others_and_later_ones_do(journal: Journal) -> None:
    mine, other, later = a_story(GROUP), a_story(OTHER_GROUP), a_story(GROUP)
    for write in (mine, other):
        await journal.append(write, {}, "hash", {})
    clear = clearing(GROUP)
    await journal.append(clear, {}, "", {})
    await journal.append(later, {}, "hash", {})
    receipts = [await journal.stored_answer(write.episodes[0].uuid) for write in (mine, other, later)]
    assert receipts == [None, ("hash", {}), ("hash", {})]
    await journal.append(a_write(*mine.episodes), {}, "again", {})
    assert await journal.stored_answer(mine.episodes[0].uuid) == ("again", {})


async def test_a_clearing_that_forgets_leaves_no_word_in_the_groups_earlier_rows_and_jobs(journal: Journal) -> None:
    job = BackLinkJob(entity_uuid="e", names=("Sarah",), before=at(2026))
    mine, other = a_story(GROUP).model_copy(update={"jobs": (job,)}), a_story(OTHER_GROUP)
    vectors = {mine.entities[0].uuid: array("f", [1.0, 0.0])}
    await journal.append(mine, vectors, "hash", {"message": "Sarah"})
    await journal.append(other, {}, "hash", {})
    clear = clearing(GROUP).model_copy(update={"forgets": Forgetting(), "jobs": (EraseJob(),)})
    await journal.append(clear, {}, "", {})
    later = a_story(GROUP)
    await journal.append(later, {}, "hash", {})
    rows = {row.intent.uuid: row for row in await journal.rows(0, 10)}
    assert "Sarah" not in rows[mine.uuid].intent.model_dump_json()
    assert (rows[mine.uuid].vectors, rows[mine.uuid].intent.recorded_at) == ({}, mine.recorded_at)
    assert [rows[one.uuid].intent for one in (other, clear, later)] == [other, clear, later]
    assert await journal.claim_job("me", 60) is None
    await journal.written(clear.uuid)
    assert len(await journal.open_erasures()) == 1


async def test_a_withdrawn_clearing_brings_the_receipts_back(journal: Journal) -> None:
    mine, clear = a_story(GROUP), clearing(GROUP)
    await journal.append(mine, {}, "hash", {})
    await journal.append(clear, {}, "", {})
    await journal.withdraw(clear.uuid)
    assert await journal.stored_answer(mine.episodes[0].uuid) == ("hash", {})
