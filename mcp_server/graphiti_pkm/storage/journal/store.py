"""The journal port on SQLite: the second copy of every write, committed before a call is acknowledged."""

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

from graphiti_pkm.core.model.job_records import Job
from graphiti_pkm.core.model.records import Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.ports.comparing import WrittenRow
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import RecordedEmbedding
from graphiti_pkm.core.ports.erasing import RowContent
from graphiti_pkm.core.ports.metrics import Backlog
from graphiti_pkm.core.ports.rebuilding import RebuildCommand, RebuildInProgress
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent
from graphiti_pkm.errors import ConfigurationError, DamagedStore, Unavailable, WriteFailed
from graphiti_pkm.storage.journal import (
    backlog,
    comparing,
    copies,
    embedding,
    extractions,
    jobs,
    rebuilds,
    redaction,
    rows,
    saved_graphs,
    usage,
)
from graphiti_pkm.storage.journal.connection import Connection, JournalFile, Look, check, large_statements, plain_errors
from graphiti_pkm.storage.journal.queue import SqliteExtractionQueue
from graphiti_pkm.storage.journal.room import last_write
from graphiti_pkm.storage.journal.rows import Row
from graphiti_pkm.storage.journal.saved_graphs import SqliteSavedGraphs
from graphiti_pkm.storage.journal.schema import MIGRATIONS, Migration, refuse_newer, transaction
from graphiti_pkm.storage.journal.steady import SteadyClock
from graphiti_pkm.storage.journal.usage import SqliteUsage

