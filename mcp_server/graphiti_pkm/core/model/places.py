"""The surroundings of an episode: others of its day and saga, and the entities that it mentions.

Places and steps are tuples, not records: a search makes hundreds.
"""

from datetime import datetime
from typing import NamedTuple

from graphiti_pkm.core.model.records import Record


class Place(NamedTuple):
    """The position of an episode in time, without its content."""

    uuid: str
    group_id: str
    valid_at: datetime
    created_at: datetime

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """Sort key; episodes of one instant in the order they were recorded."""
        return self.valid_at, self.created_at, self.uuid


class Stretch(Record):
    """A half-open period in one group."""

    group_id: str
    start: datetime
    end: datetime


class Steps(NamedTuple):
    """The previous and next episodes in Graphiti's saga, a chain made by its writer."""

    previous: str | None = None
    next: str | None = None
