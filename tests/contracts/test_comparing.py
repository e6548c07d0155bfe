"""Contract of the parts of both ports that tell all they hold, page by page."""

from tests.builders import GROUP, OTHER_GROUP, a_write, an_episode, an_intent

from graphiti_pkm.core.model.records import Deletions, WriteIntent, WriteKind
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.ports import Journal


def some_writes(count: int) -> list[WriteIntent]:
    return [a_write(an_episode(group_id=(GROUP, OTHER_GROUP)[number % 2])) for number in range(count)]


async def test_the_graph_tells_its_markers_and_episodes_in_pages_over_all_groups(graph: Graph) -> None:
    assert (await graph.comparison.write_count(), await graph.comparison.episode_count()) == (0, 0)
    assert await graph.comparison.writes_after("", 10) == []
    writes = some_writes(5)
    for write in writes:
        await graph.writer.apply(write, {})
    markers = sorted(write.uuid for write in writes)
    episodes = sorted(write.episodes[0].uuid for write in writes)
    assert (await graph.comparison.write_count(), await graph.comparison.episode_count()) == (5, 5)
    assert await graph.comparison.writes_after("", 3) == markers[:3]
    assert await graph.comparison.writes_after(markers[2], 3) == markers[3:]
    assert await graph.comparison.episodes_after("", 3) == episodes[:3]
    assert await graph.comparison.episodes_after(episodes[2], 3) == episodes[3:]
    assert await graph.comparison.episodes_after(episodes[4], 3) == []
    assert await graph.comparison.existing_episodes([episodes[1], "another", episodes[3]]) == {episodes[1], episodes[3]}
    await graph.clear()
    assert (await graph.comparison.write_count(), await graph.comparison.episode_count()) == (0, 0)


async def test_the_journal_tells_what_the_graph_should_hold(journal: Journal) -> None:
    writes = some_writes(4)
    for write in writes:
        await journal.append(write, {}, "", {})
    episodes = [write.episodes[0].uuid for write in writes]
    assert await journal.written_rows(0, 10) == []
    for write in writes[:3]:
        await journal.written(write.uuid)
    await journal.applied([writes[0].uuid])
    found = await journal.written_rows(0, 2)
    assert [(row.uuid, row.group_id) for row in found] == [(one.uuid, one.group_id) for one in writes[:2]]
    assert [row.uuid for row in await journal.written_rows(found[-1].seq, 10)] == [writes[2].uuid]
    assert await journal.known_writes([writes[3].uuid, "another"]) == {writes[3].uuid}
    assert await journal.written_episodes("", 2) == sorted(episodes[:3])[:2]
    assert await journal.written_episodes(sorted(episodes[:3])[1], 2) == sorted(episodes[:3])[2:]
    assert await journal.known_episodes([episodes[3], "another"]) == {episodes[3]}


async def test_an_episode_that_was_deleted_is_known_and_not_expected(journal: Journal) -> None:
    [write] = some_writes(1)
    episode = write.episodes[0].uuid
    await journal.append(write, {}, "", {})
    await journal.written(write.uuid)
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(episode,)))
    await journal.append(deletion, {}, "", {})
    assert await journal.written_episodes("", 10) == []
    assert await journal.known_episodes([episode]) == {episode}


async def test_the_episodes_of_a_document_are_those_of_the_journal_too(journal: Journal) -> None:
    one, two = an_episode(), an_episode()
    write = a_write(one, two, kind=WriteKind.INGEST)
    await journal.append(write, {}, "digest", {})
    await journal.written(write.uuid)
    assert await journal.written_episodes("", 9) == sorted([one.uuid, two.uuid])
    assert await journal.known_episodes([one.uuid]) == {one.uuid}
    assert await journal.episode_count() == 2
    assert await journal.stored_answer(two.uuid) == ("digest", {})
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=(one.uuid,)))
    await journal.append(deletion, {}, "", {})
    assert await journal.episode_count() == 1
