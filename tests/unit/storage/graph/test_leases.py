"""Leases of this process, without a database; ``tests/integration/test_leases.py`` tests them with one."""

from typing import cast

import pytest

from graphiti_pkm.storage.graph.database import Database
from graphiti_pkm.storage.graph.locks.leases import Fence, Fences
from graphiti_pkm.storage.graph.queries.values import Query, Row


class Cleared:
    """A cleared database; while it answers, a writer gives its lease back and another one takes a lease."""

    def __init__(self, fences: Fences, given_back: Fence, taken: Fence) -> None:
        self.restored: list[object] = []
        self._fences, self._given_back, self._taken = fences, given_back, taken

    async def write(self, query: Query) -> list[Row]:
        self.restored.append(query.parameters["lock"])
        self._fences.remove(self._given_back)
        self._fences.add(self._taken)
        return []


@pytest.mark.asyncio
async def test_leases_may_come_and_go_while_those_of_a_cleared_graph_are_restored() -> None:
    first, second, new = Fence("first", 1), Fence("second", 2), Fence("new", 3)
    fences = Fences()
    fences.add(first)
    fences.add(second)
    database = Cleared(fences, given_back=second, taken=new)
    await fences.restore(cast("Database", database))
    assert database.restored == ["first"]
