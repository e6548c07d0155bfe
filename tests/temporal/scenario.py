"""A scenario as its YAML file says it: steps with the clock of the record, then questions with expected answers."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from zoneinfo import ZoneInfo

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

SCENARIOS = Path(__file__).with_name("scenarios")

Kind: TypeAlias = Literal["state", "event", "plan", "reading"]


def _instant(given: object) -> object:
    """A date or time of a data file; without an offset it is UTC."""
    if not isinstance(given, str):
        return given
    moment = datetime.fromisoformat(given)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


Instant: TypeAlias = Annotated[datetime, BeforeValidator(_instant)]


class Part(BaseModel):
    """Base of all parts of a scenario: closed, so that a misspelt key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class FactTold(Part):
    """A fact as a caller that understood the text would send it. Dates are text, as callers write them."""

    ref: str | None = None
    """How later steps and expectations call it."""
    source: str
    relation: str
    target: str | None = None
    fact: str | None = None
    kind: Kind = "state"
    measure: str | None = None
    value: str | None = None
    unit: str | None = None
    valid_at: str | None = None
    invalid_at: str | None = None
    replaces: str | list[str] | None = None
    """Target, value, ``current`` or ``ref:…`` of what it ends."""
    change: Literal["changed", "corrected"] = "changed"
    because_of: str | None = None
    """Name or ``ref:…`` of what it follows from."""


class EntityTold(Part):
    """Who or what a caller declares beside the facts."""

    name: str
    type: str | None = None
    aliases: list[str] = []


class Episode(Part):
    """What is said: the words for servers that read them, the facts for servers that are told them."""

    name: str = "note"
    said: str | None = None
    """When it was said; the clock's time if left out."""
    body: str
    entities: list[EntityTold] = []
    facts: list[FactTold] = []


class Retire(Part):
    fact: str
    reason: str = "It ended."
    invalid_at: str | None = None
    replaced_by: str | None = None


class Restore(Part):
    fact: str
    reason: str = "That was a mistake."


class Update(Part):
    """An entity put right, by the name that it has now; episodes and other entities by their names."""

    entity: str
    name: str | None = None
    type: str | None = None
    summary: str | None = None
    add_aliases: list[str] | None = None
    remove_aliases: list[str] | None = None
    not_same_as: str | None = None
    unlink_episodes: list[str] | None = None
    link_episodes: list[str] | None = None


class Step(Part):
    """One thing done at an instant of the record's clock."""

    at: Instant
    tell: Episode | None = None
    retire: Retire | None = None
    restore: Restore | None = None
    update: Update | None = None
    undo: str | None = None
    """The entity whose last update is undone."""
    rebuild: bool = False
    """The graph is made anew from the journal."""
    delete_fact: str | None = None
    delete_episode: str | None = None
    asks: bool | None = None
    """Whether the server should ask back (True) or take it without a question (False)."""
    rests: list[str] | None = None
    """What the server should name as depending on something that was dropped or ended by this step: refs of facts."""
    refused: bool = False
    """The server should refuse it and change nothing."""

    @model_validator(mode="after")
    def _one_act(self) -> "Step":
        acts = (self.tell, self.retire, self.restore, self.update, self.undo, self.delete_fact, self.delete_episode)
        if sum(act is not None for act in acts) + self.rebuild != 1:
            raise ValueError("a step does exactly one thing")
        return self


class Of(Part):
    """Which facts: of a source or into a target, with a relation."""

    source: str | None = None
    target: str | None = None
    relation: str | None = None

    @model_validator(mode="after")
    def _one_end(self) -> "Of":
        if (self.source is None) == (self.target is None):
            raise ValueError("give the source or the target")
        return self

    @property
    def entity(self) -> str:
        """The end that is given."""
        return self.source or self.target or ""


class Held(Of):
    """What held: now, or ``as_of`` an instant in the world, as ``known_at`` an instant of the record."""

    as_of: str | None = None
    known_at: str | None = None


class Series(Part):
    """The readings of one measure."""

    source: str
    measure: str


class Changes(Part):
    """What the record says was changed from ``since`` until before ``until``; with ``told_since`` by the notes."""

    since: str | None = None
    until: str | None = None
    told_since: str | None = None


class Period(Part):
    """The episodes that name an entity, from ``valid_after`` on and before ``valid_before``."""

    entity: str
    valid_after: str | None = None
    valid_before: str | None = None


class Expected(Part):
    """A fact of an answer; what is left out is not compared, an explicit null means unknown."""

    says: str
    """Its target, or its value where it has one; seen from a target, its source."""
    valid_at: Instant | None = None
    invalid_at: Instant | None = None
    status: Literal["current", "ended", "voided", "future", "planned", "event", "reading", "possible"] | None = None
    because_of: str | None = None
    outcome: Literal["fulfilled", "dropped", "replaced", "reached"] | None = None


