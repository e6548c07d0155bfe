"""The log on stderr: lines of text, or one JSON object a line; never with content of the memory or a secret.

Records of our own loggers are written for the log and go out as they are. A message of a library may quote an
argument or a query, and the text of any exception may: of those only the place and the types go out.
"""

import copy
import json
import logging
import math
import re
import secrets
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Literal, TextIO

from graphiti_pkm.errors import PkmError

Level = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]

_log = logging.getLogger(__name__)

_TRUSTED = ("graphiti_pkm", "uvicorn")
"""Loggers whose messages hold no content: ours, and the HTTP server's (address in use, started, stopped)."""
_UNTOLD = "a library's message, which may quote content"
_WARNING = re.compile(r"(?P<file>[^\n]*):(?P<line>[0-9]+): (?P<kind>\w+): ")
"""How ``logging.captureWarnings`` begins a message."""
_PLAIN = re.compile(r"[\w.:/@+-]+")
_FRAMES = 8
_ALIKE, _REPEAT_SECONDS = 10, 60.0
"""So many of the same lines in so many seconds are written."""
_MOST_KINDS = 1_000
_DIFFERING = frozenset({"time", "request", "ms"})
"""Fields by which lines of the same event differ."""
_FLOODS = frozenset({"too_many_calls"})
"""Outcomes of calls that come as often as a caller likes."""

_request: ContextVar[str | None] = ContextVar("request", default=None)


@contextmanager
def request_id() -> Iterator[str]:
    """Name one request, in its own lines and in all that are written meanwhile; a client's own id may hold anything."""
    name = secrets.token_hex(6)
    token = _request.set(name)
    try:
        yield name
    finally:
        _request.reset(token)


def current_request() -> str | None:
    """The request that this is done for, if any."""
    return _request.get()


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """What may be told of a record; ``extra={"event": {...}}`` adds fields."""
    fields: dict[str, object] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _UNTOLD,
    }
    if record.name.partition(".")[0] in _TRUSTED:
        fields["message"] = _message(record)
    elif record.name == "py.warnings" and (told := _WARNING.match(_message(record))):
        fields |= {"message": told["kind"], "where": f"{told['file'].rpartition('/')[2]}:{told['line']}"}
    else:
        fields["where"] = f"{record.pathname.rpartition('/')[2]}:{record.lineno}"
    if name := current_request():
        fields["request"] = name
    event = getattr(record, "event", None)
    if isinstance(event, dict):
        fields |= {key: value for key, value in event.items() if key not in fields or key == "request"}
    if record.exc_info and record.exc_info[1] is not None:
        fields["exception"] = describe_exception(record.exc_info[1])
    return fields


class JsonLines(logging.Formatter):
    """One JSON object, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(fields_of(record), ensure_ascii=True, separators=(",", ":"), default=str)


class TextLines(logging.Formatter):
    """The same for people: time, level, logger, message, the other fields as name=value; exceptions below it."""

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        trace = fields.pop("exception", [])
        assert isinstance(trace, list)  # noqa: S101  (fields_of makes it)
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger"))
        parts = [f"{head}: {fields.pop('message')}", *(f"{name}={_shown(value)}" for name, value in fields.items())]
        # One line, whatever a message holds; only the trace has lines of its own, and they are indented.
        return "\n    ".join([" ".join(parts).replace("\n", " "), *trace])


def describe_exception(error: BaseException) -> list[str]:
    """Types and places of an exception and its causes, outermost first; the text only of our own errors."""
    lines: list[str] = []
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        own_text = f": {current.message}" if isinstance(current, PkmError) else ""
        lines.append(f"{type(current).__module__}.{type(current).__qualname__}{own_text}")
        frames = traceback.extract_tb(current.__traceback__)[-_FRAMES:]
        lines.extend(f"  {frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)
        current = current.__cause__ or current.__context__
    return lines


def configure_logging(level: Level, log_format: LogFormat = "text") -> None:
    """Send every record to stderr, and what nobody caught too. Called once, before the MCP SDK installs its handler."""
    handler = _Stderr(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _TRUSTED:
        logging.getLogger(name).setLevel(level.upper())
    # Every uvicorn access line would repeat our own line of the call.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda ended: _uncaught(ended.exc_type, ended.exc_value, ended.exc_traceback)


class Repeats:
    """Lets through the first few of the same warnings and refusals in a minute, and counts the others.

    Anybody who reaches a server can cause such lines, as many as they like. The count comes with the next line of the
    log after that minute, whichever it is.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def passed(self, record: logging.LogRecord) -> list[logging.LogRecord]:
        """What to write when a record comes: counts that are due, then the record, unless it is left out."""
        now = self._clock()
        due = self.due(now)
        event = getattr(record, "event", None)
        event = event if isinstance(event, dict) else {}
        if record.levelno < logging.WARNING and event.get("audit") != "refused" and event.get("error") not in _FLOODS:
            return [*due, record]
        what = {key: value for key, value in fields_of(record).items() if key not in _DIFFERING}
        key = json.dumps(what, sort_keys=True, default=str)
        if key not in self._seen and len(self._seen) < _MOST_KINDS:
            kept = copy.copy(record)
            kept.exc_info = None
            self._seen[key] = _Seen(kept, now + _REPEAT_SECONDS)
        if (seen := self._seen.get(key)) is not None:
            seen.count += 1
            if seen.count > _ALIKE:
                return due
        return [*due, record]

    def due(self, now: float = math.inf) -> list[logging.LogRecord]:
        """Counts of those whose minute is over."""
        over = [key for key, seen in self._seen.items() if seen.until <= now]
        return [counted for key in over if (counted := self._seen.pop(key).counted()) is not None]


@dataclass
class _Seen:
    record: logging.LogRecord
    until: float
    count: int = 0

    def counted(self) -> logging.LogRecord | None:
        """The same line once more, with how many were left out."""
        if self.count <= _ALIKE:
            return None
        again = copy.copy(self.record)
        again.created = time.time()
        event = getattr(self.record, "event", None)
        kept = {key: value for key, value in event.items() if key not in _DIFFERING} if isinstance(event, dict) else {}
        again.event = kept | {"left_out": self.count - _ALIKE}
        return again


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler that writes no line over and over.

    Nor does it print a record it cannot write: with its arguments, as the stock one does.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._repeats = Repeats()

    def emit(self, record: logging.LogRecord) -> None:
        """Write it, unless it was written often enough."""
        for each in self._repeats.passed(record):
            super().emit(each)

    def close(self) -> None:
        """Write what has been counted so far."""
        for each in self._repeats.due():
            super().emit(each)
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is the library's)
        """Nothing: stderr is gone."""


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """In the place of Python's hooks, which print the text of an exception."""
    if error is None or issubclass(kind, (KeyboardInterrupt, SystemExit)):
        return
    _log.error("nobody caught an exception", exc_info=(kind, error, trace))


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # arguments that do not fit; the log must not end a request
        return "a message that does not fit its arguments"


def _shown(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
