"""Checks and parses one add_memory call: dates are resolved, names normalised, missing parts of facts filled in."""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta, timezone, tzinfo
from typing import Any
from uuid import UUID

from graphiti_pkm.core.facts.statuses import (
    HAS_STATUS,
    SUPERSEDED,
    is_known_status,
    is_status_relation,
    is_superseding,
    status_key,
    status_word,
)
from graphiti_pkm.core.identity.relation_kinds import is_past, may_be_past
from graphiti_pkm.core.model.date_phrases import (
    Bound,
    DatePeriod,
    YearChoice,
    first_instant,
    parse_date_phrase,
    parse_end_phrase,
)
from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.names import display_name, normalise_name, relation_name
from graphiti_pkm.core.model.records import CONFIDENTIAL, HAS_GOAL, EpisodeSource, Fact, FactKind, PlanOutcome
from graphiti_pkm.core.model.request_checks import check_texts
from graphiti_pkm.core.model.requests import ME, STEERING, AddMemory, EntityInput, FactInput
from graphiti_pkm.core.model.times import in_zone, parse_instant, parse_time, show_time
from graphiti_pkm.errors import InvalidInput

_MAX_ALIASES = 50
_MAX_REPLACES = 20
MAX_NAME = 200
_TITLE_WORDS = 8
_TITLE_CHARS = 60
_SHOWN = 60
_STATUS = "status"

_SELF_WORDS = frozenset({"me", "i", "user", "theuser", "myself"})
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_YEARS: Mapping[FactKind, YearChoice] = {"plan": "future", "event": "past", "reading": "past"}
"""Which year to assume for a date without one."""
_MOST_OF_A_YEAR = timedelta(days=300)
_BEFORE_NOUN = re.compile(r"(?:HAS|HAVE|HAD|IS|ARE|WAS|WERE|GOT)_(?:(?:A|AN|THE)_)?(?=.)")


@dataclass(frozen=True)
class ParsedEntity:
    """An entity as declared; ``name`` is ``ME`` for the person."""

    name: str
    label: str | None
    summary: str | None
    aliases: tuple[str, ...]


@dataclass(frozen=True)
class ParsedFact:
    """A parsed fact; target and text are filled in if the call left them out."""

    number: int
    source: str
    relation: str
    target: str
    has_target: bool
    """False when the target is an entity named after what the fact measures or states."""
    is_named: bool
    """False if the target was not named by the caller but derived from the relation, such as "status" of HAS_STATUS."""
    text: str
    has_text: bool
    kind: FactKind
    measure: str | None
    value: str | None
    unit: str | None
    valid_at: datetime | None
    invalid_at: datetime | None
    replaces: tuple[str, ...]
    has_replaces: bool
    """False for a correction that does not name what it corrects; it then replaces "current"."""
    is_correction: bool
    quote: str | None
    start_words: str | None = None
    """How the start was told, if less precisely than a day."""
    end_words: str | None = None
    end_bound: Bound = None
    earlier_end: datetime | None = None
    """Of an end without a year that was read as the next such date: the last one, a year before."""
    ends_on_its_day: bool = False
    """Whether the note was written in the period of the end, by the day of the place where it was written."""
    is_status: bool = False
    """Whether ``value`` is the caller's word for a status."""
    because_of: str | None = None
    """The name of an entity, or a uuid, that it follows from."""
    follows: int | None = None
    """The number of the fact of the call that implies it: it is planned if that is new."""
    is_confidential: bool = False
    due: int | None = None
    """Of a goal with a deadline: its first instant in seconds since 1970."""
    outcome: PlanOutcome | None = None
    """Of a known plan that is told again: what became of it, if the call says so in place of a value."""