class ExpectedChange(Part):
    """A change of the record; of those of one instant the order is free."""

    kind: Literal["added", "retired", "voided", "restored", "proposed", "rejected", "deleted", "updated"]
    fact: str
    """Its ref; of an update the name that the entity has now."""
    reason: str | None = None
    """Words that the reason has, where one was given."""


class Known(Part):
    """An entity as the record knows it: its name, type and summary, and our sentences about it."""

    entity: str
    """By a name that it has now."""
    known_at: str | None = None


class Question(Part):
    """One question, asked at an instant of the record's clock (that of the last step if left out)."""

    at: Instant | None = None
    held: Held | None = None
    history: Of | None = None
    series: Series | None = None
    changes: Changes | None = None
    episodes: Period | None = None
    months: str | None = None
    planned: Held | None = None
    """Plans that are open, or were ``as_of`` an instant."""
    open: Held | None = None
    """What is open, or was ``as_of`` an instant."""
    standing: str | None = None
    """Entities whose status is this word, or of this class; by name."""
    entity: Known | None = None
    alike: list[str] | None = None
    """Two names: whether declaring the second as another name of the first is reported."""
    expect: Any
    possible: list[str] | None = None
    """Of ``held``: what is listed apart, because it may have held before it was known."""
    due: list[str] = []
    """Of ``held`` with ``as_of``: what is listed as planned for then, because nothing more is known of it."""

    @model_validator(mode="after")
    def _one_question(self) -> "Question":
        asked = (
            *(self.held, self.history, self.series, self.changes, self.episodes, self.months, self.standing),
            *(self.entity, self.alike, self.planned, self.open),
        )
        if sum(one is not None for one in asked) != 1:
            raise ValueError("a question asks exactly one thing")
        return self


class Scenario(Part):
    """A few notes, and what must be known after them."""

    id: str = Field(pattern=r"^[a-z0-9-]{5,60}$")
    why: str
    """The rule it follows from."""
    zone: str = "UTC"
    """Of dates without an offset, and of counts per month."""
    steps: list[Step]
    questions: list[Question]
    topic: str

    @model_validator(mode="after")
    def _hangs_together(self) -> "Scenario":
        ZoneInfo(self.zone)
        clock = [step.at for step in self.steps]
        if clock != sorted(clock):
            raise ValueError("the clock of the record only goes on")
        if not self.questions:
            raise ValueError("a scenario asks something")
        return self

    @property
    def needs(self) -> frozenset[str]:
        """Capabilities without which a server cannot be asked this."""
        return frozenset(_needs(self))


_OWN = ("planned", "open", "history", "series", "changes", "episodes", "months", "standing")
"""Questions that need a capability of their name."""


def _needs(scenario: Scenario) -> Iterator[str]:
    if scenario.zone != "UTC":
        yield "zone"
    for step in scenario.steps:
        yield from _step_needs(step)
    for question in scenario.questions:
        yield from (name for name in _OWN if getattr(question, name))
        if question.entity or question.alike:
            yield "update"
        if question.changes:
            yield "clock"
            if question.changes.told_since:
                yield "told_since"
            yield from ("proposals" for change in question.expect if change["kind"] in {"proposed", "rejected"})
        if question.held:
            yield "as_of" if question.held.as_of else "clock"
            if question.held.known_at:
                yield from ("known_at", "clock")
            yield from (name for name in ("possible", "due") if getattr(question, name))


def _step_needs(step: Step) -> Iterator[str]:
    yield from (name for name in ("retire", "restore", "delete_fact", "delete_episode") if getattr(step, name))
    if step.update or step.undo or step.rebuild:
        yield "update"
    if step.asks is not None or (step.refused and step.tell):
        yield "asks"
    if step.tell and step.tell.entities:
        yield "people"
    if step.rests is not None or (step.tell and any(fact.because_of for fact in step.tell.facts)):
        yield "causes"


class _Plain(yaml.SafeLoader):
    """Dates and numbers stay as they are written; only null, true and false are more than text."""


_Plain.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag.rsplit(":", 1)[1] in {"null", "bool", "merge"}]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def load(directory: Path = SCENARIOS) -> list[Scenario]:
    """Every scenario of every file, in the order of the files; the file's name is the topic."""
    found = [
        Scenario.model_validate({**given, "topic": path.stem.replace("-", " ")})
        for path in sorted(directory.glob("*.yaml"))
        for given in yaml.load(path.read_text(encoding="utf-8"), _Plain)  # noqa: S506 a SafeLoader with fewer types
    ]
    twice = {one.id for one in found if sum(other.id == one.id for other in found) > 1}
    if twice:
        raise ValueError(f"scenarios with the same id: {sorted(twice)}")
    return found
