"""Sections, paragraphs and sentences of a document by their offsets."""

import random
import re

import pytest

from graphiti_pkm.capabilities.sources.layout import MOST_PARTS, MOST_SECTIONS, Format, Layout, divide
from graphiti_pkm.core.model.passages import MOST_PASSAGES
from graphiti_pkm.errors import InvalidInput

GUIDE = """\
---
title: "The guide"
Date: 2026-03-01
---
Before any heading.

# Guide

## Storage

We keep it in SQLite. It is one file.

- one item
- another item

  with a second paragraph

| a | b |
|---|---|
| 1 | 2 |

---

> A quotation
> of two lines.

```python
x = 1

y = 2
```

[link]: https://example.org "A title"

## Search

The end\
"""


def places_of(text: str, kind: Format = "markdown") -> dict[int, tuple[int, int]]:
    """Each paragraph by its number, from its first sentence to its last, as ``[start, end)``."""
    layout = divide(text, kind)
    ends: dict[int, list[int]] = {}
    for part in layout.parts:
        for span in part.spans:
            ends.setdefault(part.paragraph + span.paragraph, []).extend(
                (part.start + span.start, part.start + span.end)
            )
    return {number: (min(places), max(places)) for number, places in ends.items()}


def paragraphs_of(text: str, kind: Format = "markdown") -> dict[int, str]:
    """The words of each paragraph by its number."""
    return {number: text[start:end] for number, (start, end) in places_of(text, kind).items()}


def sentences_of(text: str, paragraph: int, kind: Format = "markdown") -> list[str]:
    found: dict[int, str] = {}
    for part in divide(text, kind).parts:
        for span in part.spans:
            if part.paragraph + span.paragraph == paragraph:
                found[span.sentence] = (
                    found.get(span.sentence, "") + text[part.start + span.start : part.start + span.end]
                )
    assert list(found) == list(range(len(found)))
    return list(found.values())


def test_a_paragraph_is_a_block_and_is_numbered_from_1_without_the_front_matter() -> None:
    assert paragraphs_of(GUIDE) == {
        1: "Before any heading.",
        2: "# Guide",
        3: "## Storage",
        4: "We keep it in SQLite. It is one file.",
        5: "- one item\n- another item\n\n  with a second paragraph",
        6: "| a | b |\n|---|---|\n| 1 | 2 |",
        7: "> A quotation\n> of two lines.",
        8: "```python\nx = 1\n\ny = 2\n```",
        9: '[link]: https://example.org "A title"',
        10: "## Search",
        11: "The end",
    }


def test_sentences_count_from_0_in_their_paragraph() -> None:
    assert sentences_of(GUIDE, 4) == ["We keep it in SQLite.", "It is one file."]
    assert sentences_of(GUIDE, 5) == ["- one item", "- another item", "with a second paragraph"]
    assert sentences_of("Eins. Zwei!\nDrei?", 1) == ["Eins.", "Zwei!", "Drei?"]


def test_front_matter_is_metadata() -> None:
    layout = divide(GUIDE, "markdown")
    assert layout.front == '---\ntitle: "The guide"\nDate: 2026-03-01\n---\n'
    assert layout.fields == {"title": "The guide", "date": "2026-03-01"}
    assert layout.parts[0].start == len(layout.front)


@pytest.mark.parametrize("text", ["---\nnever closed\n\nText.", " ---\na: b\n---\nText.", "Text.\n---\na: b\n---\n"])
def test_what_is_no_front_matter_is_text(text: str) -> None:
    layout = divide(text, "markdown")
    assert (layout.front, layout.fields) == ("", {})
    assert layout.parts[0].start == 0


def test_a_section_begins_with_a_heading_and_is_called_by_the_way_to_it() -> None:
    text = "Intro.\n\n# A\n\n## B\n\nText of B.\n\n### C\n\nText of C.\n\n## D\n\nText of D.\n\n# E\n"
    layout = divide(text, "markdown")
    assert [(part.title, text[part.start : part.end]) for part in layout.parts] == [
        ("", "Intro.\n\n"),
        ("A > B", "# A\n\n## B\n\nText of B.\n\n"),
        ("A > B > C", "### C\n\nText of C.\n\n"),
        ("A > D", "## D\n\nText of D.\n\n"),
        ("E", "# E\n"),
    ]
    assert [part.paragraph for part in layout.parts] == [1, 2, 5, 7, 9]


def test_a_long_section_is_divided_between_paragraphs() -> None:
    text = "# Long\n\n" + "\n\n".join(f"Paragraph {number}. {'Word ' * 400}" for number in range(30))
    layout = divide(text, "markdown")
    assert len(layout.parts) > 2
    assert {part.title for part in layout.parts} == {"Long"}
    assert all(part.end - part.start <= 20_010 for part in layout.parts)
    assert len(paragraphs_of(text)) == 31


def test_of_very_many_headings_neighbours_are_one_section() -> None:
    text = "".join(f"# H{number}\n\nText {number}.\n\n" for number in range(3 * MOST_SECTIONS))
    layout = divide(text, "markdown")
    assert MOST_SECTIONS / 2 < len(layout.parts) <= MOST_SECTIONS + 1
    assert len(paragraphs_of(text)) == 6 * MOST_SECTIONS
    long = text * 3 + ("word " * 2_200 + "\n\n") * 300
    assert 300 < len(divide(long, "markdown").parts) <= MOST_PARTS


