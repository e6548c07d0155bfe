"""Clearing groups: preview, token, and nothing else than what was shown."""

import pytest
from tests.builders import GROUP, OTHER_GROUP, a_fact, a_write, an_entity, an_episode
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.forget.clearing import Clearing
from graphiti_pkm.capabilities.forget.requests import ClearGraph
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.answers import ClearResponse
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.errors import InvalidInput, NotAllowed, WritePending
from graphiti_pkm.storage.commit import Committer


class World(WritingWorld):
    """A memory with two groups of one episode, two entities and a fact each."""

    def __init__(self) -> None:
        super().__init__()
        self.clearing = Clearing(self.context, Groups(self.graph, self.context.settings), Committer(self.context))

    async def filled(self) -> "World":
        for group in (GROUP, OTHER_GROUP):
            one, two = an_entity("A", group_id=group), an_entity("B", group_id=group)
            write = a_write(one, two, an_episode(group_id=group), a_fact(one, two))
            await self.journal.append(write, {}, "hash", {})
            await self.graph.writer.apply(write, {})
        return self

    async def clear(self, *group_ids: str, confirm: str | None = None) -> ClearResponse:
        return await self.clearing.clear_graph(LOCAL, ClearGraph(group_ids=list(group_ids), confirm=confirm))

    @property
    def left(self) -> set[str]:
        return {entity.group_id for entity in self.graph.tables.entities.values()}


async def test_the_first_call_shows_what_would_go_and_the_second_clears_it() -> None:
    world = await World().filled()
    preview = await world.clear(GROUP)
    assert (preview.status, preview.groups) == ("preview", {GROUP: "1 episode, 2 entities, 1 fact"})
    assert preview.message.startswith("Nothing was cleared yet.")
    assert world.left == {GROUP, OTHER_GROUP}
    cleared = await world.clear(GROUP, confirm=preview.confirm)
    assert (cleared.status, cleared.groups, cleared.confirm) == ("cleared", preview.groups, None)
    assert "gone from the database's and the journal's files" in cleared.message
    assert world.left == {OTHER_GROUP}
    (row,) = [row for row in world.journal.table.values() if row.intent.kind is WriteKind.CLEAR_GROUP]
    assert (row.intent.deletions.groups, row.intent.group_id, row.state) == ((GROUP,), GROUP, "written")


async def test_several_groups_are_cleared_by_one_token_each_with_its_own_write() -> None:
    world = await World().filled()
    preview = await world.clear(GROUP, OTHER_GROUP)
    assert set(preview.groups) == {GROUP, OTHER_GROUP}
    await world.clear(GROUP, OTHER_GROUP, confirm=preview.confirm)
    assert world.left == set()
    assert len(world.graph.tables.writes) == 4


async def test_a_token_fits_only_the_same_groups_as_they_were_shown() -> None:
    world = await World().filled()
    token = (await world.clear(GROUP)).confirm
    for groups in ((OTHER_GROUP,), (GROUP, OTHER_GROUP)):
        with pytest.raises(InvalidInput, match="Nothing was cleared: confirm is not valid"):
            await world.clear(*groups, confirm=token)
    await world.tell("One more note.", group_id=GROUP)
    with pytest.raises(InvalidInput, match="Nothing was cleared: confirm is not valid"):
        await world.clear(GROUP, confirm=token)
    with pytest.raises(InvalidInput):
        await world.clear(GROUP, confirm="yes")
    assert world.left == {GROUP, OTHER_GROUP}


async def test_an_empty_list_is_not_everything_and_no_list_is_the_default_group() -> None:
    world = await World().filled()
    await world.tell("Kept in the default group.")
    with pytest.raises(InvalidInput, match="group_ids is empty"):
        await world.clearing.clear_graph(LOCAL, ClearGraph.model_construct(group_ids=[]))
    preview = await world.clearing.clear_graph(LOCAL, ClearGraph())
    assert preview.groups == {"default": "1 episode, 0 entities, 0 facts"}


async def test_a_group_that_holds_nothing_gives_no_token() -> None:
    answer = await World().clear("unknown")
    assert (answer.status, answer.confirm) == ("empty", None)
    assert "nothing" in answer.message


async def test_who_may_only_read_clears_nothing_and_nobody_another_ones_groups() -> None:
    world = await World().filled()
    with pytest.raises(NotAllowed, match="Nothing was cleared"):
        await world.clearing.clear_graph(Caller(read_only=True), ClearGraph(group_ids=GROUP))
    strangers = await world.clearing.clear_graph(Caller(principal="anna"), ClearGraph(group_ids=GROUP))
    assert strangers.status == "empty"


async def test_an_added_memory_may_be_sent_again_after_the_clearing() -> None:
    world = World()
    note = {"uuid": "11111111-1111-4111-8111-111111111111", "reference_time": "2025"}
    await world.tell("A note.", **note)
    preview = await world.clearing.clear_graph(LOCAL, ClearGraph())
    await world.clearing.clear_graph(LOCAL, ClearGraph(group_ids=None, confirm=preview.confirm))
    again = await world.tell("A note.", **note)
    assert (again.status, len(world.graph.tables.episodes)) == ("stored", 1)


async def test_the_journal_keeps_that_something_was_written_but_no_word() -> None:
    world = await World().filled()
    await world.tell("Maria was here.", group_id=GROUP, entities=[{"name": "Maria"}])
    await world.clear(GROUP, confirm=(await world.clear(GROUP)).confirm)
    kept = [row for row in world.journal.table.values() if row.intent.group_id == GROUP]
    assert [row.intent.kind for row in kept] == [WriteKind.ADD_MEMORY, WriteKind.ADD_MEMORY, WriteKind.CLEAR_GROUP]
    for row in kept[:2]:
        assert (row.intent.episodes, row.intent.entities, row.intent.names, row.intent.facts) == ((), (), (), ())
        assert (row.vectors, row.answer, row.request_hash) == ({}, {}, "")
    (other,) = [row for row in world.journal.table.values() if row.intent.group_id == OTHER_GROUP]
    assert other.intent.episodes


async def test_a_clearing_that_waits_for_the_database_says_so() -> None:
    world = await World().filled()
    token = (await world.clear(GROUP)).confirm
    world.graph.fail_next_apply()
    with pytest.raises(WritePending, match="the clearing of a group"):
        await world.clear(GROUP, confirm=token)
    await world.tell("The next write of the group finishes it first.", group_id=GROUP)
    assert {episode.content for episode in world.graph.tables.episodes.values() if episode.group_id == GROUP} == {
        "The next write of the group finishes it first."
    }
