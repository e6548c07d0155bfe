"""A small pool of warm worker processes for computations without a useful time bound.

Time, memory and the number of processes are limited. A thread would not do: the libraries hold the interpreter's lock
while they compute, which would stop every other call, and a thread cannot be killed. A process can; the results that it
had sent by then are kept.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from weakref import WeakValueDictionary

from graphiti_pkm.capabilities.scratch.algorithms.jobs import LENGTH, Request, packed
from graphiti_pkm.capabilities.scratch.algorithms.view import View
from graphiti_pkm.core.operating_system import APART
from graphiti_pkm.errors import InvalidInput, Unavailable

Ending: TypeAlias = Literal["whole", "most", "late", "memory"]
"""All results; as many as requested; stopped by the time limit; stopped by the memory limit."""

PROCESSES = 2
MOST_BYTES = 1_000_000_000
_GRACE = 0.2
"""Seconds after the time limit in which a process may end by itself before it is killed."""
_START_SECONDS = 30.0
_OWN_TURN_SECONDS = 10.0
_SOUND = frozenset({"whole", "most", "late", "refused"})
"""Final messages after which a process can take another job."""

_GONE = {"end": "failed", "kind": "it ended"}
"""Used when a process is gone; the kernel may have killed it for its memory."""


@dataclass(frozen=True)
class Outcome:
    """The results of a job, and why it stopped."""

    finds: list[Any] = field(default_factory=list)
    ending: Ending = "whole"

    @property
    def is_truncated(self) -> bool:
        return self.ending != "whole"


class Workers:
    """The processes; they start on first use and are reused."""

    def __init__(self, seconds: float, processes: int = PROCESSES, most_bytes: int = MOST_BYTES) -> None:
        """``seconds``: the time limit of one job, and of its wait for a process."""
        self.seconds = seconds
        self._most_bytes = most_bytes
        self._places = asyncio.Semaphore(processes)
        self._turns: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._idle: list[asyncio.subprocess.Process] = []
        self._all: set[asyncio.subprocess.Process] = set()

    async def run(
        self, tenant: Hashable, job: str, view: View | None = None, *, most: int | None = None, **arguments: Any
    ) -> Outcome:
        """Run a generator function, named ``module:function``, on a view and collect its results.

        Jobs of one tenant run one after the other, so that no tenant occupies every process.

        Raises:
            Unavailable: all processes were busy for the whole time limit, or the process failed.
            InvalidInput: the job rejected its arguments.
        """
        request = Request(job, arguments, self.seconds, most, view)
        message = await asyncio.to_thread(packed, request)
        async with self._place(tenant):
            was_warm = bool(self._idle)
            finds, ending = await self._run(message)
            while (
                was_warm and not finds and ending == _GONE
            ):  # the idle process may have ended before it received the job
                was_warm = bool(self._idle)
                finds, ending = await self._run(message)
        match ending["end"]:
            case "refused":
                raise InvalidInput(ending["message"])
            case "failed":
                raise Unavailable(
                    f"The process that computes on scratch graphs failed ({ending['kind']}); the graph is unchanged. "
                    "Call again; if it fails again, narrow the question, e.g. with subgraph, limit or max_length."
                )
            case end:
                return Outcome(finds, end)

    async def _run(self, message: bytes) -> tuple[list[Any], dict[str, Any]]:
        """The results of one process, and its final message."""
        process = await self._process()
        finds: list[Any] = []
        word: dict[str, Any] = {}
        try:
            async with asyncio.timeout(self.seconds + _GRACE):
                word = await _asked(process, message, finds)
        except TimeoutError:
            return finds, {"end": "late"}
        except (asyncio.IncompleteReadError, ConnectionError):
            return finds, _GONE
        finally:
            await self._keep_or_end(process, is_sound=word.get("end") in _SOUND)
        return finds, word

    async def close(self) -> None:
        """Stop all processes."""
        for process in tuple(self._all):
            await self._end(process)

    @asynccontextmanager
    async def _place(self, tenant: Hashable) -> AsyncIterator[None]:
        turn = self._turns.setdefault(tenant, asyncio.Lock())
        await _taken(turn, _OWN_TURN_SECONDS, "Your other analyses are")
        try:
            await _taken(self._places, self.seconds + _GRACE, "Analyses of others are")
            try:
                yield
            finally:
                self._places.release()
        finally:
            turn.release()

    async def _process(self) -> asyncio.subprocess.Process:
        while self._idle:
            process = self._idle.pop()
            if process.returncode is None and not _has_ended(process):
                return process
            await self._end(process)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", "-m", "graphiti_pkm.capabilities.scratch.algorithms.worker_process"),
            *(str(os.getpid()), str(self._most_bytes)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            **APART,
        )
        self._all.add(process)
        is_ready = False
        try:
            async with asyncio.timeout(_START_SECONDS):
                is_ready = "ready" in await _word(process)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            raise Unavailable(
                "The process that computes on scratch graphs did not start; the graph is unchanged. Call again."
            ) from None
        finally:
            if not is_ready:
                await self._end(process)
        return process

    async def _keep_or_end(self, process: asyncio.subprocess.Process, *, is_sound: bool) -> None:
        if is_sound:
            self._idle.append(process)
        else:
            await self._end(process)

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        with suppress(ProcessLookupError):
            process.kill()
        self._all.discard(process)
        await process.wait()


async def _taken(what: asyncio.Lock | asyncio.Semaphore, seconds: float, running: str) -> None:
    try:
        async with asyncio.timeout(seconds):
            await what.acquire()
    except TimeoutError:
        raise Unavailable(
            f"{running} still running; nothing was computed and the graph is unchanged. Call again."
        ) from None


async def _asked(process: asyncio.subprocess.Process, message: bytes, finds: list[Any]) -> dict[str, Any]:
    """Send a request and append its results to ``finds`` as they arrive; returns the final message."""
    if process.stdin is None:
        raise ConnectionError
    process.stdin.write(message)
    await process.stdin.drain()
    while "find" in (word := await _word(process)):
        finds.append(word["find"])
    return word


async def _word(process: asyncio.subprocess.Process) -> dict[str, Any]:
    if process.stdout is None:
        raise ConnectionError
    (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
    word: dict[str, Any] = json.loads(await process.stdout.readexactly(length))
    return word


def _has_ended(process: asyncio.subprocess.Process) -> bool:
    """Whether it has exited after being idle, which its pipe shows before the event loop reports it."""
    return process.stdout is None or process.stdout.at_eof()
