"""Commits one write: embedded in one transaction, on Neo4j to the journal and then to the graph; errors say how far."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, TypeVar

from graphiti_pkm.core import call_time
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.uuids import unknown
from graphiti_pkm.core.model import redaction
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.records import Entity, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.ports.embedding import mismatch
from graphiti_pkm.core.ports.ports import JournalRow
from graphiti_pkm.core.reading.reader import Anchor
from graphiti_pkm.errors import PkmError, Unavailable, WriteFailed, WritePending

_log = logging.getLogger(__name__)

T = TypeVar("T")

MAX_REFUSALS = 3
"""A journalled write that the graph refuses this often is set aside, so that it cannot block its group for ever."""

MAX_UNENDED = 3
"""Likewise a write during which processes died this often (no memory, a fault below Python): each start retries it."""


async def _nothing_lost(_group_id: str) -> None:
    """For a database that never restarts."""


_NO_ANSWER: Mapping[str, object] = MappingProxyType({})


class Committer:
    """Commits writes to journal and graph; ``writing`` and ``changing`` take the group's lock, all else expects it."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._journal = context.journal
        self._graph = context.graph
        self._embedder = context.embedder
        self._refusals: Counter[str] = Counter()
        self.waiting: set[str] = set()
        """Groups with a write that this process left in the journal only; a background loop retries them."""
        self.before_writing: Callable[[str], Awaitable[None]] = _nothing_lost
        """Called first under a group's lock, so that no write is planned on a graph that lacks earlier ones."""
        self.on_jobs: Callable[[], None] = lambda: None
        """Called when a write has enqueued jobs."""
        self.on_extractions: Callable[[], None] = lambda: None
        """Called when a write has enqueued extractions."""

    @asynccontextmanager
    async def writing(self, group_id: str) -> AsyncIterator[None]:
        """Hold the lock of a group, whose earlier writes are finished first. Raises as ``catch_up``."""
        async with self._context.locks.hold(group_id):
            await self.catch_up(group_id)
            yield

    @asynccontextmanager
    async def changing(self, anchor: Anchor) -> AsyncIterator[Entity]:
        """Hold the group of an entity and finish its writes; yields the entity as it is then. Raises NotFound."""
        if anchor.entity is None:
            raise unknown("entity", anchor.asked)
        group = anchor.entity.group_id
        async with self.writing(group):
            found = await self._graph.records.get_entities([anchor.uuid], [group])
            if not found:
                raise unknown("entity", anchor.asked)
            yield found[0]

    async def time(self, group_id: str, now: datetime | None = None) -> datetime:
        """The recording time of a group's next write: now, but later than every earlier write, whatever the clock says.

        So writes are ordered by time, and no interval ends before it begins. Raises Unavailable.
        """
        now, newest = now or self._context.now(), await self._graph.facts.newest_record([group_id])
        return now if newest is None or newest < now else newest + timedelta(microseconds=1)

    async def commit(
        self, intent: WriteIntent, vectors: Vectors, request_hash: str = "", answer: Mapping[str, object] = _NO_ANSWER
    ) -> None:
        """Journal and apply one write. If cancelled, it still completes before the caller releases the lock.

        Raises:
            WriteFailed: nothing of it is stored; it may be sent again.
            WritePending: the journal has it and the graph gets it later; it must not be sent again.
        """
        call_time.commit_begins()
        await _to_the_end(self._commit(intent, vectors, request_hash, answer))

    async def catch_up(self, group_id: str) -> int:
        """Finish the group's unfinished writes, oldest first; returns how many. Call it right after taking the lock.

        Raises:
            WriteFailed: an earlier write cannot be finished now, so a new one must not be put before it.
        """
        try:
            await self.before_writing(group_id)
            return await self.finish(group_id)
        except (WriteFailed, Unavailable) as error:
            raise WriteFailed(
                "Nothing was stored: an earlier write of this group waits for the database. "
                f"{error.message} Send this one again later."
            ) from error

    async def finish(self, group_id: str) -> int:
        """Like ``catch_up``, with the graph's own errors.

        Raises:
            Unavailable: the graph cannot be reached.
            WriteFailed: it refused a write, which has not been set aside yet.
        """
        count = await _to_the_end(self._finish(group_id))
        self.waiting.discard(group_id)
        return count

    async def apply_again(self, row: JournalRow) -> None:
        """Apply a journalled write once more. Raises as ``Graph.apply``."""
        await _to_the_end(self._graph.writer.apply(row.intent, row.vectors))

    async def _commit(
        self, intent: WriteIntent, vectors: Vectors, request_hash: str, answer: Mapping[str, object]
    ) -> None:
        intent = await self._with_former_uuids(intent)
        intent, vectors = await self._as_recorded(intent, vectors)
        effect = self._graph.writer.effect(intent, vectors)
        await self._journal.append(intent, vectors, request_hash, answer, effect)
        call_time.journalled(_subject(intent))
        if effect is None:
            await self._apply(intent, vectors)
        if intent.jobs:
            self.on_jobs()
        if intent.extractions:
            self.on_extractions()

    async def _with_former_uuids(self, intent: WriteIntent) -> WriteIntent:
        """A write that takes something from an entity, with the uuids of all that were merged into that entity.

        Raises WriteFailed: nothing was stored.
        """
        if intent.forgets is None and not intent.deletions.entities:
            return intent
        try:
            known = await self._graph.records.former_uuids(intent.group_id)
        except PkmError as error:
            raise WriteFailed(f"Nothing was stored. {error.message}") from error
        concerned = frozenset(
            (
                *redaction.concerned(intent),
                *(entity for _, entity in (intent.forgets.mentions if intent.forgets else ())),
            )
        )
        former = tuple(sorted((uuid, now) for uuid, now in known.items() if now in concerned))
        gone = {uuid for uuid, now in former if now in intent.deletions.entities}
        deletions = intent.deletions.model_copy(
            update={"entities": (*intent.deletions.entities, *sorted(gone.difference(intent.deletions.entities)))}
        )
        return intent.model_copy(update={"former": former, "deletions": deletions}) if former else intent

    async def _apply(self, intent: WriteIntent, vectors: Vectors) -> None:
        """What is journalled, into a graph elsewhere. Raises as ``commit``."""
        try:
            await self._graph.writer.apply(intent, vectors)
        except WriteFailed as refusal:
            # A forgetting has redacted the earlier rows; a caller whose call timed out was told that the write is kept.
            if intent.forgets is not None or call_time.answered_as_kept():
                raise self._pending(intent, refusal.message) from refusal
            raise await self._withdraw(intent, refusal) from refusal
        except Unavailable as error:
            raise self._pending(intent, error.message) from error
        except Exception as error:  # a boundary: whatever failed, the journal has the write, and the caller must know
            _log.error("write %s left in the journal: %s", intent.uuid, type(error).__name__)
            raise self._pending(intent, "The write could not be finished.") from error
        await self._mark_written(intent.uuid)

    async def _as_recorded(self, intent: WriteIntent, vectors: Vectors) -> tuple[WriteIntent, Vectors]:
        """The write without vectors of a model that is not the memory's; a job makes them later.

        The model cannot change while the group's lock is held, so this is the place to check it.
        """
        try:
            recorded = await self._journal.embedding()
            if recorded is None and vectors:  # a backup without any vector was restored by another process
                await self._journal.record_embedding(self._embedder.model, self._embedder.dimension)
                recorded = await self._journal.embedding()
        except PkmError:  # the write goes to the same journal, which will report it
            return intent, vectors
        if recorded is None:
            return intent, vectors
        if vectors and mismatch(recorded, self._embedder) is not None:
            vectors = {}
        if not vectors and intent.merge is None and (intent.passages or intent.names or intent.facts):
            intent = intent.model_copy(update={"jobs": (*intent.jobs, EmbedMissingJob())})
        return intent, vectors

    async def _withdraw(self, intent: WriteIntent, refusal: WriteFailed) -> PkmError:
        try:
            await self._journal.withdraw(intent.uuid)
        except PkmError as error:  # the row stays and is retried
            return self._pending(intent, error.message)
        return WriteFailed(f"Nothing was kept. {refusal.message}")

    def _pending(self, intent: WriteIntent, reason: str) -> WritePending:
        self.waiting.add(intent.group_id)
        return WritePending(
            f"Kept as {_subject(intent)}, do not send it again: it reaches the graph as soon as the database answers. "
            f"{reason}"
        )

    async def _finish(self, group_id: str) -> int:
        rows = await self._journal.unfinished(group_id)
        if not rows:
            return 0
        if rebuild := await self._journal.rebuild_in_progress():
            raise Unavailable(rebuild.describe())  # the replay applies them in order
        there = await self._graph.writer.applied([row.intent.uuid for row in rows])
        for row in rows:
            if row.intent.uuid in there or await self._was_applied(row):
                await self._mark_written(row.intent.uuid)
        return len(rows)

    async def _was_applied(self, row: JournalRow) -> bool:
        """Apply an unfinished write; False if it was set aside for good."""
        uuid = row.intent.uuid
        if await self._journal.begin_attempt(uuid) > MAX_UNENDED:
            _log.error("write %s set aside: processes ended while applying it", uuid)
            await self._journal.fail(uuid, f"{MAX_UNENDED} attempts to apply it never ended")
            return False
        try:
            await self._graph.writer.apply(row.intent, row.vectors)
        except Unavailable:
            await self._journal.end_attempt(uuid)
            raise
        except Exception as error:  # a write that cannot be applied, for whatever reason, must not block its group
            await self._journal.end_attempt(uuid)
            self._refusals[uuid] += 1
            _log.warning("write %s refused %d times: %s", uuid, self._refusals[uuid], type(error).__name__)
            if self._refusals[uuid] < MAX_REFUSALS:
                if isinstance(error, PkmError):
                    raise
                raise WriteFailed("The database did not take it.") from error
            reason = error.message if isinstance(error, PkmError) else type(error).__name__
            await self._journal.fail(uuid, f"refused {MAX_REFUSALS} times: {reason}")
            return False
        return True

    async def _mark_written(self, write_uuid: str) -> None:
        """Mark the row as written. A lost mark is harmless: the marker in the graph is found the next time."""
        try:
            await self._journal.written(write_uuid)
        except PkmError as error:
            _log.warning("write %s is in the graph but not marked so: %s", write_uuid, error.code)


def _subject(intent: WriteIntent) -> str:
    """The caller's name for the write."""
    if intent.kind is WriteKind.ADD_MEMORY and intent.episodes:
        return intent.episodes[0].uuid
    if intent.kind is WriteKind.DELETE_EPISODE:
        return f"the deletion of episode {', '.join(intent.deletions.episodes)}"
    if intent.kind is WriteKind.DELETE_FACT:
        return f"the deletion of fact {', '.join(intent.deletions.facts)}"
    if intent.kind in {WriteKind.FORGET, WriteKind.CLEAR_GROUP}:
        return "the forgetting" if intent.kind is WriteKind.FORGET else "the clearing of a group"
    if intent.changes and intent.kind in {WriteKind.RETIRE_FACT, WriteKind.RESTORE_FACT}:
        what = "retiring" if intent.kind is WriteKind.RETIRE_FACT else "restoring"
        return f"the {what} of fact {intent.changes[0].fact_uuid}"
    return f"write {intent.uuid}"


async def _to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Run in a separate task and wait for it even when cancelled: the lock must be held until it ends."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is None or task.cancelled():
        return task.result()
    task.exception()  # handled here because the caller is gone
    raise cancelled
