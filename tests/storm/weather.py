"""Twenty clients on one data directory, and random kill -9 of clients and servers."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, sleep, time

from tests.storm.notes import Diary

WAYS = ("words",) * 14 + ("model",) * 3 + ("stdio",) * 3
"""How each of the clients writes."""
SECONDS_BETWEEN = (1.0, 3.0)
"""Shortest and longest time between two kills."""
_TICK = 0.05
_ENOUGH_STARTS = 400

_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Slot:
    """A place that always has a client."""

    way: str
    name: str
    process: "subprocess.Popen[bytes] | None" = None
    is_killed: bool = False


@dataclass
class Storm:
    """Starts clients, replaces those that were killed, and kills."""

    data_dir: Path
    directory: Path
    seed: int
    kills: "Counter[str]" = field(default_factory=Counter)
    """By the way of the client."""
    deaths: list[str] = field(default_factory=list)
    """Clients that ended without being killed."""
    starts: int = 0

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)  # noqa: S311 a storm needs no secrets
        self._slots = [Slot(way, f"{way}{number:02d}") for number, way in enumerate(WAYS)]
        self._killed: set[int] = set()

    def diaries(self) -> list[Diary]:
        """What all clients told, also those that were killed."""
        return [Diary(self.directory, slot.name) for slot in self._slots]

    def figures(self, acknowledged: int) -> str:
        """What the storm came to, in one line."""
        kills = ", ".join(f"{self.kills[way]} {way}" for way in dict.fromkeys(WAYS))
        return f"storm {self.seed}: {acknowledged:,} acknowledged writes; kills: {kills}"

    @contextmanager
    def clients(self) -> Iterator[None]:
        """All of them running; none is left afterwards, whatever happened."""
        try:
            self._keep_running()
            yield
        finally:
            for slot in self._slots:
                if slot.process is not None and slot.process.poll() is None:
                    slot.process.kill()
                    slot.process.wait()

    def wait_until_all_write(self, seconds: float) -> None:
        """Raises TimeoutError."""
        deadline = monotonic() + seconds
        while not all(diary.lines("acknowledged") for diary in self.diaries()):
            self._keep_running()
            if monotonic() > deadline:
                raise TimeoutError("not every client got a note acknowledged")
            sleep(0.5)

    def rage(self, seconds: float) -> None:
        """Kill for so long."""
        end = monotonic() + seconds
        due = monotonic()
        while monotonic() < end:
            self._keep_running()
            slot = self._draw.choice(self._slots)
            if monotonic() >= due and self._kill(slot):
                self._note(slot.way)
                due = monotonic() + self._draw.uniform(*SECONDS_BETWEEN)
            sleep(_TICK)

    def end(self, seconds: float) -> None:
        """Ask the clients to end, and wait for that. Raises TimeoutError."""
        (self.directory / "stop").touch()
        deadline = monotonic() + seconds
        for slot in self._slots:
            assert slot.process is not None
            try:
                slot.process.wait(max(0.1, deadline - monotonic()))
            except subprocess.TimeoutExpired:
                raise TimeoutError(f"client {slot.name} did not end") from None
            self._look_at(slot)

    def _keep_running(self) -> None:
        for slot in self._slots:
            if slot.process is None or slot.process.poll() is not None:
                if slot.process is not None:
                    self._look_at(slot)
                self._start(slot)

    def _look_at(self, slot: Slot) -> None:
        assert slot.process is not None
        servers = {line["pid"] for line in Diary(self.directory, slot.name).lines("server")}
        was_killed = slot.is_killed or bool(servers & self._killed)
        if slot.process.returncode != 0 and not was_killed:
            self.deaths.append(f"{slot.name} ended with {slot.process.returncode}: see {slot.name}.errors")
        self._killed -= servers

    def _start(self, slot: Slot) -> None:
        if self.starts > _ENOUGH_STARTS:
            raise RuntimeError(f"clients do not stay: {self.deaths[-5:]}")
        self.starts += 1
        slot.is_killed = False
        with (self.directory / f"{slot.name}.errors").open("ab") as errors:
            slot.process = subprocess.Popen(
                [sys.executable, "-m", "tests.storm.client", slot.way, self.data_dir, self.directory, slot.name],
                cwd=_ROOT,
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                # Twenty processes on a few cores: BLAS threads of each would only fight.
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )

    def _note(self, way: str) -> None:
        self.kills[way] += 1
        with (self.directory / "kills").open("a", encoding="utf-8") as file:
            file.write(f"{time()} {way}\n")

    def _kill(self, slot: Slot) -> bool:
        """The client, or the server it talks to; False if there is nothing to kill just now."""
        servers = Diary(self.directory, slot.name).lines("server")
        if slot.way == "stdio" and servers and self._draw.random() < 0.5:
            self._killed.add(servers[-1]["pid"])
            return _is_ours(servers[-1]["pid"], self.data_dir) and _killed(servers[-1]["pid"])
        assert slot.process is not None
        slot.is_killed = True
        return slot.process.poll() is None and _killed(slot.process.pid)


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def _is_ours(pid: int, data_dir: Path) -> bool:
    """True if that process still is a server of this storm."""
    command = Path(f"/proc/{pid}/cmdline")
    return command.exists() and os.fsencode(data_dir) in command.read_bytes()
