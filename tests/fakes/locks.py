"""Group locks within one event loop."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class FakeLocks:
    """One holder a group; ``held`` tells which groups are locked now, ``everything`` whether all are."""

    def __init__(self) -> None:
        self.held: set[str] = set()
        self.everything = False
        self.history: list[str] = []
        """Groups in the order in which they were locked; "*" is ``hold_all``."""
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def hold(self, group_id: str) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self.everything and group_id not in self.held)
            self.held.add(group_id)
            self.history.append(group_id)
        try:
            yield
        finally:
            self.held.discard(group_id)
            await self._wake()

    @asynccontextmanager
    async def hold_all(self) -> AsyncIterator[None]:
        async with self._changed:
            await self._changed.wait_for(lambda: not self.everything and not self.held)
            self.everything = True
            self.history.append("*")
        try:
            yield
        finally:
            self.everything = False
            await self._wake()

    def is_closed(self) -> bool:
        return self.everything

    async def _wake(self) -> None:
        async with self._changed:
            self._changed.notify_all()