@dataclass(frozen=True)
class ParsedRequest:
    """A parsed call, ready to be planned."""

    uuid: str | None
    name: str
    has_name: bool
    body: str
    source: EpisodeSource
    source_description: str
    reference_time: datetime
    is_dated: bool
    """False if the call gave no time and its own time is used; concurrent calls then count in the order they are
    stored."""
    entities: tuple[ParsedEntity, ...]
    facts: tuple[ParsedFact, ...]
    steering: dict[str, object]
    ignored_types: tuple[str, ...]
    """Entity types that are not valid as a label."""
    saga: str | None = None
    """The saga that the episode continues."""
    is_confidential: bool = False
    """Whether the note, with all its facts, is not public."""
    saga_previous: str | None = None
    """The previous episode of the saga, as given by the caller."""


def read_request(request: AddMemory, person: str, now: datetime, zone: tzinfo) -> ParsedRequest:
    """Check and parse a whole call; ``person`` is the name of the group's person.

    Raises:
        InvalidInput: the first thing that is wrong, by its path in the arguments.
    """
    check_texts(request)
    if not request.episode_body.strip():
        raise InvalidInput("episode_body is blank; send what was said. Nothing was stored.")
    reference_time = parse_instant(request.reference_time, zone, "reference_time") if request.reference_time else now
    reader = _Reader(person, zone, _as_written(request.reference_time, zone) or reference_time)
    title = display_name(request.name or "")
    entities = tuple(reader.entity(entity, f"entities[{i}]") for i, entity in enumerate(request.entities or ()))
    facts = [reader.fact(fact, i) for i, fact in enumerate(request.facts or ())]
    return ParsedRequest(
        uuid=_uuid(request.uuid),
        name=title or _title(request.episode_body, reference_time, zone),
        has_name=bool(title),
        body=request.episode_body,
        source=request.source,
        source_description=request.source_description,
        reference_time=reference_time,
        is_dated=bool(request.reference_time),
        entities=entities,
        facts=(*facts, *reader.statuses_of_superseded(facts)),
        ignored_types=tuple(reader.ignored_types),
        is_confidential=request.confidential,
        **_saga(request.steering),
    )


def read_fact(given: FactInput, number: int, person: str, zone: tzinfo) -> ParsedFact:
    """Check and parse one fact by the same rules as the facts of a call, but for dates that count from its note.

    Raises InvalidInput.
    """
    return _Reader(person, zone, None).fact(given, number)


