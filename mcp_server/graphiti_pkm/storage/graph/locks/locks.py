"""Serialises writes within a group across all processes on a data directory, by file locks."""

import asyncio
import hashlib
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from weakref import WeakValueDictionary

from graphiti_pkm.core.operating_system import Mode, open_lock, try_lock, wait_for_lock
from graphiti_pkm.errors import Unavailable

_PATIENCE = 8.0
"""Seconds that a writer waits for another process in the same group; it needs far less unless it stands still."""
_STANDS_STILL = (
    "Another process has kept other writes of this group out for {seconds:.0f} s. Nothing was stored. Try again; if "
    "that does not help, end the process that stands still."
)


class FlockGroupLocks:
    """Implements GroupLocks. Locks of a killed process are released; holders in one process are served in order.

    Every holder shares ``all.lock``, which ``hold_all`` takes exclusively. ``gate.lock`` is passed on the way there and
    kept by ``hold_all``: without it a steady stream of holders would keep it waiting for ever.
    """

    def __init__(self, data_dir: Path, patience: float = _PATIENCE) -> None:
        """``patience``: seconds to wait for another process that writes in the same group."""
        self._patience = patience
        self._directory = data_dir / "locks"
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._ours: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def hold(self, group_id: str) -> AsyncIterator[None]:
        """Exclude other writers of this group. Raises Unavailable if another process does not let go of it."""
        ours = self._ours.setdefault(group_id, asyncio.Lock())
        name = hashlib.sha256(group_id.encode()).hexdigest() + ".lock"
        async with ours:
            held: list[int] = []
            try:
                gate = await self._take("gate.lock", "shared")
                try:
                    held.append(await self._take("all.lock", "shared"))
                finally:
                    os.close(gate)
                try:
                    held.append(await asyncio.wait_for(self._take(name, "exclusive"), self._patience))
                except TimeoutError:
                    raise Unavailable(_STANDS_STILL.format(seconds=self._patience)) from None
                yield
            finally:
                for fd in held:
                    os.close(fd)

    @asynccontextmanager
    async def hold_all(self) -> AsyncIterator[None]:
        """Exclude every writer of every group."""
        held: list[int] = []
        try:
            held.append(await self._take("gate.lock", "exclusive"))
            held.append(await self._take("all.lock", "exclusive"))
            yield
        finally:
            for fd in held:
                os.close(fd)

    def is_closed(self) -> bool:
        """Whether any process, including this one, holds all groups or waits for them."""
        gate = open_lock(self._directory / "gate.lock")
        try:
            return not try_lock(gate, "shared")
        finally:
            os.close(gate)

    async def _take(self, name: str, mode: Mode) -> int:
        fd = open_lock(self._directory / name)
        if try_lock(fd, mode):
            return fd
        return await _wait(fd, mode)


async def _wait(fd: int, mode: Mode) -> int:
    """Wait in a separate thread for the lock.

    The system call cannot be interrupted: if the task is cancelled, the thread closes the descriptor once it has the
    lock. It is a daemon thread, so that it does not keep the program running.
    """
    loop = asyncio.get_running_loop()
    taken: asyncio.Future[int] = loop.create_future()

    def settle(error: OSError | None) -> None:
        if error is not None or taken.cancelled():
            os.close(fd)
        if not taken.cancelled():
            taken.set_result(fd) if error is None else taken.set_exception(error)

    def block() -> None:
        failed: OSError | None = None
        try:
            wait_for_lock(fd, mode)
        except OSError as error:
            failed = error
        try:
            loop.call_soon_threadsafe(settle, failed)
        except RuntimeError:  # the loop was closed meanwhile
            os.close(fd)

    threading.Thread(target=block, name="lock", daemon=True).start()
    try:
        return await taken
    except asyncio.CancelledError:
        if taken.done() and not taken.cancelled() and taken.exception() is None:
            os.close(fd)  # we got the lock and were cancelled before we could go on
        raise
