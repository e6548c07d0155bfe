"""How commands speak: results on stdout; what went wrong, and progress to a person, on stderr."""

import json
import logging
import sys
import textwrap
import time
from collections.abc import Mapping

from graphiti_pkm.errors import PkmError
from graphiti_pkm.server.observability.logging import Level, describe_exception

_PROGRAM = "graphiti-pkm"
_log = logging.getLogger(__name__)


def say(text: str = "") -> None:
    """One line of the result."""
    print(text, flush=True)  # noqa: T201  (a command line speaks)


def say_json(value: Mapping[str, object]) -> None:
    """The result for a machine."""
    say(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def complain(text: str) -> None:
    """One line on stderr: what went wrong and what to do."""
    print(f"{_PROGRAM}: {' '.join(text.split())}", file=sys.stderr, flush=True)  # noqa: T201  (a command line speaks)


def first_cause(error: BaseException) -> BaseException:
    """The error itself, or the first one inside the groups that concurrent tasks make."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def explain(error: BaseException) -> str:
    """What to tell a person; where an unexpected error happened goes to the log at debug level."""
    if isinstance(error, PkmError):
        return error.message
    if isinstance(error, OSError):
        named = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror or type(error).__name__}{named}"
    _log.debug("%s", " | ".join(describe_exception(error)))
    return f"unexpected error ({type(error).__name__}). --log-level debug shows where; please report it."


def log_plainly(level: Level) -> None:
    """Log for a person: our own records as one line each, those of libraries not at all."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain())
    ours = logging.getLogger("graphiti_pkm")
    ours.handlers[:] = [handler]
    ours.propagate = False
    ours.setLevel(level.upper())
    logging.getLogger().addHandler(logging.NullHandler())


class _Plain(logging.Formatter):
    """One line a record; of exceptions the places, never the text."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_PROGRAM}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            line += " | " + " | ".join(describe_exception(record.exc_info[1]))
        return line


class Progress:
    """A line on stderr that is written over while work goes on; silent when nobody watches."""

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._started = time.perf_counter()
        self._shown = sys.stderr.isatty()

    def __call__(self, done: float, total: float) -> None:
        """So many are done, and of how many."""
        self.step(f"{done:.0f} of {total:.0f} {self._what}, {time.perf_counter() - self._started:.0f} s")

    def step(self, text: str) -> None:
        """What is happening, in words."""
        if self._shown:
            sys.stderr.write(f"\r  {text}\x1b[K")
            sys.stderr.flush()

    def end(self) -> float:
        """Wipe the line; returns the seconds since the start."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
        return time.perf_counter() - self._started


def indented(text: str, first: str, width: int) -> str:
    """Text wrapped to a width, the lines after the first standing under its beginning."""
    return textwrap.fill(
        " ".join(text.split()),
        max(width, len(first) + 20),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
