"""Sagas, documents and quotes come with the episodes and entities that they hang on: once, whole, and undone."""

import contextlib
from pathlib import Path

import pytest
from tests.builders import a_document, a_mention, a_passage, a_write, an_episode, an_instance
from tests.worlds.staging_world import StagingWorld

from graphiti_pkm.capabilities.sources.ingesting import Given, Ingesting
from graphiti_pkm.capabilities.staging.models import Attached
from graphiti_pkm.core.facts.saga_plan import saga_uuid
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.document_records import Document
from graphiti_pkm.core.model.records import Entity, Episode, WriteKind
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.commit import Committer

STAGING = "default_staging"
BIG, SMALL = "# Guide\n\nAnna is big.\n", "# Guide\n\nAnna is small.\n"


@pytest.fixture
async def world(tmp_path: Path) -> StagingWorld:
    """Staging: a saga of three notes, of which the second is about Zoe alone."""
    world = StagingWorld(tmp_path)
    for source, target in (("Anna", "Ben"), ("Zoe", "Max"), ("Ben", "Anna")):
        await world.note(f"{source} met {target}.", source, "MET", target, group_id=STAGING, saga="Games")
    return world


def entity(world: StagingWorld, name: str, group: str) -> Entity:
    (found,) = [one for one in world.graph.tables.entities.values() if (one.name, one.group_id) == (name, group)]
    return found


def told(world: StagingWorld, group: str) -> list[str]:
    """The chain of the only saga of a group, in words."""
    db = world.graph.tables
    (saga,) = [one for one in db.sagas.values() if one.group_id == group]
    assert saga.uuid == saga_uuid(group, "Games")
    members = {episode for uuid, episode in db.saga_steps if uuid == saga.uuid}
    after = {one: other for one, other in db.episode_links if one in members}
    chain = [str(saga.first_episode_uuid)]
    while chain[-1] in after:
        chain.append(after[chain[-1]])
    assert (set(chain), chain[-1]) == (members, saga.last_episode_uuid)
    return [db.episodes[one].content for one in chain]


async def a_document_of(
    world: StagingWorld, *texts: str, group: str = STAGING, **fields: object
) -> tuple[Document, list[Episode]]:
    """A document with a section for each text, of which the first is evidence of Ben."""
    episodes = [an_episode(text, group_id=group) for text in texts]
    parts = [a_passage(one) for one in episodes]
    document, sections = a_document(*episodes, **fields)
    quotes = [an_instance(entity(world, "Ben", group), document, parts[0])] if group == STAGING else []
    write = a_write(*episodes, *parts, document, *sections, *quotes, kind=WriteKind.ADD_EVIDENCE)
    write = write.model_copy(update={"recorded_at": await Committer(world.context).time(group)})
    await Committer(world.context).commit(write, {})
    return document, episodes


async def test_a_saga_comes_with_its_chain_once_and_goes_on(world: StagingWorld) -> None:
    done = await world.migrate()
    whole = ["Anna met Ben.", "Zoe met Max.", "Ben met Anna."]
    assert told(world, "default") == told(world, STAGING) == whole
    assert (done.attached, done.not_copied.sagas) == (Attached(sagas=1), 0)
    assert "With them: 1 saga." in done.message
    before, rows = world.state(), len(world.journal.table)
    again = await world.migrate()
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (again.attached, again.attached_known) == (Attached(), Attached(sagas=1))
    await world.note("Kim met Lea.", "Kim", "MET", "Lea", saga="games")
    assert told(world, "default") == [*whole, "Kim met Lea."]


async def test_what_stays_of_a_saga_leaves_no_gap(world: StagingWorld) -> None:
    """Neither in what came, nor its words in a summary that tells of all."""
    db = world.graph.tables
    (saga,) = db.sagas.values()
    db.sagas[saga.uuid] = saga.model_copy(update={"summary": "Anna met Ben, and Zoe met Max."})
    done = await world.migrate("Anna", "Ben")
    assert told(world, "default") == ["Anna met Ben.", "Ben met Anna."]
    assert (done.attached.sagas, done.not_copied.sagas) == (1, 1)
    assert "Zoe" not in str(world.state())
    await world.migrate()
    (saga,) = [one for one in db.sagas.values() if one.group_id == "default"]
    steps = [db.episodes[episode].content for uuid, episode in db.saga_steps if uuid == saga.uuid]
    assert sorted(steps) == ["Anna met Ben.", "Ben met Anna.", "Zoe met Max."]


