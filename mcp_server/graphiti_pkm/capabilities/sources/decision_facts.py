"""Facts of a record of a decision, as a caller of add_memory would send them: pure.

Of an edited record only what differs is sent, so that what it states for years is not said to be new.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from graphiti_pkm.capabilities.sources.decisions import DecisionRecord, Link, Said, relation_of_end
from graphiti_pkm.core.facts.statuses import HAS_STATUS, word_of
from graphiti_pkm.core.identity.name_parts import PERSON, reads_as_person
from graphiti_pkm.core.model.records import Fact, FactKind
from graphiti_pkm.core.model.requests import EntityInput, FactInput

HAS_DATE = "HAS_DATE"
DECIDED_BY = "DECIDED_BY"
LINKS = ("SUPERSEDES", "SUPERSEDES_PART_OF", "AMENDS")
_WORDS = {"SUPERSEDES": "supersedes", "SUPERSEDES_PART_OF": "supersedes a part of", "AMENDS": "amends"}
TYPE = "Decision"


@dataclass(frozen=True)
class Other:
    """A decision that the record refers to, as the memory knows it."""

    name: str
    alias: str | None = None
    """The name of its document, if it is linked and has a number."""
    day: str | None = None
    """Its date, if it is in force."""


@dataclass(frozen=True)
class Statement:
    """A fact and the words that state it; without words it is one that the record no longer states."""

    fact: FactInput
    said: Said | None

    @property
    def key(self) -> tuple[str, str, str | None, FactKind]:
        return self.fact.relation, self.fact.source, self.fact.target, self.fact.kind


@dataclass(frozen=True)
class Telling:
    """What is to be written of one record."""

    name: str
    entities: tuple[EntityInput, ...]
    statements: tuple[Statement, ...]

    @property
    def texts(self) -> list[str]:
        """What needs a vector: names and sentences."""
        facts = [one.fact for one in self.statements]
        names = [name for one in facts for name in (one.source, one.target) if name]
        return [*(one.name for one in self.entities), *names, *(one.fact for one in facts if one.fact)]


@dataclass(frozen=True)
class Undated:
    """Facts without a start that the day of this record dates."""

    links: Sequence[Fact] = ()
    """What it supersedes or amends, by what the others say."""
    statuses: Sequence[Fact] = ()
    """Of what it supersedes, or supersedes a part of."""


def tell(
    record: DecisionRecord,
    former: DecisionRecord | None,
    name: str,
    alias: str | None,
    others: Callable[[Link], Other | None],
    undated: Undated,
    now: str,
    *,
    is_named: bool,
) -> Telling:
    """What to write of a record whose former version, if it has one, was written already."""
    stated = _lasting(record, name, others)
    before = {one.key: one for one in _lasting(former, name, others)} if former else {}
    keys = {one.key for one in stated}
    gone = [_ended(one, now) for key, one in before.items() if key not in keys]
    new = [one for one in stated if one.key not in before]
    statements = [*_statuses(record, former, name, others), *_date(record, former, name, now), *new, *gone]
    statements += _dated(record, undated)
    is_described = former is not None and former.summary == record.summary
    own = EntityInput(
        name=name, type=TYPE, summary=None if is_described else record.summary, aliases=[alias] if alias else None
    )
    linked = {other.name: other for link in record.links if (other := others(link)) is not None}
    linked.pop(name, None)
    declared = [
        EntityInput(name=one.name, type=TYPE, aliases=[one.alias] if one.alias else None) for one in linked.values()
    ]
    deciders = dict.fromkeys(one.fact.target for one in new if one.fact.relation == DECIDED_BY and one.fact.target)
    declared += [EntityInput(name=one, type=PERSON) for one in deciders if one not in linked and reads_as_person(one)]
    is_known = is_named and is_described and not statements
    return Telling(name, () if is_known else (own, *declared), tuple(statements))


def _lasting(record: DecisionRecord, name: str, others: Callable[[Link], Other | None]) -> list[Statement]:
    """Deciders and links."""
    told = [
        Statement(
            FactInput(source=name, relation=DECIDED_BY, target=one.text, fact=f"{name} was decided by {one.text}"), one
        )
        for one in record.deciders
    ]
    for link in record.links:
        other = others(link)
        if other is None or other.name == name:
            continue
        source, target = (other.name, name) if link.is_passive else (name, other.name)
        is_meant = link.relation == "SUPERSEDES" and not link.is_passive and not record.is_in_force
        told.append(
            Statement(
                FactInput(
                    source=source,
                    relation=link.relation,
                    target=target,
                    fact=f"{source} {_WORDS[link.relation]} {target}",
                    kind="plan" if is_meant else "state",
                    valid_at=link.said.day or (other.day if link.is_passive else record.since_day),
                ),
                link.said,
            )
        )
    return told


def _statuses(
    record: DecisionRecord, former: DecisionRecord | None, name: str, others: Callable[[Link], Other | None]
) -> list[Statement]:
    """Statuses that the former version did not state; one without a day of its own begins with this version."""
    before = {(one.text, one.day) for one in former.statuses} if former else set()
    if former is not None and former.status.text != record.status.text:
        before.discard((record.status.text, record.status.day))  # it has this status again
    same_day = (
        former is not None
        and record.day is not None
        and former.day is not None
        and (record.day.text == former.day.text)
    )
    told = []
    for one in record.statuses:
        if (one.text, one.day) in before:
            continue
        day, cause = one.day, None
        if one is record.status:
            day = one.day or (None if same_day else record.status_day)
            relation = relation_of_end(one.text) or LINKS[0]
            ends = [link for link in record.links if link.is_passive and link.relation == relation]
            by = [other for link in ends if (other := others(link)) is not None]
            cause = by[0].name if by and by[0].name != name else None
            day = day or (by[0].day if by else None)
        told.append(
            Statement(
                FactInput(
                    source=name,
                    relation=HAS_STATUS,
                    value=one.text,
                    fact=f"{name} is {one.text}",
                    valid_at=day,
                    because_of=cause,
                ),
                one,
            )
        )
    return told


def _date(record: DecisionRecord, former: DecisionRecord | None, name: str, now: str) -> list[Statement]:
    day, before = record.day, former.day if former else None
    if (day.text if day else None) == (before.text if before else None):
        return []
    if day is None:
        return [_ended(Statement(_day_of(name, before.text), before), now)] if before else []
    fact = _day_of(name, day.text)
    return [Statement(fact.model_copy(update={"replaces": ["current"]}) if before else fact, day)]


def _day_of(name: str, day: str) -> FactInput:
    return FactInput(source=name, relation=HAS_DATE, value=day, fact=f"{name} is dated {day}")


def _dated(record: DecisionRecord, undated: Undated) -> list[Statement]:
    said, day = record.since, record.since_day
    if said is None or day is None or not record.is_in_force:
        return []
    facts = [
        FactInput(source=one.source_name, relation=one.relation, target=one.target_name, fact=one.text, valid_at=day)
        for one in undated.links
    ]
    facts += [dated_status(one, day) for one in undated.statuses]
    return [Statement(fact, said) for fact in facts]


def dated_status(status: Fact, day: str) -> FactInput:
    """A known status with the day on which it began."""
    return FactInput(
        source=status.source_name, relation=HAS_STATUS, value=word_of(status), fact=status.text, valid_at=day
    )


def _ended(statement: Statement, now: str) -> Statement:
    """That what the former version stated holds no longer."""
    return replace(statement, fact=statement.fact.model_copy(update={"invalid_at": now, "valid_at": None}), said=None)


def others_of(found: Mapping[tuple[int | None, str | None], Other]) -> Callable[[Link], Other | None]:
    """The decisions that links refer to."""
    return lambda link: found.get((link.number, link.stem))
