"""Parameters in the types of Neo4j's driver, and answers in those of the store."""

import math
from array import array
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from neo4j.time import Date, DateTime, Duration, Time

from graphiti_pkm.core.model.times import as_utc, iso
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.queries.values import checked_integer, checked_number, checked_text

UNKNOWN = {
    "dawn": DateTime(1, 1, 1, tzinfo=UTC),
    "dusk": DateTime(9999, 12, 31, 23, 59, 59, 999_999_999, tzinfo=UTC),
}
"""The first and last instants that the driver knows: what a query compares in the place of an unknown one."""


def parameters(text: str, given: Mapping[str, object]) -> dict[str, object]:
    """Those given, and of ``UNKNOWN`` those that the text names.

    Raises:
        InvalidInput: a value cannot be stored (NUL, lone surrogate, not a number, an integer too large).
    """
    unknown = {name: value for name, value in UNKNOWN.items() if f"${name}" in text}
    return {**{name: native(value) for name, value in given.items()}, **unknown}


def native(value: object) -> object:  # noqa: PLR0911 one for each type
    """A value in the driver's types. Raises InvalidInput."""
    match value:
        case None | bool():
            return value
        case datetime():
            return as_utc(value)
        case str():
            return checked_text(value)
        case int():
            return checked_integer(value)
        case float():
            return checked_number(value)
        case array():
            return _vector(value)
        case Mapping():
            return {_checked_key(str(key)): native(item) for key, item in value.items()}
        case Sequence() | set() | frozenset():
            return [native(item) for item in value]
        case _:
            raise InvalidInput("A value of an unknown type cannot be stored.")


def plain(value: Any) -> Any:
    """A value of an answer in the store's types: instants are texts."""
    match value:
        case DateTime():
            return iso(value.to_native())
        case list():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case Date() | Time() | Duration():
            return value.iso_format()
        case _:
            return value


def _vector(value: "array[float]") -> list[float]:
    if not all(map(math.isfinite, value)):
        raise InvalidInput("A vector that is not finite cannot be stored or searched.")
    return list(value)


def _checked_key(name: str) -> str:
    if not name or "`" in name:
        raise InvalidInput("An attribute needs a name without a backtick.")
    return checked_text(name)
