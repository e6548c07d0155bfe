"""What was copied to staging and changed there comes back to what it was copied from, and nothing comes twice."""

from pathlib import Path

import pytest
from tests.builders import a_document, a_passage, a_write, an_episode, an_instance
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.history.requests import RestoreFact, RetireFact, UpdateEntity
from graphiti_pkm.capabilities.staging.models import Attached, MigrationReport
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.records import Entity, Fact, WriteKind
from graphiti_pkm.storage.commit import Committer

PRODUCTION, STAGING, ARCHIVE = "default", "default_staging", "default_archive"
OSLO = "Ben lives in Oslo. His secret is Zephyr."


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Two notes of production, which staging has as well."""
    world = StagingWorld(tmp_path)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome", saga="Moves")
    await world.note("Anna likes chess.", "Anna", "LIKES", "chess", saga="Moves")
    await there(world)
    return world


async def there(world: StagingWorld) -> MigrationReport:
    return await world.migrate(source="default", target=STAGING)


def fact(world: StagingWorld, relation: str, group: str = "default") -> Fact:
    (found,) = [one for one in world.facts if (one.relation, one.group_id) == (relation, group)]
    return found


def entity(world: StagingWorld, name: str, group: str = "default") -> Entity:
    (found,) = [one for one in world.graph.tables.entities.values() if (one.name, one.group_id) == (name, group)]
    return found


def words(world: StagingWorld, group: str = "default") -> list[str]:
    return sorted(one.content for one in world.graph.tables.episodes.values() if one.group_id == group)


async def end(world: StagingWorld, relation: str, group: str) -> None:
    world.clock.advance(seconds=1)
    request = RetireFact(fact_uuid=fact(world, relation, group).uuid, reason="She moved.")
    await world.retiring.retire_fact(LOCAL, request)


async def test_what_was_not_changed_there_changes_nothing_here(world: StagingWorld) -> None:
    before, rows = world.state(), len(world.journal.table)
    for _ in range(2):
        done = await world.migrate()
        assert (done.joined.episodes, done.joined.entities, done.joined.facts) == (2, 3, 2)
        assert (done.copied, done.known, done.attached) == (done.removed, done.removed, Attached())
        assert (world.state(), len(world.journal.table)) == (before, rows)


async def test_what_is_new_there_comes_and_what_it_says_again_has_one_more_source(world: StagingWorld) -> None:
    again = {"fact": "Anna likes chess."}
    await world.note("Anna still likes chess.", "Anna", "LIKES", "chess", group_id=STAGING, fact=again)
    await world.note("Anna knows Ben.", "Anna", "KNOWS", "Ben", group_id=STAGING)
    done = await world.migrate()
    assert (done.copied.episodes, done.copied.entities, done.copied.facts, done.joined.facts) == (2, 1, 1, 2)
    assert words(world) == ["Anna knows Ben.", "Anna likes chess.", "Anna lives in Rome.", "Anna still likes chess."]
    assert world.said() == ["Anna KNOWS Ben", "Anna LIKES chess", "Anna LIVES_IN Rome"]
    told = [world.graph.tables.episodes[one].content for one in fact(world, "LIKES").episodes]
    assert told == ["Anna likes chess.", "Anna still likes chess."]
    before, rows = world.state(), len(world.journal.table)
    await world.migrate()
    assert (world.state(), len(world.journal.table)) == (before, rows)


async def test_what_ended_there_ends_here_once(world: StagingWorld) -> None:
    await end(world, "LIVES_IN", STAGING)
    done = await world.migrate()
    assert (done.ended, done.still_current, done.copied.facts) == (1, (), 0)
    assert fact(world, "LIVES_IN").invalid_at == fact(world, "LIVES_IN", STAGING).invalid_at is not None
    assert (await world.migrate()).ended == 0


async def test_an_end_that_somebody_took_back_here_stays_taken_back(world: StagingWorld) -> None:
    await end(world, "LIVES_IN", STAGING)
    await end(world, "LIVES_IN", "default")
    world.clock.advance(seconds=1)
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=fact(world, "LIVES_IN").uuid, reason="She did not."))
    done = await world.migrate()
    assert (done.ended, done.still_current) == (0, ("Anna lives in Rome.",))
    assert fact(world, "LIVES_IN").is_open


async def test_what_was_said_of_it_here_before_it_was_copied_does_not_hold_the_end_back(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await end(world, "LIVES_IN", "default")
    world.clock.advance(seconds=1)
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=fact(world, "LIVES_IN").uuid, reason="She did not."))
    await there(world)
    await end(world, "LIVES_IN", STAGING)
    assert (await world.migrate()).ended == 1


async def test_what_was_forgotten_here_does_not_come_back(world: StagingWorld) -> None:
    await world.forget(entity_uuid=entity(world, "chess").uuid)
    done = await world.migrate()
    assert done.forgotten_total > 0
    assert (world.said(), words(world)) == (["Anna LIVES_IN Rome"], ["Anna lives in Rome.", "[forgotten]"])


async def test_the_archive_gives_back_what_was_moved_there(world: StagingWorld) -> None:
    before = words(world)
    for source, target in (("default", "default_archive"), ("default_archive", "default")):
        done = await world.migrate(source=source, target=target, moves=True)
        assert (done.copied.episodes, done.removed.episodes) == (2, 2)
    assert (words(world), world.said()) == (before, ["Anna LIKES chess", "Anna LIVES_IN Rome"])
    again = await there(world)
    assert (again.copied.episodes, again.held_back) == (0, ())


async def test_a_move_back_leaves_only_what_was_here(world: StagingWorld) -> None:
    before = world.state()
    done = await world.migrate(moves=True)
    assert (done.removed.episodes, done.removed.facts, done.removed.entities) == (2, 2, 3)
    assert world.state() == before
    assert (words(world, STAGING), world.said(STAGING)) == ([], [])


async def test_a_snapshot_that_was_restored_into_staging_comes_back_as_what_it_was_made_of(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    taken = await world.take("one")
    await world.restore(str(tmp_path / "snapshots" / "default" / f"{taken.tag}.snapshot"), STAGING)
    await world.note("Anna knows Ben.", "Anna", "KNOWS", "Ben", group_id=STAGING)
    await end(world, "LIVES_IN", STAGING)
    done = await world.migrate()
    assert (done.copied.episodes, done.copied.facts, done.joined.facts, done.ended) == (1, 1, 1, 1)
    assert words(world) == ["Anna knows Ben.", "Anna lives in Rome."]


async def test_documents_and_quotes_come_back_once_and_new_quotes_find_their_words(world: StagingWorld) -> None:
    rome = entity(world, "Rome")
    episode = an_episode("Rome is old. Rome is big.", group_id="default")
    parts = [a_passage(episode, start=0, end=12), a_passage(episode, start=13, end=25)]
    document, sections = a_document(episode)
    quote = an_instance(rome, document, parts[0])
    write = a_write(episode, *parts, document, *sections, quote, kind=WriteKind.ADD_EVIDENCE)
    write = write.model_copy(update={"recorded_at": await Committer(world.context).time("default")})
    await Committer(world.context).commit(write, {})
    await there(world)
    before = world.state()
    done = await world.migrate()
    assert (done.attached.documents, done.attached.quotes, done.attached_known.quotes) == (0, 0, 1)
    assert world.state() == before
    db = world.graph.tables
    (copy,) = [one for one in db.documents.values() if one.group_id == STAGING]
    (section,) = [one for one in db.episodes.values() if (one.group_id, one.content) == (STAGING, episode.content)]
    (second,) = [one for one in db.passages.values() if (one.episode_uuid, one.start) == (section.uuid, 13)]
    more = a_write(an_instance(entity(world, "Anna", STAGING), copy, second), kind=WriteKind.ADD_EVIDENCE)
    more = more.model_copy(update={"recorded_at": await Committer(world.context).time(STAGING), "group_id": STAGING})
    await Committer(world.context).commit(more, {})
    done = await world.migrate()
    assert (done.attached.quotes, done.attached_known.quotes, done.not_copied.quotes) == (1, 1, 0)
    (made,) = [one for one in db.instances.values() if one.entity_uuid == entity(world, "Anna").uuid]
    assert (made.passages, made.episode_uuid, made.document_uuid) == ((parts[1].uuid,), episode.uuid, document.uuid)


async def test_what_an_earlier_version_copied_back_twice_comes_no_third_time(
    world: StagingWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: object) -> None:
        return None

    with monkeypatch.context() as patched:  # it did not look for originals
        patched.setattr(world.journal, "last_write", none)
        await world.migrate()
    assert len(words(world)) == 4
    await world.migrate()
    assert len(words(world)) == 4


async def tell_a_secret(world: StagingWorld) -> str:
    return await world.note(OSLO, "Ben", "LIVES_IN", "Oslo", fact={"fact": "Ben lives in Oslo."})


@pytest.mark.parametrize("way", ["rollback", STAGING, ARCHIVE])
async def test_words_forgotten_here_do_not_come_back_for_a_note_that_is_gone_since(
    world: StagingWorld, way: str
) -> None:
    world.clock.advance(seconds=1)
    since = world.clock.instant
    await tell_a_secret(world)
    await there(world)
    await world.forget(query="Zephyr")
    if way == "rollback":
        await world.rollback(since)
    else:
        await world.migrate(source=PRODUCTION, target=way, moves=True)
    done = await world.migrate()
    assert "Zephyr" not in str(words(world))
    assert done.forgotten_total > 0


async def test_words_forgotten_in_staging_do_not_come_there_again(world: StagingWorld) -> None:
    await tell_a_secret(world)
    await there(world)
    await world.forget(query="Zephyr", group_id=STAGING)
    await world.migrate(moves=True)
    await there(world)
    assert "Zephyr" not in str(words(world, STAGING))


async def test_a_note_that_came_back_from_the_archive_is_the_one_that_went(world: StagingWorld) -> None:
    """So that deleting it reaches all that the journal has of it, and copies of it are known."""
    world.clock.advance(seconds=1)
    since = world.clock.instant
    uuid = await tell_a_secret(world)
    await there(world)
    await world.migrate(source=PRODUCTION, target=ARCHIVE, moves=True)
    await world.migrate(source=ARCHIVE, target=PRODUCTION, moves=True)
    assert OSLO in words(world)
    await world.delete_episode(uuid)
    await world.migrate()
    assert OSLO not in words(world)
    await world.rollback(since)
    assert OSLO not in words(world)


@pytest.mark.parametrize("is_deleted", [False, True])
async def test_a_copy_of_a_copy_is_known_as_well(world: StagingWorld, is_deleted: bool) -> None:
    uuid = await tell_a_secret(world)
    before = words(world)
    await there(world)
    await world.migrate(source=STAGING, target=ARCHIVE)
    if is_deleted:
        await world.delete_episode(uuid)
        before.remove(OSLO)
    await world.migrate(source=ARCHIVE, target=PRODUCTION)
    assert words(world) == before


async def test_two_copies_of_one_note_are_known_as_one(world: StagingWorld) -> None:
    uuid = await tell_a_secret(world)
    await there(world)
    await world.migrate(source=PRODUCTION, target=ARCHIVE)
    before = words(world, ARCHIVE)
    done = await world.migrate(source=STAGING, target=ARCHIVE)
    assert (done.copied.episodes, words(world, ARCHIVE)) == (0, before)
    copy = next(one for one in world.graph.tables.episodes.values() if (one.group_id, one.content) == (STAGING, OSLO))
    await world.delete_episode(copy.uuid)
    await world.migrate(source=ARCHIVE, target=STAGING)
    assert OSLO not in words(world, STAGING)
    assert uuid in world.graph.tables.episodes


async def test_words_that_a_copy_lost_elsewhere_are_still_told_here(world: StagingWorld) -> None:
    await tell_a_secret(world)
    await there(world)
    await world.forget(query="Zephyr", group_id=STAGING)
    await world.migrate(source=STAGING, target=ARCHIVE)
    done = await world.migrate(source=ARCHIVE, target=PRODUCTION)
    assert (done.still_told_total, done.copied.episodes) == (1, 0)


async def test_a_move_leaves_what_a_copy_here_of_the_same_note_lost_elsewhere(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    fact = {"fact": "Ben lives in Oslo."}
    await world.note(OSLO, "Ben", "LIVES_IN", "Oslo", fact=fact, group_id=ARCHIVE)
    await world.migrate(source=ARCHIVE, target=PRODUCTION)
    await world.forget(query="Zephyr", group_id=ARCHIVE)
    await world.migrate(source=ARCHIVE, target=STAGING)
    done = await world.migrate(source=PRODUCTION, target=STAGING, moves=True)
    assert (done.redacted_total, done.removed.episodes) == (1, 0)
    assert OSLO in words(world)


async def test_a_copy_that_went_into_another_is_found_in_it(world: StagingWorld) -> None:
    for name in ("Tom Smith", "Tom Smyth"):
        await world.note(f"{name} likes tea.", name, "LIKES", "tea")
    await there(world)
    kept, removed = (entity(world, name, STAGING).uuid for name in ("Tom Smith", "Tom Smyth"))
    alike = "One person, told of in many words, so that they are alike whatever they are called."
    for uuid in (kept, removed):
        world.clock.advance(seconds=1)
        await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=uuid, summary=alike))
    await world.merge_uuids(kept, removed)
    world.clock.advance(seconds=1)
    await world.updating.update_entity(LOCAL, UpdateEntity(entity_uuid=kept, remove_aliases=["Tom Smyth"]))
    done = await there(world)
    assert (done.copied.entities, done.verified is not None) == (0, True)


async def test_a_name_that_was_taken_away_here_does_not_come_back(world: StagingWorld) -> None:
    uuid = entity(world, "Anna").uuid
    for change in ({"name": "Anneliese"}, {"remove_aliases": ["Anna"]}):
        world.clock.advance(seconds=1)
        await world.updating.update_entity(LOCAL, UpdateEntity.model_validate({"entity_uuid": uuid, **change}))
    before = world.state()["names"]
    await world.migrate()
    assert world.state()["names"] == before


async def test_the_end_of_what_was_only_joined_ends_nothing_here(tmp_path: Path) -> None:
    """Both groups state it by themselves."""
    world = StagingWorld(tmp_path)
    for group in (STAGING, PRODUCTION):
        await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome", group_id=group)
    await there(world)
    await end(world, "LIVES_IN", STAGING)
    assert (await world.migrate()).ended == 0


async def test_what_was_said_before_a_snapshot_does_not_hold_an_end_back(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    await world.note("Anna lives in Rome.", "Anna", "LIVES_IN", "Rome")
    await end(world, "LIVES_IN", PRODUCTION)
    world.clock.advance(seconds=1)
    await world.retiring.restore_fact(LOCAL, RestoreFact(fact_uuid=fact(world, "LIVES_IN").uuid, reason="She did not."))
    await world.take("one")
    await world.restore(str(world.directory / PRODUCTION / "one.snapshot"), STAGING)
    await end(world, "LIVES_IN", STAGING)
    assert (await world.migrate()).ended == 1
