"""Lists the contents of journal and graph in pages, so that they can be compared completely.

A write leaves a marker with its uuid in the graph. A write that is written according to the journal has a marker;
records that the journal does not know come from another writer, or the journal was replaced.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from graphiti_pkm.core.model.record import Record


class WrittenRow(NamedTuple):
    """A write that the graph should hold."""

    seq: int
    uuid: str
    group_id: str


class Lost(Record):
    """Writes missing in the graph, oldest first."""

    uuids: tuple[str, ...] = ()
    has_gap: bool = False
    """A later write of the same group is present: it was planned and applied without the missing ones."""


class Differences(Record):
    """The number of records that one side has and the other lacks."""

    lost_writes: int = 0
    lost_episodes: int = 0
    """Episodes missing although the marker of their write is present."""
    unknown_writes: int = 0
    unknown_episodes: int = 0

    def describe(self) -> str:
        """A sentence with the remedy; empty if there are no differences."""
        found = [
            f"{count} {what}"
            for count, what in (
                (self.lost_writes, "write(s) of the journal are not in the graph"),
                (self.lost_episodes, "episode(s) of the journal are not in the graph"),
                (self.unknown_writes, "write(s) in the graph are not in the journal"),
                (self.unknown_episodes, "episode(s) in the graph are not in the journal"),
            )
            if count
        ]
        if not found:
            return ""
        is_unknown = self.unknown_writes or self.unknown_episodes
        remedy = (
            "Make a copy of the data directory, then put the right journal back (see DOCS/operations.md)."
            if is_unknown
            else "`graphiti-pkm rebuild` makes the graph anew from the journal."
        )
        return f"Journal and graph differ: {'; '.join(found)}. {remedy}"


class GraphComparison(Protocol):
    """The graph's side, of all groups."""

    async def write_count(self) -> int:
        """How many markers there are."""
        ...

    async def writes_after(self, uuid: str, limit: int) -> list[str]:
        """The next markers in order of their uuids."""
        ...

    async def episode_count(self) -> int:
        """How many episodes there are."""
        ...

    async def episodes_after(self, uuid: str, limit: int) -> list[str]:
        """The next episodes in order of their uuids."""
        ...

    async def existing_episodes(self, uuids: Sequence[str]) -> set[str]:
        """The episodes of these that exist."""
        ...


class JournalComparing(Protocol):
    """The journal's side."""

    async def written_rows(self, after_seq: int, limit: int) -> list[WrittenRow]:
        """The next writes that the graph should hold (``written`` or ``applied``), in order."""
        ...

    async def known_writes(self, uuids: Sequence[str]) -> set[str]:
        """The writes that have a row, in any state."""
        ...

    async def written_episodes(self, after_uuid: str, limit: int) -> list[str]:
        """The next episodes that the graph should hold, in order of their uuids."""
        ...

    async def known_episodes(self, uuids: Sequence[str]) -> set[str]:
        """Episodes ever added, including deleted ones."""
        ...
