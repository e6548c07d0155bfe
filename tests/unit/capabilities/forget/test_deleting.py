"""Deleting an episode or a fact."""

from typing import Any

import pytest
from tests.builders import RECORDED, a_change, a_fact, a_mention, a_name, a_passage, a_write, an_entity, an_episode, at
from tests.worlds.reading_world import UNKNOWN, World

from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge, DeleteEpisode
from graphiti_pkm.capabilities.history.requests import RestoreFact
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.records import Fact, WriteKind
from graphiti_pkm.errors import InvalidInput, NotAllowed, NotFound, WriteFailed, WritePending


async def test_an_episode_takes_only_what_nothing_else_supports() -> None:
    world = World()
    note, other = an_episode(), an_episode("Sarah again.")
    sarah, berlin, wall = an_entity("Sarah"), an_entity("Berlin"), an_entity("Wall")
    only = a_fact(sarah, berlin, episodes=(note.uuid,))
    shared = a_fact(sarah, wall, episodes=(note.uuid, other.uuid))
    await world.given(
        a_write(sarah, berlin, wall, *map(a_name, (sarah, berlin, wall)), note, other, only, shared, a_passage(note)),
        a_write(*(a_mention(note, entity) for entity in (sarah, berlin, wall)), a_mention(other, sarah)),
    )
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid[:8]))
    assert answer.removed == {"episodes": 1, "facts": 1, "entities": 1, "mentions": 3, "passages": 1}
    assert answer.removed_names == ["Berlin"]
    assert "Summaries and aliases of what stays (kept_because) are kept unchanged" in answer.message
    assert answer.kept == {"entities": 2, "facts": 1}
    assert "Sarah: 1 other mention(s), 1 other fact(s)" in answer.kept_because
    assert "Wall: 1 other fact(s)" in answer.kept_because
    left = world.graph.tables
    assert set(left.entities) == {sarah.uuid, wall.uuid}
    assert set(left.episodes) == {other.uuid}
    assert [fact.episodes for fact in left.facts.values()] == [(other.uuid,)]
    assert left.passages == {}


async def test_hand_made_entities_that_the_episode_does_not_mention_stay() -> None:
    world = World()
    note, sarah, tool = an_episode(), an_entity("Sarah"), an_entity("Tool")
    await world.given(a_write(note, sarah, tool, a_mention(note, sarah), a_fact(sarah, tool, episodes=(note.uuid,))))
    await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert set(world.graph.tables.entities) == {tool.uuid}


async def test_the_person_of_the_group_stays_and_that_is_said() -> None:
    world = World(person="Anna")
    note, anna = an_episode(), an_entity("Anna")
    await world.given(a_write(note, anna, a_name(anna, is_linkable=False), a_mention(note, anna)))
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert answer.kept_because == ["Anna: the person this memory belongs to"]
    assert anna.uuid in world.graph.tables.entities


async def test_the_words_of_a_deleted_episode_do_not_live_on_in_a_shared_fact() -> None:
    world = World()
    note, other, sarah = an_episode(), an_episode(), an_entity("Sarah")
    fact = a_fact(
        sarah,
        sarah,
        episodes=(note.uuid, other.uuid),
        quote="secret",
        quote_start=0,
        quote_end=6,
        quote_episode_uuid=note.uuid,
    )
    await world.given(a_write(note, other, sarah, a_mention(other, sarah), fact))
    vector = world.graph.tables.vectors[fact.uuid]
    await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    left = world.graph.tables.facts[fact.uuid]
    assert left.quote is None
    assert left.quote_episode_uuid is None
    assert left.episodes == (other.uuid,)
    assert world.graph.tables.vectors[fact.uuid] == vector


async def test_an_unknown_or_malformed_episode_is_an_error_and_a_second_delete_says_it_is_gone() -> None:
    world = World()
    note = an_episode()
    await world.given(a_write(note))
    with pytest.raises(InvalidInput, match="not a uuid"):
        await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid="yesterday"))
    with pytest.raises(NotFound, match="get_episodes"):
        await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=UNKNOWN))
    await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    with pytest.raises(NotFound, match="deleted"):
        await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))


