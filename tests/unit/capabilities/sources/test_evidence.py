"""Quotes as evidence: found word for word, shown at their place, and left as they are by later versions."""

from pathlib import Path

import pytest
from pydantic import ValidationError
from tests.worlds.sources_world import SourcesWorld

from graphiti_pkm.capabilities.sources.evidence import located
from graphiti_pkm.capabilities.sources.requests import AddEvidence
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotAllowed, NotFound

GUIDE = """\
---
by: Anna
---
# Guide 🎉

Tom runs the
service. It is fast. It is small.

> Quoted words
> go on.

## Storage

One file. Tom owns it.
"""


async def begun(root: Path) -> SourcesWorld:
    world = SourcesWorld(root)
    await world.make("Tom", "Sarah")
    await world.ingest(guide=GUIDE)
    return world


async def test_a_quote_is_kept_as_it_stands_with_its_place_in_the_document(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    added = await world.add("Tom", " Tom runs\tthe service. It is fast. ", 2)
    assert added.quote == "Tom runs the\nservice. It is fast."
    assert GUIDE[added.start : added.end] == added.quote
    assert (added.source_id, added.document, added.version, added.paragraph, added.sentence) == (
        "guide_p2",
        "guide",
        1,
        2,
        0,
    )
    assert added.context == "Tom runs the\nservice. It is fast. It is small."
    assert added.context == GUIDE[added.context_start : added.context_end]
    (source,) = (await world.sources("Tom")).sources
    assert dict(source) == {name: getattr(added, name) for name in dict(source)}
    assert (await world.sources("Sarah")).total == 0


RECORD = """\
# Use one store

Status: accepted

Deciders: Ann Lee

## Context

Where do the rows go?

## Decision

One file holds them.
"""


async def test_who_asks_about_a_decision_hears_in_which_document_its_facts_stand(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    await world.ingest(**{"0001-store": RECORD})
    of_decision = await world.sources("ADR 1")
    assert of_decision.message == (
        "No quote from a document was added as evidence of 'ADR 1'. Its facts are told in 0001-store: get_fact_sources "
        "shows the words of each, source_id the document."
    )
    of_decider = await world.sources("Ann Lee")
    assert "told in 0001-store" in of_decider.message
    assert "told in" not in (await world.sources("Tom")).message, "no fact of his is"
    await world.add("ADR 1", "One file. Tom owns it.")
    with_another = await world.sources("ADR 1")
    assert with_another.message == (
        "1 of 1 quotes that are evidence of 'ADR 1', the newest document first. Its facts are told in 0001-store: "
        "get_fact_sources shows the words of each, source_id the document."
    )
    await world.add("ADR 1", "One file holds them.", document="0001-store")
    assert "told in" not in (await world.sources("ADR 1")).message, "a source names the document already"
    first = await world.sources("ADR 1", limit=1)
    assert "told in" not in first.message, "what is on other pages is not known"


async def test_of_many_documents_the_facts_of_an_entity_name_some(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    await world.ingest(**{f"000{number}-store": RECORD.replace("one", f"{number}") for number in range(1, 8)})
    message = (await world.sources("Ann Lee")).message
    assert message.count("-store") == 5
    assert "-store and 2 more: get_fact_sources" in message


async def test_sentences_count_from_0_and_marks_of_a_quotation_are_no_words(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    assert (await world.add("Tom", "small", 2)).sentence == 2
    assert (await world.add("Tom", "Quoted words go on.", 3)).quote == "Quoted words\n> go on."


@pytest.mark.parametrize(
    ("quote", "paragraph"),
    [
        ("Tom runs the Service.", 2),
        ("Tom runs the service. It is small.", 2),
        ("Anna", 1),
        ("Anna", None),
        ("  ", 2),
    ],
)
async def test_a_quote_that_is_not_there_word_for_word_is_refused(
    tmp_path: Path, quote: str, paragraph: int | None
) -> None:
    world = await begun(tmp_path)
    with pytest.raises(InvalidInput, match="word for word"):
        await world.add("Tom", quote, paragraph)
    assert (await world.sources("Tom")).total == 0


async def test_without_a_paragraph_the_only_one_with_the_words_is_taken_and_of_several_each_is_named(
    tmp_path: Path,
) -> None:
    world = await begun(tmp_path)
    assert (await world.add("Tom", "It is fast.")).paragraph == 2
    assert (await world.add("Tom", "Tom owns it.")).source_id == "guide_p5"
    with pytest.raises(InvalidInput, match="stands in paragraphs 2, 5 of 'guide': send one"):
        await world.add("Tom", "Tom")
    for wrong in (4, 6, 1_000):
        with pytest.raises(InvalidInput, match=f"not in paragraph {wrong} of 'guide', but in paragraph 2"):
            await world.add("Tom", "It is fast.", wrong)
    await world.ingest(guide="\n\n".join(f"The same. Part {number}." for number in range(12)))
    with pytest.raises(InvalidInput, match=r"paragraphs 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more of 'guide'"):
        await world.add("Tom", "The same.")
    assert (await world.add("Tom", "The same.", 12)).paragraph == 12


async def test_a_heading_is_no_evidence_but_says_where_a_quote_stands(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.make("Tom")
    text = "# Use one store\n\nWe use one store.\n\n## Status\n\nAccepted: Status final.\n\n# End\n\nX.\n"
    await world.ingest(guide=text)
    for paragraph in (3, None):
        with pytest.raises(InvalidInput, match=r"the heading in paragraph [35], and a heading alone is no evidence"):
            await world.add("Tom", "# End" if paragraph is None else "## Status", paragraph)
    assert (await world.sources("Tom")).total == 0
    assert (await world.add("Tom", "Status")).paragraph == 4, "of two places the heading does not count"
    assert (await world.add("Tom", "use one store")).section == "Use one store"
    found = {one.quote: one.section for one in (await world.sources("Tom")).sources}
    assert found == {"use one store": "Use one store", "Status": "Use one store > Status"}
    await world.ingest(plain="Only words.\n")
    assert (await world.add("Tom", "Only words.", document="plain")).section is None


async def test_a_heading_that_is_underlined_is_no_evidence_either(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.make("Tom")
    await world.ingest(
        guide="Use one store\n=============\n\nWe use one store.\n\nStatus\n---\n\nAccepted: Status final.\n"
    )
    for quote in ("Use one store", "Use one store\n=============", "Use", "="):
        with pytest.raises(InvalidInput, match="the heading in paragraph 1, and a heading alone is no evidence"):
            await world.add("Tom", quote, 1)
    assert (await world.add("Tom", "Status")).section == "Use one store > Status"
    assert (await world.add("Tom", "use one store")).paragraph == 2


async def test_what_is_not_there_is_refused(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    with pytest.raises(NotFound, match="no document 'other'"):
        await world.add("Tom", "Tom", 1, document="other")
    with pytest.raises(NotFound):
        await world.add("00000000-0000-4000-8000-000000000000", "Tom", 2)
    with pytest.raises(NotAllowed):
        await world.add("Tom", "Tom", 2, caller=Caller(read_only=True, tier="reader"))
    eve = Caller(principal="eve")
    with pytest.raises(NotFound):
        await world.add(world.entity("Tom").uuid, "Tom", 2, caller=eve)
    await world.make("Eva", caller=eve)
    with pytest.raises(NotFound, match="no document 'guide'"):
        await world.add("Eva", "Tom", 2, caller=eve)


@pytest.mark.parametrize("paragraph", [0, -1])
def test_paragraphs_begin_with_1(paragraph: int) -> None:
    with pytest.raises(ValidationError):
        AddEvidence(entity_uuid="me", quote="Tom", document="guide", paragraph=paragraph)


async def test_the_same_quote_again_is_the_same_evidence(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    first = await world.add("Tom", "One file.", 5)
    state, rows = dict(world.graph.tables.instances), len(world.journal.table)
    again = await world.add("Tom", "One  file.", 5)
    assert again.evidence_uuid == first.evidence_uuid
    assert (first.changed, again.changed) == (True, False)
    assert "already evidence of 'Tom'" in again.message
    assert (world.graph.tables.instances, len(world.journal.table)) == (state, rows)
    assert (await world.add("Tom", "One", 5)).changed
    await world.make("Eva")
    assert (await world.add("Eva", "One file.", 5)).changed


async def test_the_same_quote_is_one_in_every_version_that_shares_its_section(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    first = await world.add("Tom", "Tom owns it.", 5)
    await world.ingest(guide=GUIDE.replace("It is fast.", "It is slow."))
    again = await world.add("Tom", "Tom owns it.", 5)
    assert (again.changed, again.evidence_uuid) == (False, first.evidence_uuid)
    assert (await world.sources("Tom")).total == 1


async def test_a_later_version_leaves_a_quote_at_its_place_and_says_that_it_is_superseded(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    old = await world.add("Tom", "Tom owns it.", 5)
    edited = GUIDE.replace("One file. Tom", "New words before. One file. Tom").replace("# Guide", "# The guide")
    await world.ingest(guide=edited)
    new = await world.add("Tom", "Tom owns it.", 5)
    first, second = (await world.sources("Tom")).sources
    assert (first.version, first.superseded, first.start) == (2, None, new.start)
    assert edited[first.start : first.end] == "Tom owns it."
    assert (second.version, second.superseded, second.start) == (1, True, old.start)
    assert GUIDE[second.start : second.end] == "Tom owns it."
    with pytest.raises(InvalidInput):
        await world.add("Tom", "a quote of no version", 5)


async def test_a_quote_from_a_section_that_the_present_version_shares_is_not_superseded(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    await world.add("Tom", "Tom owns it.", 5)
    await world.add("Tom", "It is fast.", 2)
    await world.ingest(guide=GUIDE.replace("It is fast.", "It is slow."))
    await world.ingest(guide=GUIDE.replace("It is fast.", "It is slow again."))
    first, second = (await world.sources("Tom")).sources
    assert (first.quote, first.version, first.superseded) == ("It is fast.", 1, True)
    assert (second.quote, second.version, second.superseded) == ("Tom owns it.", 1, None)
    await world.ingest(guide=GUIDE.replace("Tom owns it.", "Sarah owns it."))
    assert [one.superseded for one in (await world.sources("Tom")).sources] == [True, True]


async def test_a_mode_shows_nothing_the_paragraph_or_the_section_around(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    await world.add("Tom", "It is fast.", 2)
    (quote,) = (await world.sources("Tom", mode="quote")).sources
    assert (quote.context, quote.context_start, quote.context_end) == (None, None, None)
    (section,) = (await world.sources("Tom", mode="section")).sources
    assert section.context == GUIDE[section.context_start : section.context_end]
    assert section.context.startswith("# Guide 🎉")
    assert section.context.endswith("> go on.\n\n")


async def test_of_a_long_section_the_part_around_the_quote_is_shown(tmp_path: Path) -> None:
    world = SourcesWorld(tmp_path)
    await world.make("Tom")
    text = "# Long\n\n" + "".join(f"Sentence number {number} of many. " for number in range(500))
    await world.ingest(guide=text)
    await world.add("Tom", "Sentence number 499 of many.", 2)
    (source,) = (await world.sources("Tom", mode="section")).sources
    assert source.cut
    assert source.context is not None
    assert source.context == text[source.context_start : source.context_end]
    assert "Sentence number 499" in source.context
    assert len(source.context) == 2_000


async def test_pages_go_on_where_the_last_ended_and_leave_out_what_came_meanwhile(tmp_path: Path) -> None:
    world = await begun(tmp_path)
    for quote, paragraph in (("Tom owns it.", 5), ("It is small.", 2), ("Quoted words", 3)):
        await world.add("Tom", quote, paragraph)
    page = await world.sources("Tom", limit=2)
    assert [one.paragraph for one in page.sources] == [2, 3]
    assert (page.total, page.truncated) == (3, True)
    await world.add("Tom", "One file.", 5)
    rest = await world.sources("Tom", limit=2, cursor=page.next_cursor)
    assert [one.quote for one in rest.sources] == ["Tom owns it."]
    assert rest.next_cursor is None
    with pytest.raises(InvalidCursor):
        await world.sources("Tom", mode="quote", cursor=page.next_cursor)


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("a.b", "a.b", (0, 3)),
        ("axb", "a.b", None),
        ("one\r\n\ttwo", "one two", (0, 9)),
        ("one> two", "one two", None),
        ("one > two", "one two", None),
        ("> one\n> > two\n>three", "one two  three", (2, 20)),
        ("> one\n> two", "> one\n> two", (2, 11)),
        ("", "one", None),
        ("one", "  ", None),
    ],
)
def test_white_space_alone_may_differ(text: str, quote: str, found: tuple[int, int] | None) -> None:
    assert located(text, (0, len(text)), quote) == found


def test_a_long_paragraph_of_one_word_is_searched_at_once() -> None:
    text = "a " * 500_000
    assert located(text, (0, len(text)), "a " * 999 + "b") is None


def test_words_outside_of_the_paragraph_are_not_found() -> None:
    assert located("one two one", (4, 7), "one") is None
    assert located("one two one", (4, 11), "one") == (8, 11)
