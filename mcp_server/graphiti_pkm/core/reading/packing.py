"""Values of a cursor in few bytes, since a model repeats every character of it."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TypeAlias
from uuid import UUID

Packable: TypeAlias = "str | int"

_NUMBER, _UUID, _INSTANT, _DAY, _TEXT = range(5)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND, _WHOLE_DAY = timedelta(microseconds=1), timedelta(days=1)
_LENGTH_BITS = 5
_LONG = (1 << _LENGTH_BITS) - 1
"""The length that says that the real one follows in two bytes."""
_UUID_CHARS = 36
_LONGEST_INSTANT = len("2026-01-01T00:00:00.000000+00:00")


def pack(values: Iterable[Packable]) -> bytes:
    """Each value as a byte for its kind and length, then its bytes; ``unpack`` returns exactly these values."""
    return b"".join(_packed(value) for value in values)


def unpack(content: bytes) -> list[Packable]:
    """What ``pack`` was given. Raises ValueError for anything else."""
    return list(_unpacked(content))


def _packed(value: Packable) -> bytes:
    if isinstance(value, int):
        return _item(_NUMBER, _of_number(value))
    if len(value) == _UUID_CHARS and (found := _as_uuid(value)):
        return _item(_UUID, found.bytes)
    if len(value) <= _LONGEST_INSTANT and (instant := _as_instant(value)):
        since = instant - _EPOCH
        is_day = not since % _WHOLE_DAY
        return _item(_DAY if is_day else _INSTANT, _of_number(since // (_WHOLE_DAY if is_day else _MICROSECOND)))
    return _item(_TEXT, value.encode())


def _unpacked(content: bytes) -> Iterator[Packable]:
    place = 0
    while place < len(content):
        kind, length = content[place] >> _LENGTH_BITS, content[place] & _LONG
        place += 1
        if length == _LONG:
            length = int.from_bytes(content[place : place + 2])
            place += 2
        data = content[place : place + length]
        place += length
        match kind:
            case 0:
                yield _to_number(data)
            case 1:
                yield str(UUID(bytes=data))
            case 2:
                yield (_EPOCH + _to_number(data) * _MICROSECOND).isoformat()
            case 3:
                yield (_EPOCH + _to_number(data) * _WHOLE_DAY).isoformat()
            case _:
                yield data.decode()


def _item(kind: int, data: bytes) -> bytes:
    if len(data) < _LONG:
        return bytes([kind << _LENGTH_BITS | len(data)]) + data
    return bytes([kind << _LENGTH_BITS | _LONG]) + len(data).to_bytes(2) + data


def _of_number(value: int) -> bytes:
    size = (value + (value < 0)).bit_length() // 8 + 1 if value else 0
    return value.to_bytes(size, signed=True)


def _to_number(data: bytes) -> int:
    return int.from_bytes(data, signed=True)


def _as_uuid(text: str) -> UUID | None:
    try:
        found = UUID(text)
    except ValueError:
        return None
    return found if str(found) == text else None


def _as_instant(text: str) -> datetime | None:
    """A time in UTC, if it is written as ``isoformat`` writes it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo is not None and found.astimezone(UTC).isoformat() == text else None
