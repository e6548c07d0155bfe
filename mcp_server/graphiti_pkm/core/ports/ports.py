"""What everybody needs besides the graph: the embedder and the journal.

Every method of the journal is bounded: it takes a limit, or a list that the caller has already bounded.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from graphiti_pkm.core.health import WriteCheck
from graphiti_pkm.core.model.records import Job, Vector, Vectors, WriteIntent
from graphiti_pkm.core.ports.comparing import JournalComparing
from graphiti_pkm.core.ports.effects import Effect
from graphiti_pkm.core.ports.embedding import JournalEmbedding
from graphiti_pkm.core.ports.erasing import JournalErasing
from graphiti_pkm.core.ports.rebuilding import JournalRebuilding


class Embedder(Protocol):
    """Turns text into unit vectors; concurrent calls are batched together."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    async def available(self) -> bool:
        """False when there are no weights: the product then works by full text alone."""
        ...

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """One vector a text, in order. Raises Unavailable: no weights, or a service does not answer as it should.

        ``patience``: seconds after which a service counts as not answering, as somebody waits.
        """
        ...

    async def problem(self) -> str | None:
        """Why there are no vectors now, and what to do about it; None while there are, as far as is known."""
        ...


class JournalRow(Protocol):
    """One write as the journal keeps it."""

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

        With ``forgets`` every earlier row of the group loses the same in the same transaction (``domain.redaction``),
        failed ones too; a row that lost something has neither request hash nor answer afterwards.
        """
        ...

    async def written(self, write_uuid: str) -> None:
        """The graph has it, perhaps not on disk yet (state ``written``)."""
        ...

    async def withdraw(self, write_uuid: str) -> None:
        """The graph refused it and nothing of it is kept; its jobs go as well."""
        ...

    async def fail(self, write_uuid: str, reason: str) -> None:
        """Set aside after repeated refusals; shown by status, never replayed by itself."""
        ...

    async def begin_attempt(self, write_uuid: str) -> int:
        """Before an unfinished write is applied again; returns how many attempts never ended, this one included."""
        ...

    async def end_attempt(self, write_uuid: str) -> None:
        """The attempt ended, in whatever way: it is not what ends processes."""
        ...

    async def unfinished(self, group_id: str | None) -> Sequence[JournalRow]:
        """Rows in state ``intent``, oldest first."""
        ...

    async def written_until_now(self) -> list[str]:
        """Write uuids in state ``written``, oldest first (at most 1,000)."""
        ...

    async def applied(self, write_uuids: Sequence[str]) -> None:
        """The graph holds them on disk (state ``applied``)."""
        ...

    async def newest_uuids(self, limit: int) -> list[str]:
        """Uuids of the newest rows that the graph should hold (``written`` or ``applied``), newest first."""
        ...

    async def find(self, write_uuids: Sequence[str]) -> Sequence[JournalRow]:
        """Those writes, in order; unknown and failed ones are left out."""
        ...

    async def backup(self, path: Path) -> None:
        """Write a consistent copy of the whole journal to a new file while writers go on."""
        ...

    async def verify_backup(self, path: Path) -> int:
        """How many rows a backup holds, after checking that ``restore`` would take it.

        Raises:
            InvalidInput: there is no such file, or it is no backup of a journal.
            DamagedStore: it is damaged.
            NewerSchema: a newer version wrote it.
        """
        ...

    async def restore(self, path: Path, *, drops_unknown: bool = False, former: str = "") -> int:
        """Replace all rows by those of a backup, checked first, and mark a rebuild, in one step; how many rows."""
        ...

    async def rows(self, after_seq: int, limit: int) -> Sequence[JournalRow]:
        """Rows that are not withdrawn or failed, in order: the input of a rebuild."""
        ...

    async def receipt(self, episode_uuid: str) -> tuple[str, dict[str, object]] | None:
        """Request hash and answer of the add_memory in force for this episode: not failed, not deleted since."""
        ...

    async def steering(self, episode_uuid: str) -> dict[str, object]:
        """What the same add_memory said about how a model should read it; empty if nothing, or if it is not there."""
        ...

    async def episode_count(self) -> int:
        """How many added episodes are in force: not failed, not deleted since."""
        ...

    async def damage(self) -> str | None:
        """What is broken in the file and what to do, or None; looked for now and then, in large files by no call."""
        ...

    async def counts(self) -> dict[str, int]:
        """Rows by state and jobs by state (``jobs_queued``, ``jobs_running``, ``jobs_failed``)."""
        ...

    async def claim_job(self, owner: str, lease_seconds: float) -> tuple[int, str, Job] | None:
        """Lease the oldest waiting job: (id, group id, job); an expired lease counts as waiting."""
        ...

    async def finish_job(self, job_id: int) -> None:
        """Done. This, ``advance_job`` and ``retry_job`` do nothing once the lease is another's."""
        ...

    async def advance_job(self, job_id: int, job: Job, delay_seconds: float = 0) -> None:
        """Keep progress and put the job back into the queue, with all its attempts."""
        ...

    async def retry_job(self, job_id: int, reason: str, delay_seconds: float) -> None:
        """Put back after a failure; after 8 attempts it is failed and shown by status."""
        ...

    async def pending_links(self, entity_uuids: Sequence[str]) -> set[str]:
        """Those entities with a back-link job that is not done."""
        ...
