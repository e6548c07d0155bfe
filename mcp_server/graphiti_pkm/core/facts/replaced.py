"""What a ``replaces`` is looked for among, and what it comes to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from graphiti_pkm.core.model.records import Fact

Problem = Literal["several", "none", "ends_nothing", "other_source", "other_relation"]


@dataclass(frozen=True)
class UnresolvedReplacement:
    """One of ``replaces`` that ends nothing, with the facts it may have meant."""

    wanted: str
    problem: Problem
    candidates: tuple[Fact, ...] = ()
    may_end: bool = True
    """Whether one of the facts can be ended or corrected."""
    may_be_unrecorded: bool = False
    """Whether it may as well be an old state that was never recorded."""


@dataclass(frozen=True)
class Ends:
    """The entities that a told fact joins."""

    source_uuid: str
    target_uuid: str


@dataclass(frozen=True)
class ReplacementPool:
    """The facts among which ``replaces`` finds the old ones.

    ``pools``: facts of the same source, those of the same relation (or series) first, those of near relations after
    them; newest first. ``rivals``: facts of other sources with the same relation and target, for one source may take
    the place of another: Tom manages me, no longer Maria. ``by_uuid``: facts whose uuids ``replaces`` may name.
    ``others``: facts with these ends, or the ends that ``replaces`` may mean, under whatever relation.
    ``placed``: uuids of rivals that the call itself tells, or whose sources it gives something else.
    """

    pools: Sequence[Sequence[Fact]]
    rivals: Sequence[Fact] = ()
    by_uuid: Sequence[Fact] = ()
    others: Sequence[Fact] = ()
    placed: Collection[str] = ()


@dataclass(frozen=True)
class Replaced:
    """What ``replaces`` comes to."""

    facts: tuple[Fact, ...] = ()
    guessed: tuple[Fact, ...] = ()
    """What no caller named and another relation tells: "current" found it under a relation much like the told one."""
    unrecorded: tuple[str, ...] = ()
    """Old targets or values that were never recorded."""
    unresolved: tuple[UnresolvedReplacement, ...] = ()
