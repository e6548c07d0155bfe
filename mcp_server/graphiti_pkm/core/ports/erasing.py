"""The part of the port ``Journal`` that takes what was forgotten out of its files."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.ports.saved_graphs import SavedGraphContent


@dataclass(frozen=True)
class RowContent:
    """All words that a row of the journal holds."""

    seq: int
    intent: WriteIntent
    answer: str


class JournalErasing(Protocol):
    """Files without what no row holds any more, and the jobs that stand for it."""

    async def row_contents(self, group_id: str, after_seq: int, limit: int) -> Sequence[RowContent]:
        """Every row of a group in order, failed ones too, as forgetting reads them: without vectors."""
        ...

    async def saved_graph_contents(self, principal: str) -> Sequence[SavedGraphContent]:
        """All scratch graphs that a principal saved, with their words."""
        ...

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
