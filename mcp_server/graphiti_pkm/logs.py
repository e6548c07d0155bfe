"""The log: one JSON object a line on stderr, never with content of the memory or a secret.

Records of our own loggers are written for the log and go out as they are. A message of a library may quote an
argument or a query, and the text of any exception may: of those only the place and the types go out.
"""

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Literal

from graphiti_pkm.errors import PkmError

Level = Literal["debug", "info", "warning", "error"]

_TRUSTED = ("graphiti_pkm", "uvicorn")
"""Loggers whose messages hold no content: ours, and the HTTP server's (address in use, started, stopped)."""
_FRAMES = 8


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object; ``extra={"event": {...}}`` adds fields."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        if record.name.partition(".")[0] in _TRUSTED:
            line["message"] = record.getMessage()
        else:
            line["where"] = f"{record.pathname.rpartition('/')[2]}:{record.lineno}"
        event = getattr(record, "event", None)
        if isinstance(event, dict):
            line.update(event)
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = describe_exception(record.exc_info[1])
        return json.dumps(line, ensure_ascii=True, separators=(",", ":"), default=str)


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


def configure_logging(level: Level) -> None:
    """Send every record to stderr as JSON. Called once, before the MCP SDK would install its own handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    for name in _TRUSTED:
        logging.getLogger(name).setLevel(level.upper())
    # Every uvicorn access line would repeat our own line of the call.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
