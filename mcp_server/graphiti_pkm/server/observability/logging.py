"""The log on stderr, as text or as one JSON object per line; it never contains content of the memory or a secret.

Messages of our own loggers are safe and are written unchanged. Messages of libraries and texts of exceptions may quote
an argument or a query, so only their place and the types of exceptions are written.
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
"""Loggers whose messages contain no content: ours, and the HTTP server's (address in use, started, stopped)."""
_UNTOLD = "a library's message, which may quote content"
_WARNING = re.compile(r"(?P<file>[^\n]*):(?P<line>[0-9]+): (?P<kind>\w+): ")
"""The beginning of a message from ``logging.captureWarnings``."""
_PLAIN = re.compile(r"[\w.:/@+-]+")
_FRAMES = 8
_ALIKE, _REPEAT_SECONDS = 10, 60.0
"""How many equal lines are written within how many seconds."""
_MOST_KINDS = 1_000
_DIFFERING = frozenset({"time", "request", "ms"})
"""Fields that are ignored when lines are compared."""
_FLOODS = frozenset({"too_many_calls"})
"""Outcomes that a caller can cause as often as they like."""

_request: ContextVar[str | None] = ContextVar("request", default=None)


@contextmanager
def request_id() -> Iterator[str]:
    """Add an id to all log lines of one request. The client's own id is not used, because it may contain anything."""
    name = secrets.token_hex(6)
    token = _request.set(name)
    try:
        yield name
    finally:
        _request.reset(token)


def current_request() -> str | None:
    """The id of the current request, if any."""
    return _request.get()


def fields_of(record: logging.LogRecord) -> dict[str, object]:
    """The fields of a record that may be logged; ``extra={"event": {...}}`` adds fields."""
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
    """Formats a record as one JSON object, for machines."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(fields_of(record), ensure_ascii=True, separators=(",", ":"), default=str)


class TextLines(logging.Formatter):
    """Formats a record for people: time, level, logger, message, other fields as name=value; exceptions below it."""

    def format(self, record: logging.LogRecord) -> str:
        fields = fields_of(record)
        trace = fields.pop("exception", [])
        assert isinstance(trace, list)  # noqa: S101  (fields_of guarantees it)
        head = " ".join(str(fields.pop(name)) for name in ("time", "level", "logger"))
        parts = [f"{head}: {fields.pop('message')}", *(f"{name}={_shown(value)}" for name, value in fields.items())]
        # A message is always one line; only tracebacks have further lines, which are indented.
        return "\n    ".join([" ".join(parts).replace("\n", " "), *trace])


def describe_exception(error: BaseException) -> list[str]:
    """The types and places of an exception and its causes, outermost first; with the text only of our own errors."""
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
    """Send all records and uncaught exceptions to stderr. Call once, before the MCP SDK installs its handler."""
    handler = _Stderr(sys.stderr)
    handler.setFormatter(JsonLines() if log_format == "json" else TextLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _TRUSTED:
        logging.getLogger(name).setLevel(level.upper())
    # uvicorn's access log would repeat our own line for each call.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda ended: _uncaught(ended.exc_type, ended.exc_value, ended.exc_traceback)


class Repeats:
    """Passes the first few of equal warnings and refusals within a minute, and counts the others.

    Anybody who can reach the server can cause any number of such lines. The count is written together with the first
    line of any kind after that minute.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: dict[str, _Seen] = {}

    def passed(self, record: logging.LogRecord) -> list[logging.LogRecord]:
        """The records to write for a new one: counts that are due, then the record unless it is suppressed."""
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
        """The counts of lines whose minute is over."""
        over = [key for key, seen in self._seen.items() if seen.until <= now]
        return [counted for key in over if (counted := self._seen.pop(key).counted()) is not None]


@dataclass
class _Seen:
    record: logging.LogRecord
    until: float
    count: int = 0

    def counted(self) -> logging.LogRecord | None:
        """The line again with the number of suppressed ones; None if none was."""
        if self.count <= _ALIKE:
            return None
        again = copy.copy(self.record)
        again.created = time.time()
        event = getattr(self.record, "event", None)
        kept = {key: value for key, value in event.items() if key not in _DIFFERING} if isinstance(event, dict) else {}
        again.event = kept | {"left_out": self.count - _ALIKE}
        return again


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """A handler that suppresses repeated lines.

    Unlike the standard handler, it does not print the arguments of a record that it cannot write.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._repeats = Repeats()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, unless equal ones were written often enough."""
        for each in self._repeats.passed(record):
            super().emit(each)

    def close(self) -> None:
        """Write the counts of suppressed lines."""
        for each in self._repeats.due():
            super().emit(each)
        super().close()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  (the name is the library's)
        """Do nothing, because stderr is not available."""


def _uncaught(kind: type[BaseException], error: BaseException | None, trace: TracebackType | None) -> None:
    """Replaces Python's hooks, which would print the text of an exception."""
    if error is None or issubclass(kind, (KeyboardInterrupt, SystemExit)):
        return
    _log.error("nobody caught an exception", exc_info=(kind, error, trace))


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError):  # the arguments do not match the message; logging must not end a request
        return "a message that does not fit its arguments"


def _shown(value: object) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value):
        return value
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str)