async def test_a_document_comes_whole_with_its_quotes_once(world: StagingWorld) -> None:
    document, episodes = await a_document_of(world, "Ben plays.", "Anna too.", front="---\ntitle: Games\n---\n")
    done = await world.migrate()
    assert (done.attached, done.not_copied.documents, done.not_copied.quotes) == (
        Attached(documents=1, quotes=1, sagas=1),
        0,
        0,
    )
    assert "With them: 1 document, 1 quote, 1 saga." in done.message
    db = world.graph.tables
    (copy,) = [one for one in db.documents.values() if one.group_id == "default"]
    assert (copy.name, copy.path, copy.front, copy.digest) == ("guide", "guide.md", document.front, "d1")
    sections = await world.graph.documents.sections(copy.uuid, "default", 9)
    assert [db.episodes[one.episode_uuid].content for one in sections] == [one.content for one in episodes]
    ben = entity(world, "Ben", "default")
    assert {db.episodes[one.episode_uuid].group_id for one in sections} == {"default"}
    (quote,) = [one for one in db.instances.values() if one.entity_uuid == ben.uuid]
    passage = db.passages[quote.passages[0]]
    assert (quote.document_uuid, quote.episode_uuid, quote.group_id) == (
        copy.uuid,
        passage.episode_uuid,
        "default",
    )
    before, rows = world.state(), len(world.journal.table)
    again = await world.migrate()
    assert (world.state(), len(world.journal.table)) == (before, rows)
    assert (again.attached, again.attached_known) == (Attached(), Attached(documents=1, quotes=1, sagas=1))
    onward = await world.migrate(source="default", target="default_archive")
    assert onward.attached == Attached(documents=1, quotes=1, sagas=1)


async def test_a_document_of_which_a_section_stays_is_said_to_stay(world: StagingWorld) -> None:
    await a_document_of(world, "Ben plays.", "Nobody else.")
    db = world.graph.tables
    first, _ = db.sections.values()
    db.mentions[(first.episode_uuid, entity(world, "Ben", STAGING).uuid)] = next(iter(db.mentions.values()))
    done = await world.migrate("Ben")
    assert (done.attached.documents, done.not_copied.documents, done.not_copied.quotes) == (0, 1, 1)
    assert [one for one in db.documents.values() if one.group_id == "default"] == []


async def test_a_document_that_the_target_has_by_itself_stays_the_present_one(world: StagingWorld) -> None:
    own, _ = await a_document_of(world, "Ben plays.", group="default")
    await a_document_of(world, "Ben plays.")
    done = await world.migrate()
    assert (done.attached.documents, done.attached_known.documents, done.not_copied.quotes) == (0, 1, 1)
    assert await world.graph.documents.present("default", "guide") == own
    await a_document_of(world, "Ben plays well.", digest="d2", version=2)
    later = await world.migrate()
    present = await world.graph.documents.present("default", "guide")
    assert (later.attached.documents, present and (present.digest, present.version)) == (1, ("d2", 2))


async def test_a_move_of_everything_takes_sagas_and_documents_along(world: StagingWorld) -> None:
    await a_document_of(world, "Ben plays.", "Anna too.")
    done = await world.migrate(moves=True)
    left = world.state(STAGING)
    assert {kind: held for kind, held in left.items() if held} == {
        "changes": left["changes"],
        "origins": left["origins"],
    }
    assert (done.removed, done.kept) == (done.copied, 0)
    assert told(world, "default") == ["Anna met Ben.", "Zoe met Max.", "Ben met Anna."]
    again = await world.migrate(moves=True)
    assert (again.copied.episodes, again.removed.episodes) == (0, 0)


