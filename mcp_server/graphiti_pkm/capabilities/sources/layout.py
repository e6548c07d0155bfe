"""Divides a document into sections, paragraphs and sentences, with half-open code-point offsets. Pure.

A paragraph is a top-level block of the text: of Markdown as a CommonMark parser sees it (a heading, a list with all its
items, a table, a quotation, code), of plain text what blank lines separate. What no block covers, as definitions of
links, is a paragraph too, so that every word stands in a sentence and can be found and forgotten.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from graphiti_pkm.core.model.passages import Span, split_passages
from graphiti_pkm.errors import InvalidInput

Format = Literal["markdown", "text"]

MOST_SECTIONS = 2_000
"""In a document with more headings, neighbouring sections are joined."""
MOST_PARTS = 2 * MOST_SECTIONS
"""With the parts of long sections a document never has more."""
_LONGEST_SECTION = 20_000
"""A longer section is divided between two paragraphs, so that it has no more passages than an episode may have."""
MOST_LINES = MOST_SENTENCES = 100_000
"""Of a document; what is made of one with more would not fit into memory."""
_TITLE = 150
_LINE_BREAK = re.compile(r"\r\n?|\n")
"""As the parser sees lines; it knows no other separators."""
_BLANK_LINES = re.compile(r"(?:\r\n?|\n)(?:[ \t\f\v]*(?:\r\n?|\n))+")
_FRONT = re.compile(r"---[ \t]*(?:\r\n?|\n)(.*?)^(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"([A-Za-z][\w -]{0,63}):[ \t]+(\S.*)")


@dataclass(frozen=True)
class Part:
    """A section: ``[start, end)`` in the document."""

    title: str
    """The headings that lead to it; empty before the first."""
    start: int
    end: int
    paragraph: int
    """The number of its first paragraph, from 1; 0 is front matter."""
    spans: tuple[Span, ...]
    """Its passages, by offsets in the section; paragraphs and sentences from 0."""


@dataclass(frozen=True)
class Layout:
    """A divided document: front matter and sections, with nothing between them."""

    front: str
    parts: tuple[Part, ...]
    """Empty if there is no word."""

    @property
    def fields(self) -> dict[str, str]:
        """The plain lines ``name: value`` of the front matter; names in lower case, quotation marks left out."""
        found = (_FIELD.fullmatch(line) for line in _LINE_BREAK.split(self.front))
        return {one[1].strip().lower(): one[2].strip().strip("\"'") for one in found if one}

    def with_front_told(self) -> "Layout":
        """The front matter as paragraph 0 of the first section, for a record that states its status there."""
        if not self.front or not self.parts:
            return self
        first, shift = self.parts[0], len(self.front)
        own, _ = _passages(self.front, 0, _block(self.front, 0, shift))
        others = (
            span.model_copy(
                update={"paragraph": span.paragraph + 1, "start": span.start + shift, "end": span.end + shift}
            )
            for span in first.spans
        )
        told = replace(first, start=0, paragraph=0, spans=(*own, *others))
        return Layout("", (told, *self.parts[1:]))

    def cut_at(self, text: str, places: Sequence[int]) -> "Layout":
        """With a sentence of its own from each of these offsets of the document on."""
        parts = [replace(part, spans=tuple(_cut(text, part, places))) for part in self.parts]
        return replace(self, parts=tuple(parts)) if places else self


def _cut(text: str, part: Part, places: Sequence[int]) -> Iterator[Span]:
    paragraph, more = -1, 0
    for span in part.spans:
        if span.paragraph != paragraph:
            paragraph, more = span.paragraph, 0
        begin, end = part.start + span.start, part.start + span.end
        edges = [begin, *sorted(one for one in set(places) if begin < one < end), end]
        for place, (first, last) in enumerate(pairwise(edges)):
            more += place > 0
            kept = first - part.start, first + len(text[first:last].rstrip()) - part.start
            yield span.model_copy(update={"sentence": span.sentence + more, "start": kept[0], "end": kept[1]})


@dataclass(frozen=True)
class Block:
    start: int
    end: int
    level: int = 0
    """Of a heading; 0: it is none."""
    heading: str = ""


@dataclass
class _Section:
    title: str
    start: int
    blocks: list[Block] = field(default_factory=list)
    is_headings_only: bool = True


def divide(text: str, kind: Format) -> Layout:
    """The sections of a text, which may have any line breaks.

    Raises:
        InvalidInput: it has too many lines or sentences.
    """
    if sum(map(text.count, "\r\n")) - text.count("\r\n") > MOST_LINES:
        raise _too_many("lines", MOST_LINES)
    begin = len(front_of(text)) if kind == "markdown" else 0
    blocks = markdown_blocks(text, begin) if kind == "markdown" else _text_blocks(text)
    sections = list(_sections(blocks, len(text)))
    parts: list[Part] = []
    paragraph, sentences = 1, 0
    for place, section in enumerate(sections):
        start = section.start if place else begin
        end = sections[place + 1].start if place + 1 < len(sections) else len(text)
        spans, count = _passages(text, start, section.blocks)
        sentences += len(spans)
        if sentences > MOST_SENTENCES:
            raise _too_many("sentences", MOST_SENTENCES)
        parts.append(Part(section.title, start, end, paragraph, tuple(spans)))
        paragraph += count
    return Layout(text[:begin], tuple(parts))


def front_of(text: str) -> str:
    """The front matter of Markdown, with its lines of ``---`` and the line break."""
    found = _FRONT.match(text)
    return found[0] if found else ""


def _too_many(what: str, most: int) -> InvalidInput:
    return InvalidInput(f"There are more than {most:,} {what} in it. Nothing of it was stored; divide it.")


def _sections(blocks: Iterable[Block], length: int) -> Iterator[_Section]:
    """A heading begins one; headings without a text of their own join the section that follows."""
    least = length // MOST_SECTIONS
    path: list[Block] = []
    section = _Section("", 0)
    for block in blocks:
        is_next = bool(section.blocks) and block.end - section.start > _LONGEST_SECTION
        if block.level:
            path = [one for one in path if one.level < block.level] + [block]
            is_next |= not section.is_headings_only and block.start - section.start >= least
        if is_next:
            yield section
            section = _Section("", block.start)
        if section.is_headings_only:
            section.title = " > ".join(one.heading for one in path)[:_TITLE]
        section.blocks.append(block)
        section.is_headings_only = section.is_headings_only and block.level > 0
    if section.blocks:
        yield section


def _passages(text: str, start: int, blocks: Iterable[Block]) -> tuple[list[Span], int]:
    """The passages of a section, and how many paragraphs it has."""
    spans: list[Span] = []
    paragraph = 0
    for block in blocks:
        found = split_passages(text[block.start : block.end])
        if not found:
            continue
        sentences: dict[tuple[int, int], int] = {}
        for place, one in enumerate(found):
            spans.append(
                Span(
                    paragraph=paragraph,
                    sentence=sentences.setdefault((one.paragraph, one.sentence), len(sentences)),
                    start=block.start - start + (one.start if place else 0),
                    end=block.start - start + (one.end if place + 1 < len(found) else block.end - block.start),
                )
            )
        paragraph += 1
    return spans, paragraph


def _text_blocks(text: str) -> Iterator[Block]:
    begin = 0
    for gap in _BLANK_LINES.finditer(text):
        yield from _block(text, begin, gap.start())
        begin = gap.end()
    yield from _block(text, begin, len(text))


def markdown_blocks(text: str, begin: int) -> Iterator[Block]:
    """The top-level blocks from an offset on."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 only where a document is read

    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    lines = [begin, *(gap.end() for gap in _LINE_BREAK.finditer(text, begin)), len(text)]
    done = begin
    tokens = parser.parse(text[begin:])
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        start, end = (lines[min(line, len(lines) - 1)] for line in token.map)
        yield from _block(text, done, start)
        done = end
        if token.type == "heading_open":
            yield from _block(text, start, end, int(token.tag[1:]), tokens[place + 1].content)
        elif token.type != "hr":
            yield from _block(text, start, end)
    yield from _block(text, done, len(text))


def _block(text: str, start: int, end: int, level: int = 0, heading: str = "") -> Iterator[Block]:
    """One block without the white space around it; none if there is nothing else."""
    piece = text[start:end]
    if piece.strip():
        first = start + len(piece) - len(piece.lstrip())
        yield Block(first, start + len(piece.rstrip()), level, " ".join(heading.split()))
