"""What the parts of the fake graph share."""

from typing import TYPE_CHECKING

from tests.fakes.tables import Tables

if TYPE_CHECKING:
    from tests.fakes.graph import FakeGraph


class FakePart:
    """One named part, over the tables of the graph that it belongs to."""

    def __init__(self, graph: "FakeGraph") -> None:
        self._graph = graph

    async def _db(self) -> Tables:
        return await self._graph._db()
