"""The text of a document by the ids of its paragraphs: exact, in pages, and of nobody else's."""

from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.worlds.sources_world import SourcesWorld

from graphiti_pkm.capabilities.sources.models import DocumentText
from graphiti_pkm.capabilities.sources.requests import GetEntitySources
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotFound

FRONT = "---\nby: Anna\n---\n"
TEXT = FRONT + "".join(
    f"{'#' * (1 + number % 3)} Part {number} 🎈\n\nTom has {number}. It is so.\n\n---\n\n- item\n- {number}\n\n"
    for number in range(1, 16)
).replace("\n", "\r\n")
"""45 paragraphs, each of a section its heading, a paragraph and a list."""


async def begun(root: Path) -> SourcesWorld:
    world = SourcesWorld(root)
    await world.make("Tom")
    await world.ingest(guide=TEXT)
    return world


async def shown(world: SourcesWorld, source_id: str, **fields: int) -> DocumentText:
    read = (await world.read("Tom", source_id, **fields)).text
    assert read is not None
    assert TEXT[read.start : read.end] == read.text
    return read


async def test_the_id_of_a_quote_leads_to_its_paragraph_and_no_two_paragraphs_have_one(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    quoted = await world.add("Tom", "Tom has 14.")
    assert quoted.source_id == "guide_p41"
    read = await shown(world, quoted.source_id)
    assert (read.text, read.paragraph, read.end_paragraph, read.version) == ("Tom has 14. It is so.", 41, 41, 1)
    assert (read.document, read.path) == ("guide", "guide.md")
    texts = [(await shown(world, f"guide_p{number}")).start for number in range(1, 46)]
    assert texts == sorted(set(texts))


async def test_paragraphs_are_read_from_one_to_another_both_included_and_in_order(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    read = await shown(world, "guide_p40", end_paragraph=45)
    assert read.text.startswith("### Part 14 🎈")
    assert read.text.endswith("- item\r\n- 15")
    assert [read.text.count(one) for one in ("Part", "It is so.", "- item")] == [2, 2, 2]
    assert (await shown(world, "guide", end_paragraph=1)).text == FRONT + "## Part 1 🎈"
    for fields, said in (
        ({"source_id": "guide_p41", "end_paragraph": 40}, r"end_paragraph \(40\) is before paragraph 41"),
        ({"source_id": "guide_p41", "mode": "quote"}, "mode is for quotes"),
    ):
        with pytest.raises(InvalidInput, match=said):
            await world.read("Tom", **fields)
    with pytest.raises(InvalidInput, match="source_id where from"):
        await world.sources("Tom", end_paragraph=3)
    with pytest.raises(ValidationError):
        GetEntitySources(entity_uuid="me", source_id="guide", max_chars=99)


@pytest.mark.parametrize("most", [100, 237, 20_000])
async def test_a_whole_document_comes_in_pages_of_max_chars(tmp_path: Path, most: int) -> None:
    world = await begun(tmp_path)
    text, cursor, pages, paragraphs = "", None, 0, list[tuple[int, int]]()
    while pages == 0 or cursor is not None:
        page = await world.read("Tom", "guide", max_chars=most, cursor=cursor)
        assert page.text is not None
        assert (page.text.start, page.returned, page.total) == (len(text), len(page.text.text), len(TEXT))
        assert page.truncated == (page.next_cursor is not None)
        text, cursor, pages = text + page.text.text, page.next_cursor, pages + 1
        paragraphs.append((page.text.paragraph, page.text.end_paragraph))
        assert cursor is None or page.text.text[-1].isspace() or TEXT[len(text)].isspace(), "no word is cut"
        assert len(page.text.text) > most - 10 or cursor is None
    assert text == TEXT
    assert -(-len(TEXT) // most) <= pages <= -(-len(TEXT) // (most - 9))
    assert (paragraphs[0][0], paragraphs[-1][1]) == (1, 45)
    assert all(0 <= later[0] - earlier[1] <= 1 for earlier, later in pairwise(paragraphs))
    assert (most == 20_000) == (paragraphs == [(1, 45)])


async def test_a_page_of_one_word_or_of_front_matter_alone_is_cut_where_it_must_be(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    front = f"---\nby: {'x' * 300}\n---\n"
    await world.ingest(long=front + "# Long\n\n" + "y" * 250 + " end.\n")
    read, cursor = list[DocumentText](), None
    while not read or cursor is not None:
        page = await world.read("Tom", "long", max_chars=100, cursor=cursor)
        assert page.text is not None
        read, cursor = [*read, page.text], page.next_cursor
    assert [len(one.text) for one in read][1:3] == [100, 100]
    assert read[0].text == "---\nby: "
    assert (read[1].paragraph, read[1].end_paragraph) == (0, 0)
    assert (read[-1].paragraph, read[-1].end_paragraph) == (2, 2)


async def test_a_new_version_between_two_pages_is_told(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    page = await world.read("Tom", "guide_p2", end_paragraph=44, max_chars=100)
    await world.ingest(guide=TEXT.replace("Tom has 14", "Tom has none"))
    with pytest.raises(InvalidCursor, match="changed"):
        await world.read("Tom", "guide_p2", end_paragraph=44, max_chars=100, cursor=page.next_cursor)
    read = (await world.read("Tom", "guide_p41")).text
    assert read is not None
    assert (read.version, read.text) == (2, "Tom has none. It is so.")


async def test_a_name_that_ends_like_an_id_is_a_document_where_no_other_is_meant(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    await world.ingest(guide_p2="# Another", plan_p7="# A plan")
    assert (await shown(world, "guide_p2")).text == "Tom has 1. It is so."
    for source_id, text in (("guide_p2_p1", "# Another"), ("plan_p7", "# A plan")):
        read = (await world.read("Tom", source_id)).text
        assert read is not None
        assert read.text == text


@pytest.mark.parametrize(
    "source_id", ["other", "other_p1", "guide_p0", "guide_p46", "guide_p-1", "_p1", "guide.md", "../a.md"]
)
async def test_what_is_not_there_is_refused(tmp_path: Path, source_id: str) -> None:
    world = await begun(tmp_path)
    with pytest.raises(NotFound):
        await world.read("Tom", source_id)


async def test_only_documents_beside_an_entity_that_the_caller_sees_are_read(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    eve = Caller(principal="eve")
    with pytest.raises(NotFound):
        await world.read(world.entity("Tom").uuid, "guide", caller=eve)
    await world.make("Eva", caller=eve)
    with pytest.raises(NotFound, match="no document"):
        await world.read("Eva", "guide", caller=eve)
    with pytest.raises(NotFound, match="no document"):
        await world.read("me", "guide", caller=eve)
    mine = await world.read("me", "guide_p1")
    assert mine.text is not None, "me is beside what the default group has, known or not"
