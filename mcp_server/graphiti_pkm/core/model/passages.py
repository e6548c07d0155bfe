"""Splits a text into passages: sentences with their paragraph, by half-open code-point offsets.

A sentence longer than an embedding can represent is cut at clauses or words, so that every part is embedded; its pieces
share the sentence index. Offsets refer to the original text; passages never overlap and omit only white space and lines
of Markdown rules.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise

from graphiti_pkm.core.model.names import words_of
from graphiti_pkm.core.model.records import EpisodeSource, Record

BUDGET = 900
"""Maximum weight of a passage: about 900 Latin letters or 250 Chinese characters, within the model's 256 tokens."""
MOST_PASSAGES = 20_000
"""In a text with more sentences, neighbours are joined, so that the size of a write is bounded."""

_WRAPPED_LINE = 50  # a line at least this long without a final full stop continues on the next line

_LEFT_OUT = re.compile(r"\[left out\]", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[ \t\r\f\v]*\n\s*")
_LINE = re.compile(r"[^\n\r\u2028\u2029]+")
_STARTS_BLOCK = re.compile(r"\s*(?:#{1,6}\s|[-*+•‣◦]\s|\d{1,3}[.)]\s|>|\||```|[^\W\d_][\w .'’-]{0,39}:\s)")
_SPEAKER = re.compile(r"^[ \t]*([^\W\d_][\w .'’-]{0,39}:)(?=\s)", re.MULTILINE)
_HEADING = re.compile(r"\s*#{1,6}\s")
_ONLY_RULES = re.compile(r"[\s\-*_=~`|:>#+.]*")
_ENUMERATION = re.compile(r"\s*(?:[-*+•]\s*)?\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{2,4})")
_LONGEST_ENUMERATION = 8
_CLOSERS = "\"'”’»)]}›」』）】》〉"
_END = re.compile(
    rf"(?P<cjk>(?<![。！？｡．])[。！？｡．]+[{re.escape(_CLOSERS)}]*)"
    rf"|(?<![.!?…؟۔।॥])(?P<mark>[.!?…؟۔।॥]+)(?P<closers>[{re.escape(_CLOSERS)}*_]*)(?=\s)"
)
_BETWEEN_WORDS = re.compile(r"[\s(\[\"“‘«'—–-]")
_LONGEST_WORD = 40
_CLAUSE_ENDS = (re.compile(r"[;:；：—–]\s*"), re.compile(r"[,，、]\s*"), re.compile(r"\s+"))


HEADING = r"[ \t]*#{1,6}[ \t]"
"""With which a line of Markdown begins that is a heading."""
_NO_BLOCK = r" {0,3}(?!(?:[-*+•‣◦]|[0-9]{1,3}[.)])[ \t]|[>|#]|```|~~~)"
_TITLE = r"(?:[^ \t].{0,150})?[^ \t.!,;:][ \t]*"
UNDERLINED: Sequence[tuple[str, str, float]] = (
    (_NO_BLOCK + _TITLE, r" {0,3}={3,}[ \t]*", 0),
    (_NO_BLOCK + r"(?![^:]{1,40}:[ \t])" + _TITLE, r" {0,3}-{3,}[ \t]*", 0.5),
)
"""A line that is a heading if it stands alone over such a rule, the rule, and the least part of its length that it has.

A rule of dashes also divides notes: a sentence, "status: open" (front matter) and what is much longer are no headings.
"""
_HEADING_LINE = re.compile(HEADING)
_UNDERLINED = tuple((re.compile(title, re.DOTALL), re.compile(rule), part) for title, rule, part in UNDERLINED)
_RULE = re.compile(r"[ \t]*(?:={3,}|-{3,})[ \t]*")
_BREAK = re.compile(r"\r\n|[\r\n]")

_NEVER_ENDS = words_of(
    """mr mrs ms dr prof st rev hon gen col capt lt sgt maj cmdr messrs mme mlle mgr fr sr sra no nr nos vs cf fig figs
    sec ch vol ed eds pp ca approx resp incl excl dept univ bzw ggf evtl vgl abs hr hrn fam e.g i.e z.b d.h u.a p.ex
    b.c a.d al feat ft viz"""
)
_ENDS_BEFORE_CAPITAL = words_of(
    """etc a.m p.m inc ltd co corp bros jr u.s u.k ph.d b.sc m.sc usw est dist jan feb mar apr jun jul aug sep sept
    oct nov dec mon tue tues wed thu thurs fri sat sun min max avg"""
)


class Span(Record):
    """One passage: numbers of paragraph and sentence from 0, ``[start, end)`` in code points."""

    paragraph: int
    sentence: int
    start: int
    end: int


def without_left_out(text: str, fill: str = " ") -> str:
    """The text with ``fill`` in place of each mark ``[left out]``, as long as before."""
    return _LEFT_OUT.sub(lambda mark: fill * len(mark.group()), text) if "[" in text else text


def is_heading(text: str, start: int) -> bool:
    """Whether what begins there is a heading or a part of one, which says where something stands and nothing itself."""
    first, last = _line(text, start)
    if _HEADING_LINE.match(text, first) is not None:
        return True
    if _RULE.fullmatch(text, first, last) is not None:
        first, last = _line_before(text, first)
    return _is_underlined(text, first, last)


def _is_underlined(text: str, first: int, last: int) -> bool:
    """Whether a line is a heading by the rule beneath it, and the only line of it."""
    beneath = _BREAK.match(text, last)
    if beneath is None or text[slice(*_line_before(text, first))].strip(" \t"):
        return False
    rule = text[slice(*_line(text, beneath.end()))]
    length = len(text[first:last].strip(" \t"))
    return any(
        made_of.fullmatch(rule) and title.fullmatch(text, first, last) and len(rule.strip(" \t")) >= length * part
        for title, made_of, part in _UNDERLINED
    )


def _line(text: str, at: int) -> tuple[int, int]:
    """The line that has an offset, without its break."""
    end = _BREAK.search(text, at)
    return max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1, len(text) if end is None else end.start()


def _line_before(text: str, first: int) -> tuple[int, int]:
    """The line before the one that begins there; an empty one before the first."""
    end = first - (2 if text.endswith("\r\n", 0, first) else 1)
    return _line(text, end) if end >= 0 else (0, 0)


def split_passages(text: str) -> list[Span]:
    """The passages of a text in order; at least one unless the text is white space, or only marks ``[left out]``."""
    text = without_left_out(text)
    spans = [
        Span(paragraph=paragraph, sentence=number, start=start, end=end)
        for paragraph, (first, last) in enumerate(_paragraphs(text))
        for number, sentence in enumerate(_sentences(text, first, last))
        for start, end in _within_budget(text, *sentence)
    ]
    if not spans and text.strip():
        start, end = _trim(text, 0, len(text))
        return [Span(paragraph=0, sentence=0, start=a, end=b) for a, b in _within_budget(text, start, end)]
    return spans if len(spans) <= MOST_PASSAGES else _joined(text, spans)


def embedded_text(content: str, source: EpisodeSource, start: int, end: int) -> str:
    """What is embedded of a passage: of a message with its speaker in front, who is named at the beginning only.

    So a vector may hold a name that stands elsewhere in the episode: what changes a text compares these.
    """
    passage = content[start:end]
    if source != "message":
        return passage
    speaker = deque(_SPEAKER.finditer(content, 0, end), maxlen=1)
    return passage if not speaker or speaker[0].start(1) >= start else f"{speaker[0][1]} {passage}"


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for gap in _BLANK_LINES.finditer(text):
        if not _ONLY_RULES.fullmatch(text, start, gap.start()):
            yield start, gap.start()
        start = gap.end()
    if not _ONLY_RULES.fullmatch(text, start, len(text)):
        yield start, len(text)


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for first, last in _blocks(text, start, end):
        begin = first
        for stop in _stops(text, first, last):
            if not _ONLY_RULES.fullmatch(text, begin, stop):
                yield _trim(text, begin, stop)
            begin = stop
        if not _ONLY_RULES.fullmatch(text, begin, last):
            yield _trim(text, begin, last)


def _blocks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Groups lines into blocks: hard-wrapped lines belong together; list items, headings and short notes do not."""
    lines = [match.span() for match in _LINE.finditer(text, start, end) if match.group().strip()]
    if not lines:
        return
    begin = lines[0][0]
    for before, after in pairwise(lines):
        if _is_break(text[slice(*before)], text[slice(*after)]):
            yield begin, before[1]
            begin = after[0]
    yield begin, lines[-1][1]


def _is_break(before: str, after: str) -> bool:
    if _STARTS_BLOCK.match(after) or _HEADING.match(before) or _RULE.fullmatch(before):
        return True
    wrapped = len(before.strip()) >= _WRAPPED_LINE
    return not wrapped and not after.lstrip()[0].islower()


def _stops(text: str, start: int, end: int) -> Iterator[int]:
    for match in _END.finditer(text, start, end):
        if match["cjk"] or _ends_sentence(text, start, match):
            yield match.end()


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    following = text[match.end() : match.end() + 80].lstrip()
    goes_on = following[:1].islower()
    if match["mark"] != ".":
        return not goes_on or (not match["closers"] and not match["mark"].endswith((".", "…")))
    if match.start() - start <= _LONGEST_ENUMERATION and _ENUMERATION.fullmatch(text, start, match.start()):
        return False
    word = _BETWEEN_WORDS.split(text[max(start, match.start() - _LONGEST_WORD) : match.start()])[-1].casefold()
    if word in _NEVER_ENDS or (len(word) == 1 and word.isalpha()):
        return word == "i" and not goes_on  # "So did I. Then ..." ends; "J. Smith" does not
    if not goes_on:
        return True
    return word.isalpha() and len(word) > len("no") and word not in _ENDS_BEFORE_CAPITAL and not match["closers"]


def _within_budget(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while (limit := _reach(text, start, end)) < end:
        cut = _cut(text, start, limit)
        yield _trim(text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield _trim(text, start, end)


def _reach(text: str, start: int, end: int) -> int:
    """The furthest end of a passage from ``start``."""
    if end - start <= BUDGET // 4:
        return end
    weight = 0.0
    for position in range(start, end):
        weight += _weight(text[position])
        if weight > BUDGET:
            return position
    return end


def _weight(character: str) -> float:
    """Estimated WordPiece tokens of a character: letters of long words share one, digits and punctuation need more."""
    if character < "\x80":
        return 1.0 if character.isalpha() or character == " " else 2.0
    return 1.2 if character < "ɐ" else 3.5


def _cut(text: str, start: int, limit: int) -> int:
    earliest = start + (limit - start) // 3
    for boundary in _CLAUSE_ENDS:
        last = max((match.end() for match in boundary.finditer(text, earliest, limit)), default=0)
        if last > start:
            return last
    return limit


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))


def _joined(text: str, spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    weight = 0.0
    for span in spans:
        added = sum(map(_weight, text[span.start : span.end])) + 1
        if joined and weight + added <= BUDGET:
            joined[-1] = joined[-1].model_copy(update={"end": span.end})
            weight += added
        else:
            joined.append(span)
            weight = added
    return joined
