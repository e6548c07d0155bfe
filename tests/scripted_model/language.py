"""The tiny, regular language that the reader script understands, so that episodes can be made by the hundred.

A text holds sentences, each ended by a full stop or a line break:

    Anna Berg WORKS_AT Globex Inc since 2024-03-01.              a statement
    Anna Berg WORKS_AT Globex Inc since 2020 until 2022-05-31.   one that has ended
    Anna Berg is a Person.                                       the type of an entity
    Anna Berg has job_title: chief engineer.                     an attribute of an entity
    We had lunch with [[Tom Vance]].                             an entity without a statement
    Tom Vance: Anna Berg WORKS_AT Globex Inc.                    in a message: the speaker is an entity too

A relation is written in capitals with at least one underscore; it has one target at a time, unless it ends with
"_WITH", as WORKS_WITH: of those there may be many. A name holds no full stop followed by a space, and no
colon.
Sentences of any other form are understood as nothing.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

_DATE = r"\d{4}(?:-\d\d(?:-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?)?)?"
_SENTENCE_END = re.compile(r"\.(?:\s+|$)|\n+")
_SPEAKER = re.compile(r"(?P<name>[^:\[\]]{1,60}): +(?P<said>.+)")
_STATEMENT = re.compile(
    r"(?P<source>.+?) (?P<relation>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) (?P<target>.+?)"
    rf"(?: since (?P<since>{_DATE}))?(?: until (?P<until>{_DATE}))?"
)
_TYPE = re.compile(r"(?P<name>.+?) is an? (?P<type>[A-Z]\w*)")
_ATTRIBUTE = re.compile(r"(?P<name>[^:]+?) has (?P<field>[a-z]\w*): (?P<value>.+)")
_LINKED = re.compile(r"\[\[(.+?)\]\]")


@dataclass(frozen=True)
class Statement:
    """One relation between two entities; times in ISO 8601 with "Z"."""

    source: str
    relation: str
    target: str
    sentence: str
    since: str | None = None
    until: str | None = None

    def contradicts(self, other: "Statement") -> bool:
        """Whether both say of one source what can be true of one target only."""
        same = (key(self.source), self.relation) == (key(other.source), other.relation)
        return same and key(self.target) != key(other.target) and not self.relation.endswith("_WITH")


@dataclass(frozen=True)
class Understood:
    """What the sentences of one text say; names in the order they occur, each once."""

    names: tuple[str, ...] = ()
    statements: tuple[Statement, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    attributes: tuple[tuple[str, str, str], ...] = ()
    """Of an entity: name, field, value."""

    def type_of(self, name: str) -> str | None:
        return next((type_ for other, type_ in self.types if key(other) == key(name)), None)

    def attributes_of(self, name: str) -> dict[str, str]:
        return {field: value for other, field, value in self.attributes if key(other) == key(name)}


def key(text: str) -> str:
    """What makes two names, or two sentences, the same: their letters and digits."""
    return "".join(char for char in text.casefold() if char.isalnum())


def sentences(text: str) -> list[str]:
    """The sentences of a text, those inside its strings if it is JSON; without their full stops."""
    return [part.strip() for piece in _strings(text) for part in _SENTENCE_END.split(piece) if part.strip()]


def understand(text: str, *, speakers: bool = False) -> Understood:
    """What a text says; ``speakers``: who speaks is an entity, as Graphiti asks of messages."""
    names: dict[str, str] = {}
    statements, types, attributes = [], [], []
    for sentence in sentences(text):
        said = sentence
        if (spoken := _SPEAKER.fullmatch(sentence)) and not _ATTRIBUTE.fullmatch(sentence):
            said = spoken["said"]
            if speakers:
                names.setdefault(key(spoken["name"]), spoken["name"])
        mentioned = _LINKED.findall(said)
        if statement := statement_of(said):
            statements.append(statement)
            mentioned += [statement.source, statement.target]
        elif attribute := _ATTRIBUTE.fullmatch(said):
            attributes.append((attribute["name"], attribute["field"], attribute["value"]))
            mentioned.append(attribute["name"])
        elif typed := _TYPE.fullmatch(said):
            types.append((typed["name"], typed["type"]))
            mentioned.append(typed["name"])
        for name in mentioned:
            names.setdefault(key(name), name)
    return Understood(tuple(names.values()), tuple(statements), tuple(types), tuple(attributes))


def statement_of(sentence: str) -> Statement | None:
    """The statement that a sentence is, with or without its full stop."""
    plain = sentence.strip().removesuffix(".")
    match = _STATEMENT.fullmatch(plain)
    if match is None:
        return None
    since, until = (match[part] and _time(match[part]) for part in ("since", "until"))
    return Statement(match["source"], match["relation"], match["target"], plain + ".", since, until)


def _time(text: str) -> str:
    """A year or a month is its beginning."""
    full = text + {4: "-01-01", 7: "-01"}.get(len(text), "")
    time = datetime.fromisoformat(full)
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).isoformat().replace("+00:00", "Z")


def _strings(text: str) -> Iterator[str]:
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    yield from _leaves(value)


def _leaves(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
