"""Going back to an instant: what came since goes, what it ended holds again, what went comes back."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.builders import a_document, a_fact, a_passage, a_saga, a_write, an_episode, an_instance
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.forget.requests import DeleteEntityEdge
from graphiti_pkm.capabilities.history.requests import RetireFact
from graphiti_pkm.capabilities.staging.models import Attached
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import WriteKind
from graphiti_pkm.storage.commit import Committer


@pytest.fixture
def world(tmp_path: Path) -> StagingWorld:
    return StagingWorld(tmp_path)


def now(world: StagingWorld) -> datetime:
    """An instant after everything so far."""
    world.clock.advance(seconds=1)
    return world.clock.instant


async def write(world: StagingWorld, *records: Record) -> None:
    """What no tool of this world writes."""
    kept = a_write(*records, kind=WriteKind.ADD_EVIDENCE, group_id="default")
    at = await Committer(world.context).time("default")
    await Committer(world.context).commit(kept.model_copy(update={"recorded_at": at}), {})


async def test_what_came_since_goes_and_what_it_ended_holds_again(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    before, since = world.state(), now(world)
    await world.note("Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", fact={"replaces": "current"})
    assert world.lines() == ["Anna LIVES_IN Bern"]
    done = await world.rollback(since)
    assert world.lines() == ["Anna LIVES_IN Rome"]
    assert world.state() == before
    assert (done.done, done.removed.episodes, done.removed.entities, done.removed.facts) == (True, 1, 1, 1)
    assert (done.facts_changed, done.brought_back.facts, done.not_undone) == (1, 0, ())


async def test_a_dry_run_lists_what_would_go_and_changes_nothing(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Anna lives in Bern now.", "Anna", "LIVES_IN", "Bern", fact={"replaces": "current"})
    before, rows = world.state(), len(world.journal.table)
    report = await world.rollback(since, confirm=False)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (report.entities, report.facts, report.done) == (("Bern",), ("Anna lives in Bern now.",), False)
    assert "Nothing was changed" in report.message
    real = await world.rollback(since)
    assert (real.removed, real.facts) == (report.removed, report.facts)


async def test_documents_quotes_and_sagas_that_go_are_listed(world: StagingWorld) -> None:
    """Also if nothing but a quote came since."""
    await world.note("Ben plays.", "Ben", "PLAYS", "chess", saga="Games")
    ben = world.entity("Ben")
    sections = [an_episode(text, group_id="default") for text in ("## Rules\n\nBen wins. Often.\n", "More.")]
    part = a_passage(sections[0], 10, 19)
    guide, placed = a_document(*sections)
    edited, others = a_document(sections[1], version=2)
    first = world.state()
    since = [now(world)]

    for records in (
        (*sections, part, a_passage(sections[1]), guide, *placed),
        (an_instance(ben, guide, part),),
        (edited, *others, a_saga(group_id="default")),
    ):
        await write(world, *records)
        since.append(now(world))

    newest = await world.rollback(since[2], confirm=False)
    assert newest.removed_with_them == Attached(documents=1, sagas=1)
    assert (newest.documents, newest.quotes) == (("guide, version 2",), ())
    quoted = await world.rollback(since[1], confirm=False)
    assert (quoted.removed.episodes, quoted.quotes) == (0, ("Ben wins.",))
    assert "would go (0 episodes, 0 entities, 0 facts, 1 document, 1 quote, 1 saga)" in quoted.message
    whole = await world.rollback(since[0])
    assert whole.removed_with_them == Attached(documents=2, quotes=1, sagas=1)
    assert sorted(whole.documents) == ["guide, version 1", "guide, version 2"]
    assert world.state() == first
    back = await world.rollback(now(world) - timedelta(seconds=3), confirm=False)
    assert back.brought_back_with_them == whole.removed_with_them
    assert back.removed_with_them == Attached()


async def test_a_quote_alone_goes_with_a_rollback(world: StagingWorld) -> None:
    await world.note("Ben plays.", "Ben", "PLAYS", "chess")
    section = an_episode("Ben wins.", group_id="default")
    part = a_passage(section)
    guide, placed = a_document(section)
    committer = Committer(world.context)
    kept = a_write(section, part, guide, *placed, kind=WriteKind.INGEST, group_id="default")
    await committer.commit(kept.model_copy(update={"recorded_at": await committer.time("default")}), {})
    before, since = world.state(), now(world)
    quote = a_write(an_instance(world.entity("Ben"), guide, part), kind=WriteKind.ADD_EVIDENCE, group_id="default")
    await committer.commit(quote.model_copy(update={"recorded_at": await committer.time("default")}), {})
    assert world.state() != before
    done = await world.rollback(since)
    assert (done.done, done.quotes) == (True, ("Ben wins.",))
    assert world.state() == before


async def test_retired_and_deleted_facts_come_back_and_renamed_entities_get_their_names(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    before, since = world.state(), now(world)
    rome = world.fact("Anna LIVES_IN Rome").uuid
    await world.retiring.retire_fact(LOCAL, RetireFact(fact_uuid=rome, reason="She moved."))
    world.clock.advance(seconds=1)
    gone = world.fact("Anna KNOWS Tom").uuid
    await world.deleting.delete_entity_edge(LOCAL, DeleteEntityEdge(uuid=gone))
    report = await world.rollback(since)
    assert (report.removed.facts, report.brought_back.facts, report.facts_changed) == (0, 1, 1)
    assert world.state() == before


@pytest.mark.parametrize("way", ["rollback", "restore"])
async def test_an_earlier_state_names_no_episode_that_was_deleted_since(world: StagingWorld, way: str) -> None:
    await world.note("Anna likes chess.", "Anna", "LIKES", "chess")
    again = await world.note("She still does.", "Anna", "LIKES", "chess", fact={"fact": "Anna likes chess."})
    (fact,) = world.facts
    assert len(fact.episodes) == 2
    await world.take("both")
    since = now(world)
    await world.note("Ben likes chess.", "Ben", "LIKES", "chess")
    await world.delete_episode(again)
    if way == "restore":
        await world.restore("both")
    else:
        await world.rollback(since)
    (left,) = [one for one in world.facts if one.uuid == fact.uuid]
    assert left.episodes == fact.episodes[:1]


async def go_back(world: StagingWorld, way: str, since: datetime) -> None:
    """To the instant, or to the snapshot "before" of it."""
    if way == "restore":
        await world.restore("before")
    else:
        await world.rollback(since)


@pytest.mark.parametrize("way", ["rollback", "restore"])
async def test_a_fact_that_only_a_deleted_episode_told_then_is_not_in_the_earlier_state(
    world: StagingWorld, way: str
) -> None:
    gone = await world.note("Anna likes chess.", "Anna", "LIKES", "chess")
    other = await world.note("Ben plays.", "Ben", "PLAYS", "go")
    never_told = a_fact(world.entity("Anna"), world.entity("go"), "KNOWS", group_id="default")
    await write(world, never_told)
    await world.take("before")
    since = now(world)
    await world.note("She still does.", "Anna", "LIKES", "chess", fact={"fact": "Anna likes chess."})
    await world.delete_episode(gone)
    preview = await world.rollback(since, confirm=False)
    await go_back(world, way, since)
    assert {one.uuid: one.episodes for one in world.facts if one.text != "Ben plays."} == {never_told.uuid: ()}
    assert [one.episodes for one in world.facts if one.text == "Ben plays."] == [(other,)]
    assert "Anna likes chess." in preview.facts
    assert preview.after == (await world.take("after")).size


async def test_a_fact_that_is_gone_for_its_deleted_episode_comes_back_with_the_note_that_tells_it(
    world: StagingWorld,
) -> None:
    gone = await world.note("Anna likes chess.", "Anna", "LIKES", "chess")
    since = now(world)
    second = await world.note("She still does.", "Anna", "LIKES", "chess", fact={"fact": "Anna likes chess."})
    await world.delete_episode(gone)
    before = world.state()
    done = await world.rollback(since)
    assert world.facts == []
    assert done.safety is not None
    await world.restore(done.safety)
    assert [one.episodes for one in world.facts] == [(second,)]
    assert world.state() == before


@pytest.mark.parametrize("way", ["rollback", "restore"])
@pytest.mark.parametrize("gone", [0, 1, 2])
async def test_the_chain_of_a_saga_is_closed_over_an_episode_that_was_deleted_since(
    world: StagingWorld, gone: int, way: str
) -> None:
    told = [await world.note(f"{word}.", "Anna", "LIKES", word, saga="Trip") for word in ("tea", "go", "jazz")]
    (saga,) = world.graph.tables.sagas.values()
    await write(world, saga.model_copy(update={"summary": "Tea, go, jazz.", "last_summarized_at": saga.created_at}))
    await world.take("before")
    since = now(world)
    await world.note("so.", "Anna", "LIKES", "so", saga="Trip")
    await world.delete_episode(told.pop(gone))
    await go_back(world, way, since)
    (saga,) = world.graph.tables.sagas.values()
    assert [saga.first_episode_uuid, saga.last_episode_uuid] == told
    assert (saga.name, saga.summary, saga.last_summarized_at) == ("Trip", "", None)
    assert world.graph.tables.episode_links == [tuple(told)]
    following = await world.note("bridge.", "Anna", "LIKES", "bridge", saga="Trip")
    assert world.graph.tables.episode_links == [tuple(told), (told[1], following)]


@pytest.mark.parametrize("way", ["rollback", "restore"])
async def test_a_saga_whose_only_episode_then_was_deleted_since_is_not_in_the_earlier_state(
    world: StagingWorld, way: str
) -> None:
    gone = await world.note("tea.", "Anna", "LIKES", "tea", saga="Trip")
    await world.note("Ben plays.", "Ben", "PLAYS", "go")
    await world.take("before")
    since = now(world)
    await world.note("so.", "Anna", "LIKES", "so", saga="Trip")
    await world.delete_episode(gone)
    preview = await world.rollback(since, confirm=False)
    await go_back(world, way, since)
    assert (preview.removed_with_them.sagas, world.graph.tables.sagas) == (1, {})


async def test_what_was_forgotten_since_stays_forgotten_and_is_said(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    episode = await world.note("Anna knows Zéphyrin.", "Anna", "KNOWS", "Zéphyrin")
    since = now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    await world.delete_episode(episode)
    report = await world.rollback(since)
    assert "1 forgetting(s) or deletion(s) since stay as they are" in report.message
    assert [line.endswith("delete_episode") for line in report.not_undone] == [True]
    assert world.lines() == ["Anna LIVES_IN Rome"]
    assert "Zéphyrin" not in str(world.state())
    assert "[forgotten]" not in str(world.state())


async def test_before_everything_there_is_nothing_and_in_the_future_nothing_to_do(world: StagingWorld) -> None:
    start = now(world)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    before, rows = world.state(), len(world.journal.table)
    report = await world.rollback(now(world) + timedelta(days=1))
    assert (report.done, report.message[:13]) == (False, "Nothing that ")
    assert (world.state(), len(world.journal.table)) == (before, rows)
    done = await world.rollback(start)
    assert (done.after.episodes, world.state()["entities"]) == (0, {})
    assert done.safety is not None
    await world.restore(done.safety)
    assert world.state() == before


async def test_a_rollback_can_be_rolled_back_and_so_can_a_restore(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    first, since_first = world.state(), now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    second, since_second = world.state(), now(world)
    await world.rollback(since_first)
    assert world.state() == first
    await world.note("Ben knows Tom.", "Ben", "KNOWS", "Tom")
    await world.rollback(since_second)
    assert world.state() == second
    await world.rollback(since_first)
    assert world.state() == first


async def test_other_groups_keep_what_came(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Ben knows Tom.", "Ben", "KNOWS", "Tom", group_id="work")
    other = world.state("work")
    report = await world.rollback(since)
    assert (report.done, world.state("work")) == (False, other)


async def test_no_file_of_the_way_back_is_left(world: StagingWorld) -> None:
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    since = now(world)
    await world.note("Anna knows Tom.", "Anna", "KNOWS", "Tom")
    done = await world.rollback(since)
    assert [path.name for path in world.directory.rglob("*") if path.is_file()] == [f"{done.safety}.snapshot"]
