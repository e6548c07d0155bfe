"""Queries end in bounded time, whatever keeps the database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from graphiti_pkm.core.ports.metrics import UNCOUNTED
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.measured_database import Limits, MeasuredDatabase
from graphiti_pkm.storage.graph.queries.values import Query

QUERY = Query("any", "RETURN 1", {})


class Silent:
    """A database of which no method ever returns."""

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def never(*_given: object, **_named: object) -> None:
            await asyncio.Event().wait()

        return never


@pytest.mark.parametrize(
    "ask",
    [
        lambda database: database.read(QUERY),
        lambda database: database.write(QUERY),
        lambda database: database.try_read(QUERY),
        lambda database: database.is_ready(),
        lambda database: database.vector_states(),
    ],
)
async def test_a_query_that_is_never_answered_ends_as_unavailable(ask: Callable[[Database], Awaitable[Any]]) -> None:
    database = MeasuredDatabase(cast("Database", Silent()), UNCOUNTED, Limits(read=0.01, write=0.01))
    with pytest.raises(Unavailable, match=r"has not answered for 0\.01 s"):
        await ask(database)


async def test_a_time_limit_of_the_database_itself_is_not_taken_for_ours() -> None:
    class Late(Silent):
        async def read(self, *_queries: Query) -> None:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        await MeasuredDatabase(cast("Database", Late()), UNCOUNTED).read(QUERY)
