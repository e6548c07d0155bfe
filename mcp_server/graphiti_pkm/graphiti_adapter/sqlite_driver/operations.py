"""What the groups of operations share: reads in a snapshot, writes in a transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self, TypeVar

from graphiti_core.driver.graph_operations.graph_operations import GraphOperationsInterface
from graphiti_core.driver.query_executor import Transaction
from graphiti_core.edges import Edge
from graphiti_core.errors import EdgeNotFoundError, NodeNotFoundError
from graphiti_core.nodes import Node
from pydantic import BaseModel, PrivateAttr

from graphiti_pkm.storage.graph.sqlite import graphiti_reading as reading
from graphiti_pkm.storage.graph.sqlite.graphiti_records import Kind
from graphiti_pkm.storage.graph.sqlite.graphiti_saving import Saving, save
from graphiti_pkm.storage.graph.sqlite.part import OpenFile

T = TypeVar("T")
N = TypeVar("N", bound=Node)
E = TypeVar("E", bound=Edge)
R = TypeVar("R", bound=BaseModel)

Step = Callable[[Saving], None]


class SqliteTransaction(Transaction):
    """Collects what is saved and writes it at the end, all or nothing; until then the file is not locked."""

    def __init__(self, opened: OpenFile, run: Callable[..., Any]) -> None:
        self._opened = opened
        self._run = run
        self._steps: list[Step] = []

    async def run(self, query: str, **parameters: Any) -> Any:
        """Answers a query as ``SqliteDriver.execute_query`` does; it does not see what is collected."""
        return await self._run(query, **parameters)

    def add(self, step: Step) -> None:
        self._steps.append(step)

    async def commit(self) -> None:
        steps, self._steps = self._steps, []
        if steps:
            await self._opened.file.write(lambda db: save(db, *steps))


class Operations(GraphOperationsInterface):
    """One group of Graphiti's operations on the file; the ``driver`` in its methods is not used."""

    _opened: OpenFile = PrivateAttr()

    @classmethod
    def on(cls, opened: OpenFile) -> Self:
        """The operations on this file."""
        made = cls()
        made._opened = opened
        return made

    async def _save(self, *steps: Step, transaction: Any = None) -> None:
        """Save in one transaction: the given one, or a new one."""
        if isinstance(transaction, SqliteTransaction):
            for step in steps:
                transaction.add(step)
            return
        await self._opened.file.write(lambda db: save(db, *steps))

    async def _node(self, kind: Kind[N], uuid: str) -> N:
        for found in await self._by_uuids(kind, [uuid]):
            return found
        raise NodeNotFoundError(uuid)

    async def _edge(self, kind: Kind[E], uuid: str) -> E:
        for found in await self._by_uuids(kind, [uuid]):
            return found
        raise EdgeNotFoundError(uuid)

    async def _by_uuids(self, kind: Kind[T], uuids: Sequence[str], group_id: str | None = None) -> list[T]:
        return await self._opened.file.read(lambda db: reading.by_uuids(db, kind, uuids, group_id))

    async def _page(self, kind: Kind[T], groups: Sequence[str], limit: int | None, before: str | None) -> list[T]:
        return await self._opened.file.read(lambda db: reading.page(db, kind, groups, limit, before))

    async def _embeddings(self, records: Sequence[Any]) -> dict[str, list[float]]:
        uuids = [record.uuid for record in records]
        return await self._opened.file.read(lambda db: reading.embeddings(db, uuids))


def record_of(model: type[R], given: R | Mapping[str, Any]) -> R:
    """The record in a dict: Graphiti saves many records so, with attributes among the fields."""
    if isinstance(given, model):
        return given
    if not isinstance(given, Mapping):
        raise TypeError(f"A {model.__name__} or its fields were expected, not {type(given).__name__}.")
    fields = {name: value for name, value in given.items() if name in model.model_fields and name != "attributes"}
    if "attributes" not in model.model_fields:
        return model(**fields)
    attributes = {name: value for name, value in given.items() if name not in fields and name != "attributes"}
    nested = given.get("attributes")
    if isinstance(nested, Mapping):
        attributes |= nested
    elif nested is not None:
        attributes["attributes"] = nested
    return model(**fields, attributes=attributes)
