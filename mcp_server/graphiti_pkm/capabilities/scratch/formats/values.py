"""Cleans labels, relations and properties of a text, and makes the error for a text that cannot be read."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from graphiti_pkm.capabilities.scratch.checks import property_problem
from graphiti_pkm.capabilities.scratch.limits import LARGEST_PROPERTIES, LONGEST_LABEL, LONGEST_RELATION
from graphiti_pkm.errors import InvalidInput

Place: TypeAlias = int | str
"""A line number, or a path such as ``edges[3]``."""

PREFIX = "property_"
"""Precedes the name of a property that would mean something else in the format."""

_LONGEST_PIECE = 60
_LARGEST_NUMBER = 15
"""Digits that every reader preserves; numbers with more are written as text."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?(?:[eE][+-]?[0-9]{1,2})?")


def unreadable(at: Place, what: str, near: str = "") -> InvalidInput:
    """The error for a text that cannot be read: where, what is wrong, and an excerpt."""
    place = f"Line {at}" if isinstance(at, int) else at
    piece = f", near ‘{clipped(near)}’" if near.strip() else ""
    return InvalidInput(f"{place}: {what}{piece}. Nothing was stored; correct it and send the whole text again.")


def clipped(text: str) -> str:
    """A short excerpt on one line, for a message."""
    line = " ".join(_UNSTORABLE.sub("�", text[: _LONGEST_PIECE * 4]).split())
    return line if len(line) <= _LONGEST_PIECE else f"{line[:_LONGEST_PIECE]}…"


def clean_label(text: str, at: Place) -> str:
    """The trimmed label.

    Raises:
        InvalidInput: it is empty, too long or cannot be stored.
    """
    return _clean(text, at, "a label", LONGEST_LABEL)


def clean_relation(text: str, at: Place) -> str:
    """The trimmed relation.

    Raises:
        InvalidInput: it is empty, too long or cannot be stored.
    """
    return _clean(text, at, "a relation", LONGEST_RELATION)


def clean_type(text: object, at: Place) -> str | None:
    """The trimmed type; None if it is empty."""
    if text is None or (isinstance(text, str) and not text.strip()):
        return None
    if not isinstance(text, str):
        raise unreadable(at, "a type must be a text")
    return _clean(text, at, "a type", LONGEST_RELATION)


def _clean(text: str, at: Place, what: str, longest: int) -> str:
    trimmed = text.strip()
    if not trimmed:
        raise unreadable(at, f"{what} is empty")
    if len(trimmed) > longest:
        raise unreadable(at, f"{what} is longer than {longest} characters", trimmed)
    if _UNSTORABLE.search(trimmed):
        raise unreadable(at, f"{what} holds a NUL or half a surrogate pair", trimmed)
    return trimmed


def clean_properties(values: Mapping[str, Any], at: Place) -> tuple[dict[str, Any], int]:
    """Properties as they are stored, with their size in characters: JSON values of limited depth and size.

    Raises:
        InvalidInput: they are something else.
    """
    if (fault := property_problem(values)) is not None:
        raise unreadable(at, fault)
    try:
        written = json.dumps(dict(values), ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise unreadable(at, "a property is a number that JSON cannot hold, such as NaN or infinity") from None
    if len(written) > LARGEST_PROPERTIES:
        raise unreadable(at, f"the properties are larger than {LARGEST_PROPERTIES:,} characters of JSON")
    if _UNSTORABLE.search(written) or ("\\u0000" in written and _holds_unstorable(values)):
        raise unreadable(at, "a property holds a NUL or half a surrogate pair")
    return dict(values), len(written)


def _holds_unstorable(value: Any) -> bool:
    """Looks for a NUL in the values themselves: in JSON it is an escape, which a text may also contain literally."""
    if isinstance(value, str):
        return _UNSTORABLE.search(value) is not None
    if isinstance(value, Mapping):
        return any(_holds_unstorable(part) for pair in value.items() for part in pair)
    return isinstance(value, list) and any(_holds_unstorable(part) for part in value)


def number_or_text(text: str) -> str | int | float:
    """The value of a cell or attribute without a type: numbers become numbers, so that weights can be used.

    Texts that a number would not reproduce (007, 1.50, 20 digits) stay texts.
    """
    if len(text) > _LARGEST_NUMBER + 1 or not _NUMBER.fullmatch(text):
        return text
    if text.lstrip("-").isdigit():
        return int(text) if str(int(text)) == text else text
    number = float(text)
    return number if math.isfinite(number) and repr(number) == text else text


def plain(value: Any) -> str:
    """A property in a format without types: a text unchanged, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
