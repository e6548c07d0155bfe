"""A graph that is being made anew from the journal, which every process on the journal has to know of.

From the moment that the graph is cleared until its last row is there, it is not what the journal says. A mark in the
journal stands for that time and outlives whoever set it: the next call or start finishes what a killed process began.
"""

from datetime import datetime
from typing import Literal, Protocol

from graphiti_pkm.core.model.record import Record

RebuildCommand = Literal["rebuild", "restore", "repair"]


class RebuildInProgress(Record):
    """The mark."""

    command: RebuildCommand
    """``repair``: the server found that the graph lacks a part."""
    began_at: datetime
    is_cleared: bool = False
    """The graph was emptied and holds the first rows of the journal, without gaps: it goes on after them."""
    drops_unknown: bool = False
    """What the graph holds and the journal does not know goes, as whoever began it wanted."""
    former: str = ""
    """Name of the copy that ``restore`` made of the journal before; empty if there is none to go back to."""

    def describe(self) -> str:
        """For whoever is refused or asks for the state."""
        what = f"The {self.command} that began at {self.began_at:%Y-%m-%d %H:%M} UTC"
        return (
            f"{what} is not finished: until it is, the graph lacks a part of the memory. Nothing is lost. If its "
            "process was ended, the next call or start of a server finishes it."
        )


class JournalRebuilding(Protocol):
    """The part of the port ``Journal`` that holds the mark; all of it is durable when it returns."""

    async def rebuild_in_progress(self) -> RebuildInProgress | None:
        """Cheap enough to be asked with every call."""
        ...

    async def begin_rebuild(self, command: RebuildCommand, *, drops_unknown: bool = False) -> RebuildInProgress:
        """Set the mark, with every writer excluded; from now on ``append`` refuses."""
        ...

    async def set_aside(self, write_uuid: str, reason: str) -> None:
        """A row that the graph refuses again and again, be it one that it took before; shown by status."""
        ...

    async def rebuild_cleared(self) -> None:
        """The graph is empty, also after a crash of the database."""
        ...

    async def end_rebuild(self) -> None:
        """The graph is what the journal says, also after a crash of the database."""
        ...
