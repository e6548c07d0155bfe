"""What stands around an episode: the others of its day and saga, and the entities that it mentions."""

from datetime import datetime

from graphiti_pkm.core.model.records import Record


class Place(Record):
    """Where an episode stands in time, without its content."""

    uuid: str
    group_id: str
    valid_at: datetime
    created_at: datetime

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """Episodes of one moment in the order in which they were recorded."""
        return self.valid_at, self.created_at, self.uuid


class Stretch(Record):
    """A half-open stretch of time in one group."""

    group_id: str
    start: datetime
    end: datetime


class Steps(Record):
    """The episodes before and after one in Graphiti's saga, a chain that its writer made."""

    previous: str | None = None
    next: str | None = None
