"""Checks labels, types, relations and properties before they enter a scratch graph.

The limits make sure that every graph can be written to every format and read back.
"""

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from graphiti_pkm.capabilities.scratch.limits import (
    LARGEST_PROPERTIES,
    LONGEST_LABEL,
    LONGEST_RELATION,
    Properties,
    ScratchEdge,
    ScratchNode,
)
from graphiti_pkm.errors import InvalidInput

DEEPEST_PROPERTY = 10
LONGEST_PROPERTY_NAME = 100

OVERGROWN = (
    f"its properties would have more than {LARGEST_PROPERTIES:,} characters as JSON together with those it has; a "
    "property that is given anew replaces the old one, e.g. by something shorter"
)
"""The reason why a node or edge is not merged."""

_Item = TypeVar("_Item", ScratchNode, ScratchEdge)
_Key = TypeVar("_Key", bound=Hashable)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def checked_label(label: str) -> str:
    """The trimmed label. Raises InvalidInput if it is empty or too long."""
    return _checked("A node's label", label, LONGEST_LABEL)


def checked_type(kind: str | None) -> str | None:
    """The trimmed type; None if it is empty. Raises InvalidInput if it is too long."""
    return _checked("A node's type", kind, LONGEST_RELATION) if kind and kind.strip() else None


def checked_relation(relation: str) -> str:
    """The trimmed relation. Raises InvalidInput if it is empty or too long."""
    return _checked("A relation", relation, LONGEST_RELATION)


def checked_properties(properties: Mapping[str, Any] | None) -> Properties:
    """A copy of the properties. Raises InvalidInput if a format could not represent them, or if they are too large."""
    if not properties:
        return {}
    if (fault := property_problem(properties)) is not None:
        raise InvalidInput(f"properties cannot be kept: {fault}.")
    try:
        size = len(json.dumps(properties, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise InvalidInput("properties must be JSON values; a number may not be NaN or infinite.") from None
    if size > LARGEST_PROPERTIES:
        raise InvalidInput(f"properties may have {LARGEST_PROPERTIES:,} characters as JSON, these have {size:,}.")
    return dict(properties)


def _checked(what: str, text: str, longest: int) -> str:
    trimmed = text.strip()
    if not trimmed or len(trimmed) > longest:
        raise InvalidInput(f"{what} has 1 to {longest} characters, this one {len(trimmed)}.")
    return trimmed


def property_problem(properties: Mapping[str, Any]) -> str | None:
    """What is wrong with the names or the nesting; None if nothing is."""
    for name in properties:
        if not 0 < len(name) <= LONGEST_PROPERTY_NAME or _CONTROL.search(name):
            return f"the name of a property must have 1 to {LONGEST_PROPERTY_NAME} characters, none of them for control"
    return f"a property is nested more than {DEEPEST_PROPERTY} deep" if _is_deep(properties) else None


def overgrown(
    items: Sequence[_Item], key_of: Callable[[_Item], _Key], known: Callable[[_Key], Properties]
) -> list[int]:
    """The positions of items that would make properties too large by merging.

    ``known`` returns the stored properties; earlier items count as well. The properties of each item alone were
    checked before. Stored properties above the limit are tolerated as long as they do not grow.
    """
    merged: dict[_Key, Properties] = {}
    places = []
    for place, item in enumerate(items):
        if not item.properties:
            continue
        key = key_of(item)
        old = merged[key] if key in merged else known(key)
        both = {**old, **item.properties}
        if old and (size := _characters(both)) > LARGEST_PROPERTIES and size > _characters(old):
            places.append(place)
        else:
            merged[key] = both
    return places


def _characters(properties: Properties) -> int:
    return len(json.dumps(dict(properties), ensure_ascii=False))


def _is_deep(properties: Mapping[str, Any]) -> bool:
    level: list[Any] = list(properties.values())
    for _ in range(DEEPEST_PROPERTY):
        level = [inner for value in level if isinstance(value, Mapping | list) for inner in _parts(value)]
        if not level:
            return False
    return True


def _parts(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else list(value)
