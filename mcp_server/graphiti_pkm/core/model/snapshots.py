"""Snapshots of one group: what a file says of itself, and what of a write is kept in one."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.model.redaction import concerned, redacted


class SnapshotHeader(Record):
    """What a snapshot holds, and of which group."""

    tag: str
    group: str
    """Its public name."""
    group_id: str
    """Its stored id."""
    taken_at: datetime
    made_by: str
    """The version of this program."""
    model: str | None = None
    dimension: int | None = None
    """Of its vectors; None if nothing was embedded."""
    writes: int
    size: GroupSize
    """What the group held."""
    checksum: str = ""
    """SHA-256 over the above and every write with its vectors."""


def remaining_deletion(forgetting: WriteIntent) -> WriteIntent:
    """What a forgetting still does to writes that it has redacted: it removes the shells of deleted records.

    It also closes the chains of sagas. What it forgets otherwise is no longer in them.
    """
    return WriteIntent(
        uuid=forgetting.uuid,
        group_id=forgetting.group_id,
        kind=forgetting.kind,
        recorded_at=forgetting.recorded_at,
        arrived_at=forgetting.arrived_at,
        episode_links=forgetting.episode_links,
        deletions=forgetting.deletions.model_copy(update={"groups": ()}),
    )


class Forgettings:
    """Forgetting writes of a group that are applied to writes outside of the journal."""

    def __init__(self, writes: Sequence[WriteIntent]) -> None:
        self._writes = [(write, concerned(write)) for write in writes]

    @property
    def concerned(self) -> frozenset[str]:
        """Uuids, or a group's id, of which every write that loses something contains one."""
        return frozenset[str]().union(*(uuids for _, uuids in self._writes))

    def redacted(self, intent: WriteIntent, vectors: Vectors) -> tuple[WriteIntent, Vectors]:
        """The write without what was forgotten after it came."""
        for write, _ in self._writes:
            if write.recorded_at > intent.came_at:
                intent, vectors = redacted(intent, vectors, write)
        return intent, vectors
