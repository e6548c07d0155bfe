"""Formats parameters for FalkorDB, and parses its compact answers.

The falkordb client does both too, but formats a vector six times slower and awaits every single value.
"""

import hashlib
import json
import math
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.values import DAWN, DUSK, FullText

Row: TypeAlias = "dict[str, Any]"
Parameters: TypeAlias = "Mapping[str, object]"

_LARGEST_INTEGER = 2**63 - 1
_UNKNOWN = {DAWN: "", DUSK: "~"}
"""Texts before and after every ISO date."""

_BOOLEAN, _DOUBLE, _ARRAY, _EDGE, _NODE, _PATH, _MAP, _VECTOR = 4, 5, 6, 7, 8, 9, 10, 12


class Query(NamedTuple):
    """One Cypher text with its parameters; ``name`` is what a log may say about it."""

    name: str
    text: str
    parameters: Parameters

    def command(self) -> str:
        """The text that goes over the wire.

        Raises:
            InvalidInput: a value cannot be stored (NUL, lone surrogate, not a number, an integer too large).
        """
        named = {name: value for name, value in _UNKNOWN.items() if f"${name}" in self.text}
        if not self.parameters and not named:
            return self.text
        header = " ".join(f"{name}={literal(value)}" for name, value in {**self.parameters, **named}.items())
        return f"CYPHER {header} {self.text}"


def literal(value: object) -> str:  # noqa: PLR0911 one for each type
    """A value in Cypher; vectors (``array`` of floats) with six decimals."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case FullText():
            return _quoted(_expression(value))
        case str():
            return _quoted(value)
        case int():
            return str(checked_integer(value))
        case float():
            return repr(checked_number(value))
        case array():
            return ("[" + "%.6f," * len(value))[:-1] % tuple(value) + "]" if value else "[]"
        case Mapping():
            return "{" + ",".join(f"`{checked_key(str(key))}`:{literal(item)}" for key, item in value.items()) + "}"
        case Sequence() | set() | frozenset():
            return "[" + ",".join(map(literal, value)) + "]"
        case _:
            raise InvalidInput("A value of an unknown type cannot be stored.")


def digest(text: str) -> str:
    """A digest of a text that must be unique and found by index.

    The index trims values and splits them at U+0001, and a unique constraint on such a value ends the server.
    """
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def day_number(moment: datetime) -> int:
    """The day of an instant in UTC as 20260314: numbers are compared rightly by an index, texts are not."""
    utc = as_utc(moment)
    return utc.year * 10_000 + utc.month * 100 + utc.day


def storable(value: object) -> object:
    """A property value: scalars and flat lists as they are, anything nested as JSON text."""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple) and all(isinstance(item, str | int | float | bool) for item in value):
        return list(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def rows(answer: Sequence[Any]) -> list[Row]:
    """Rows of a compact answer, by column name; empty for a query without RETURN."""
    if len(answer) < 3:  # noqa: PLR2004 header, rows, statistics
        return []
    names = [column[1] for column in answer[0]]
    return [dict(zip(names, map(_value, row), strict=True)) for row in answer[1]]


def _value(cell: Sequence[Any]) -> Any:
    kind, value = cell
    if kind == _DOUBLE:
        return float(value)
    if kind == _BOOLEAN:
        return value == "true"
    if kind == _ARRAY:
        return [_value(item) for item in value]
    if kind == _MAP:
        return {value[i]: _value(value[i + 1]) for i in range(0, len(value), 2)}
    if kind in {_EDGE, _NODE, _PATH, _VECTOR}:
        raise TypeError("a query returned a whole record or a vector")
    return value


def checked_text(text: str) -> str:
    """The text itself. Raises InvalidInput."""
    if "\x00" in text:
        raise InvalidInput("Text with a NUL character cannot be stored or searched; take it out and send again.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidInput("Text with half a surrogate pair cannot be stored; take it out and send again.") from None
    return text


def _quoted(text: str) -> str:
    escaped = checked_text(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _expression(asked: FullText) -> str:
    words = [f'"{words}"' for words in asked.words] if asked.are_phrases else asked.words
    return f"@{asked.prefix}scope:({'|'.join(asked.scopes)}) @{asked.prefix}text:({'|'.join(words)})"


def checked_key(name: str) -> str:
    """The name of a property itself. Raises InvalidInput."""
    if not name or "`" in name:
        raise InvalidInput("An attribute needs a name without a backtick.")
    return checked_text(name)


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
