"""Compares journal and graph completely, in both directions, page by page."""

from collections.abc import Awaitable, Callable, Sequence

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.ports.comparing import Differences, Lost

_PAGE = 1000


class Comparing:
    """Compares counts, which is cheap, and pages of uuids, which finds the differences."""

    def __init__(self, context: Context, *, is_shared: bool = False) -> None:
        """``is_shared``: servers with other journals may write to the same graph."""
        self._journal = context.journal
        self._graph = context.graph
        self._is_shared = is_shared

    async def may_lack(self) -> bool:
        """Whether the graph has fewer markers than the journal has writes; inconclusive for a shared graph."""
        if self._is_shared:
            return False
        counts = await self._journal.counts()  # first, so that a write made meanwhile is already in the graph
        return await self._graph.comparison.write_count() < counts["written"] + counts["applied"]

    async def counts_differ(self) -> str:
        """A sentence if the number of markers does not match the journal; cheap, and checked twice if necessary."""
        if self._is_shared:
            return ""
        found = await self._count()
        return (await self._count()).describe() if found.describe() else ""

    async def _count(self) -> Differences:
        before = await self._journal.counts()
        held = await self._graph.comparison.write_count()
        after = await self._journal.counts()
        least = before["written"] + before["applied"]
        most = sum(after[state] for state in ("intent", "written", "applied", "failed"))
        return Differences(lost_writes=max(0, least - held), unknown_writes=max(0, held - most))

    async def lost(self) -> Lost:
        """Every write that the graph lacks. Raises Unavailable."""
        lost: list[str] = []
        lacking: set[str] = set()
        has_gap = False
        after = 0
        while page := await self._journal.written_rows(after, _PAGE):
            there = await self._graph.writer.applied([row.uuid for row in page])
            for row in page:
                if row.uuid in there:
                    has_gap = has_gap or row.group_id in lacking
                else:
                    lost.append(row.uuid)
                    lacking.add(row.group_id)
            after = page[-1].seq
        return Lost(uuids=tuple(lost), has_gap=has_gap)

    async def differences(self) -> Differences:
        """Differences of writes and of episodes; writes made meanwhile may be counted. Raises Unavailable."""
        unknown_writes = unknown_episodes = 0
        lost = await self.lost()
        lost_episodes = await self._lost_episodes()
        if not self._is_shared:
            unknown_writes = await _unknown(self._graph.comparison.writes_after, self._journal.known_writes)
            unknown_episodes = await self.unknown_episodes()
        return Differences(
            lost_writes=len(lost.uuids),
            lost_episodes=0 if lost.uuids else lost_episodes,
            unknown_writes=unknown_writes,
            unknown_episodes=unknown_episodes,
        )

    async def unknown_episodes(self) -> int:
        """How many episodes of the graph the journal never recorded."""
        return await _unknown(self._graph.comparison.episodes_after, self._journal.known_episodes)

    async def _lost_episodes(self) -> int:
        count, after = 0, ""
        while page := await self._journal.written_episodes(after, _PAGE):
            if lacking := set(page) - await self._graph.comparison.existing_episodes(page):
                lacking &= set(await self._journal.written_episodes(after, _PAGE))  # otherwise deleted meanwhile
            count += len(lacking)
            after = page[-1]
        return count


async def _unknown(
    held: Callable[[str, int], Awaitable[list[str]]], known: Callable[[Sequence[str]], Awaitable[set[str]]]
) -> int:
    count, after = 0, ""
    while page := await held(after, _PAGE):
        count += len(set(page) - await known(page))
        after = page[-1]
    return count
