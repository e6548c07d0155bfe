"""Processes whose time of day can be set while they run: libfaketime, of Debian's package faketime."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

NO_FAKETIME = "install libfaketime (apt-get install faketime); .ci/run does"


def library() -> str:
    """Skips the test without it, which fails on CI."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        pytest.skip(NO_FAKETIME)
    return str(found[0])


class TimeOfDay:
    """For all processes that are started meanwhile, and for those that they start."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.set("+0")

    def set(self, offset: str) -> None:
        """As ``faketime`` takes it: "-2d". Clocks that only count go on."""
        self._file.write_text(f"{offset}\n")


@contextmanager
def time_of_day(monkeypatch: pytest.MonkeyPatch, directory: Path, *, at_once: bool = True) -> Iterator[TimeOfDay]:
    """The time of day of processes that are started inside.

    ``at_once``: they see a change at once, and read the file for that whenever they look at a clock. Waiting for
    Python's lock is looking at a clock, so a process with threads reads it 100,000 times while it starts and takes
    several times as long. Without, they look once a second.
    """
    file = directory / "time-of-day"
    time = TimeOfDay(file)
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", library())
        patch.setenv("FAKETIME_TIMESTAMP_FILE", str(file))
        patch.setenv("FAKETIME_NO_CACHE" if at_once else "FAKETIME_CACHE_DURATION", "1")
        patch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
        yield time