async def test_a_delete_is_journalled_under_the_lock_of_its_own_group() -> None:
    world = World()
    note = an_episode(group_id="elsewhere")
    await world.given(a_write(note))
    await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    (row,) = world.journal.table.values()
    assert row.intent.kind is WriteKind.DELETE_EPISODE
    assert row.intent.group_id == "elsewhere"
    assert row.intent.recorded_at == world.clock()
    assert row.state == "written"
    assert world.locks.history == ["elsewhere"]


async def test_an_earlier_unfinished_write_counts_before_anything_is_removed() -> None:
    world = World()
    note, sarah = an_episode(), an_entity("Sarah")
    await world.given(a_write(note, sarah, a_mention(note, sarah)))
    later = an_episode("Sarah once more.")
    await world.journal.append(a_write(later, a_mention(later, sarah)), {}, "", {})
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert answer.removed_names == []
    assert sarah.uuid in world.graph.tables.entities


async def test_a_database_that_dies_or_refuses_says_whether_the_delete_is_kept() -> None:
    world = World()
    note, sarah = an_episode(), an_entity("Sarah")
    fact = a_fact(sarah, sarah, episodes=(note.uuid,))
    await world.given(a_write(note, sarah, fact))
    world.graph.fail_next_apply(WriteFailed("no"))
    with pytest.raises(WriteFailed):
        await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=fact.uuid))
    world.graph.fail_next_apply()
    with pytest.raises(WritePending, match="do not send it again"):
        await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert world.locks.held == set()


async def test_a_fact_is_removed_alone_and_entities_left_without_support_are_reported() -> None:
    world = World()
    note, sarah, berlin = an_episode(), an_entity("Sarah"), an_entity("Berlin")
    fact = a_fact(sarah, berlin, episodes=(note.uuid,))
    await world.given(a_write(note, sarah, berlin, a_mention(note, sarah), fact))
    answer = await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=fact.uuid))
    assert answer.removed["facts"] == 1
    assert answer.removed["entities"] == 0
    assert answer.kept_because == [
        "Sarah: 1 other mention(s)",
        "Berlin: kept, though no episode or fact is left that names it",
    ]
    assert set(world.graph.tables.entities) == {sarah.uuid, berlin.uuid}
    assert world.graph.tables.facts == {}
    for uuid in (fact.uuid, UNKNOWN):
        with pytest.raises(NotFound, match="search_memory_facts"):
            await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=uuid))


async def test_nobody_deletes_what_belongs_to_another_person_or_with_a_reading_connection() -> None:
    world = World()
    note, sarah = an_episode(), an_entity("Sarah")
    fact = a_fact(sarah, sarah)
    await world.given(a_write(note, sarah, fact))
    for caller, error in ((Caller(principal="anna"), NotFound), (Caller(read_only=True), NotAllowed)):
        with pytest.raises(error):
            await world.deleting.delete_episode(caller, DeleteEpisode(uuid=note.uuid))
        with pytest.raises(error):
            await world.deleting.delete_entity_edge(caller, DeleteEntityEdge(uuid=fact.uuid))
    assert world.journal.table == {}


def again(fact: Fact) -> str:
    return f"restore_fact {fact.uuid[:8]} brings it back"


async def test_what_the_episode_ended_stays_ended_and_that_is_said() -> None:
    world = World()
    note, earlier = an_episode(), an_episode()
    sarah, berlin, rome, bonn = map(an_entity, ("Sarah", "Berlin", "Rome", "Bonn"))
    before = {"episodes": (earlier.uuid,), "expired_at": RECORDED}
    ended = a_fact(sarah, berlin, "LIVES_IN", invalid_at=RECORDED, **before)
    wrong = a_fact(sarah, bonn, "LIVES_IN", voided=True, **before)
    new = a_fact(sarah, rome, "LIVES_IN", episodes=(note.uuid,))
    changes = [a_change(ended, note, replaced_by=new.uuid), a_change(wrong, note, kind="voided")]
    await world.given(a_write(sarah, berlin, rome, bonn, note, earlier, ended, wrong, new, *changes))
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert [change.kind for change in world.graph.tables.changes.values()] == ["retired", "voided", "deleted"]
    for fact in (ended, wrong):
        assert (
            await world.retiring.restore_fact(world.caller, RestoreFact(fact_uuid=fact.uuid, reason="It holds."))
        ).fact.status == "current"
    assert set(answer.kept_because[:2]) == {
        f"still ended: {ended.text} (replaced by what is removed; {again(ended)})",
        f"still void: {wrong.text} (corrected by what is removed; {again(wrong)})",
    }


