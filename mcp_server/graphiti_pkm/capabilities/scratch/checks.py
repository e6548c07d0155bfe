"""What a node or an edge of a scratch graph may be: checked before anything is added."""

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
"""Why something is not merged."""

_Item = TypeVar("_Item", ScratchNode, ScratchEdge)
_Key = TypeVar("_Key", bound=Hashable)
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f]")


def checked_label(label: str) -> str:
    """A label, trimmed. Raises InvalidInput if it is empty or too long."""
    return _checked("A node's label", label, LONGEST_LABEL)


def checked_type(kind: str | None) -> str | None:
    """A type, trimmed; an empty one is none. Raises InvalidInput if it is too long."""
    return _checked("A node's type", kind, LONGEST_RELATION) if kind and kind.strip() else None


def checked_relation(relation: str) -> str:
    """A relation, trimmed. Raises InvalidInput if it is empty or too long."""
    return _checked("A relation", relation, LONGEST_RELATION)


def checked_properties(properties: Mapping[str, Any] | None) -> Properties:
    """Properties that every format can hold. Raises InvalidInput for others, and for too many."""
    if not properties:
        return {}
    if (fault := fault_of(properties)) is not None:
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


def fault_of(properties: Mapping[str, Any]) -> str | None:
    """What is wrong with names or nesting."""
    for name in properties:
        if not 0 < len(name) <= LONGEST_PROPERTY_NAME or _CONTROL.search(name):
            return f"the name of a property must have 1 to {LONGEST_PROPERTY_NAME} characters, none of them for control"
    return f"a property is nested more than {DEEPEST_PROPERTY} deep" if _is_deep(properties) else None


def overgrown(
    items: Sequence[_Item], key_of: Callable[[_Item], _Key], known: Callable[[_Key], Properties]
) -> list[int]:
    """Places of what, merged into the properties that ``known`` and earlier items tell, would make them too large.

    Properties alone were checked where they came from; what does not grow may stay as it is.
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
