"""The part of the port ``Journal`` that erases forgotten data from its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent


@dataclass(frozen=True)
class RowContent:
    """All texts of a row of the journal."""

    seq: int
    intent: WriteIntent
    answer: str


class JournalErasing(Protocol):
    """Rewrites files without deleted data, and lists the jobs for it."""

    async def row_contents(self, group_id: str, after_seq: int, limit: int) -> Sequence[RowContent]:
        """Every row of a group in order, including failed ones, without vectors; for forgetting."""
        ...

    async def saved_graph_contents(self, principal: str) -> Sequence[SavedGraphContent]:
        """All scratch graphs that a principal saved, with their content."""
        ...

    async def erase(self) -> bool:
        """Remove everything from the journal's files that is in no row: truncate the log, delete temporary copies.

        False while another process reads or writes; try again later.
        """
        ...

    async def open_erasures(self) -> list[int]:
        """Jobs of the kind ``erase`` that are not done, of writes that the graph has."""
        ...

    async def close_erasures(self, job_ids: Sequence[int]) -> None:
        """Mark them as done."""
        ...
