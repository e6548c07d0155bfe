"""Journal and graph brought together again: at start, after a crash of the database, and after a restore."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import UTC
from pathlib import Path
from typing import Protocol

from graphiti_pkm.domain.ports import JournalRow
from graphiti_pkm.domain.queries import EpisodeFilter, Window
from graphiti_pkm.errors import DamagedStore, InvalidInput, NotKept, PkmError, Unavailable
from graphiti_pkm.services.commit import Committer
from graphiti_pkm.services.context import Context
from graphiti_pkm.services.waiting import wait_for_any

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Told how many writes are done, and of how many."""

_WINDOW = 200
"""Writes looked at first when walking back; a window wholly in the graph ends the walk.

The database loses the end of its log, never the middle, and marks writes of different groups nearly in the
journal's order: what is missing reaches back less than a window beyond the oldest that is missing.
"""
_ROWS = 100
_MARKERS = 1000
_EPISODES = 500
MOST_BEFORE_A_WRITE = 100
"""Lost writes of its group that a write brings back itself; with more to come it would keep its caller waiting."""
_TURN_SECONDS = 1.0
_QUIET_TURNS = 5
"""Turns between two tries of a write that waits for the database."""


class Damage(Protocol):
    """What the database says about its own file."""

    def is_whole(self) -> bool:
        """False from a repair until ``made_whole``: any part of the graph may be missing."""
        ...

    def made_whole(self) -> None:
        """The graph was made anew."""
        ...


class _NeverDamaged:
    def is_whole(self) -> bool:
        return True

    def made_whole(self) -> None:
        return


_NO_DAMAGE = _NeverDamaged()


