"""Rebuilds the graph from the journal: by a command, after a restore, or if the graph lacks a part.

A mark in the journal is set before the graph is cleared and removed once its last row is applied. Whoever finds the
mark and gets the lock of all groups continues: rows that are present are skipped, so a rebuild completes however often
it is killed.
"""

import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from datetime import UTC
from pathlib import Path

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.ports.ports import JournalRow
from graphiti_pkm.core.ports.rebuilding import RebuildInProgress
from graphiti_pkm.errors import DamagedStore, InvalidInput, PkmError, Unavailable, WriteFailed
from graphiti_pkm.storage.commit import MAX_REFUSALS, Committer
from graphiti_pkm.storage.comparing import Comparing

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Called with the number of writes done and of all writes."""

_ROWS = 20
"""Few: one write may have hundreds of facts, and is read with their vectors."""
_TRIES = 3


class _PutBack(InvalidInput):
    """A restored journal could not be applied to the graph; the former one is back."""


def _nobody(_done: int, _total: int) -> None:
    """Ignores progress."""


class Rebuilding:
    """Starts rebuilds, and finishes those that others started."""

    def __init__(self, context: Context, committer: Committer, comparing: Comparing) -> None:
        self._context = context
        self._journal = context.journal
        self._graph = context.graph
        self._locks = context.locks
        self._committer = committer
        self._comparing = comparing
        self._refusals: Counter[str] = Counter()
        self.restarts: Callable[[], int] = lambda: 0
        """How often the database restarted after a crash, which may have lost the last writes."""

    async def rebuild(self, progress: Progress, *, force: bool = False) -> int:
        """Rebuild the graph from the journal; returns the number of writes.

        Raises:
            InvalidInput: the graph holds episodes the journal does not know and ``force`` is not given.
            DamagedStore: a row cannot be read; the graph is unchanged.
            Unavailable: it stopped half-way; the next start, call or rebuild goes on.
        """
        async with self._locks.hold_all():
            await self._check_rows()
            if not force and (unknown := await self._comparing.unknown_episodes()):
                raise InvalidInput(
                    f"The graph holds {unknown} episodes that are not in the journal; a rebuild would lose them. "
                    "Nothing was changed; --force goes on without them."
                )
            return await self._go_on(await self._journal.begin_rebuild("rebuild", drops_unknown=force), progress)

    async def repair(self) -> int:
        """Rebuild the graph if it still lacks a part under the lock, unless it has episodes that the journal lacks."""
        async with self._locks.hold_all():
            if not (await self._comparing.lost()).has_gap:
                return 0
            await self._check_rows()
            if unknown := await self._comparing.unknown_episodes():
                _log.warning("not rebuilt: the graph contains %d episodes that the journal does not know", unknown)
                return 0
            _log.warning("the graph lacks writes and is rebuilt from the journal")
            return await self._go_on(await self._journal.begin_rebuild("repair"), _nobody)

    async def restore_backup(self, path: Path, progress: Progress, *, replace: bool = False) -> int:
        """Replace the journal by a backup and rebuild the graph; returns the number of writes.

        The backup is checked whole first. Until the journal is replaced, in one step, nothing is changed.

        Raises:
            InvalidInput: there is something to replace and ``replace`` is not given, or no such backup; or the
                database refuses what the backup holds, and the former memory is back.
            DamagedStore: the backup is damaged; nothing was changed.
            NewerSchema: a newer version wrote the backup; nothing was changed.
            Unavailable: nothing was changed; or the journal is replaced, and the next start or call goes on.
        """
        await self._journal.verify_backup(path)
        async with self._locks.hold_all():
            if not replace and await self._holds_something():
                raise InvalidInput(
                    "There is a memory already. Nothing was changed. With --replace it is replaced, and a copy of its "
                    "journal is kept in the data directory."
                )
            former = await self._keep_copy()
            try:
                count = await self._journal.restore(path, drops_unknown=bool(former), former=former)
            except BaseException:
                if former:
                    (self._context.settings.data_dir / former).unlink(missing_ok=True)
                raise
            rebuild = await self._journal.rebuild_in_progress()
            if rebuild is not None:
                try:
                    await self._go_on(rebuild, progress)
                except Unavailable as error:
                    raise Unavailable(
                        f"{error.message} The backup is in the journal's place; the next start or call of a server "
                        "goes on with the graph."
                    ) from error
            return count

    async def finish(self, progress: Progress = _nobody) -> int:
        """Continue a rebuild whose process ended, if there is one; returns the number of writes.

        It waits for one that is still at work. Raises as ``rebuild``; the mark stays then.
        """
        if await self._journal.rebuild_in_progress() is None:
            return 0
        async with self._locks.hold_all():
            rebuild = await self._journal.rebuild_in_progress()
            if rebuild is None:
                return 0
            _log.warning(
                "finishing the %s that began at %s", rebuild.command, rebuild.began_at.isoformat(timespec="seconds")
            )
            try:
                await self._check_rows()
                return await self._go_on(rebuild, progress)
            except _PutBack as error:
                _log.warning("%s", error.message)
                return 0

    async def _go_on(self, rebuild: RebuildInProgress, progress: Progress) -> int:
        """Clear the graph, unless it is done or would lose what only the graph has, and apply every missing row."""
        may_clear = rebuild.drops_unknown or not await self._comparing.unknown_episodes()
        if not may_clear:
            _log.warning("the graph holds episodes that the journal does not know; they were kept")
        is_cleared = rebuild.is_cleared and not (await self._comparing.lost()).has_gap
        count = 0
        while True:
            restarts = self.restarts()
            if may_clear and not is_cleared:
                await self._clear()
                await self._journal.rebuild_cleared()
            count += await self._fill(rebuild, progress)
            await self._wait_durable()
            if restarts == self.restarts():
                await self._journal.end_rebuild()
                return count
            is_cleared = False  # the database stopped meanwhile: any rows may be missing

    async def _clear(self) -> None:
        in_graph, recorded = await self._graph.embeddings.embedding(), await self._journal.embedding()
        await self._graph.clear()
        if recorded is not None:  # the rows decide: a backup may have vectors of another model
            await self._graph.embeddings.record_embedding(recorded.model, recorded.dimension)
        elif in_graph is not None:
            await self._graph.embeddings.record_embedding(*in_graph)
        await self._wait_durable()  # otherwise a crash could bring back the former graph behind the mark

    async def _fill(self, rebuild: RebuildInProgress, progress: Progress) -> int:
        counts = await self._journal.counts()
        total = sum(counts[state] for state in ("intent", "written", "applied"))
        done = count = after = 0
        while rows := await self._journal.rows(after, _ROWS):
            there = await self._graph.writer.applied([row.intent.uuid for row in rows])
            for row in rows:
                if row.intent.uuid not in there:
                    await self._apply(row, rebuild, done)
                    count += 1
                done += 1
                progress(done, max(done, total))
            after = rows[-1].seq
        return count

    async def _apply(self, row: JournalRow, rebuild: RebuildInProgress, done: int) -> None:
        uuid = row.intent.uuid
        try:
            await self._committer.apply_again(row)
        except WriteFailed as error:
            if rebuild.former:
                await self._put_back(rebuild, error)
            self._refusals[uuid] += 1
            if self._refusals[uuid] < MAX_REFUSALS:
                raise Unavailable(
                    f"The {rebuild.command} stopped after {done} writes. {error.message} "
                    "The journal is unchanged; the next start or call of a server goes on."
                ) from error
            _log.error("write %s set aside: refused %d times", uuid, MAX_REFUSALS)
            await self._journal.set_aside(uuid, f"refused {MAX_REFUSALS} times: {error.message}")
        else:
            await self._journal.written(uuid)

    async def _put_back(self, rebuild: RebuildInProgress, refusal: WriteFailed) -> None:
        """Restore the journal from before a restore, and its graph; returns only if its copy is missing."""
        former = self._context.settings.data_dir / rebuild.former
        try:
            await self._journal.restore(former, drops_unknown=True)
        except InvalidInput:
            return
        put_back = await self._journal.rebuild_in_progress()
        if put_back is not None:
            await self._go_on(put_back, _nobody)
        raise _PutBack(
            f"The backup holds a write that this database refuses: {refusal.message} "
            "The memory was put back as it was before."
        ) from refusal

    async def _keep_copy(self) -> str:
        """Back up the present journal; empty if it is damaged: restoring then keeps the damaged file itself."""
        now = self._context.now().astimezone(UTC)
        name = f"journal-before-restore-{now:%Y%m%dT%H%M%S%f}.sqlite3"
        try:
            await self._journal.backup(self._context.settings.data_dir / name)
        except DamagedStore:
            return ""
        return name

    async def _check_rows(self) -> None:
        """Read every row before anything is changed. Raises DamagedStore."""
        async for _ in self._all_rows():
            pass

    async def _all_rows(self) -> AsyncIterator[JournalRow]:
        after = 0
        while rows := await self._journal.rows(after, _ROWS):
            for row in rows:
                yield row
            after = rows[-1].seq

    async def _wait_durable(self) -> None:
        """Wait until the database has persisted its data; what it loses nevertheless is replayed."""
        for _ in range(_TRIES):
            if await self._graph.writer.wait_durable():
                return

    async def _holds_something(self) -> bool:
        if await self._graph.records.groups():
            return True
        try:
            return bool(await self._journal.rows(0, 1))
        except DamagedStore:
            return True


async def is_unfinished(context: Context) -> RebuildInProgress | None:
    """The mark, if the journal can be read; other faults of the journal are reported elsewhere."""
    try:
        return await context.journal.rebuild_in_progress()
    except PkmError:
        return None
