"""Searches for shortest paths from both ends, always going on where fewer facts have to be read.

A store reads each hop; what has been reached, and which ways lead there, is kept here.
"""

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from graphiti_pkm.errors import InvalidInput

Way: TypeAlias = tuple[str, ...]
"""Uuids of the entities along a path."""

MOST_FACTS = 250_000
"""Maximum number of facts that one hop reads: some seconds."""


class End:
    """Entities reached from one end of a path so far."""

    def __init__(self, uuid: str, facts: int, avoided: Collection[str] = ()) -> None:
        """``facts``: of the end itself. ``avoided``: entities that no path leads through, none of them an end."""
        self.before: dict[str, list[str]] = {uuid: []}
        """By entity, (some of) those one hop nearer to the end; empty for the end itself."""
        self.closed = {uuid, *avoided}
        """Entities that the next hop does not lead to."""
        self.frontier = [uuid]
        self.hops = 0
        self.cost = facts
        """Number of facts that the next hop reads."""

    def go_on(self, reached: Mapping[str, list[str]], cost: int) -> None:
        """One hop further: entities not reached before, each with those it was reached from, and their facts."""
        self.before |= reached
        self.closed |= reached.keys()
        self.frontier = list(reached)
        self.hops += 1
        self.cost = cost

    def ways_to(self, uuid: str) -> Iterator[Way]:
        """Paths from the end, without duplicates."""
        if not self.before[uuid]:
            yield (uuid,)
        for nearer in sorted(self.before[uuid]):
            for way in self.ways_to(nearer):
                yield (*way, uuid)


class PathSearch:
    """One search between two different entities."""

    def __init__(self, source: End, target: End, max_hops: int) -> None:
        self._source = source
        self._target = target
        self._max_hops = max_hops

    def next_end(self) -> End | None:
        """The end to go on from; None if the ends met, or cannot.

        Raises:
            InvalidInput: the next hop would read more than ``MOST_FACTS``.
        """
        if self._met() or self._source.hops + self._target.hops >= self._max_hops:
            return None
        end = min((self._source, self._target), key=lambda one: one.cost)
        if not end.frontier:
            return None
        if end.cost > MOST_FACTS:
            raise InvalidInput(
                f"More than {MOST_FACTS:,} facts lie between the two, without a path so far. Narrow it with as_of, "
                "valid_after, include_invalidated=false or fewer max_hops."
            )
        return end

    def ways(self, limit: int) -> list[Way]:
        """At most ``limit`` paths of equal length; all, if there are fewer.

        It is enough for each entity to remember ``limit`` of those it was reached from.
        """
        ways = (
            (*to_middle, *reversed(from_middle[:-1]))
            for middle in sorted(self._met())
            for to_middle in self._source.ways_to(middle)
            for from_middle in self._target.ways_to(middle)
        )
        return sorted(islice(ways, limit))

    def _met(self) -> set[str]:
        return set(self._source.frontier) & set(self._target.frontier)
