"""A recovery with the fakes around it."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from tests.builders import GROUP, a_write, an_episode
from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.graph import FakeGraph
from tests.fakes.journal import FakeJournal
from tests.fakes.locks import FakeLocks

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.recovery import Recovery


class World:
    """A recovery with the fakes around it."""

    def __init__(self, data_dir: Path, graph: FakeGraph | None = None, journal: FakeJournal | None = None) -> None:
        self.graph, self.journal, self.locks = graph or FakeGraph(), journal or FakeJournal(), FakeLocks()
        context = Context(
            graph=self.graph,
            journal=self.journal,
            embedder=FakeEmbedder(),
            locks=self.locks,
            settings=Settings(data_dir=data_dir),
            now=FakeClock(tick=timedelta(seconds=1)),
        )
        self.committer = Committer(context)
        self.recovery = Recovery(context, self.committer)
        self.progress: list[tuple[int, int]] = []

    async def write(self, *writes: WriteIntent, durable: bool = True) -> None:
        for write in writes:
            await self.committer.commit(write, {})
        if durable:
            await self.journal.applied([write.uuid for write in writes])

    async def lose(self, writes: Sequence[WriteIntent]) -> None:
        """Make the graph as if these writes had never reached it."""
        kept = [row.intent for row in await self.journal.rows(0, 100_000) if row.intent not in writes]
        await self.graph.clear()
        for write in kept:
            await self.graph.writer.apply(write, {})
        self.graph.attempts.clear()

    def show(self, done: int, total: int) -> None:
        self.progress.append((done, total))


def some_writes(count: int, group_id: str = GROUP) -> list[WriteIntent]:
    return [a_write(an_episode(group_id=group_id)) for _ in range(count)]