async def test_what_took_a_place_and_is_told_by_another_note_stays_and_goes_with_that() -> None:
    world = World()
    earlier, first, second = an_episode(), an_episode(), an_episode()
    sarah, berlin, rome, bonn = map(an_entity, ("Sarah", "Berlin", "Rome", "Bonn"))
    before = {"episodes": (earlier.uuid,), "expired_at": RECORDED}
    ended = a_fact(sarah, berlin, "LIVES_IN", invalid_at=RECORDED, **before)
    wrong = a_fact(sarah, bonn, "LIVES_IN", voided=True, **before)
    new = a_fact(sarah, rome, "LIVES_IN", episodes=(first.uuid, second.uuid))
    changes = [
        a_change(ended, first, replaced_by=new.uuid),
        a_change(wrong, first, kind="voided", replaced_by=new.uuid),
    ]
    await world.given(a_write(sarah, berlin, rome, bonn, earlier, first, second, ended, wrong, new, *changes))
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=first.uuid))
    assert set(answer.kept_because[:2]) == {
        f"still ended: {ended.text} (replaced by {new.text}, which stays; {again(ended)})",
        f"still void: {wrong.text} (corrected by {new.text}, which stays; {again(wrong)})",
    }
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=second.uuid))
    assert new.uuid not in world.graph.tables.facts
    assert set(answer.kept_because[:2]) == {
        f"still ended: {ended.text} (replaced by what is removed; {again(ended)})",
        f"still void: {wrong.text} (corrected by what is removed; {again(wrong)})",
    }


async def test_what_a_deleted_fact_ended_stays_ended_and_that_is_said_within_bounds() -> None:
    world = World()
    note, earlier = an_episode(), an_episode()
    sarah, rome = an_entity("Sarah"), an_entity("Rome")
    before = {"episodes": (earlier.uuid,), "expired_at": RECORDED}
    new = a_fact(sarah, rome, "LIVES_IN", episodes=(note.uuid,))
    ended = [a_fact(sarah, rome, text=f"Old fact {i}", invalid_at=RECORDED, **before) for i in range(30)]
    wrong = a_fact(sarah, rome, text="Wrong fact", voided=True, created_at=at(2027), **before)
    holds_again = a_fact(sarah, rome, text="Told again", created_at=at(2028), episodes=(earlier.uuid,))
    by_another = a_fact(sarah, rome, text="Ended by another", created_at=at(2028), invalid_at=RECORDED, **before)
    changes = [a_change(fact, note, replaced_by=new.uuid) for fact in (*ended, wrong, holds_again)]
    changes.append(a_change(by_another, note, replaced_by=holds_again.uuid))
    facts = (new, *ended, wrong, holds_again, by_another)
    await world.given(a_write(sarah, rome, note, earlier, *facts, *changes))
    answer = await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=new.uuid))
    assert answer.kept_because[0] == f"still void: Wrong fact (corrected by what is removed; {again(wrong)})"
    assert len(answer.kept_because) == 20
    told = set(answer.kept_because[1:-2])
    assert answer.kept_because[-2:] == ["Sarah: 33 other fact(s)", "Rome: 33 other fact(s)"]
    assert told < {f"still ended: {fact.text} (replaced by what is removed; {again(fact)})" for fact in ended}


async def test_a_deleted_fact_that_ended_another_still_tells_what_keeps_its_entities() -> None:
    world = World()
    sarah, rome, bonn = map(an_entity, ("Sarah", "Rome", "Bonn"))
    old = a_fact(sarah, bonn, "LIVES_IN", text="Sarah lives in Bonn", invalid_at=RECORDED, expired_at=RECORDED)
    new = a_fact(sarah, rome, "LIVES_IN")
    await world.given(a_write(sarah, rome, bonn, old, new, a_change(old, an_episode(), replaced_by=new.uuid)))
    answer = await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=new.uuid))
    assert answer.kept_because == [
        f"still ended: Sarah lives in Bonn (replaced by what is removed; {again(old)})",
        "Sarah: 1 other fact(s)",
        "Rome: kept, though no episode or fact is left that names it",
    ]


