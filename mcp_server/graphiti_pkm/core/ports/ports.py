"""The ports that everybody needs besides the graph: embedder and journal.

Every method of the journal is bounded: it takes a limit, or a list that the caller has already bounded.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from graphiti_pkm.core.health import WriteCheck
from graphiti_pkm.core.model.job_records import Job
from graphiti_pkm.core.model.records import Vector, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.ports.comparing import JournalComparing
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import JournalEmbedding
from graphiti_pkm.core.ports.erasing import JournalErasing
from graphiti_pkm.core.ports.rebuilding import JournalRebuilding, RebuildCommand


class Embedder(Protocol):
    """Turns text into unit vectors; concurrent calls are batched together."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def available(self) -> bool:
        """False without weights: search then uses full text alone."""
        ...

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """One vector per text, in order. Raises Unavailable: no weights, or the service does not answer.

        ``patience``: seconds after which a service counts as not answering.
        """
        ...

    async def problem(self) -> str | None:
        """Why there are no vectors now, and what to do; None if there are, as far as is known."""
        ...


class JournalRow(Protocol):
    """One write in the journal."""

    @property
    def seq(self) -> int: ...
    @property
    def intent(self) -> WriteIntent: ...
    @property
    def vectors(self) -> Vectors: ...


class Journal(JournalComparing, JournalErasing, JournalEmbedding, JournalRebuilding, WriteCheck, Protocol):
    """The second copy of every write. All methods are quick local SQLite calls, run off the event loop."""

    async def append(
        self,
        intent: WriteIntent,
        vectors: Vectors,
        request_hash: str,
        answer: Mapping[str, object],
        effect: Effect | None = None,
    ) -> int:
        """Commit the intent, its jobs and its answer (state ``intent``) durably; returns its sequence number.

        With an ``effect`` the graph is changed in the same transaction, and the state is ``applied`` at once.

        Raises:
            WriteFailed: it cannot be written, or the job that it is of was cancelled.
            ConflictingContent: another memory in force has the uuid of its episode.

        With ``forgets`` every earlier row of the group, also a failed one, loses the same in the same transaction (see
        ``core.model.redaction``); a row that lost something has neither request hash nor answer afterwards.
        """
        ...

    async def written(self, write_uuid: str) -> None:
        """Mark as in the graph, not necessarily on disk (state ``written``)."""
        ...

    async def withdraw(self, write_uuid: str) -> None:
        """Remove a write that the graph refused, with its jobs."""
        ...

    async def fail(self, write_uuid: str, reason: str) -> None:
        """Set aside after repeated refusals; shown by status, never replayed automatically."""
        ...

    async def begin_attempt(self, write_uuid: str) -> int:
        """Count an attempt to apply an unfinished write; returns how many never ended, including this one."""
        ...

    async def end_attempt(self, write_uuid: str) -> None:
        """The attempt ended, with whatever result: the write does not end the process."""
        ...

    async def unfinished(self, group_id: str | None) -> Sequence[JournalRow]:
        """Rows in state ``intent``, oldest first."""
        ...

    async def written_until_now(self) -> list[str]:
        """Write uuids in state ``written``, oldest first (at most 1,000)."""
        ...

    async def applied(self, write_uuids: Sequence[str]) -> None:
        """Mark as on disk in the graph (state ``applied``)."""
        ...

    async def newest_uuids(self, limit: int) -> list[str]:
        """Uuids of the newest rows that must be in the graph (``written`` or ``applied``), newest first."""
        ...

    async def find(self, write_uuids: Sequence[str]) -> Sequence[JournalRow]:
        """The writes, in order; unknown and failed ones are left out."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a consistent copy of the journal to a new file; writers continue meanwhile."""
        ...

    async def verify_backup(self, path: Path) -> int:
        """Number of rows in a backup, after all checks that ``restore`` makes.

        Raises:
            InvalidInput: there is no such file, or it is no backup of a journal.
            DamagedStore: it is damaged.
            NewerSchema: a newer version wrote it.
        """
        ...

    async def restore(
        self, path: Path, *, drops_unknown: bool = False, former: str = "", command: RebuildCommand = "restore"
    ) -> int:
        """Replace all rows by those of a checked backup and mark a rebuild, in one step; returns the number of rows."""
        ...

    async def rows(self, after_seq: int, limit: int) -> Sequence[JournalRow]:
        """Rows that are not withdrawn or failed, in order: the input of a rebuild."""
        ...

    async def group_rows(
        self, group_id: str, after_seq: int, limit: int, *, with_vectors: bool = False
    ) -> Sequence[JournalRow]:
        """As ``rows``, of one group; their vectors are left empty unless asked for."""
        ...

    async def forgetting_writes(self, group_id: str) -> Sequence[WriteIntent]:
        """Writes of a group with ``forgets``, in order, without those that were set aside."""
        ...

    async def last_write(self, group_id: str, kind: WriteKind) -> WriteIntent | None:
        """The last write of a kind in a group that was not set aside."""
        ...

    async def stored_answer(self, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
        """Request hash and answer of the add_memory in force for this episode: not failed, not deleted since."""
        ...

    async def steering(self, episode_uuid: str) -> dict[str, object]:
        """The instructions of that add_memory for a model; empty if it gave none or does not exist."""
        ...

    async def episode_count(self) -> int:
        """How many added episodes are in force: not failed, not deleted since."""
        ...

    async def damage(self) -> str | None:
        """The damage of the file and the remedy, or None; checked periodically, for large files by no call."""
        ...

    async def counts(self) -> dict[str, int]:
        """Rows by state and jobs by state (``jobs_queued``, ``jobs_running``, ``jobs_failed``)."""
        ...

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        """Lease the oldest waiting job: (id, group id, job); an expired lease counts as waiting."""
        ...

    async def finish_job(self, job_id: int) -> None:
        """Mark as done. This, ``advance_job`` and ``retry_job`` do nothing once the lease was lost."""
        ...

    async def advance_job(self, job_id: int, job: Job, delay_seconds: float = 0) -> None:
        """Save progress and queue the job again with all its attempts."""
        ...

    async def retry_job(self, job_id: int, reason: str, delay_seconds: float) -> None:
        """Queue it again after a failure; after 8 attempts it fails and is shown by status."""
        ...

    async def pending_links(self, entity_uuids: Sequence[str]) -> set[str]:
        """Entities with a back-link job that is not done."""
        ...
