"""What a memory server has to answer: an adapter says which of it the server can, and how.

Subclass ``Adapter``, name the capabilities, write the methods that they need. Whatever is not named counts as not
supported in the score, in a column of its own and not as passed.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal, Self, TypeAlias

from tests.temporal.scenario import Changes, Episode, Held, Known, Of, Period, Series, Update

Capability: TypeAlias = Literal[
    "clock",  # the instant of the record can be set
    "zone",  # dates without an offset are read in a zone
    "as_of",  # what held at an instant
    "possible",  # what may have held before it was known is listed apart
    "known_at",  # what was known at an instant of the record
    "history",  # all facts with their intervals, ended ones too
    "due",  # what was planned for an instant, and is not known to have come about, is listed apart from what held
    "planned",  # the plans that are or were open, and what became of the others
    "open",  # what waits for something to happen: plans, goals, what is only proposed
    "series",  # readings with dates, oldest first
    "changes",  # what was added, ended, corrected, restored, and when
    "told_since",  # the changes by the notes of a date or later
    "proposals",  # an ending that is in doubt is proposed, accepted by retiring, rejected by restoring
    "asks",  # a write that is in doubt ends nothing and asks back, one that is wrong is refused
    "retire",
    "restore",
    "update",  # an entity is renamed, linked, told apart, and that is undone
    "delete_fact",
    "delete_episode",
    "episodes",  # the episodes of an entity in a period
    "standing",  # the entities that have a status, by its word or class
    "causes",  # a fact names what it follows from, and what still rests on something that fell is named
    "people",  # a caller declares who is named: types and aliases
    "months",  # how often an entity was mentioned, by month
]


@dataclass(frozen=True)
class ParsedRequest:
    """What became of an episode: its id and those of its facts, in the order in which they were given."""

    episode: str
    facts: list[str] = field(default_factory=list)
    asks: bool = False
    rests: list[str] = field(default_factory=list)
    """Facts that are named as depending on something that was dropped or ended."""


@dataclass(frozen=True)
class FactAnswer:
    """A fact as the server tells it. ``says``: its value, else its target (its source, if the target was asked)."""

    says: str
    status: str = "current"
    """``possible`` is listed apart from what held."""
    valid_at: datetime | None = None
    invalid_at: datetime | None = None
    because_of: str | None = None
    outcome: str | None = None


@dataclass(frozen=True)
class ReadingAnswer:
    at: datetime
    value: str


@dataclass(frozen=True)
class ChangeAnswer:
    """What became of a fact; ``fact`` is its id as ``tell`` gave it."""

    at: datetime
    kind: str
    fact: str
    reason: str = ""


class Refused(Exception):
    """The server refuses a step; nothing was changed."""


class Adapter:
    """One server under test. Entered once; every scenario begins in an empty space of its own."""

    name: ClassVar[str] = "nameless"
    capabilities: ClassVar[frozenset[str]] = frozenset()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def begin(self, scenario: str, zone: str) -> None:
        """An empty memory, or a group of its own; dates without an offset are in ``zone`` from here on."""
        raise NotImplementedError

    async def set_clock(self, now: datetime) -> None:
        """The instant of the record from here on; only with the capability ``clock``."""
        raise NotImplementedError

    async def tell(self, episode: Episode, said: str) -> ParsedRequest:
        """Store what was said at ``said``; ids that ``replaces`` names are those that ``tell`` gave."""
        raise NotImplementedError

    async def retire(self, fact: str, reason: str, invalid_at: str | None, replaced_by: str | None) -> None:
        raise NotImplementedError

    async def restore(self, fact: str, reason: str) -> None:
        raise NotImplementedError

    async def update(self, wanted: Update, episodes: dict[str, str]) -> None:
        """``episodes``: ids by name."""
        raise NotImplementedError

    async def undo(self, entity: str) -> None:
        raise NotImplementedError

    async def rebuild(self) -> None:
        """Make the graph anew from the journal."""
        raise NotImplementedError

    async def entity(self, known: Known) -> dict[str, object]:
        """``name``, ``type``, ``summary`` and ``sentences`` (sorted)."""
        raise NotImplementedError

    async def alike(self, name: str, alias: str) -> bool:
        """Whether it is reported that another has the name ``alias`` when ``name`` is declared with it."""
        raise NotImplementedError

    async def delete_fact(self, fact: str) -> None:
        raise NotImplementedError

    async def delete_episode(self, episode: str) -> None:
        raise NotImplementedError

    async def held(self, question: Held) -> list[FactAnswer]:
        """What held: now, ``as_of`` or ``known_at``. No event, plan or reading."""
        raise NotImplementedError

    async def planned(self, question: Held) -> list[FactAnswer]:
        """Plans that are open, or were at an instant."""
        raise NotImplementedError

    async def open(self, question: Held) -> list[FactAnswer]:
        """Open plans and goals, and what has a status such as proposed; now or at an instant."""
        raise NotImplementedError

    async def history(self, of: Of) -> list[FactAnswer]:
        """Everything ever told that was not found to be wrong, whatever its kind."""
        raise NotImplementedError

    async def series(self, of: Series) -> list[ReadingAnswer]:
        """Readings, oldest first."""
        raise NotImplementedError

    async def changes(self, period: Changes) -> list[ChangeAnswer]:
        """Newest recorded first; with ``told_since`` the newest told first, each with that instant."""
        raise NotImplementedError

    async def episodes(self, period: Period) -> list[str]:
        """Ids of the episodes that name an entity, oldest first."""
        raise NotImplementedError

    async def standing(self, status: str) -> list[str]:
        """Names of the entities that have this status now, or any status of this class; in order."""
        raise NotImplementedError

    async def months(self, entity: str) -> dict[str, int]:
        """``2026-03`` to how many episodes of that month name the entity."""
        raise NotImplementedError
