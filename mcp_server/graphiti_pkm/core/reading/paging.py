"""Limits, cursors and sizes: every answer is bounded and its pages are complete.

A cursor holds the sort key of the last row and the ``now`` of page one, never an offset, so that writes between two
pages neither repeat nor hide older rows. It is signed together with the caller, the tool and the filters: a cursor that
the server did not issue for the same call is refused before it is read.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from json.encoder import encode_basestring
from typing import TypeAlias

from graphiti_pkm.core.reading.packing import pack, unpack
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.errors import InvalidCursor

Key: TypeAlias = tuple[str | int, ...]

DEFAULT_CHARS = 24_000
MAXIMUM_CHARS = 80_000
_RESERVE = 1_500
"""Characters reserved for everything but the items: message, totals, cursor, scope."""
_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_UUID_LENGTH = 36
_SHORT_UUID = 12
"""The text form shows 8 characters of a uuid, a few more where needed."""
_SIGNATURE = 6
"""In bytes: an attacker has to guess online, with a chance of 2 to the -48th per call, and gains nothing but a place to
start from: groups are checked on every call."""
_PURPOSE = "cursor 2"
"""To be changed when cursors of an older version would be misread."""
_CURSOR_MAX = 2_000
_MICROSECOND = timedelta(microseconds=1)
_NOT_AHEAD = -1
"""Stands for no ``recorded_until``, which is never before ``now``."""


@dataclass(frozen=True)
class Limit:
    """A parameter that limits the size of an answer, with its default and range."""

    default: int
    maximum: int
    minimum: int = 1


NODES = Limit(10, 50)
FACTS = Limit(10, 200)
EPISODES = Limit(10, 100)
CONNECTIONS = Limit(50, 200)
TIMELINE = Limit(20, 100)
ENTITIES = Limit(50, 200)
SOURCES = Limit(5, 50)
EVIDENCE = Limit(20, 50)
HOPS = Limit(4, 6)
PATHS = Limit(3, 10)
SUBGRAPH_HOPS = Limit(1, 3)
SUBGRAPH_NODES = Limit(20, 50)
SUBGRAPH_FACTS = Limit(50, 200)
CHANGES = Limit(20, 100)
PROJECTS = Limit(50, 200)
ENTRIES = Limit(20, 100)
ENTRY_HITS = Limit(10, 50)
MEMORIES = Limit(50, 200)
FLAGGED = Limit(20, 100)
LOADED_NODES = Limit(100, 1_000)
LOADED_HOPS = Limit(1, 10, minimum=0)
SCRATCH_ITEMS = Limit(100, 500)
SCRATCH_TOP = Limit(10, 100)
SCRATCH_ROWS = Limit(100, 500)
EXPORT = Limit(24_000, 200_000, minimum=1_000)
CONTENT = Limit(2_000, 20_000, minimum=0)
MOST_OFFERED = 100
"""Completions of an argument: as many as the protocol allows."""


def budget(*asked: tuple[Limit, int]) -> int:
    """Characters available for the items of an answer; more only if the caller raised the limits."""
    larger = any(value > limit.default for limit, value in asked)
    return (MAXIMUM_CHARS if larger else DEFAULT_CHARS) - _RESERVE


@dataclass(frozen=True)
class Cursor:
    """The start of the next page, and the ``now`` of page one."""

    key: Key
    now: datetime
    recorded_until: datetime | None = None
    """The newest record on page one, if it is ahead of ``now`` because the clock was set back."""


def encode_cursor(
    signer: Signer,
    key: Key,
    filters: Mapping[str, object],
    now: datetime,
    recorded_until: datetime | None = None,
) -> str:
    """An opaque, URL-safe text for the next page of the same call."""
    ahead = _NOT_AHEAD if recorded_until is None else (recorded_until - now) // _MICROSECOND
    body = pack((now.astimezone(UTC).isoformat(), ahead, *key))
    return _packed(signer.sign(_PURPOSE, _signed(body, filters), _SIGNATURE) + body)


def decode_cursor(signer: Signer, text: str, filters: Mapping[str, object]) -> Cursor:
    """Decode a cursor. Raises InvalidCursor unless it was issued for these filters."""
    given = text.strip()
    if len(given) > _CURSOR_MAX:
        raise _refused()
    try:
        content = base64.b64decode(given.encode("ascii") + b"=" * (-len(given) % 4), altchars=b"-_", validate=True)
        signature, body = content[:_SIGNATURE], content[_SIGNATURE:]
        # The last character has unused bits: other spellings of the same bytes are refused.
        if given != _packed(content) or not signer.is_signed(_PURPOSE, _signed(body, filters), signature, _SIGNATURE):
            raise _refused()
        at, ahead, *key = unpack(body)
        now = datetime.fromisoformat(str(at))
        return Cursor(tuple(key), now, None if ahead == _NOT_AHEAD else now + int(ahead) * _MICROSECOND)
    except (ValueError, binascii.Error) as error:
        raise _refused() from error


def _refused() -> InvalidCursor:
    return InvalidCursor(
        "This cursor is damaged or belongs to a call with other arguments. Repeat next_cursor exactly and keep all "
        "other arguments, or leave cursor out to start with page one."
    )


def _packed(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def _signed(body: bytes, filters: Mapping[str, object]) -> bytes:
    return body + b"\0" + json.dumps(filters, sort_keys=True, default=str, ensure_ascii=True).encode()


def fit(sizes: Iterable[int], budget_chars: int) -> int:
    """How many of the first items fit into the budget; at least one, so that paging always advances."""
    used = 0
    count = 0
    for size in sizes:
        used += size
        if count and used > budget_chars:
            break
        count += 1
    return count


def text_size(value: object) -> int:
    """Characters of a JSON value in the text form: compact, without nulls and empty fields, with short uuids."""
    if isinstance(value, str):
        return _SHORT_UUID + 2 if _is_uuid(value) else len(encode_basestring(value))
    if isinstance(value, Mapping):
        return 2 + sum(len(str(key)) + 4 + text_size(item) for key, item in value.items() if not _is_empty(item))
    if isinstance(value, Sequence):
        return 2 + sum(text_size(item) + 1 for item in value)
    return len(json.dumps(value))


def _is_uuid(value: str) -> bool:
    return len(value) == _UUID_LENGTH and _UUID.fullmatch(value) is not None


def _is_empty(value: object) -> bool:
    return value is None or (isinstance(value, (str, list, tuple, dict)) and not value)


def clip_json(text: str, max_chars: int, max_size: int) -> str:
    """The longest beginning of ``text`` with at most ``max_chars`` characters and ``max_size`` in JSON."""
    start = text[:max_chars]
    while start and (size := len(json.dumps(start, ensure_ascii=False))) > max_size:
        start = start[: min(len(start) - 1, len(start) * max_size // size)]
    return start