def test_a_section_never_has_more_passages_than_are_read_of_an_episode() -> None:
    headings = divide("# H\n" * 90_000, "markdown")
    assert [part.title for part in headings.parts] == ["H"] * len(headings.parts)
    sentences = divide("# H\n\n" + "A. " * 90_000, "markdown")
    listed = divide("- a\n" * 90_000, "markdown")
    for layout in (headings, sentences, listed):
        assert max(len(part.spans) for part in layout.parts) <= MOST_PASSAGES


@pytest.mark.parametrize(
    ("text", "what"),
    [("\n" * 100_001, "lines"), ("\r\n" * 100_001, "lines"), ("Ab. Cd. Ef.\n\n" * 34_000, "sentences")],
)
def test_what_would_not_fit_into_memory_is_refused(text: str, what: str) -> None:
    with pytest.raises(InvalidInput, match=f"more than 100,000 {what}"):
        divide(text, "markdown")


def test_plain_text_has_no_headings_and_no_front_matter() -> None:
    text = "---\na: b\n---\r\n\r\n# No heading.\r\n \r\nSecond. Third.\r\r\rFourth."
    assert paragraphs_of(text, "text") == {
        1: "---\na: b\n---",
        2: "# No heading.",
        3: "Second. Third.",
        4: "Fourth.",
    }
    (part,) = divide(text, "text").parts
    assert part.title == ""


@pytest.mark.parametrize("text", ["", " \n\n ", "---\na: b\n---\n"])
def test_without_a_word_there_is_no_section(text: str) -> None:
    assert divide(text, "markdown").parts == ()


PIECES = (
    *("# Héading\n", "Setext\n===\n", "## Two *words*\n", "#\n"),
    *("Plain sentence. Another one! ", "Line one\nline two.\n", "🎉 Emoji 𝔸. ", "中文句子。第二句。", "नमस्ते दुनिया। "),
    *("e\u0301 combining. ", "a\u200db\u2028c. ", "\u00a0space. ", "\tTab. ", "[left out] ", "&amp; \\* `code` "),
    *("- item\n", "  - nested\n", "1. first\n", "* * *\n", "---\n", "+ a\n\n  b\n", "10) ten\n"),
    *("> quoted\n", "> > deeper\n", "    indented code\n", "```\nfence\n\ninside\n```\n", "~~~ x\nopen fence\n"),
    *("| a | b |\n|---|---|\n| 1 | 2 |\n", "<div>\nhtml\n</div>\n", "<!-- comment -->\n", "[a]: /url 'title'\n"),
    *("\n", "\n\n", " \n", "\r\n", "\r", "\x0b", "\x0c", "\x85", "\ufeff", "[forgotten]\n"),
)
FRONTS = ("", "", "---\nkey: value\n---\n", "---\r\nkey: vålue\r\n...\r\n", "---\n---\n")


def a_text(seed: int) -> str:
    """A document of pieces of Markdown in any order, with one kind of line breaks or all of them."""
    chance = random.Random(seed)  # noqa: S311 repeatable, no secret
    text = chance.choice(FRONTS) + "".join(chance.choices(PIECES, k=chance.randrange(1, 40)))
    if chance.random() < 0.3:
        text = re.sub(r"\r\n|\r|\n", "\r\n", text)
    return text


def check(text: str, layout: Layout) -> None:
    """Sections divide the text without a gap; passages stand in order; all that is no rule or space is in one."""
    assert layout.front + "".join(text[part.start : part.end] for part in layout.parts) == (
        text if layout.parts else layout.front
    )
    covered: set[int] = set()
    number, end = 1, len(layout.front)
    for part in layout.parts:
        assert (part.paragraph, part.start) == (number, end)
        end = part.end
        last = (0, 0, 0)
        for span in part.spans:
            assert 0 <= span.start < span.end <= part.end - part.start
            assert (span.paragraph, span.sentence, span.start) >= last
            sentence = text[part.start + span.start : part.start + span.end]
            assert sentence == sentence.strip()
            covered |= set(range(part.start + span.start, part.start + span.end))
            last = (span.paragraph, span.sentence, span.end)
            number = part.paragraph + span.paragraph + 1
    left = "".join(
        letter for place, letter in enumerate(text[len(layout.front) :], len(layout.front)) if place not in covered
    )
    assert not re.search(r"[^\W_]", left.replace("left out", "")), left


@pytest.mark.parametrize("batch", range(20))
def test_offsets_hold_for_any_text(batch: int) -> None:
    for seed in range(batch * 50, batch * 50 + 50):
        text = a_text(seed)
        for kind in ("markdown", "text"):
            check(text, divide(text, kind))


@pytest.mark.parametrize("seed", range(40))
def test_line_breaks_move_offsets_and_change_no_paragraph(seed: int) -> None:
    text = re.sub(r"\r\n?|[\x0b\x0c\x85\u2028]", "\n", a_text(seed))
    other = text.replace("\n", "\r\n")
    plain = {number: found.replace("\r\n", "\n") for number, found in paragraphs_of(other).items()}
    assert plain == paragraphs_of(text)
