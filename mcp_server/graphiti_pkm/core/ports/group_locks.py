"""The port that serialises writers."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol


class GroupLocks(Protocol):
    """Serialises a group's writes across all processes on the data directory; never held across a model call."""

    def hold(self, group_id: str) -> AbstractAsyncContextManager[None]: ...

    def hold_all(self) -> AbstractAsyncContextManager[None]:
        """Exclude every writer (rebuild, restore)."""
        ...

    def is_closed(self) -> bool:
        """Whether a process on this data directory excludes all writers, or waits to do so."""
        ...