async def test_a_move_of_some_closes_the_chain_and_leaves_documents(world: StagingWorld) -> None:
    """A quote may be evidence of an entity that stays, whatever mentions it."""
    document, (section,) = await a_document_of(world, "Ben plays.")
    quote = next(iter(world.graph.tables.instances))
    mention = a_mention(section, entity(world, "Zoe", STAGING))
    await world.graph.writer.apply(a_write(mention, group_id=STAGING), {})
    done = await world.migrate("Zoe", "Max", moves=True)
    assert told(world, STAGING) == ["Anna met Ben.", "Ben met Anna."]
    assert told(world, "default") == ["Zoe met Max."]
    tables = world.graph.tables
    assert (section.uuid in tables.episodes, document.uuid in tables.documents, quote in tables.instances) == (
        True,
        True,
        True,
    )
    assert (done.removed.episodes, done.kept) == (1, 2)  # Zoe and the section stay


@pytest.mark.parametrize("failing", range(1, 10))
async def test_a_disk_that_is_full_at_any_write_loses_no_saga_and_no_document(
    world: StagingWorld, failing: int
) -> None:
    await a_document_of(world, "Ben plays.", "Anna too.")
    whole = told(world, STAGING)
    append, calls = world.journal.append, 0

    async def full(*given: object, **named: object) -> int:
        nonlocal calls
        calls += 1
        if calls >= failing:
            raise Unavailable("The disk is full.")
        return await append(*given, **named)  # type: ignore[arg-type]

    world.journal.append = full  # type: ignore[method-assign]
    with contextlib.suppress(Unavailable):
        await world.migrate(moves=True)
    world.journal.append = append  # type: ignore[method-assign]
    await world.migrate(moves=True)
    tables = world.graph.tables
    assert told(world, "default") == whole
    assert [one.group_id for one in tables.documents.values()] == ["default"]
    assert [one.group_id for one in tables.instances.values()] == ["default"]
    assert sorted(one.group_id for one in tables.episodes.values()) == ["default"] * 5


async def test_a_rollback_undoes_it_and_a_preview_writes_nothing(world: StagingWorld) -> None:
    await a_document_of(world, "Ben plays.")
    await world.note("Tom met Eva.", "Tom", "MET", "Eva")
    before, rows = world.state(), len(world.journal.table)
    preview = await world.migrate(writes=False)
    assert (world.state(), len(world.journal.table)) == (before, rows)
    world.clock.advance(seconds=1)
    since = world.clock.instant
    done = await world.migrate()
    assert (preview.attached, preview.message.split("With them")[1]) == (
        done.attached,
        done.message.split("With them")[1],
    )
    await world.rollback(since)
    assert world.state() == before


async def test_forgetting_in_the_target_reaches_what_came(world: StagingWorld) -> None:
    await a_document_of(world, "Ben plays.", "Anna too.", front="---\ntitle: Ben\n---\n")
    await world.migrate()
    await world.forget(entity_uuid=entity(world, "Ben", "default").uuid)
    assert "Ben" not in str(world.state())
    rows = [row.intent for row in world.journal.table.values() if row.intent.group_id == "default"]
    assert "Ben" not in str(rows)
    assert "Ben" in str(world.state(STAGING))


async def test_a_saga_and_a_document_that_lost_words_in_the_target_stay_as_they_are_there(world: StagingWorld) -> None:
    """Neither the words nor quotes from them come again, nor does a chain close over what is still there."""
    await a_document_of(world, "Ben sings. Max hums.", "Ben plays.")
    await world.migrate()
    ben, there = entity(world, "Ben", "default"), world.state(STAGING)
    assert len(world.state()["instances"]) == 1  # type: ignore[arg-type]
    await world.forget(query="Ben sings.")
    await world.forget(query="Zoe met Max.")
    left, rows = world.state(), len(world.journal.table)
    assert left["instances"] == {}
    assert "Zoe met Max." not in str(left)
    done = await world.migrate()
    assert (world.state(), len(world.journal.table), done.redacted_total) == (left, rows, 2)
    assert (done.attached, done.attached_known.sagas, done.not_copied.documents) == (Attached(), 1, 1)
    assert entity(world, "Ben", "default") == ben
    await world.migrate(moves=True)
    kept = world.state(STAGING)
    assert kept["documents"] == there["documents"]
    assert {one.content for one in kept["episodes"].values()} >= {"Zoe met Max.", "Ben sings. Max hums."}  # type: ignore[attr-defined]
    assert world.state() == left


