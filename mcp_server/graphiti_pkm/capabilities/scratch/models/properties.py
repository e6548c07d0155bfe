"""What properties of a scratch graph may be, so that every graph can be written and read back."""

import json
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from graphiti_pkm.capabilities.scratch.limits import LARGEST_PROPERTIES, Properties, ScratchEdge, ScratchNode

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
