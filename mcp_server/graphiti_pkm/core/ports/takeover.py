"""Readings of episodes as the servers of one database share them: whose each is, and who takes over a dead one's.

Every server queues jobs in its own journal. In a database that several of them use stands, for each job that reads an
episode, whose it is; a server that ends without coming back stops telling that it is there, and others go on with what
was its own. Instants are those of the database's clock.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from graphiti_pkm.core.model.records import ExtractJob, Record
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


class SharedReading(Record):
    """One job, as any server may know it; without what it was asked once it has ended."""

    job: ExtractJob
    group_id: str
    state: ExtractionState
    owner: str | None = None
    """The server that has it to do; None once it has ended."""
    queued_at: int = 0
    """Milliseconds."""


class SharedReadings(Protocol):
    """What the shared database knows of readings. Every method raises Unavailable.

    ``Graph.apply`` of a server that shares them makes one, its own, for each job that a write queues, and ends it with
    the job's own write; deleting its episode or clearing its group removes it.
    """

    @property
    def server(self) -> str:
        """Who we are, for as long as our data directory is."""
        ...

    async def heartbeat(self, lease_seconds: float) -> None:
        """Tell that this server is there, for so long."""
        ...

    async def take_over(self, lease_seconds: float, limit: int) -> list[SharedReading]:
        """Make ours what servers had to do that are not there any more, oldest first.

        Nothing, until we have been there for ``lease_seconds`` without a break: after an outage of the database the
        others tell first that they are there.
        """
        ...

    async def own(self, after: int, limit: int) -> list[SharedReading]:
        """Ours that have not ended, queued after an instant, oldest first."""
        ...

    async def begin(self, group_id: str, job: ExtractJob, turn: str) -> bool:
        """Whether this server may read now; then it is ours, under ``turn`` until that of another begins.

        False if a server that is there has it, or it is done. True if the graph holds no such episode.
        """
        ...

    async def holds(self, job_uuid: str, turn: str) -> bool:
        """Whether it is still ours, under that turn, and nothing of its group was forgotten since it began."""
        ...

    async def end(self, job_uuids: Sequence[str], state: ExtractionState) -> None:
        """Of ours: they ended so, without a write."""
        ...

    async def of_episode(self, episode_uuid: str, group_ids: Sequence[str]) -> SharedReading | None:
        """The latest of an episode in these groups."""
        ...
