"""Brings journal and graph back in line: at start, after a crash of the database, and periodically."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Iterable, Sequence

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.ports.comparing import Differences
from graphiti_pkm.core.ports.ports import JournalRow
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import PkmError, Unavailable, WriteFailed
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.comparing import Comparing
from graphiti_pkm.storage.rebuilding import Rebuilding, is_unfinished

_log = logging.getLogger(__name__)

_WINDOW = 200
"""Rows of the journal that are looked at together when walking back from its end; the first window that is completely
in the graph ends the walk. That is enough because a database loses the end of its log, never the middle, and writes of
different groups reach it nearly in the order of the journal."""
_ROWS = 100
_MARKERS = 1000
MOST_BEFORE_A_WRITE = 100
"""How many lost writes of its group a write restores itself; more would keep its caller waiting."""
_TURN_SECONDS = 1.0
_QUIET_TURNS = 5
"""Turns between two attempts of a write that waits for the database."""
PATIENCE_SECONDS = 20.0
"""Seconds that a call waits for the end of a rebuild."""
_LOOK_AGAIN_SECONDS = 0.1
_COMPARE_AFTER_SECONDS, _COMPARE_AGAIN_SECONDS = 60.0, 6 * 3600.0


class Recovery:
    """Replays writes that the graph lost, marks durable ones, and rebuilds the graph if that is not enough."""

    def __init__(self, context: Context, committer: Committer, *, is_shared: bool = False) -> None:
        """``is_shared``: servers with other journals may write to the same graph."""
        self._context = context
        self.comparing = Comparing(context, is_shared=is_shared)
        self.rebuilding = Rebuilding(context, committer, self.comparing)
        self.rebuilding.restarts = lambda: self._restarts
        self.patience_seconds = PATIENCE_SECONDS
        self._trouble = ""
        """Why the last attempt to finish a rebuild failed."""
        self._has_compared = self._is_lacking = False
        self.differences = ""
        """The differences of journal and graph at the last comparison, as a sentence."""
        self._journal = context.journal
        self._graph = context.graph
        self._locks = context.locks
        self._committer = committer
        self._restarted = asyncio.Event()
        self._restarts = self._replayed_restarts = 0
        self._caught_up: set[str] = set()
        """Groups that have recovered everything since the last restart."""
        committer.before_writing = self.before_writing

    async def replay(self) -> int:
        """Finish an interrupted rebuild, then apply the writes that the graph lacks, in order; returns how many.

        Raises:
            Unavailable: the graph cannot be reached; what was done so far stays done.
        """
        restarts = self._restarts
        if await is_unfinished(self._context) is not None and self._locks.is_closed():
            return 0  # a rebuild is in progress; the loop checks again
        count = await self.rebuilding.finish()
        count += await self._repair_gap()
        lost: dict[str, list[str]] = {}
        async for row in self._rows(await self._to_replay()):
            lost.setdefault(row.intent.group_id, []).append(row.intent.uuid)
        unfinished = {row.intent.group_id for row in await self._journal.unfinished(None)}
        for group_id in sorted(lost.keys() | unfinished):
            async with self._locks.hold(group_id):
                count += await self._catch_up(group_id, lost.get(group_id, []))
        self._replayed_restarts = restarts
        if count:
            _log.info("replayed %d writes from the journal", count)
        return count

    def after_restart(self) -> None:
        """Report that the database came back after a crash: ``mark_durable_periodically`` at once replays what it lost.

        To be called by the graph's adapter on the event loop. It does not wait: the write that met the crash
        still holds its group's lock.
        """
        self._restarts += 1
        self._caught_up.clear()
        self._restarted.set()

    async def before_writing(self, group_id: str) -> None:
        """Restore what the last restart lost of a group whose lock is held.

        Otherwise a new write would create an entity that is only missing for now, and the replay would add it twice.

        Raises:
            Unavailable: there is so much that the replay has to do it, or the graph cannot be reached.
        """
        if self._restarts == self._replayed_restarts or group_id in self._caught_up:
            return
        restarts = self._restarts
        lost = [row.intent.uuid async for row in self._rows(await self._missing()) if row.intent.group_id == group_id]
        if len(lost) > MOST_BEFORE_A_WRITE:
            raise Unavailable("The database lost a part of this group when it stopped; it is being brought back.")
        if count := await self._catch_up(group_id, lost):
            _log.info("replayed %d writes from the journal before another", count)
        if restarts == self._restarts:
            self._caught_up.add(group_id)

    async def mark_durable_periodically(self, stop: asyncio.Event) -> None:
        """Once a second, mark durable writes and recover missing ones; once more at the end."""
        quiet = 0
        while not stop.is_set():
            await wait_for_any(stop, self._restarted, seconds=_TURN_SECONDS)
            quiet = (quiet + 1) % _QUIET_TURNS
            await self._turn(tries_waiting=quiet == 0)
        await self._turn(tries_waiting=False)

    async def wait_until_rebuilt(self) -> None:
        """Wait until no rebuild is unfinished: then the graph matches the journal.

        Raises:
            Unavailable: that takes longer than a call should wait, or cannot be done now.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self.patience_seconds
        while (rebuild := await is_unfinished(self._context)) is not None:
            if clock() > deadline or self._trouble:
                raise Unavailable(f"{rebuild.describe()} {self._trouble}".strip())
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)  # another process may finish it

    async def compare(self) -> Differences:
        """Compare all rows of journal and graph, in both directions; missing writes are restored first.

        Raises:
            Unavailable: the graph cannot be reached.
            DamagedStore: likewise the journal.
        """
        if (await self.comparing.lost()).uuids:
            self._is_lacking = True
            await self.replay()
        return await self.comparing.differences()

    async def compare_periodically(self, stop: asyncio.Event) -> None:
        """Compare some time after the start, and periodically."""
        seconds = _COMPARE_AFTER_SECONDS
        while not stop.is_set():
            await wait_for_any(stop, seconds=seconds)
            seconds = _COMPARE_AGAIN_SECONDS
            if stop.is_set() or await is_unfinished(self._context) is not None:
                continue
            try:
                self.differences = (await self.compare()).describe()
            except PkmError as error:
                _log.debug("journal and graph could not be compared: %s", error.code)
            if self.differences:
                _log.warning("%s", self.differences)

    async def _repair_gap(self) -> int:
        """Rebuild once: writes after a gap were planned without the lost ones, so applying those late is not enough."""
        if not await self._looks_everywhere():
            return 0
        return await self.rebuilding.repair() if (await self.comparing.lost()).has_gap else 0

    async def _to_replay(self) -> Sequence[str]:
        """Writes to repeat: those lost at the end of the log, or at the start all missing ones."""
        lost = (await self.comparing.lost()).uuids if await self._looks_everywhere() else await self._missing()
        self._has_compared, self._is_lacking = True, False
        return lost

    async def _looks_everywhere(self) -> bool:
        return self._is_lacking or (not self._has_compared and await self.comparing.may_lack())

    async def _missing(self) -> list[str]:
        """Uuids of missing writes, oldest first."""
        missing: list[str] = []
        seen: set[str] = set()
        limit = _WINDOW
        while True:
            newest = await self._journal.newest_uuids(limit)
            window = [uuid for uuid in newest if uuid not in seen]
            seen.update(window)
            absent = await self._absent(window)
            missing += absent
            if not absent or len(newest) < limit:
                return missing[::-1]
            limit *= 2

    async def _absent(self, write_uuids: Sequence[str]) -> list[str]:
        absent: list[str] = []
        for chunk in _chunks(write_uuids, _MARKERS):
            there = await self._graph.writer.applied(chunk)
            absent += [uuid for uuid in chunk if uuid not in there]
        return absent

    async def _catch_up(self, group_id: str, lost: Sequence[str] = ()) -> int:
        """Repeat the lost writes of a group, then finish its unfinished ones; the group's lock is held."""
        count = 0
        if await is_unfinished(self._context) is not None:
            raise Unavailable("A rebuild of the graph is not finished yet.")
        try:
            async for row in self._rows(await self._absent(lost)):  # another process may have done it
                await self._committer.apply_again(row)
                count += 1
            count += await self._committer.finish(group_id)
        except WriteFailed as error:  # the write stays in the journal and does not block other groups
            _log.warning("a journalled write is refused: %s", error.message)
        return count

    async def _rows(self, write_uuids: Sequence[str]) -> AsyncIterator[JournalRow]:
        for chunk in _chunks(write_uuids, _ROWS):
            for row in await self._journal.find(chunk):
                yield row

    async def _turn(self, *, tries_waiting: bool) -> None:
        """One turn of the loop. No error ends the loop: whatever fails is retried in the next turn."""
        try:
            if await is_unfinished(self._context) is not None:
                await self._finish_rebuild()
                return
            if self._restarted.is_set():
                self._restarted.clear()
                await self.replay()
            await self._mark_durable()
            if tries_waiting:
                for group_id in sorted(self._committer.waiting):
                    async with self._locks.hold(group_id):
                        await self._catch_up(group_id)
        except PkmError as error:
            _log.debug("journal and graph do not match yet: %s", error.code)
        except Exception as error:  # noqa: BLE001 a boundary: a background loop has no caller
            _log.error("keeping the journal failed: %s", type(error).__name__)

    async def _finish_rebuild(self) -> None:
        if self._locks.is_closed():
            return
        try:
            await self.replay()
        except PkmError as error:
            self._trouble = error.message
            raise
        self._trouble = ""

    async def _mark_durable(self) -> None:
        written = await self._journal.written_until_now()
        if not written or not await self._graph.writer.wait_durable():
            return
        absent = set(await self._absent(written))
        await self._journal.applied([uuid for uuid in written if uuid not in absent])
        if absent:  # the database restarted without its last second
            await self.replay()


def _chunks(items: Iterable[str], size: int) -> Iterable[list[str]]:
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk
