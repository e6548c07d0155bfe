"""Status, also of what does not work."""

from tests.builders import a_write, an_entity, an_episode, an_intent
from tests.worlds.reading_world import World

from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.queries import VectorIndex
from graphiti_pkm.core.model.records import Deletions, WriteIntent, WriteKind


async def kept(world: World, *writes: WriteIntent) -> None:
    """In journal and graph."""
    for write in writes:
        await world.journal.append(write, {}, "", {})
        await world.given(write)
        await world.journal.written(write.uuid)


async def test_a_healthy_memory_says_what_it_holds_and_how_it_searches() -> None:
    world = World()
    await kept(world, a_write(an_episode(), an_entity()))
    world.clock.advance(seconds=90)
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.status == "ok"
    assert answer.groups == {"t1": "1 episode, 1 entity, 0 facts"}
    assert answer.search == "full text and meaning"
    assert (answer.model, answer.dimension) == (world.embedder.model, world.embedder.dimension)
    assert answer.uptime_seconds == 90
    assert answer.data_directory == "/data"
    assert answer.version


async def test_an_index_for_meaning_that_is_being_built_shows_how_far_it_is() -> None:
    world = World()
    world.graph.indexes = (VectorIndex(name="facts", percent=43), VectorIndex(name="passages", percent=100))
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.search.startswith("full text and meaning; indexes for meaning are being built (facts 43%)")
    assert answer.status == "ok"
    other = await world.status.get_status(
        Caller(principal="anna"), GetStatus()
    )  # who learns nothing of how much others wrote
    assert other.search == "full text and meaning"
    world.graph.indexes = (VectorIndex(name="facts", percent=100),)
    assert (await world.status.get_status(world.caller, GetStatus())).search == "full text and meaning"


async def test_without_a_model_search_is_by_full_text_and_the_remedy_is_named() -> None:
    world = World()
    world.embedder.is_available = False
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.status == "degraded"
    assert answer.search.startswith("full text only")
    assert "no weights" in answer.search
    assert answer.model is None


async def test_a_dead_database_and_a_dead_journal_are_reported_not_raised() -> None:
    world = World()
    world.graph.is_down = True
    world.journal.is_down = True
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.status == "unavailable"
    assert len(answer.failures) == 2
    assert answer.groups == {}


async def test_writes_by_state_and_failed_ones_are_counted() -> None:
    world = World()
    waiting, failed = a_write(an_episode()), a_write(an_episode())
    for write in (waiting, failed):
        await world.journal.append(write, {}, "", {})
    await world.journal.fail(failed.uuid, "refused")
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.writes == {"waiting": 1, "written": 0, "applied": 0, "failed": 1}
    assert answer.status == "degraded"
    assert "1 write(s) were refused" in answer.failures[0]


async def test_a_damaged_journal_is_told_though_it_still_answers() -> None:
    world = World()
    await kept(world, a_write(an_episode()))
    world.journal.found = "The journal is damaged. Restore a backup."
    answer = await world.status.get_status(world.caller, GetStatus())
    assert answer.status == "degraded"
    assert answer.failures == ["The journal is damaged. Restore a backup."]


async def test_what_is_deleted_and_what_still_waits_is_no_difference_between_journal_and_graph() -> None:
    world = World()
    episode = an_episode()
    await kept(world, a_write(episode), a_write(an_episode()))
    deletion = an_intent(kind=WriteKind.DELETE_EPISODE, deletions=Deletions(episodes=[episode.uuid]))
    await world.journal.append(deletion, {}, "", {})
    assert (await world.status.get_status(world.caller, GetStatus())).failures == []
    await world.given(deletion)
    await world.journal.written(deletion.uuid)
    assert (await world.status.get_status(world.caller, GetStatus())).failures == []


async def test_another_person_sees_neither_groups_nor_directories_nor_what_others_do() -> None:
    world = World()
    await world.given(a_write(an_entity()))
    answer = await world.status.get_status(Caller(principal="anna"), GetStatus())
    assert answer.groups == {}
    assert answer.data_directory == ""
    assert (answer.writes, answer.jobs, answer.spent) == ({}, {}, {})


async def test_what_still_gets_its_vector_is_counted_and_a_service_that_fails_is_named() -> None:
    world = World()
    write = a_write(an_entity("Sarah"), jobs=(EmbedMissingJob(),))
    await world.journal.append(write, {}, "", {})
    await world.graph.writer.apply(write, {})
    answer = await world.status.get_status(world.caller, GetStatus())
    assert (answer.status, answer.search[:24]) == ("ok", "full text and meaning; 1")
    world.embedder.trouble = "The embedding service does not answer."
    answer = await world.status.get_status(world.caller, GetStatus())
    assert (answer.status, answer.search) == ("degraded", "full text only: The embedding service does not answer.")


async def test_a_store_that_takes_no_writes_is_told_to_everybody_and_why_only_to_its_keeper() -> None:
    for refuse in ("graph", "journal"):
        world = World()
        await kept(world, a_write(an_episode()))
        assert await world.status.unready() is None
        getattr(world, refuse).refuses = "The disk of /data is full."
        answer = await world.status.get_status(world.caller, GetStatus())
        assert answer.status == "degraded"
        assert answer.message == "The memory can be read, but nothing can be written now: see failures."
        assert answer.failures == ["Nothing can be written now. The disk of /data is full."]
        (told,) = (await world.status.get_status(Caller(principal="anna"), GetStatus())).failures
        assert told.startswith("Nothing can be written now.")
        assert "/data" not in told
        assert await world.status.unready() == "not_writable"
        getattr(world, refuse).refuses = None
        assert (await world.status.get_status(world.caller, GetStatus())).status == "ok"
        world.graph.is_down = True
        assert await world.status.unready() == "unavailable"


async def test_a_server_that_only_reads_does_not_mind_that_nothing_can_be_written() -> None:
    world = World(read_only=True)
    world.journal.refuses = "The disk of /data is full."
    assert await world.status.unready() is None
    assert (await world.status.get_status(world.caller, GetStatus())).status == "ok"
