"""How commands speak: results on stdout, progress on stderr and only to a person."""

import json
import sys
import time
from collections.abc import Mapping


def say(text: str = "") -> None:
    """One line of the result."""
    print(text, flush=True)  # noqa: T201  (a command line speaks)


def say_json(value: Mapping[str, object]) -> None:
    """The result for a machine."""
    say(json.dumps(value, ensure_ascii=False, indent=2, default=str))


class Progress:
    """A line on stderr that is written over while work goes on; silent when nobody watches."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._started = time.perf_counter()
        self._shown = sys.stderr.isatty()

    def __call__(self, done: float, total: float) -> None:
        if self._shown:
            seconds = time.perf_counter() - self._started
            sys.stderr.write(f"\r  {done:.0f}/{total:.0f} {self._what}, {seconds:.0f} s ")
            sys.stderr.flush()

    def end(self) -> float:
        """Leave the line; returns the seconds since the start."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
        return time.perf_counter() - self._started
