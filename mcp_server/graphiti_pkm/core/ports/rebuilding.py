"""The mark of a rebuild of the graph, visible to every process on the journal.

From clearing the graph until its last row is applied, it does not match the journal. The mark stands for that time and
survives the process that set it: the next call or start finishes what a killed process began.
"""

from datetime import datetime
from typing import Literal, Protocol

from graphiti_pkm.core.model.record import Record

RebuildCommand = Literal["rebuild", "restore", "repair", "conversion"]


class RebuildInProgress(Record):
    """The mark."""

    command: RebuildCommand
    """``repair``: the server found that the graph lacks data. ``conversion``: of a memory of version 0.1."""
    began_at: datetime
    is_cleared: bool = False
    """The graph was cleared and contains the first rows of the journal without gaps: the rebuild continues after
    them."""
    drops_unknown: bool = False
    """Whether records that only the graph has are dropped, as the caller of the rebuild asked."""
    former: str = ""
    """Name of the copy that ``restore`` made of the previous journal; empty if there is none."""

    def describe(self) -> str:
        """A sentence for refused callers and for status."""
        what = f"The {self.command} that began at {self.began_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"{what} is not finished: until it is, the graph lacks a part of the memory. Nothing is lost. If its "
            "process was ended, the next call or start of a server finishes it."
        )


class JournalRebuilding(Protocol):
    """The part of the port ``Journal`` that stores the mark; every change is durable on return."""

    async def rebuild_in_progress(self) -> RebuildInProgress | None:
        """The mark, if any; cheap enough to be read at every call."""
        ...

    async def begin_rebuild(self, command: RebuildCommand, *, drops_unknown: bool = False) -> RebuildInProgress:
        """Set the mark, with every writer excluded; from now on ``append`` refuses writes."""
        ...

    async def set_aside(self, write_uuid: str, reason: str) -> None:
        """Set aside a row that the graph refuses repeatedly, even one it accepted before; shown by status."""
        ...

    async def rebuild_cleared(self) -> None:
        """Record that the graph is empty, even after a crash of the database."""
        ...

    async def end_rebuild(self) -> None:
        """Remove the mark: the graph matches the journal, even after a crash of the database."""
        ...
