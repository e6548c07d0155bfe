"""A query, and which values a store can hold."""

import hashlib
import json
import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.errors import InvalidInput

Row: TypeAlias = "dict[str, Any]"

_LARGEST_INTEGER = 2**63 - 1


class Query(NamedTuple):
    """One Cypher text with its parameters; ``name`` is what a log may say about it."""

    name: str
    text: str
    parameters: Mapping[str, object]


def digest(text: str) -> str:
    """Identifies a text that may be longer than the 8 kB that an index takes."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def day_number(moment: datetime) -> int:
    """The day of an instant in UTC as 20260314."""
    utc = as_utc(moment)
    return utc.year * 10_000 + utc.month * 100 + utc.day


def storable(value: object) -> object:
    """A property value: scalars and flat lists as they are, anything nested as JSON text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str | int | float | bool) for item in value):
        return list(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def checked_text(text: str) -> str:
    """The text itself. Raises InvalidInput."""
    if "\x00" in text:
        raise InvalidInput("Text with a NUL character cannot be stored or searched; take it out and send again.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("Text with half a surrogate pair cannot be stored; take it out and send again.") from None
    return text


def checked_integer(value: int) -> int:
    """The integer itself. Raises InvalidInput."""
    if abs(value) > _LARGEST_INTEGER:
        raise InvalidInput("An integer of more than 64 bits cannot be stored.")
    return value


def checked_number(value: float) -> float:
    """The number itself. Raises InvalidInput."""
    if not math.isfinite(value):
        raise InvalidInput("A number that is not finite cannot be stored.")
    return value