_WRITTEN_AT_ONCE = 1000
_STATES = ("intent", "written", "applied", "failed")


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteJournal:
    """The port ``Journal`` in ``memory.sqlite3``, on Neo4j in ``journal.sqlite3``, for any number of processes.

    Acknowledged writes use a connection that syncs to disk. Marks need not: a lost one is found again by the markers in
    the graph. Nothing is opened before the first call.
    """

    def __init__(
        self,
        data_dir: Path,
        now: Callable[[], datetime] = _utc_now,
        migrations: Sequence[Migration] = MIGRATIONS,
        steady: SteadyClock | None = None,
        file: JournalFile | None = None,
    ) -> None:
        """``steady``: the clock for leases and waits; a given ``now`` replaces it, too.

        ``file``: one that holds the graph as well, instead of one of its own.
        """
        self._file = file or JournalFile(data_dir, migrations)
        self._now = now
        is_real = now is _utc_now
        self._steady = steady or SteadyClock(now, None if is_real else lambda: ("", now().timestamp()))
        self._migrations = migrations
        self._durable = Connection(self._file, "FULL")
        self._quick = Connection(self._file, "NORMAL")
        self._look = Look(self._file)
        self._last_write = last_write(self._file, self._durable)
        self.extractions = SqliteExtractionQueue(self._durable, self._quick, self._steady)
        self.saved_graphs = SqliteSavedGraphs(self._durable, self._quick, migrations)
        self.usage = SqliteUsage(self._durable, self._quick, migrations)
        self._looked_at: tuple[int, ...] | None = None
        self._rebuild: RebuildInProgress | None = None
        self._embedding_of: tuple[int, ...] | None = None
        self._embedding: RecordedEmbedding | None = None
        """The mark as read at the remembered state of the file."""
        self._owners: dict[int, str] = {}
        """The owner of each job claimed through this journal, so that a lease taken over elsewhere is noticed."""

    @property
    def path(self) -> Path:
        return self._file.path

    async def close(self) -> None:
        """Close both connections; the last one of all processes removes the write-ahead log."""
        await self._durable.close()
        await self._quick.close()

    async def check(self) -> None:
        """Check the whole file, however long it takes. Raises DamagedStore."""
        await self._quick.run(check)

    async def append(
        self,
        intent: WriteIntent,
        vectors: Vectors,
        request_hash: str,
        answer: Mapping[str, object],
        effect: Effect | None = None,
    ) -> int:
        def work(connection: sqlite3.Connection) -> int:
            at = self._steady.seconds(connection)
            encoded = rows.encode(intent, vectors, answer)
            with large_statements(connection) if intent.deletions.groups else nullcontext(), transaction(connection):
                # A newer version may have migrated the file while this process has it open.
                refuse_newer(connection, "The journal", self._migrations)
                rebuilds.refuse(connection)
                if intent.kind is WriteKind.EXTRACT and extractions.is_cancelled(connection, intent.uuid):
                    raise WriteFailed(
                        "Nothing was stored. The job was cancelled while its result was about to be written."
                    )
                seq = rows.insert(connection, intent, encoded, request_hash, at)
                if intent.forgets is not None:
                    redaction.redact(connection, intent, seq, at)
                usage.forget(connection, intent)
                if effect is not None:
                    effect(connection)
                    connection.execute("UPDATE writes SET state = 'applied' WHERE seq = ?", (seq,))
                if self._look.found:  # a damaged file may still accept a row, but cannot be trusted with it
                    rows.read_back(connection, intent)
                return seq

        try:
            seq = await self._durable.run(work)
        except DamagedStore as error:
            self._last_write.ended(error.message)
            raise DamagedStore(f"Nothing was stored. {error.message}") from error
        except ConfigurationError as error:
            self._last_write.ended(error.message)
            raise
        except Unavailable as error:
            self._last_write.ended(error.message)
            raise WriteFailed(f"Nothing was stored. {error.message}") from error
        except sqlite3.IntegrityError as error:
            raise ValueError(f"write {intent.uuid} is journalled already") from error
        self._last_write.ended(None)
        return seq

    async def refusal(self) -> str | None:
        return await self._last_write.refusal()

    async def written(self, write_uuid: str) -> None:
        await self._mark([write_uuid], "written", "intent")

    async def withdraw(self, write_uuid: str) -> None:
        # Syncs to disk: a write reported as not stored must not return after a power loss.
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                rows.withdraw(connection, write_uuid)

        await self._durable.run(work)

    async def fail(self, write_uuid: str, reason: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                rows.undelete(connection, write_uuid)
                connection.execute(
                    "UPDATE writes SET state = 'failed', reason = ? WHERE uuid = ? AND state = 'intent'",
                    (reason, write_uuid),
                )

        await self._quick.run(work)

    async def begin_attempt(self, write_uuid: str) -> int:
        def work(connection: sqlite3.Connection) -> int:
            with transaction(connection):
                begun = connection.execute(
                    "UPDATE writes SET attempts = attempts + 1 WHERE uuid = ? RETURNING attempts", (write_uuid,)
                ).fetchone()
            return int(begun[0]) if begun else 0

        return await self._quick.run(work)

    async def end_attempt(self, write_uuid: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.execute("UPDATE writes SET attempts = 0 WHERE uuid = ?", (write_uuid,))

        await self._quick.run(work)

    async def unfinished(self, group_id: str | None) -> list[Row]:
        where = "WHERE state = 'intent' AND (? IS NULL OR group_id = ?) ORDER BY writes.seq"
        return await self._quick.run(lambda c: rows.select(c, where, (group_id, group_id)))

    async def written_until_now(self) -> list[str]:
        return await self._uuids(
            "SELECT uuid FROM writes WHERE state = 'written' ORDER BY seq LIMIT ?", _WRITTEN_AT_ONCE
        )

    async def applied(self, write_uuids: Sequence[str]) -> None:
        await self._mark(write_uuids, "applied", "written")

    async def newest_uuids(self, limit: int) -> list[str]:
        return await self._uuids(
            "SELECT uuid FROM writes WHERE state IN ('written', 'applied') ORDER BY seq DESC LIMIT ?", limit
        )

    async def written_rows(self, after_seq: int, limit: int) -> list[WrittenRow]:
        return await self._quick.run(lambda c: comparing.written_rows(c, after_seq, limit))

    async def known_writes(self, uuids: Sequence[str]) -> set[str]:
        return await self._quick.run(lambda c: comparing.known_writes(c, uuids))

    async def written_episodes(self, after_uuid: str, limit: int) -> list[str]:
        return await self._quick.run(lambda c: comparing.written_episodes(c, after_uuid, limit))

    async def known_episodes(self, uuids: Sequence[str]) -> set[str]:
        return await self._quick.run(lambda c: comparing.known_episodes(c, uuids))

    async def find(self, write_uuids: Sequence[str]) -> list[Row]:
        return await self._quick.run(lambda c: rows.select_uuids(c, write_uuids))

    async def rows(self, after_seq: int, limit: int) -> list[Row]:
        where = "WHERE writes.seq > ? AND state <> 'failed' ORDER BY writes.seq LIMIT ?"
        return await self._quick.run(lambda c: rows.select(c, where, (after_seq, limit)))

    async def stored_answer(self, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
        return await self._quick.run(lambda c: rows.stored_answer(c, episode_uuid))

    async def steering(self, episode_uuid: str) -> dict[str, object]:
        return await self._quick.run(lambda c: rows.steering(c, episode_uuid))

    async def episode_count(self) -> int:
        return await self._quick.run(rows.episode_count)

    async def damage(self) -> str | None:
        return await asyncio.to_thread(self._look.look)

    async def group_rows(self, group_id: str, after_seq: int, limit: int, *, with_vectors: bool = False) -> list[Row]:
        return await self._quick.run(lambda c: rows.of_group(c, group_id, after_seq, limit, with_vectors=with_vectors))

    async def forgetting_writes(self, group_id: str) -> list[WriteIntent]:
        return await self._quick.run(lambda c: rows.forgetting(c, group_id))

    async def last_write(self, group_id: str, kind: WriteKind) -> WriteIntent | None:
        return await self._quick.run(lambda c: rows.last_of_kind(c, group_id, kind.value))

    async def counts(self) -> dict[str, int]:
        def work(connection: sqlite3.Connection) -> dict[str, int]:
            found = dict(connection.execute("SELECT state, count(*) FROM writes GROUP BY state").fetchall())
            return {state: found.get(state, 0) for state in _STATES} | jobs.counts(connection)

        return await self._quick.run(work)

    async def backlog(self) -> Backlog:
        now = self._now()
        return await self._quick.run(lambda c: backlog.read(c, now, self._steady.seconds(c)))

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        def work(connection: sqlite3.Connection) -> tuple[int, str, Job] | None:
            return jobs.claim(connection, owner, self._steady.seconds(connection), lease_seconds)

        claimed = await self._quick.run(work)
        if claimed is not None:
            self._owners[claimed[0]] = owner
        return claimed

    async def finish_job(self, job_id: int) -> None:
        owner = self._owners.pop(job_id, "")
        await self._quick.run(lambda c: jobs.finish(c, job_id, owner))

    async def advance_job(self, job_id: int, job: Job, delay_seconds: float = 0) -> None:
        owner = self._owners.pop(job_id, "")
        await self._quick.run(lambda c: jobs.advance(c, job_id, owner, job, self._steady.seconds(c) + delay_seconds))

    async def retry_job(self, job_id: int, reason: str, delay_seconds: float) -> None:
        owner = self._owners.pop(job_id, "")
        await self._quick.run(lambda c: jobs.retry(c, job_id, owner, reason, self._steady.seconds(c) + delay_seconds))

    async def pending_links(self, entity_uuids: Sequence[str]) -> set[str]:
        return await self._quick.run(lambda c: jobs.pending_links(c, entity_uuids))

    async def embedding(self) -> RecordedEmbedding | None:
        state = self._file.state()
        if state is None or state != self._embedding_of:
            self._embedding = await self._quick.run(embedding.recorded)
            self._embedding_of = state
        return self._embedding

    async def record_embedding(self, model: str, dimension: int) -> None:
        await self._durable.run(lambda c: embedding.record(c, model, dimension))

    async def begin_change(self, model: str, dimension: int) -> None:
        await self._durable.run(lambda c: embedding.begin_change(c, model, dimension))

    async def remove_vectors(self, after_seq: int, limit: int) -> int | None:
        return await self._durable.run(lambda c: embedding.remove_vectors(c, after_seq, limit))

    async def end_change(self) -> None:
        await self._durable.run(embedding.end_change)

    async def row_contents(self, group_id: str, after_seq: int, limit: int) -> Sequence[RowContent]:
        return await self._quick.run(lambda c: rows.kept(c, group_id, after_seq, limit))

    async def saved_graph_contents(self, principal: str) -> Sequence[SavedGraphContent]:
        return await self._quick.run(saved_graphs.kept(principal))

    async def erase(self) -> bool:
        return await self._durable.run(lambda c: redaction.erase(c, self._file.data_dir))

    async def open_erasures(self) -> list[int]:
        return await self._quick.run(jobs.open_erasures)

    async def close_erasures(self, job_ids: Sequence[int]) -> None:
        await self._quick.run(lambda c: jobs.close(c, job_ids))

    async def backup(self, path: Path) -> None:
        await asyncio.to_thread(copies.back_up, self._file, path)

    async def verify_backup(self, path: Path) -> int:
        return await asyncio.to_thread(self._verify, path)

    async def restore(
        self, path: Path, *, drops_unknown: bool = False, former: str = "", command: RebuildCommand = "restore"
    ) -> int:
        rebuild = RebuildInProgress(command=command, began_at=self._now(), drops_unknown=drops_unknown, former=former)
        try:
            await self.check()
        except DamagedStore:
            await self._durable.disconnect()
            await self._quick.disconnect()
            return await asyncio.to_thread(copies.replace_damaged, self._file, path, rebuild, self._now().timestamp())

        def work(connection: sqlite3.Connection) -> int:
            with large_statements(connection):
                return copies.restore(connection, path, self._file.data_dir, rebuild)

        return await self._durable.run(work)

    async def rebuild_in_progress(self) -> RebuildInProgress | None:
        state = self._file.state()
        if state is None or state != self._looked_at:
            self._rebuild = await self._quick.run(rebuilds.current)
            self._looked_at = state
        return self._rebuild

    async def begin_rebuild(self, command: RebuildCommand, *, drops_unknown: bool = False) -> RebuildInProgress:
        rebuild = RebuildInProgress(command=command, began_at=self._now(), drops_unknown=drops_unknown)
        await self._durable.run(lambda c: rebuilds.record(c, rebuild))
        return rebuild

    async def set_aside(self, write_uuid: str, reason: str) -> None:
        await self._durable.run(lambda c: rebuilds.set_aside(c, write_uuid, reason))

    async def rebuild_cleared(self) -> None:
        await self._durable.run(rebuilds.cleared)

    async def end_rebuild(self) -> None:
        await self._durable.run(rebuilds.end)

    def _verify(self, path: Path) -> int:
        with plain_errors(self._file):
            self._file.make()
            return copies.rows_in(path, self._file.data_dir)

    async def _mark(self, write_uuids: Sequence[str], state: str, from_state: str) -> None:
        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                connection.executemany(
                    "UPDATE writes SET state = ? WHERE uuid = ? AND state = ?",
                    [(state, uuid, from_state) for uuid in write_uuids],
                )

        await self._quick.run(work)

    async def _uuids(self, query: str, limit: int) -> list[str]:
        return await self._quick.run(lambda c: [row[0] for row in c.execute(query, (limit,))])