async def test_a_fact_that_the_episode_told_and_ended_is_removed_and_not_told_of() -> None:
    world = World()
    note, sarah = an_episode(), an_entity("Sarah")
    own = a_fact(sarah, sarah, episodes=(note.uuid,), expired_at=RECORDED)
    await world.given(a_write(sarah, note, own, a_mention(note, sarah), a_change(own, note)))
    assert (await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))).kept_because == []


async def test_a_deleted_fact_stays_in_the_journal_and_that_is_said() -> None:
    world = World()
    note, sarah = an_episode(), an_entity("Sarah")
    fact = a_fact(sarah, sarah, episodes=(note.uuid,))
    await world.given(a_write(note, sarah, fact))
    answer = await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=fact.uuid))
    assert answer.message.endswith("The journal and backups still hold it; forget takes it out of the journal.")


@pytest.mark.parametrize(
    ("settings", "is_named"),
    [({}, True), ({"exclude_tools": ("forget",)}, False), ({"tools": ("delete_episode", "delete_entity_edge")}, False)],
)
async def test_a_tool_that_is_switched_off_is_not_named(settings: dict[str, Any], is_named: bool) -> None:
    world = World(**settings)
    note, other, sarah = an_episode(), an_episode(), an_entity("Sarah")
    fact = a_fact(sarah, sarah, episodes=(note.uuid,))
    mentions = (a_mention(note, sarah), a_mention(other, sarah))
    await world.given(a_write(note, other, sarah, fact, *mentions))
    edge = await world.deleting.delete_entity_edge(world.caller, DeleteEntityEdge(uuid=fact.uuid))
    assert "The journal and backups still hold it" in edge.message
    episode = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert "kept unchanged" in episode.message
    assert ["forget takes" in answer.message for answer in (edge, episode)] == [is_named] * 2


async def test_the_words_of_a_deleted_episode_leave_the_journal_and_the_files_and_no_backup() -> None:
    world = World()
    note, sarah = an_episode("Sarah has a secret."), an_entity("Sarah")
    write = a_write(note, sarah, a_fact(sarah, sarah, text="Sarah: secret", episodes=(note.uuid,)))
    await world.journal.append(write, {}, "hash", {"message": "secret"})
    await world.given(write)
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert "gone from the database's and the journal's files. Backups that you made are not touched" in answer.message
    assert "secret" not in str(world.journal.table)
    assert world.graph.erased == 1
    assert await world.journal.open_erasures() == []


@pytest.mark.parametrize("held", ["graph", "journal"])
async def test_files_that_cannot_be_made_anew_now_are_told_as_pending_and_left_to_a_job(held: str) -> None:
    world = World()
    note = an_episode()
    await world.given(a_write(note))
    world.graph.is_durable = held != "graph"
    world.journal.is_read = held == "journal"
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert "pending" in answer.message
    assert len(await world.journal.open_erasures()) == 1
    world.graph.is_durable, world.journal.is_read = True, False
    world.clock.advance(seconds=31)
    assert await world.jobs.run_once()
    assert await world.journal.open_erasures() == []
    assert world.graph.erased > 0


async def test_a_deletion_that_the_graph_refuses_is_kept_as_its_earlier_rows_are_redacted_already() -> None:
    world = World()
    note = an_episode()
    await world.given(a_write(note))
    world.graph.fail_next_apply(WriteFailed("refused"))
    with pytest.raises(WritePending):
        await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    (row,) = await world.journal.unfinished(None)
    assert row.intent.deletions.episodes == (note.uuid,)


async def test_a_summary_and_aliases_that_stay_with_a_shared_entity_are_told_of() -> None:
    world = World()
    note, other = an_episode(), an_episode()
    sarah, tom = an_entity("Sarah", summary="Lives in Rome."), an_entity("Tom")
    await world.given(
        a_write(note, other, sarah, tom, a_name(sarah), a_name(tom), a_name(tom, "Tommy")),
        a_write(*(a_mention(episode, entity) for episode in (note, other) for entity in (sarah, tom))),
    )
    answer = await world.deleting.delete_episode(world.caller, DeleteEpisode(uuid=note.uuid))
    assert answer.kept_because == [
        "Sarah: 1 other mention(s); its summary stays, whichever episode gave it",
        "Tom: 1 other mention(s); its aliases stay, whichever episode gave them",
    ]
