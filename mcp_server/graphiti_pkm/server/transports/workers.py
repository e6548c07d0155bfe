"""Several processes behind one port: started by fork, restarted when one dies, ended together.

The parent holds the listening socket and does nothing else. uvicorn's supervisor is not used: it kills a worker that is
silent for five seconds, raises signals again instead of waiting, and spawns its workers, so that each of them would
report every error in the settings.
"""

import logging
import os
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType

from graphiti_pkm.core.operating_system import STOP_SIGNALS

assert sys.platform != "win32"  # noqa: S101 it has no fork, and the type checker skips what follows there

_log = logging.getLogger(__name__)

Serve = Callable[[int, int], None]
"""Serves in a worker until a signal to stop. Its arguments are the worker's number, from 0, and a descriptor that is
closed when the parent ends. A restarted worker keeps the number of its predecessor."""

_SETTLED_SECONDS = 10.0
"""A worker that ran longer than this is restarted without delay."""
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 10.0


class Workers:
    """Keeps ``count`` workers running."""

    def __init__(
        self, count: int, serve: Serve, patience: float, ended: Callable[[int], None] = lambda _pid: None
    ) -> None:
        """``ended`` receives the process id of each worker that has ended.

        A worker that has not ended ``patience`` seconds after the signal to stop is stuck and is killed.
        """
        self._count = count
        self._serve = serve
        self._ended = ended
        self._patience = patience
        self._running: dict[int, tuple[int, float]] = {}
        """Number and start time of each worker, by process id."""
        self._failures = 0
        self._told: int | None = None
        """The signal that ends all workers."""
        self._read_end, self._write_end = os.pipe()

    def run(self) -> None:
        """Run until a signal, which is passed to the workers, and until all have ended; a second signal kills them."""
        for each in STOP_SIGNALS:
            signal.signal(each, self._pass_on)
        signal.signal(signal.SIGALRM, self._kill_stuck)
        for slot in range(self._count):
            self._start(slot)
        while self._running:
            pid, status = os.waitpid(-1, 0)
            slot, started = self._running.pop(pid, (-1, 0.0))
            self._ended(pid)
            if slot < 0 or self._told is not None:
                continue
            lived = time.monotonic() - started
            self._failures = 0 if lived > _SETTLED_SECONDS else self._failures + 1
            _log.error(
                "a worker ended and is started again", extra={"event": {"code": os.waitstatus_to_exitcode(status)}}
            )
            if self._failures > 1:
                time.sleep(min(_FIRST_DELAY * 2**self._failures, _LONGEST_DELAY))
            self._start(slot)

    def _start(self, slot: int) -> None:
        # A signal that came before the child is registered would not reach it.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            if self._told is not None:
                return
            pid = os.fork()
            if pid == 0:
                self._become_worker(slot)
            self._running[pid] = slot, time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)

    def _become_worker(self, slot: int) -> None:
        code = 1
        try:
            os.setpgid(0, 0)  # so that Ctrl-C reaches only the parent; a second signal would kill the worker
            for each in STOP_SIGNALS:
                signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
            os.close(self._write_end)
            self._serve(slot, self._read_end)
            code = 0
        except BaseException:  # noqa: BLE001 the parent's code must not continue in a child
            _log.exception("a worker failed")
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _pass_on(self, told: int, _frame: FrameType | None) -> None:
        again = self._told is not None
        self._told = told
        for pid in self._running:
            os.kill(pid, signal.SIGKILL if again else told)
        signal.setitimer(signal.ITIMER_REAL, self._patience)
        if again:
            signal.signal(told, signal.SIG_DFL)
            signal.raise_signal(told)

    def _kill_stuck(self, _told: int, _frame: FrameType | None) -> None:
        for pid in self._running:
            _log.error("a worker does not end and is killed; what it acknowledged is in the journal")
            os.kill(pid, signal.SIGKILL)