async def test_an_episode_of_a_saga_that_was_deleted_in_the_target_leaves_no_gap(world: StagingWorld) -> None:
    await world.migrate()
    (gone,) = [
        one.uuid
        for one in world.graph.tables.episodes.values()
        if (one.content, one.group_id) == ("Zoe met Max.", "default")
    ]
    await world.delete_episode(gone)
    assert told(world, "default") == ["Anna met Ben.", "Ben met Anna."]
    before, rows = world.state(), len(world.journal.table)
    await world.migrate()
    assert (world.state(), len(world.journal.table)) == (before, rows)


async def ingest(world: StagingWorld, root: Path, text: str, group: str) -> None:
    world.clock.advance(seconds=1)
    (root / "guide.md").write_text(text)
    ingesting = Ingesting(world.context, Groups(world.graph, world.context.settings), Committer(world.context))
    _ = [one async for one in ingesting.ingest(LOCAL, [Given(root / "guide.md", "guide")], root, group)]


async def versions(world: StagingWorld, group: str) -> list[str]:
    """The texts of all versions of the guide."""
    db = world.graph.tables
    found = sorted((one for one in db.documents.values() if one.group_id == group), key=lambda one: one.version)
    assert [one.version for one in found] == list(range(1, len(found) + 1))
    sections = [await world.graph.documents.sections(one.uuid, group, 99) for one in found]
    return ["".join(db.episodes[one.episode_uuid].content for one in some) for some in sections]


@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("own", [(), (BIG,), (BIG, SMALL), (SMALL,)])
async def test_a_document_that_got_an_earlier_text_again_has_it_in_the_target(
    tmp_path: Path, own: tuple[str, ...], *, moves: bool
) -> None:
    world = StagingWorld(tmp_path)
    for text in own:
        await ingest(world, tmp_path, text, "default")
    for text in (BIG, SMALL, BIG):
        await ingest(world, tmp_path, text, STAGING)
    preview = await world.migrate(moves=moves, writes=False)
    done = await world.migrate(moves=moves)
    told = [SMALL, BIG, SMALL, BIG] if own == (SMALL,) else [BIG, SMALL, BIG]
    assert await versions(world, "default") == told
    assert preview.attached == done.attached == Attached(documents=len(told) - len(own))
    assert await versions(world, STAGING) == ([] if moves else [BIG, SMALL, BIG])
    await world.migrate()
    assert await versions(world, "default") == told


async def test_a_text_that_staging_gave_back_to_a_document_of_the_group_comes_back(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    for text in (BIG, SMALL):
        await ingest(world, tmp_path, text, "default")
    await world.migrate(source="default", target=STAGING)
    await ingest(world, tmp_path, BIG, STAGING)
    await world.migrate()
    assert await versions(world, "default") == [BIG, SMALL, BIG]


async def test_an_earlier_text_is_present_again_only_if_it_was_told_later(tmp_path: Path) -> None:
    world = StagingWorld(tmp_path)
    await ingest(world, tmp_path, BIG, "default")
    await ingest(world, tmp_path, BIG, STAGING)
    await ingest(world, tmp_path, SMALL, "default")
    await world.migrate()
    assert await versions(world, "default") == [BIG, SMALL]
    world.clock.advance(seconds=1)
    await ingest(world, tmp_path, BIG, "default_archive")
    await world.migrate(source="default_archive")
    await world.migrate(source="default_archive")
    assert await versions(world, "default") == [BIG, SMALL, BIG]
