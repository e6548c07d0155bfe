"""Building the indexes of Neo4j while another process builds them too."""

import pytest
from neo4j.exceptions import TransientError

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph.database import Row
from graphiti_pkm.storage.graph.neo4j import schema
from graphiti_pkm.storage.graph.neo4j.connection import Neo4jRefused
from graphiti_pkm.storage.graph.queries.values import Query


class Deadlocking:
    """An empty database that refuses the first attempts of every write."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.refused: dict[str, int] = {}
        self.done: list[str] = []

    async def attempt(self, *queries: Query, writing: bool = False, **_: float) -> list[list[Row]]:
        (query,) = queries
        if query.name == "version":
            return [[{"version": "5.26.0"}]]
        if query.name == "index states":
            return [[{"state": "ONLINE"}]]
        if writing:
            self.refused[query.text] = self.refused.get(query.text, 0) + 1
            if self.refused[query.text] <= self.refusals:
                raise Neo4jRefused(query.name, TransientError("deadlock"))
            self.done.append(query.text)
        return [[]]


async def test_a_deadlock_with_another_process_that_builds_the_same_is_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schema, "_POLL_SECONDS", 0)
    database = Deadlocking(refusals=2)
    await schema.ensure(database)
    assert database.done == list(database.refused)
    assert database.done[-1] == schema.BUILT.text


async def test_what_is_refused_again_and_again_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "_POLL_SECONDS", 0)
    with pytest.raises(Unavailable, match="could not prepare its indexes"):
        await schema.ensure(Deadlocking(refusals=1_000))
