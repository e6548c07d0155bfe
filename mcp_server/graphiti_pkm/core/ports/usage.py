"""Counts what searches and lists return, and keeps the totals; see ADR 61."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.model.records import Vector

Returned: TypeAlias = tuple[str, str]
"""The uuid and group of a record in an answer."""


class Searched(NamedTuple):
    """A search by meaning."""

    vector: Vector
    """Of the query."""
    returned: tuple[Returned, ...]
    """The entities in its answer."""


class UsageLog(Protocol):
    """What use cases know of it. What is told is queued and written later, by the server and not for the caller."""

    def searched(self, vector: Vector, returned: Iterable[Returned]) -> None:
        """A search returned these entities. It costs the caller nothing."""
        ...

    def traversed(self, returned: Iterable[Returned]) -> None:
        """A list of connections returned these facts, likewise."""
        ...

    async def mark_useful(self, fact_uuid: str, group_id: str) -> Fitness:
        """Count a fact as useful once more, and return its totals; it is stored when this returns.

        Raises Unavailable: it was not counted.
        """
        ...

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Fitness]:
        """The totals of records, without what is still queued; those without any are left out."""
        ...


class UsageCounts(Protocol):
    """The counters of this memory in its journal: a backup contains them, and a rebuild leaves them."""

    async def add(self, added: Sequence[Usage], *, is_durable: bool = False) -> None:
        """Add to the counters, in one statement; ``is_durable``: it is on disk when this returns.

        Raises Unavailable, DamagedStore, NewerSchema.
        """
        ...

    async def unsent(self, limit: int) -> list[Usage]:
        """Totals that changed since they were sent to the graph."""
        ...

    async def sent(self, totals: Sequence[Usage], gone: Sequence[str]) -> None:
        """Mark totals as sent, unless they changed meanwhile; counters of ``gone`` records are removed.

        During a rebuild nothing is removed, because the graph lacks records then.
        """
        ...


class GraphUsage(Protocol):
    """What counting asks of the graph."""

    async def cosines(self, searches: Sequence[Searched]) -> list[dict[str, float]]:
        """For each search the raw cosine of each entity that has a comparable vector."""
        ...

    async def send(self, totals: Sequence[Usage], server: str) -> set[str]:
        """Store the totals of one server in one statement; returns which of the records exist. Repeatable."""
        ...

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Fitness]:
        """The totals of all servers, and biases; records without any are left out."""
        ...


class _Unrecorded:
    """Counts nothing."""

    def searched(self, vector: Vector, returned: Iterable[Returned]) -> None:
        """Do nothing."""

    def traversed(self, returned: Iterable[Returned]) -> None:
        """Do nothing."""

    async def mark_useful(self, _fact_uuid: str, _group_id: str) -> Fitness:
        return Fitness()

    async def fitness(self, _uuids: Sequence[str], _group_ids: Sequence[str]) -> Mapping[str, Fitness]:
        return {}


UNRECORDED: UsageLog = _Unrecorded()
