"""Queues what searches and lists returned, and writes it in the background."""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

from graphiti_pkm.core.model.fitness import NO_FITNESS, Fitness, Usage
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.usage import GraphUsage, Returned, Searched, UsageCounts
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.usage import GraphUsagePart
from graphiti_pkm.storage.graph.sqlite.usage import SqliteGraphUsage

_log = logging.getLogger(__name__)

USAGE = GraphPart[GraphUsage](cypher=GraphUsagePart, sqlite=SqliteGraphUsage)

BATCH = 100
"""Queued calls that are written without waiting longer."""
MOST_WAITING = 10_000
"""Queued calls and counters at most, if nothing can be written; then the oldest calls go."""
_SENT_AT_ONCE = 1_000


class UsageQueue:
    """The port ``UsageLog``. Whatever the caller may do, it is the server that writes."""

    flush_seconds = 10.0
    """How long what was told waits at most."""

    def __init__(self, counts: UsageCounts, graph: GraphUsage, server: str = "", *, records: bool = True) -> None:
        """``server``: who counts, among the servers of a shared database. ``records``: whether returns are counted."""
        self._counts = counts
        self._graph = graph
        self._server = server
        self._records = records
        self._searches: deque[Searched] = deque(maxlen=MOST_WAITING)
        self._pending: dict[str, Usage] = {}
        """Counters that were not written yet, by uuid."""
        self._calls = 0
        self._begun, self._full = asyncio.Event(), asyncio.Event()
        self._flushing = asyncio.Lock()

    def searched(self, vector: Vector, returned: Iterable[Returned]) -> None:
        if self._records and (found := tuple(returned)):
            self._searches.append(Searched(vector, found))
            self._called()

    def traversed(self, returned: Iterable[Returned]) -> None:
        if self._records and (found := tuple(returned)):
            self._add(Usage(uuid=uuid, group_id=group_id, hits=1) for uuid, group_id in found)
            self._called()

    async def mark_useful(self, fact_uuid: str, group_id: str) -> Fitness:
        await self.flush()
        known = (await self.fitness([fact_uuid], [group_id])).get(fact_uuid, NO_FITNESS)
        await self._counts.add([Usage(uuid=fact_uuid, group_id=group_id, useful=1)], is_durable=True)
        self._begun.set()
        return known._replace(useful=known.useful + 1)

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Fitness]:
        return await self._graph.fitness(uuids, group_ids)

    async def run(self, stop: asyncio.Event) -> None:
        """Write what is queued after ``BATCH`` calls or ``flush_seconds``, and at the end."""
        await self._try_to_flush()  # what an earlier process counted and did not send
        while not stop.is_set():
            await wait_for_any(stop, self._begun)
            await wait_for_any(stop, self._full, seconds=self.flush_seconds)
            if not await self._try_to_flush():
                await wait_for_any(stop, seconds=self.flush_seconds)
        await self._try_to_flush()

    async def flush(self) -> None:
        """Write what is queued; what could not be written stays queued. Raises Unavailable and the like."""
        async with self._flushing:
            self._begun.clear()
            self._full.clear()
            self._calls = 0
            try:
                await self._count_searches()
                await self._write()
            except BaseException:
                self._begun.set()
                raise
            await self._send()

    async def _try_to_flush(self) -> bool:
        try:
            await self.flush()
        except PkmError as error:
            _log.warning("counters of searches wait: %s", error.code)
            return False
        except Exception as error:  # noqa: BLE001 a boundary: nothing depends on this loop, which goes on
            _log.error("counters of searches wait: %s", type(error).__name__)
            return False
        return True

    async def _count_searches(self) -> None:
        searches = [*self._searches]
        if not searches:
            return
        found = await self._graph.cosines(searches)
        for search, cosines in zip(searches, found, strict=True):
            if self._searches and self._searches[0] is search:  # a full queue may have lost its oldest meanwhile
                self._searches.popleft()
            self._add(
                Usage(uuid=uuid, group_id=group_id, hits=1, relevance=min(1.0, max(0.0, cosines[uuid])))
                for uuid, group_id in search.returned
                if uuid in cosines
            )

    async def _write(self) -> None:
        if not self._pending:
            return
        added, self._pending = self._pending, {}
        try:
            await self._counts.add([*added.values()])
        except BaseException:
            self._add(added.values())
            raise

    async def _send(self) -> None:
        """Send totals to the graph until none is left; the journal has them if that fails."""
        while totals := await self._counts.unsent(_SENT_AT_ONCE):
            there = await self._graph.send(totals, self._server)
            gone = [one.uuid for one in totals if one.uuid not in there]
            await self._counts.sent([one for one in totals if one.uuid in there], gone)
            if gone:
                self._begun.set()  # in a rebuild they may only be missing for now
            if gone or len(totals) < _SENT_AT_ONCE:
                return

    def _add(self, added: Iterable[Usage]) -> None:
        for one in added:
            known = self._pending.get(one.uuid)
            if known is not None:
                self._pending[one.uuid] = known.plus(one)
            elif len(self._pending) < MOST_WAITING:
                self._pending[one.uuid] = one

    def _called(self) -> None:
        self._calls += 1
        self._begun.set()
        if self._calls >= BATCH:
            self._full.set()
