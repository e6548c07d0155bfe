"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

BOOKMARKED = "BOOKMARKED"


class BookmarkPort(Protocol):
    """Bounded reads of bookmarks."""

    async def bookmarks(self, group_ids: Sequence[str], limit: int) -> tuple[Sequence[Mapping[str, Any]], int]:
        """``entity_uuid``, ``name``, ``note`` and ``fact_uuid`` of each, newest first, then by uuid; and the total."""
        ...
