"""Reads what a record of a decision states of itself: status, date, deciders, and decisions that it ends. Pure.

Records as Nygard's (a section "Status") and MADR's (front matter, or a list below the title). Only what stands there in
a known form is read: prose about a status, a list of choices in a template and dates in doubtful forms are left out.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from graphiti_pkm.capabilities.sources.layout import Block, markdown_blocks
from graphiti_pkm.core.facts.parsed_facts import is_me
from graphiti_pkm.core.facts.statuses import class_of_status, is_known_status, same_meaning, status_key
from graphiti_pkm.core.model.names import display_name

Relation = Literal["SUPERSEDES", "SUPERSEDES_PART_OF", "AMENDS"]

_PARTLY = frozenset(map(status_key, ("partly superseded", "partially superseded", "superseded in part")))
_MAY_BE_ONE = re.compile(r"^[ \t>*+#_-]*status\b", re.IGNORECASE | re.MULTILINE)
_HEADINGS = frozenset(
    {"context", "context and problem statement", "problem statement", "decision", "decision outcome", "decisions"}
)
"""One of them stands in every record; a page with nothing but a status is none."""
_DECISION = ("decision", "decision outcome", "decisions")
_CONTEXT = ("context", "context and problem statement", "problem statement")
_LINKS = frozenset({"links", "related decisions", "related", "more information", "references"})
_NUMBER = re.compile(r"(?:adr[-_ #]*)?0*(\d{1,5})(?=[\W_]|$)", re.IGNORECASE)
_NUMBERED_TITLE = re.compile(r"(?:adr[-_ #]*)?\d{1,5}(?:\s*[.:)]|\s+[-–—]|\.?\s)\s*", re.IGNORECASE)
_FIELD = re.compile(
    r"^[ \t]*(?:[*+-][ \t]+)?[*_]{0,2}(status|date|deciders?|decision[ -]makers?)[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*"
    r"([^\r\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(r"[ \t]*-[ \t]+(\S[^\r\n]*)(?:\r\n?|\n|\Z)")
_LINE = re.compile(r"[^\r\n]+")
_STRUCK = re.compile(r"~~.*?~~")
_MARKS = re.compile(r"^[ \t>*+_-]+|[*_ \t]+$")
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_AROUND_DAY = re.compile(r"\(?(?:\bon\s+)?\b\d{4}-\d{2}-\d{2}\b\)?\s*[:,–—-]?|[,:(–—-]\s*$")
_WORDS = re.compile(r"[^\W\d_]+(?:[ '-][^\W\d_]+){0,2}")
_REFERENCE = (
    r"(?:\[(?P<text>[^\]\r\n]{0,200})\]\(<?(?P<path>[^)\s>]{1,300})>?[^)\r\n]{0,200}\)"
    r"|\[?ADR[-_ #]*0*(?P<number>\d{1,5})\]?|\[?(?P<bare>\d{4})\]?(?![\d-]))"
)
_LINK = re.compile(
    r"(?:(?:is|was|has been)\s+)?(?P<part>(?:in\s+part|partly|partially)\s+)?"
    r"(?P<verb>super[sc]edes|super[sc]eded\s+by|replaces|replaced\s+by|amends|amended\s+by)(?:\s*:)?\s+"
    rf"{_REFERENCE}(?P<after>\s+(?:in\s+part|partly|partially)\b)?",
    re.IGNORECASE,
)
_OTHERS = re.compile(rf"\s*(?:,|and|&)\s*(?:and\s+)?{_REFERENCE}", re.IGNORECASE)
_OWN = re.compile(r"\bThis\s+(?:ADR|decision|record)\s+(?=[a-z]+\s)", re.IGNORECASE)
_MOST_NAMES = 50
_NAME = re.compile(r"[^\[\]{}<>|:;()]{2,60}")
_ADDRESS = re.compile(r"<[^<>\s]{0,200}(?:@|://)[^<>\s]{0,200}>")
_NOT_SHOWN = re.compile(rf"{_ADDRESS.pattern}|\]\([^()]*\)")
"""Addresses, in which a name may stand too."""
_HANDLE = re.compile(r"@([^\W_][\w.-]{1,38})")
_OF_MANY = frozenset({"all", "channel", "everyone", "here", "team"})
_BETWEEN_NAMES = re.compile(r"(?<!\s)(?:\s*[,;]\s*(?:and\s+)?|\s+(?:and|&)\s+)")
_SUMMARY = 600
_LONG = 1_000
"""Longer lines state nothing in a known form; so no pattern works on a text of any length."""
_MARKDOWN_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")


@dataclass(frozen=True)
class Said:
    """Something that the record states: ``[start, end)`` are the words in the document."""

    text: str
    start: int
    end: int
    day: str | None = None
    """The ISO date that stands beside it."""


@dataclass(frozen=True)
class Link:
    """That this decision supersedes or amends another one, or the other this one (``is_passive``)."""

    relation: Relation
    is_passive: bool
    number: int | None
    stem: str | None
    """The name of the file that is linked, without its ending."""
    said: Said


@dataclass(frozen=True)
class DecisionRecord:
    """What one record states."""

    title: str
    summary: str
    """The title, and how decision and context begin."""
    statuses: tuple[Said, ...]
    """The last one is the present one; earlier ones have a day."""
    day: Said | None
    deciders: tuple[Said, ...]
    links: tuple[Link, ...]
    number: int | None
    """The one in the title."""
    apart: tuple[int, ...] = ()
    """Where the names of deciders on one line begin, so that one of them can be forgotten without the others."""

    @property
    def status(self) -> Said:
        return self.statuses[-1]

    @property
    def since(self) -> Said | None:
        """What says from which day on it is in force: its date, else the day that stands beside its status."""
        return self.day or next((one for one in self.statuses if one.day and is_begun(one.text)), None)

    @property
    def since_day(self) -> str | None:
        """That day."""
        since = self.since
        return None if since is None else since.day or since.text

    @property
    def stated(self) -> list[Said]:
        """All that it states, in no order."""
        links = [one.said for one in self.links]
        return [*self.statuses, *([self.day] if self.day else []), *self.deciders, *links]

    @property
    def is_in_force(self) -> bool:
        """Whether it is not only proposed, and was not rejected: it took, or once took, effect on its day."""
        return class_of_status(self.status.text) != "open" and not same_meaning(self.status.text, "rejected")

    @property
    def status_day(self) -> str | None:
        """When the present status began, as far as the record says.

        Its date is that of the decision, so it is not that of an end: who marks a record as superseded leaves the date.
        """
        told = self.status.text
        is_start = class_of_status(told) in {"open", "active", "done"} or same_meaning(told, "rejected")
        return self.status.day or (self.day.text if self.day and is_start else None)


@dataclass
class _Section:
    heading: str
    blocks: list[Block] = field(default_factory=list)


def is_begun(status: str) -> bool:
    """Whether a decision of this status is, or was, in force from the day on that stands beside it."""
    return class_of_status(status) in {"active", "done"}


def day_in(words: str | None) -> str | None:
    """The ISO date that stands in words of a record."""
    found = _DAY.search(words or "")
    return found[0] if found and _is_day(found[0]) else None


def relation_of_end(status: str) -> Relation | None:
    """The relation of what superseded a decision of this status, or a part of it."""
    if same_meaning(status, "superseded"):
        return "SUPERSEDES"
    return "SUPERSEDES_PART_OF" if status_key(status) in _PARTLY else None


def number_of(name: str) -> int | None:
    """The number with which the name of a file begins, as 0004-dns or adr-4."""
    found = _NUMBER.match(name)
    return int(found[1]) if found else None


def read_decision(text: str, front: str) -> DecisionRecord | None:
    """What a record of a decision states; None if it is none. ``front``: the front matter with which it begins."""
    if _MAY_BE_ONE.search(text) is None:
        return None
    sections = _sections(text, len(front))
    if not _HEADINGS & {one.heading for one in sections} or not sections[0].heading:
        return None
    head = sections[0]
    found = [*_fields(text, 0, len(front)), *(one for block in head.blocks for one in _fields(text, *_range(block)))]
    lines = [line for name, line in found if name == "status"]
    lines += [line for one in sections[1:] if one.heading == "status" for line in _lines(text, one.blocks)]
    statuses, links = list[Said](), list[Link]()
    for line in lines:
        told = _link_in(line)
        links += told
        status = _passive_status(line, told) or (None if told else _status(line))
        if status is not None:
            statuses.append(status)
    if not statuses:
        return None
    for one in sections:
        if one.heading in _LINKS:
            links += [link for line in _lines(text, one.blocks) for link in _link_in(line)]
        links += [link for block in one.blocks for link in _own_links(text, block)]
    title = display_name(_plain(_NUMBERED_TITLE.sub("", head.heading, count=1)))
    numbered = _NUMBERED_TITLE.match(head.heading)
    days = [day for name, line in found if name == "date" and (day := _day(line))]
    days += [
        day for one in sections[1:] if one.heading == "date" for line in _lines(text, one.blocks) if (day := _day(line))
    ]
    lists = [list(_names(line)) for name, line in found if name.startswith("deci")]
    deciders = [one for names in lists for one in names]
    *earlier, present = statuses
    return DecisionRecord(
        title=title or head.heading,
        summary=_summary(text, title, sections),
        statuses=(*(one for one in earlier if one.day), present),
        day=days[0] if days else None,
        deciders=tuple({one.text: one for one in deciders}.values())[:_MOST_NAMES],
        links=tuple({(one.relation, one.is_passive, one.number, one.stem): one for one in reversed(links)}.values())[
            ::-1
        ],
        number=number_of(head.heading) if numbered else None,
        apart=tuple(one.start for names in lists if len(names) > 1 for one in names[:_MOST_NAMES]),
    )


def _sections(text: str, begin: int) -> list[_Section]:
    """The blocks below each heading; the first is that of the title, with its own spelling."""
    sections = [_Section("")]
    for block in markdown_blocks(text, begin):
        if block.level and len(sections) == 1 and not sections[0].heading and not sections[0].blocks:
            sections[0].heading = block.heading[:_LONG]
        elif block.level:
            sections.append(_Section(_plain(block.heading[:_LONG]).strip(" :").casefold()))
        else:
            sections[-1].blocks.append(block)
    return sections


def _range(block: Block) -> tuple[int, int]:
    return block.start, block.end


def _fields(text: str, start: int, end: int) -> Iterator[tuple[str, Said]]:
    """Lines ``name: value``, and of the front matter the items below ``name:``."""
    for one in _FIELD.finditer(text, start, end):
        name = one[1].casefold()
        if len(one[2]) > _LONG:
            continue
        if one[2].strip():
            yield name, _trimmed(one[2], one.start(2))
            continue
        place = one.end() + (1 if text[one.end() : one.end() + 1] in "\r\n" else 0)
        place += text[place - 1 : place + 1] == "\r\n"
        while (item := _ITEM.match(text, place, end)) is not None and len(item[1]) <= _LONG:
            yield name, _trimmed(item[1], item.start(1))
            place = item.end()


def _lines(text: str, blocks: Sequence[Block]) -> Iterator[Said]:
    for block in blocks:
        for line in _LINE.finditer(text, block.start, block.end):
            if line[0].strip() and len(line[0]) <= _LONG:
                yield _trimmed(line[0], line.start())


def _trimmed(words: str, start: int) -> Said:
    """Words without the marks of lists and emphasis, and the quotation marks of YAML, around them."""
    begin = len(words) - len(words.lstrip(" \t>*+_-\"'"))
    kept = words[begin:].rstrip(" \t*_\"'")
    return Said(kept, start + begin, start + begin + len(kept))


def _day(line: Said) -> Said | None:
    """An ISO date, or none; 06/07/2017 would have to be guessed."""
    found = _DAY.search(line.text)
    if found is None or not _is_day(found[0]):
        return None
    return Said(found[0], line.start, line.end)


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _status(line: Said) -> Said | None:
    """A line that is a status and nothing else but its day."""
    told = _STRUCK.sub("", line.text)
    day = _day(line)
    word = _MARKS.sub("", _AROUND_DAY.sub("", told).strip()).strip(" .*_:")
    if word.casefold().startswith("status "):
        return None
    if not is_known_status(word) and (_WORDS.fullmatch(word) is None or re.search(r"\bby\b", word)):
        return None
    return Said(display_name(word).lower(), line.start, line.end, day.text if day else None)


def _passive_status(line: Said, links: Sequence[Link]) -> Said | None:
    """The status of what is superseded by something else."""
    for link in links:
        if link.is_passive and link.relation != "AMENDS":
            word = "superseded" if link.relation == "SUPERSEDES" else "partly superseded"
            return Said(word, line.start, line.end, link.said.day)
    return None


def _link_in(line: Said) -> list[Link]:
    """The links of a line that begins with one."""
    words = _STRUCK.sub(lambda struck: " " * len(struck[0]), line.text)
    start = len(words) - len(words.lstrip(" \t*_"))
    day = _day(line)
    return _links_at(words, start, line, day.text if day else None)


def _links_at(words: str, start: int, line: Said, day: str | None) -> list[Link]:
    found = _LINK.match(words, start)
    if found is None:
        return []
    verb = " ".join(found["verb"].casefold().split())
    is_part = found["part"] is not None or found["after"] is not None
    relation: Relation = "AMENDS" if verb.startswith("amend") else "SUPERSEDES_PART_OF" if is_part else "SUPERSEDES"
    links, place = list[Link](), found.end()
    one: re.Match[str] | None = found
    while one is not None:
        number, stem = _referred(one)
        if number is not None or stem is not None:
            said = Said(line.text, line.start, line.end, day)
            links.append(Link(relation, verb.endswith("by"), number, stem, said))
        one = _OTHERS.match(words, place)
        place = one.end() if one else place
    return links


def _referred(found: re.Match[str]) -> tuple[int | None, str | None]:
    """Number and name of a decision that is referred to."""
    if found["path"] is not None:
        file = found["path"].split("#")[0].rstrip("/").rsplit("/", 1)[-1]
        stem = file.rsplit(".", 1)[0] if file.casefold().endswith((".md", ".markdown")) else ""
        number = number_of(stem) if stem else number_of(found["text"] or "")
        return number, stem or None
    told = found["number"] or found["bare"]
    return (int(told), None) if told else (None, None)


def _own_links(text: str, block: Block) -> Iterator[Link]:
    """What a sentence says of this record: "This ADR in part supersedes 0003"."""
    if text.startswith(("```", "~~~", ">"), block.start):
        return
    for own in _OWN.finditer(text, block.start, block.end):
        line = _LINE.match(text, own.end(), block.end)
        if line is None or len(line[0]) > _LONG:
            continue
        found = _LINK.match(line[0])
        if found is not None and found["bare"] is None:
            said = Said(text[own.start() : own.end() + found.end()], own.start(), own.end() + found.end())
            yield from _links_at(line[0], 0, said, None)


def _names(line: Said) -> Iterator[Said]:
    """The names in a list of people, each at its place, without addresses; what may be no name is left out."""
    whole = line.text.strip("[]") if line.text.count("[") == 1 and line.text.endswith("]") else line.text
    shown_only = _NOT_SHOWN.sub(lambda found: " " * len(found[0]), line.text)
    place = 0
    for name in _BETWEEN_NAMES.split(_ADDRESS.sub("", _plain(whole))):
        shown = display_name(name.strip(" .*_\"'"))
        if shown.startswith("@"):
            handle = _HANDLE.fullmatch(shown)
            shown = handle[1] if handle and handle[1].casefold() not in _OF_MANY else ""
        if _NAME.fullmatch(shown) and any(one.isalpha() for one in shown) and not is_me(shown, ""):
            found = shown_only.find(shown, place)
            if found < 0:  # spelt with other spaces, or between marks
                yield Said(shown, line.start, line.end)
                continue
            place = found + len(shown)
            yield Said(shown, line.start + found, line.start + place)


def _plain(text: str) -> str:
    return _MARKDOWN_LINK.sub(r"\1", text)


def _summary(text: str, title: str, sections: Sequence[_Section]) -> str:
    """The title and how decision and context begin.

    Records of one title differ by them, and the same decision under another title is near: of 38 real records those
    of one decision have a cosine of at least 0.90, those of two of at most 0.83 (ADR 69).
    """
    told = [one for name in (*_DECISION, *_CONTEXT) for one in sections[1:] if one.heading == name]
    said, length = [f"{title}:"], 0
    for block in (block for one in told for block in one.blocks):
        said += _plain(text[block.start : min(block.end, block.start + _LONG)]).split()
        length += block.end - block.start
        if length > _SUMMARY:
            break
    return " ".join(said)[:_SUMMARY].rstrip(":") if told else title
