"""What the store asks of Neo4j: ``neo4j.database`` answers it, ``measured_database`` stands before that.

Neither puts the text of a query, its parameters or the database's own message into an error or a log.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import Embedded

if TYPE_CHECKING:
    from graphiti_core.driver.driver import GraphDriver


class Refused(Exception):
    """The database refused a query; nothing of the query was applied."""

    def __init__(self, query: str, code: str, *, is_transient: bool = False) -> None:
        """``code``: the database's own, of a fixed vocabulary."""
        super().__init__(f"the database refused the query {query}: {code}")
        self.is_transient = is_transient
        """True if the cause is the state of the server (full disk, no memory, timeout), not the query."""


class Database(Protocol):
    """One graph in one database, over as many connections as it needs."""

    async def read(self, *queries: Query) -> list[list[Row]]:
        """Rows of each query; they run side by side. Raises Unavailable."""
        ...

    async def write(self, query: Query) -> list[Row]:
        """Rows of one query that may safely be repeated, once they are committed.

        Raises:
            Refused: nothing of it is there.
            Unavailable: it may be there.
        """
        ...

    async def try_read(self, query: Query) -> list[Row]:
        """Rows of one query that may be refused. Raises Refused, Unavailable."""
        ...

    def driver(self) -> "GraphDriver":
        """A driver for Graphiti's own code; the caller closes it."""
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

    async def vector_states(self) -> dict[Embedded, int]:
        """The vector indexes there are now, and how many percent of each are built. Raises Unavailable."""
        ...

    async def create_vector_index(self, kind: Embedded, dimension: int) -> bool:
        """True if it is being built; False if one exists, or it was refused. Raises Unavailable."""
        ...

    async def drop_vector_index(self, kind: Embedded) -> None:
        """If there is one. Raises Unavailable."""
        ...


OpenDatabase: TypeAlias = Callable[[], Awaitable[Database]]
"""Connects, and imports slow modules, in a thread. Raises ConfigurationError, Unavailable."""
