"""The part of the port ``Journal`` that takes what was forgotten out of its files."""

from collections.abc import Sequence
from typing import Protocol


class JournalErasing(Protocol):
    """Files without what no row holds any more, and the jobs that stand for it."""

    async def erase(self) -> bool:
        """Leave nothing in the journal's files that its rows do not hold: log emptied, copies made on the way gone.

        False while another process reads or writes; try again later.
        """
        ...

    async def open_erasures(self) -> list[int]:
        """Jobs of the kind ``erase`` that are not done, of writes that the graph has."""
        ...

    async def close_erasures(self, job_ids: Sequence[int]) -> None:
        """They are done, whoever did it."""
        ...
