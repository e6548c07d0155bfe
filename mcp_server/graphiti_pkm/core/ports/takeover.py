"""Extraction jobs shared by the servers of one database: the owner of each, and takeover from a dead server.

Every server queues jobs in its own journal. In a shared database, each job that reads an episode is registered with its
owner; a server that ends stops sending heartbeats, and others take over its jobs. Times are those of the database's
clock.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.records import Record
from graphiti_pkm.core.ports.extraction import ExtractionState

LEASE_SECONDS = 30.0
_BEATS = 3
"""Minimum heartbeats in the time of a lease."""


@dataclass(frozen=True)
class Lease:
    """How long a server counts as running after a heartbeat; tests choose both."""

    seconds: float = LEASE_SECONDS
    jitter: Callable[[], float] = random.random
    """From 0 to 1."""

    def pause(self) -> float:
        """Seconds to the next heartbeat, randomised."""
        return self.seconds / _BEATS * (0.5 + 0.5 * self.jitter())


class SharedExtractionJob(Record):
    """One job as visible to every server; without its instructions once it has ended."""

    job: ExtractJob
    group_id: str
    state: ExtractionState
    owner: str | None = None
    """The server that owns it; None once it has ended."""
    queued_at: int = 0
    """Milliseconds."""


class SharedExtractionJobs(Protocol):
    """Extraction jobs in the shared database. Every method raises Unavailable.

    ``Graph.apply`` of a server that shares them makes one, its own, for each job that a write queues, and ends it with
    the job's own write; deleting its episode or clearing its group removes it.
    """

    @property
    def server(self) -> str:
        """The id of this server, for the life of its data directory."""
        ...

    async def heartbeat(self, lease_seconds: float) -> None:
        """Report that this server is running, for so long."""
        ...

    async def take_over(self, lease_seconds: float, limit: int) -> list[SharedExtractionJob]:
        """Take over the jobs of servers that are gone, oldest first.

        Nothing until this server has run for ``lease_seconds`` without a break: after an outage of the database the
        other servers report first.
        """
        ...

    async def own(self, after: int, limit: int) -> list[SharedExtractionJob]:
        """Open jobs of this server, queued after an instant, oldest first."""
        ...

    async def begin(self, group_id: str, job: ExtractJob, turn: str) -> bool:
        """Whether this server may read now; it then owns the job under ``turn`` until another turn begins.

        False if another running server has it, or it is done. True if the graph has no such episode.
        """
        ...

    async def holds(self, job_uuid: str, turn: str) -> bool:
        """Whether this server still has it under that turn, and nothing of its group was forgotten since it began."""
        ...

    async def end(self, job_uuids: Sequence[str], state: ExtractionState) -> None:
        """Record the outcome of jobs of this server that ended without a write."""
        ...

    async def of_episode(self, episode_uuid: str, group_ids: Sequence[str]) -> SharedExtractionJob | None:
        """The latest extraction job of an episode in these groups."""
        ...
