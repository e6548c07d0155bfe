"""The interface of a database, whichever it is.

Neither this nor an implementation puts the text of a query, its parameters or a database's own message into an error or
a log.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import Built, Embedded

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver

_Answer = TypeVar("_Answer")


class Refused(Exception):
    """The database refused a query; nothing of the query was applied."""

    def __init__(self, query: str, *, is_transient: bool = False) -> None:
        super().__init__(f"the database refused the query {query}")
        self.is_transient = is_transient
        """True if the cause is the state of the server (full disk, no memory, timeout), not the query."""


class Database(Protocol):
    """One graph in one database, over as many connections as it needs."""

    async def read(self, *queries: Query) -> list[list[Row]]:
        """Rows of each query; the database runs them side by side. Raises Unavailable."""
        ...

    async def write(self, query: Query) -> list[Row]:
        """Rows of one query that may safely be repeated, once they are committed.

        Raises:
            Refused: nothing of it is there.
            Unavailable: it may be there.
        """
        ...

    async def attempt(self, *queries: Query, writing: bool = False) -> list[list[Row]]:
        """As ``read`` and ``write`` without recovery.

        Raises:
            Refused: by the first query that was.
            Exception: what only ``recovering`` knows: the connection is lost.
        """
        ...

    async def recovering(self, send: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """The answer, after one recovery of a lost connection; ``send`` must be repeatable. Raises Unavailable."""
        ...

    async def is_durable(self, timeout_ms: int) -> bool:
        """True once everything written before this call survives a crash of the database."""
        ...

    def driver(self) -> "GraphDriver":
        """A driver for Graphiti's own code, with connections of its own; the caller closes it."""
        ...

    async def close(self) -> None: ...

    async def examine(self) -> None:
        """Check that this database can be used, without building anything.

        Raises:
            ConfigurationError: it cannot be used; says why and what to do.
            Unavailable: it does not answer.
        """
        ...

    async def prepare(self) -> None:
        """Build missing indexes and constraints, also in a graph of an older version; cheap when none is missing.

        Raises:
            NewerSchema: a newer version wrote this graph.
            ConfigurationError: this database cannot be used; says why and what to do.
            Unavailable: it does not answer, or its indexes do not become ready.
        """
        ...

    async def is_ready(self) -> bool:
        """True when every index but those of vectors is complete. Raises Unavailable."""
        ...

    async def clear(self) -> None:
        """Clear the whole graph; the empty one is prepared. Raises Unavailable."""
        ...

    async def vector_states(self) -> dict[Embedded, Built]:
        """The vector indexes there are now. Raises Unavailable."""
        ...

    async def create_vector_index(self, kind: Embedded, dimension: int) -> bool:
        """True if it is being built; False if one exists, or it was refused. Raises Unavailable."""
        ...

    async def drop_vector_index(self, kind: Embedded) -> bool:
        """False if there is none. Raises Unavailable."""
        ...

    async def claim(self, key: str, seconds: int) -> bool:
        """True for the first process that asks within so many seconds. Raises Unavailable."""
        ...


OpenDatabase: TypeAlias = Callable[[], Awaitable[Database]]
"""Connects, and imports slow modules, in a thread. Raises ConfigurationError, Unavailable."""
