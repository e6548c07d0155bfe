"""Counters of fitness: those of the fake journal, and those beside the fake graph."""

from collections.abc import Callable, Sequence

from tests.fakes.part import FakePart
from tests.fakes.search import cosine
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.fitness import Fitness, Usage
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.usage import Searched
from graphiti_pkm.errors import PkmError


class FakeUsageCounts:
    """The port ``UsageCounts`` in a dict."""

    def __init__(self, is_rebuilding: Callable[[], bool] = lambda: False) -> None:
        self._is_rebuilding = is_rebuilding
        self.table: dict[str, Usage] = {}
        self.waiting: set[str] = set()
        """What was not sent."""
        self.added: list[Sequence[Usage]] = []
        """Each call of ``add``."""
        self.fault: PkmError | None = None
        """Raised by ``add``."""

    async def add(self, added: Sequence[Usage], *, is_durable: bool = False) -> None:  # noqa: ARG002 a dict is neither
        if self.fault is not None:
            raise self.fault
        self.added.append(added)
        for one in added:
            known = self.table.get(one.uuid)
            self.table[one.uuid] = known.plus(one) if known else one
            self.waiting.add(one.uuid)

    async def unsent(self, limit: int) -> list[Usage]:
        return [self.table[uuid] for uuid in sorted(self.waiting)][:limit]

    async def sent(self, totals: Sequence[Usage], gone: Sequence[str]) -> None:
        self.waiting -= {one.uuid for one in totals if self.table.get(one.uuid) == one}
        for uuid in gone if not self._is_rebuilding() else ():
            self._remove(uuid)

    def send_again(self) -> None:
        """The graph was cleared."""
        self.waiting = set(self.table)

    def forget(self, intent: WriteIntent) -> None:
        gone = {*intent.deletions.entities, *intent.deletions.facts, *(intent.forgets.facts if intent.forgets else ())}
        for uuid, one in [*self.table.items()]:
            if uuid in gone or one.group_id in intent.deletions.groups:
                self._remove(uuid)

    def _remove(self, uuid: str) -> None:
        self.table.pop(uuid, None)
        self.waiting.discard(uuid)


def delete_counters(db: Tables) -> None:
    """Those whose record is gone."""
    db.counters = {key: one for key, one in db.counters.items() if _is_there(db, one)}


class FakeGraphUsage(FakePart):
    """The port ``GraphUsage``."""

    async def cosines(self, searches: Sequence[Searched]) -> list[dict[str, float]]:
        known = (await self._db()).vectors
        return [
            {
                uuid: cosine(one.vector, known[uuid])
                for uuid, _ in one.returned
                if len(known.get(uuid, ())) == len(one.vector)
            }
            for one in searches
        ]

    async def send(self, totals: Sequence[Usage], server: str) -> set[str]:
        db = await self._db()
        there = [one for one in totals if _is_there(db, one)]
        for one in there:
            known = db.counters.get((server, one.uuid), one)
            db.counters[server, one.uuid] = one if one.hits >= known.hits and one.useful >= known.useful else known
        return {one.uuid for one in there}

    async def fitness(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Fitness]:
        db, found = await self._db(), dict[str, Fitness]()
        for uuid in uuids:
            own = {uuid, *(former for former, now in db.former.items() if now == uuid)}
            counted = [one for (_, of), one in db.counters.items() if of in own and one.group_id in group_ids]
            quality = db.qualities.get(uuid)
            bias = quality.bias if quality is not None and quality.group_id in group_ids else None
            if counted or bias is not None:
                found[uuid] = Fitness(
                    hits=sum(one.hits for one in counted),
                    relevance=sum(one.relevance for one in counted),
                    useful=sum(one.useful for one in counted),
                    bias=bias or 0.0,
                )
        return found


def _is_there(db: Tables, one: Usage) -> bool:
    record = db.entities.get(one.uuid) or db.facts.get(one.uuid)
    if record is None and one.uuid in db.former:
        return db.former_groups[one.uuid] == one.group_id
    return record is not None and record.group_id == one.group_id
