"""Input and result of resolving ``replaces``."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from graphiti_pkm.core.model.records import Fact

Problem = Literal["several", "none", "ends_nothing", "other_source", "other_relation"]


@dataclass(frozen=True)
class UnresolvedReplacement:
    """An entry of ``replaces`` that ended nothing, with the facts it may refer to."""

    wanted: str
    problem: Problem
    candidates: tuple[Fact, ...] = ()
    may_end: bool = True
    """Whether one of the facts can be ended or corrected."""
    may_be_unrecorded: bool = False
    """Whether it may also be an old state that was never recorded."""


@dataclass(frozen=True)
class Ends:
    """The entities that a parsed fact joins."""

    source_uuid: str
    target_uuid: str


@dataclass(frozen=True)
class ReplacementPool:
    """The facts among which ``replaces`` looks for the old ones.

    ``pools``: facts of the same source, first those of the same relation (or series), then those of similar relations;
    newest first. ``rivals``: facts of other sources with the same relation and target, since one source may take the
    place of another: Tom manages me, no longer Maria. ``by_uuid``: facts whose uuids ``replaces`` may name. ``others``:
    facts with these entities, or those that ``replaces`` may name, under any relation. ``placed``: uuids of rivals that
    the call itself mentions, or whose sources it gives something else. ``inverse``: facts into the source that say from
    the other end what the call says. ``said``: facts of any source whose sentences ``replaces`` holds.
    """

    pools: Sequence[Sequence[Fact]]
    rivals: Sequence[Fact] = ()
    by_uuid: Sequence[Fact] = ()
    others: Sequence[Fact] = ()
    placed: Collection[str] = ()
    inverse: Sequence[Fact] = ()
    said: Sequence[Fact] = ()


@dataclass(frozen=True)
class Replaced:
    """The result for all entries of ``replaces``."""

    facts: tuple[Fact, ...] = ()
    guessed: tuple[Fact, ...] = ()
    """Facts of a similar relation that "current" found; the caller did not name them."""
    unrecorded: tuple[str, ...] = ()
    """Old targets or values that were never recorded."""
    unresolved: tuple[UnresolvedReplacement, ...] = ()
