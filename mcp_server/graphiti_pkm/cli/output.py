"""Output of commands: results on stdout, errors and progress on stderr."""

import argparse
import json
import logging
import sys
import textwrap
import time
from collections.abc import Mapping

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.errors import PkmError
from graphiti_pkm.server.observability.logging import Level, describe_exception

_PROGRAM = "graphiti-pkm"
_log = logging.getLogger(__name__)


def say(text: str = "") -> None:
    """Print one line of the result."""
    print(text, flush=True)  # noqa: T201  (the output of a command)


def say_json(value: Mapping[str, object]) -> None:
    """Print the result as JSON, which loses no letter where the output is not in UTF-8, as in a pipe on Windows."""
    is_utf8 = sys.stdout.encoding.lower().replace("-", "") == "utf8"
    say(json.dumps(value, ensure_ascii=not is_utf8, indent=2, default=str))


def show(options: argparse.Namespace, found: Record | dict[str, object], text: str) -> None:
    """Print the answer, as JSON if that was asked for."""
    if options.json:
        say_json(found.model_dump(mode="json") if isinstance(found, Record) else found)
    else:
        say(text)


def complain(text: str) -> None:
    """Print one line on stderr: what went wrong and what to do."""
    print(f"{_PROGRAM}: {' '.join(text.split())}", file=sys.stderr, flush=True)  # noqa: T201  (the output of a command)


def first_cause(error: BaseException) -> BaseException:
    """The error itself, or the first one inside the exception groups of concurrent tasks."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def explain(error: BaseException) -> str:
    """The message for the user; the place of an unexpected error goes to the log at debug level."""
    if isinstance(error, PkmError):
        return error.message
    if isinstance(error, OSError):
        named = f": {error.filename}" if error.filename is not None else ""
        return f"{error.strerror or type(error).__name__}{named}"
    _log.debug("%s", " | ".join(describe_exception(error)))
    return f"unexpected error ({type(error).__name__}). --log-level debug shows where; please report it."


def log_plainly(level: Level) -> None:
    """Log our own records as one line each, and none of libraries."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Plain())
    ours = logging.getLogger("graphiti_pkm")
    ours.handlers[:] = [handler]
    ours.propagate = False
    ours.setLevel(level.upper())
    logging.getLogger().addHandler(logging.NullHandler())


class _Plain(logging.Formatter):
    """One line for each record; exceptions are shown by their places in the code, never by their text."""

    def format(self, record: logging.LogRecord) -> str:
        line = f"{_PROGRAM}: {record.getMessage()}"
        if record.exc_info and record.exc_info[1] is not None:
            line += " | " + " | ".join(describe_exception(record.exc_info[1]))
        return line


class Progress:
    """A progress line on stderr that is overwritten; silent if stderr is no terminal."""

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._started = time.perf_counter()
        self._shown = sys.stderr.isatty()

    def __call__(self, done: float, total: float) -> None:
        """Show how much of the work is done."""
        self.step(f"{done:.0f} of {total:.0f} {self._what}, {time.perf_counter() - self._started:.0f} s")

    def step(self, text: str) -> None:
        """Show what is happening."""
        if self._shown:
            sys.stderr.write(f"\r  {text}\x1b[K")
            sys.stderr.flush()

    def end(self) -> float:
        """Clear the line and return the seconds since the start."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False
        return time.perf_counter() - self._started


def indented(text: str, first: str, width: int) -> str:
    """Text wrapped to a width, with a prefix on its first line and the other lines indented to match."""
    return textwrap.fill(
        " ".join(text.split()),
        max(width, len(first) + 20),
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