class Recovery:
    """Replays what the graph lost, marks what it has for good, rebuilds it whole."""

    def __init__(self, context: Context, committer: Committer, damage: Damage = _NO_DAMAGE) -> None:
        """``damage`` tells whether the database repaired its file in a way that leaves gaps anywhere."""
        self._context = context
        self._damage = damage
        self._journal = context.journal
        self._graph = context.graph
        self._locks = context.locks
        self._committer = committer
        self._restarted = asyncio.Event()
        self._restarts = self._replayed_restarts = 0
        self._caught_up: set[str] = set()
        """Groups that have all they lost by the last restart, though others may not."""
        committer.before_writing = self.before_writing

    async def replay(self) -> int:
        """Finish and repeat what the graph misses, in order, group by group; returns how many writes.

        Raises:
            Unavailable: the graph cannot be reached; what was done so far stays done.
        """
        restarts = self._restarts
        count = 0 if self._damage.is_whole() else await self._make_whole()
        lost: dict[str, list[str]] = {}
        async for row in self._rows(await self._missing()):
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
        """Say that the database came back after a crash: ``keep_durable`` then replays what it lost, at once.

        To be called by the graph's adapter on the event loop. It does not wait: the write that met the crash
        still holds its group's lock.
        """
        self._restarts += 1
        self._caught_up.clear()
        self._restarted.set()

    async def before_writing(self, group_id: str) -> None:
        """Bring back what the last restart lost of a group whose lock is held.

        A write that does not find what was there would make it anew, and the replay would put the old beside it.

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

    async def keep_durable(self, stop: asyncio.Event) -> None:
        """Once a second mark what the graph has on disk, and look after what it has not; once more at the end."""
        quiet = 0
        while not stop.is_set():
            await wait_for_any(stop, self._restarted, seconds=_TURN_SECONDS)
            quiet = (quiet + 1) % _QUIET_TURNS
            await self._turn(tries_waiting=quiet == 0)
        await self._turn(tries_waiting=False)

    async def rebuild(self, progress: Progress, *, force: bool = False) -> int:
        """Make the graph anew from the journal; returns how many writes it took.

        Raises:
            InvalidInput: the graph holds episodes the journal does not know and ``force`` is not given.
            DamagedStore: a row cannot be read; the graph is unchanged.
            Unavailable: it stopped half-way; start-up or another rebuild goes on.
        """
        async with self._locks.hold_all():
            known = await self._check_rows()
            if not force and (unknown := await self._unknown_episodes(known)):
                raise InvalidInput(
                    f"The graph holds {unknown} episodes that are not in the journal; a rebuild would lose them. "
                    "Nothing was changed; --force goes on without them."
                )
            return await self._fill(progress, await self._total())

    async def restore_backup(self, path: Path, progress: Progress, *, replace: bool = False) -> int:
        """Put a backup in the journal's place and make the graph from it; returns how many writes it holds.

        Raises:
            InvalidInput: there is something to replace and ``replace`` is not given, or no such backup.
            DamagedStore: the backup is damaged; nothing was changed.
            NewerSchema: a newer version wrote the backup; nothing was changed.
        """
        await self._journal.verify_backup(path)
        async with self._locks.hold_all():
            if not replace and await self._holds_something():
                raise InvalidInput(
                    "There is a memory already. Nothing was changed. With --replace it is replaced, and a copy of its "
                    "journal is kept in the data directory."
                )
            if await self._keep_copy():
                return await self._replace(path, progress)
            count = await self._journal.restore(path)
            if not await self._unknown_episodes(await self._check_rows()):
                return await self._fill(progress, count)
        # The journal was damaged and the graph knows more than what could be saved: it stays as it is.
        _log.warning("the graph holds episodes that neither the backup nor the damaged journal gave; they were kept")
        await self.replay()
        return count

    async def _replace(self, path: Path, progress: Progress) -> int:
        # The graph is emptied first: dying in between leaves a journal with an empty graph, which start-up
        # fills again. The other way round, a mixture of old and new would be left.
        await self._clear()
        try:
            count = await self._journal.restore(path)
        except PkmError:
            await self._fill(progress, await self._total())
            raise
        return await self._fill(progress, count)

    async def _keep_copy(self) -> bool:
        """Back up the present journal; False if it is damaged: restoring then keeps the damaged file itself."""
        now = self._context.now().astimezone(UTC)
        name = f"journal-before-restore-{now:%Y%m%dT%H%M%S%f}.sqlite3"
        try:
            await self._journal.backup(self._context.settings.data_dir / name)
        except DamagedStore:
            return False
        return True

    async def _check_rows(self) -> set[str]:
        """Read every row; returns the episodes they tell. Raises DamagedStore while nothing is changed yet."""
        known: set[str] = set()
        async for row in self._all_rows():
            known.update(episode.uuid for episode in row.intent.episodes)
        return known

    async def _clear(self) -> None:
        in_graph, recorded = await self._graph.embedding(), await self._journal.embedding()
        await self._graph.clear()
        if recorded is not None:  # what the rows hold decides: a backup may be of another model
            await self._graph.record_embedding(recorded.model, recorded.dimension)
        elif in_graph is not None:
            await self._graph.record_embedding(*in_graph)

    async def _fill(self, progress: Progress, total: int) -> int:
        """Empty the graph and apply every row in order."""
        await self._clear()
        done = 0
        async for row in self._all_rows():
            try:
                await self._committer.apply_again(row)
            except NotKept as error:
                raise Unavailable(
                    f"The rebuild stopped after {done} writes. {error.message} "
                    "The journal is unchanged; run rebuild again."
                ) from error
            await self._journal.written(row.intent.uuid)
            done += 1
            progress(done, max(done, total))
        await self._graph.wait_durable()
        return done

    async def _make_whole(self) -> int:
        """Make the graph anew after a repair, once for all processes.

        A repair may have skipped single commands, also inside a write whose marker is there, so comparing
        markers is not enough.
        """
        async with self._locks.hold_all():
            if self._damage.is_whole():
                return 0
            count = 0
            if unknown := await self._unknown_episodes(await self._check_rows()):
                _log.warning("the repaired graph holds %d episodes the journal does not know: not made anew", unknown)
            else:
                count = await self._fill(lambda _done, _total: None, await self._total())
                _log.warning("made the graph anew from %d writes after a repair of its file", count)
            self._damage.made_whole()
        return count

    async def _missing(self) -> list[str]:
        """Uuids of the writes that the graph should hold and does not, oldest first."""
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
            there = await self._graph.applied(chunk)
            absent += [uuid for uuid in chunk if uuid not in there]
        return absent

    async def _catch_up(self, group_id: str, lost: Sequence[str] = ()) -> int:
        """Repeat the lost writes of a group, then finish its unfinished ones; the group's lock is held."""
        count = 0
        try:
            async for row in self._rows(await self._absent(lost)):  # another process may have been quicker
                await self._committer.apply_again(row)
                count += 1
            count += await self._committer.finish(group_id)
        except NotKept as error:  # the write stays in the journal, and holds up no other group
            _log.warning("a journalled write is refused: %s", error.message)
        return count

    async def _rows(self, write_uuids: Sequence[str]) -> AsyncIterator[JournalRow]:
        for chunk in _chunks(write_uuids, _ROWS):
            for row in await self._journal.find(chunk):
                yield row

    async def _turn(self, *, tries_waiting: bool) -> None:
        """One turn of the loop, which nothing may end: whatever fails is tried again by the next."""
        try:
            if self._restarted.is_set():
                self._restarted.clear()
                await self.replay()
            await self._mark_durable()
            if tries_waiting:
                for group_id in sorted(self._committer.waiting):
                    async with self._locks.hold(group_id):
                        await self._catch_up(group_id)
        except PkmError as error:
            _log.debug("journal and graph are not together yet: %s", error.code)
        except Exception as error:  # noqa: BLE001 a boundary: a background loop has no caller
            _log.error("keeping the journal failed: %s", type(error).__name__)

    async def _mark_durable(self) -> None:
        written = await self._journal.written_until_now()
        if not written or not await self._graph.wait_durable():
            return
        absent = set(await self._absent(written))
        await self._journal.applied([uuid for uuid in written if uuid not in absent])
        if absent:  # the database came back without its last second
            await self.replay()

    async def _all_rows(self) -> AsyncIterator[JournalRow]:
        after = 0
        while rows := await self._journal.rows(after, _ROWS):
            for row in rows:
                yield row
            after = rows[-1].seq

    async def _unknown_episodes(self, known: set[str]) -> int:
        """How many episodes of the graph the journal never wrote."""
        groups = tuple(await self._graph.groups())
        if not groups:
            return 0
        unknown = 0
        after: tuple[str | int, ...] | None = None
        while True:
            page = await self._graph.recent_episodes(
                EpisodeFilter(group_ids=groups), Window(limit=_EPISODES, after=after)
            )
            unknown += sum(episode.uuid not in known for episode in page.episodes)
            if len(page.episodes) < _EPISODES:
                return unknown
            after = page.keys[-1]

    async def _total(self) -> int:
        counts = await self._journal.counts()
        return sum(counts[state] for state in ("intent", "written", "applied"))

    async def _holds_something(self) -> bool:
        if await self._graph.groups():
            return True
        try:
            return bool(await self._journal.rows(0, 1))
        except DamagedStore:
            return True


def _chunks(items: Iterable[str], size: int) -> Iterable[list[str]]:
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk
