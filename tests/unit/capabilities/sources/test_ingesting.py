"""Ingesting: one write for each document, nothing for what did not change, versions that share what stayed."""

from pathlib import Path

import pytest
from tests.worlds.sources_world import SourcesWorld

from graphiti_pkm.capabilities.sources.ingesting import Given
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import InvalidInput, NotAllowed

GUIDE = "---\ndate: 2026-02-03\n---\n# Guide\r\n\r\nTom runs it. It is fast.\r\n\r\n## Storage\r\n\r\nOne file.\r\n"


async def test_a_document_is_one_write_with_an_episode_for_each_section(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.make("Tom")
    (done,) = await world.ingest(guide=GUIDE)
    assert (done.outcome, done.version, done.sections, done.new_sections, done.sentences) == ("new", 1, 2, 2, 5)
    (write,) = world.ingested
    assert write.origin is not None
    assert (write.origin.created_by, write.origin.source_type) == ("local", "document")
    assert await world.text() == GUIDE
    episodes = {one.name: one for one in write.episodes}
    assert list(episodes) == ["guide: Guide", "guide: Guide > Storage"]
    assert {one.valid_at.date().isoformat() for one in write.episodes} == {"2026-02-03"}
    assert [one.episode_uuid for one in write.mentions] == [episodes["guide: Guide"].uuid]
    assert world.graph.tables.vectors.keys() >= {one.uuid for one in write.passages}
    assert write.documents[0].path == "guide.md"


async def test_the_same_file_again_is_no_write_and_asks_no_model(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(guide=GUIDE)
    asked = len(world.embedder.calls)
    (again,) = await world.ingest(guide=GUIDE)
    assert (again.outcome, again.version) == ("unchanged", 1)
    assert len(world.ingested) == 1
    assert len(world.embedder.calls) == asked


async def test_an_edited_file_is_a_version_that_shares_the_sections_that_did_not_change(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(guide=GUIDE)
    edited = GUIDE.replace("One file.", "Two files.").replace("2026-02-03", "2026-02-04")
    (done,) = await world.ingest(guide=edited)
    assert (done.outcome, done.version, done.sections, done.new_sections) == ("changed", 2, 2, 1)
    first, second = world.ingested
    assert second.sections[0].episode_uuid == first.sections[0].episode_uuid
    assert [one.content for one in second.episodes] == ["## Storage\r\n\r\nTwo files.\r\n"]
    assert await world.text() == edited
    assert first.episodes[1].uuid in world.graph.tables.episodes, "the older section stays"
    (back,) = await world.ingest(guide=GUIDE)
    assert (back.outcome, back.version, back.new_sections) == ("changed", 3, 0)
    assert await world.text() == GUIDE


async def test_a_section_that_stands_twice_in_a_document_is_two_episodes(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    text = "# Same\n\nText.\n\n# Same\n\nText.\n\n"
    (done,) = await world.ingest(guide=text)
    assert done.new_sections == 2
    (more,) = await world.ingest(guide=text + "# More\n\nText.\n")
    assert await world.text() == text + "# More\n\nText.\n"
    assert more.new_sections == 2, "one of the twins is shared"


async def test_a_file_under_another_path_keeps_its_document(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(guide=GUIDE)
    (tmp_path / "sub").mkdir()
    (tmp_path / "guide.md").rename(tmp_path / "sub" / "moved.md")
    given = [Given(tmp_path / "sub" / "moved.md", "guide")]
    (done,) = [one async for one in world.ingesting.ingest(Caller(), given, tmp_path, None)]
    assert (done.outcome, done.version) == ("moved", 1)
    document = await world.graph.documents.present("default", "guide")
    assert document is not None
    assert document.path == "sub/moved.md"
    assert await world.text() == GUIDE


async def test_a_document_with_the_text_of_another_shares_its_sections(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(guide=GUIDE)
    (done,) = await world.ingest(renamed=GUIDE)
    assert (done.outcome, done.version, done.new_sections) == ("new", 1, 0)
    assert await world.text("renamed") == GUIDE
    assert await world.text("guide") == GUIDE, "the former one stays"


async def test_groups_have_their_own_documents(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.ingest(guide=GUIDE)
    (done,) = await world.ingest(group="other", guide=GUIDE)
    assert (done.outcome, done.new_sections) == ("new", 2)
    assert await world.text(group="other") == GUIDE


async def test_a_file_that_cannot_be_stored_says_why_and_stops_no_other(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    done = {one.name: one for one in await world.ingest(empty=" \n", guide=GUIDE, nul="a\0b")}
    assert {name: one.outcome for name, one in done.items()} == {"empty": "failed", "guide": "new", "nul": "failed"}
    assert "contains no text" in (done["empty"].reason or "")
    assert len(world.ingested) == 1


async def test_without_a_model_it_is_stored_and_embedded_later(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    world.embedder.is_away = True
    (done,) = await world.ingest(guide=GUIDE)
    assert done.outcome == "new"
    assert not world.graph.tables.vectors
    assert len(world.ingested[0].passages) == 5


async def test_a_crash_leaves_nothing_or_the_whole_document(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    world.graph.fail_next_apply(when="halfway")
    (done,) = await world.ingest(guide=GUIDE)
    assert done.outcome == "failed"
    (again,) = await world.ingest(guide=GUIDE)
    assert again.outcome == "unchanged", "the write was journalled, and the next of its group finishes it"
    assert await world.text() == GUIDE


@pytest.mark.parametrize("name", ["", " ", " a", "a\nb", "x" * 101])
async def test_a_name_is_one_line_of_at_most_100_characters(tmp_path: Path, name: str) -> None:
    world = SourcesWorld(tmp_path)
    with pytest.raises(InvalidInput, match="name needs"):
        _ = [one async for one in world.ingesting.ingest(Caller(), [Given(tmp_path / "a.md", name)], tmp_path, None)]


async def test_two_files_of_one_name_are_refused_before_any_is_read(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    given = [Given(tmp_path / "a.md", "same"), Given(tmp_path / "b.md", "same")]
    with pytest.raises(InvalidInput, match="Two files would be the document 'same'"):
        _ = [one async for one in world.ingesting.ingest(Caller(), given, tmp_path, None)]


async def test_who_may_only_read_ingests_nothing(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    with pytest.raises(NotAllowed):
        await world.ingest(caller=Caller(read_only=True, tier="reader"), guide=GUIDE)
    assert world.ingested == []