def request_hash(request: AddMemory, group_id: str) -> str:
    """A hash of content and group that ignores the uuid."""
    fields = request.model_dump(mode="json", exclude={"uuid", "group_id", "wait_seconds", *STEERING})
    # As calls of earlier versions were hashed, which may be sent again.
    facts = [without_mark(fact) for fact in fields["facts"] or []]
    content = {**without_mark(fields), "entities": fields["entities"] or [], "facts": facts}
    content["steering"] = request.steering
    text = json.dumps([group_id, content], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def without_mark(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields without what earlier versions did not know, unless it is given."""
    return {name: value for name, value in fields.items() if name != CONFIDENTIAL or value}


def is_me(text: str, person: str) -> bool:
    """Whether a name stands for the group's one person."""
    normal = normalise_name(text)
    return normal in _SELF_WORDS or normal == normalise_name(person)


def relation_words(relation: str) -> str:
    """A relation as it reads in a sentence."""
    return relation.replace("_", " ").lower()


def noun_of(relation: str) -> str:
    """What a relation states, after which the target of a fact without one is named: "budget" of HAS_BUDGET."""
    return relation_words(_BEFORE_NOUN.sub("", relation, count=1))


def is_of_value(fact: Fact) -> bool:
    """Whether a fact's target is a value or the word for one, and no thing that the source is joined with.

    It is the noun of the relation, the measure of a reading, or a status that is no value, as earlier versions and
    other programs keep it.
    """
    if fact.value is None:
        return is_status_relation(fact.relation)
    nouns = {normalise_name(noun_of(fact.relation)), normalise_name(fact.measure or "")}
    return normalise_name(fact.target_name) in nouns


def fact_text(source: str, relation: str, target: str | None, value: str | None, unit: str | None) -> str:
    """A sentence for a fact without a text; ``target`` is None if the relation already names the measure."""
    said = f"{source} {relation_words(relation)}" + (f" {target}" if target else "")
    amount = " ".join(part for part in (value, unit) if part)
    return f"{said}: {amount}" if amount else said


class _Reader:
    """Parses the entities and facts of one call."""

    def __init__(self, person: str, zone: tzinfo, reference_time: datetime | None) -> None:
        self._person = person
        self._zone = zone
        self._reference_time = reference_time
        self.ignored_types: list[str] = []

    def entity(self, given: EntityInput, path: str) -> ParsedEntity:
        aliases = given.aliases or []
        return ParsedEntity(
            name=self._name(given.name, f"{path}.name"),
            label=self._label(given.type),
            summary=(given.summary or "").strip() or None,
            aliases=tuple(_name(alias, f"{path}.aliases[{i}]") for i, alias in enumerate(aliases)),
        )

    def fact(self, given: FactInput, number: int) -> ParsedFact:
        path = f"facts[{number}]"
        relation = relation_name(given.relation)
        if not relation or len(relation) > MAX_NAME:
            raise InvalidInput(f"{path}.relation needs 1 to {MAX_NAME} characters, for example WORKS_AT.")
        source = self._name(given.source, f"{path}.source")
        target = None if given.target is None else self._name(given.target, f"{path}.target")
        measure = None if given.measure is None else _name(given.measure, f"{path}.measure")
        value, unit = _value(given.value, f"{path}.value"), _short(given.unit, f"{path}.unit")
        deadline = self._deadline(given, relation, value, unit)
        due = self._due(given, relation, value, unit)
        due_end = None if due else self._due_end(given, relation, value, unit)
        if (by := deadline or due or due_end) is not None:
            value = _as_told(by, value, self._zone)
        status = _status(given, relation, value, target)
        if status is not None:
            is_only_word = is_known_status(target) or status_key(target or "") in {"", _STATUS, status_key(status)}
            relation, value, target = HAS_STATUS, status, None if is_only_word else target
        noun = noun_of(relation)
        if given.kind == "reading":
            if value is None:
                raise InvalidInput(f'{path} is a reading without a value; send for example 6.5, "4-5" or "6/10".')
            measure = measure or (target if target and target != ME else noun)
        text = display_name(given.fact or "")
        start = None
        if due is None:
            start = self._date(given.valid_at, f"{path}.valid_at", given.kind) or self._planned_for(given, value, unit)
        end = None if due_end else self._end(given.invalid_at, f"{path}.invalid_at", given.kind, relation)
        return ParsedFact(
            number=number,
            source=source,
            relation=relation,
            target=target or measure or noun,
            has_target=target is not None,
            is_named=target is not None or given.measure is not None,
            text=text or self._compose(given.kind, source, relation, target, measure, value, unit),
            has_text=bool(text),
            kind=given.kind,
            measure=measure,
            value=value,
            unit=unit,
            valid_at=start.start if start else None,
            invalid_at=end.start if end else None,
            start_words=_words(start, given.kind),
            end_words=_words(end),
            end_bound=end.bound if end else None,
            earlier_end=self._earlier(end, given.invalid_at, f"{path}.invalid_at", given.kind),
            ends_on_its_day=end is not None and self._is_on(end),
            replaces=_replaces(given, path),
            has_replaces=bool(given.replaces),
            is_correction=given.change == "corrected",
            quote=(given.quote or "").strip() or None,
            is_status=status is not None,
            because_of=None if given.because_of is None else self._name(given.because_of, f"{path}.because_of"),
            is_confidential=given.confidential,
            due=None if by is None else int(by.start.timestamp()),
        )

    def statuses_of_superseded(self, facts: Sequence[ParsedFact]) -> list[ParsedFact]:
        """What a call says to be superseded has this status from then on, unless the call gives it one itself."""
        given = {normalise_name(fact.source) for fact in facts if fact.is_status}
        superseding = {
            normalise_name(fact.target): fact
            for fact in facts
            if is_superseding(fact.relation)
            and fact.has_target
            and fact.kind in {"state", "event"}
            and fact.invalid_at is None
            and normalise_name(fact.target) not in given
        }
        return [
            replace(
                self.fact(FactInput(source=fact.target, relation=HAS_STATUS, value=SUPERSEDED), len(facts) + place),
                valid_at=fact.valid_at,
                start_words=fact.start_words,
                follows=fact.number,
            )
            for place, fact in enumerate(superseding.values())
        ]

    def _compose(
        self,
        kind: FactKind,
        source: str,
        relation: str,
        target: str | None,
        measure: str | None,
        value: str | None,
        unit: str | None,
    ) -> str:
        """A sentence with the names of both entities."""
        subject = self._person if source == ME else source
        if kind == "reading":
            return " ".join(part for part in (f"{subject}:", measure, value, unit) if part)
        return fact_text(subject, relation, self._person if target == ME else target, value, unit)

    def _date(self, text: str | None, path: str, kind: FactKind) -> DatePeriod | None:
        return parse_date_phrase(text, self._zone, path, self._reference_time, _YEARS.get(kind)) if text else None

    def _end(self, text: str | None, path: str, kind: FactKind, relation: str) -> DatePeriod | None:
        """An end; "until May" is no May to come of what was, and is not guessed of what may be past or present."""
        choice = _YEARS.get(kind)
        if kind == "state":
            choice = "past" if is_past(relation) else "near" if may_be_past(relation) else None
        return parse_end_phrase(text, self._zone, path, self._reference_time, choice) if text else None

    def _earlier(self, end: DatePeriod | None, text: str | None, path: str, kind: FactKind) -> datetime | None:
        if end is None or text is None or kind != "state":
            return None
        last = parse_end_phrase(text, self._zone, path, self._reference_time, "past")
        return last.end if end.start - last.start > _MOST_OF_A_YEAR else None

    def _is_on(self, date: DatePeriod) -> bool:
        """Whether the day of the note lies in a period."""
        return self._reference_time is not None and date.has(first_instant(self._reference_time, self._zone))

    def _planned_for(self, given: FactInput, value: str | None, unit: str | None) -> DatePeriod | None:
        """When a plan without a date is for, if its value is a date; a bare number is an amount."""
        if given.kind != "plan" or value is None or unit is not None or value.isdecimal():
            return None
        try:
            return parse_date_phrase(value, self._zone, "value", self._reference_time, "future")
        except InvalidInput:
            return None

    def _deadline(self, given: FactInput, relation: str, value: str | None, unit: str | None) -> DatePeriod | None:
        """When a goal is due, if its value is a date of the present or the future; any other value is an amount."""
        if relation != HAS_GOAL or given.kind != "state" or value is None or unit is not None:
            return None
        try:
            found = parse_date_phrase(value, self._zone, "value", self._reference_time, "future")
        except InvalidInput:
            return None
        return found if self._reference_time is None or found.end > self._reference_time else None

    def _due(self, given: FactInput, relation: str, value: str | None, unit: str | None) -> DatePeriod | None:
        """When a goal is due whose deadline was told as its start: "by autumn", or a date that lies ahead."""
        if relation != HAS_GOAL or given.kind != "state" or given.valid_at is None or (value, unit) != (None, None):
            return None
        try:
            found = parse_date_phrase(given.valid_at, self._zone, "valid_at", self._reference_time, "future")
        except InvalidInput:
            return None
        is_ahead = self._reference_time is not None and found.start > self._reference_time
        return found if given.valid_at.strip().lower().startswith("by ") or is_ahead else None

    def _due_end(self, given: FactInput, relation: str, value: str | None, unit: str | None) -> DatePeriod | None:
        """When a goal is due whose deadline was told as an end that lies ahead: nobody says that it ends then."""
        at, end = self._reference_time, given.invalid_at
        if relation != HAS_GOAL or given.kind != "state" or end is None or at is None or (value, unit) != (None, None):
            return None
        try:
            found = parse_date_phrase(end, self._zone, "invalid_at", at, "future")
        except InvalidInput:
            return None
        return found if found.start > at or (found.words is not None and found.end > at) else None

    def _name(self, text: str, path: str) -> str:
        name = _name(text, path)
        return ME if is_me(name, self._person) else name

    def _label(self, given: str | None) -> str | None:
        if given is None or not given.strip():
            return None
        label = as_label(given)
        if label is None:
            self.ignored_types.append(given.strip()[:_SHOWN])
        return label


def _as_written(reference_time: str | None, zone: tzinfo) -> datetime | None:
    """The time of a note by the clock of where it was written, as far as its offset says where that was."""
    point = parse_time(reference_time, zone) if reference_time else None
    return point.instant.astimezone(timezone(point.offset)) if point and point.offset else None


def _words(date: DatePeriod | None, kind: FactKind = "state") -> str | None:
    """The words of a date without "by", which only a plan needs; of a day nothing is left."""
    if date is None or date.words is None:
        return None
    if kind == "plan":
        return date.words
    words = date.words.removeprefix("by ")
    return None if _DAY.fullmatch(words) else words


def _as_told(deadline: DatePeriod, value: str | None, zone: tzinfo) -> str | None:
    """A deadline in words that do not count from its note: "by autumn 2026" of "by autumn"."""
    local = in_zone(deadline.start, zone)
    return deadline.words or (local.date().isoformat() if local.time() == time() else value)


def _status(given: FactInput, relation: str, value: str | None, target: str | None) -> str | None:
    """The word that a state or plan gives as a status, in its value or target."""
    said = target if value is None else value
    if said is None or given.kind not in {"state", "plan"} or not is_status_relation(relation):
        return None
    return status_word(said)


def _replaces(given: FactInput, path: str) -> tuple[str, ...]:
    wanted = [given.replaces] if isinstance(given.replaces, str) else list(given.replaces or ())
    if not wanted and given.change == "corrected":
        return ("current",)
    names = (_name(text, f"{path}.replaces") for text in wanted)
    return tuple(dict.fromkeys(names))


def _value(given: str | float | None, path: str) -> str | None:
    if given is None or isinstance(given, str):
        return _short(given, path)
    if not math.isfinite(given):
        raise InvalidInput(f"{path} is not a number.")
    return repr(float(given)).removesuffix(".0")


def _short(given: str | None, path: str) -> str | None:
    text = display_name(given or "")
    if len(text) > MAX_NAME:
        raise InvalidInput(f"{path} has {len(text)} characters; it has at most {MAX_NAME}. Nothing was stored.")
    return text or None


def _saga(given: Mapping[str, object]) -> dict[str, Any]:
    """The saga and, if there is one, the previous episode; everything else is for the model. Blanks are left out."""
    rest = dict(given)
    name = str(rest.pop("saga", None) or "")
    if not name.strip():
        return {"steering": rest}
    previous = str(rest.pop("saga_previous_episode_uuid", None) or "").strip()
    return {"steering": rest, "saga": _name(name, "saga"), "saga_previous": previous or None}


def _name(text: str, path: str) -> str:
    name = display_name(text)
    if not normalise_name(name):
        raise InvalidInput(f"{path} is blank or of invisible characters only; send a name or leave it out.")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"{path} has {len(name)} characters; a name has at most {MAX_NAME}. Nothing was stored.")
    return name


def _uuid(text: str | None) -> str | None:
    if text is None:
        return None
    if not _UUID.fullmatch(text.strip().lower()):
        raise InvalidInput(
            f"uuid {_cut(text)} is not a uuid; leave it out, or send 36 characters such as "
            "'0b9e3c1e-9f0a-4d55-8a0e-6f3f3f1f2a10'. Nothing was stored."
        )
    return str(UUID(text.strip()))


def _title(body: str, at: datetime, zone: tzinfo) -> str:
    first = " ".join(body[: _TITLE_CHARS * 4].split()[:_TITLE_WORDS]).rstrip(",;:")
    shown = first if len(first) <= _TITLE_CHARS else first[: _TITLE_CHARS - 1].rstrip() + "…"
    return f"{show_time(at, zone)[:10]} {shown}"


def _cut(text: str) -> str:
    return ascii(text[:_SHOWN])
