"""Estimates of the memory that the parts of a scratch graph take.

Removing something subtracts exactly what adding it added. Estimates therefore depend only on values, unlike
``sys.getsizeof``, whose results depend on how an object came about.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graphiti_pkm.capabilities.scratch.limits import Properties

EDGE = 48
"""An edge without properties, in the graph, the order and the index (measured: 41 to 45)."""
NODE = 400
"""A node without its texts: the value, its place in the graph and its keys."""
_OBJECT = 64
_LIST = 56
_DICT = 184
_ENTRY = 30
_REFERENCE = 8
_NUMBER = 32


def of_text(text: str) -> int:
    """As in CPython: one byte per character, or up to four if the text is not ASCII."""
    return _OBJECT + len(text) * (1 if text.isascii() else 4)


def of_label(label: str) -> int:
    """A label and its two keys."""
    return 3 * of_text(label)


def of_relation(relation: str) -> int:
    """The spelling that all edges of a relation share, and its key."""
    return _DICT + 2 * of_text(relation)


def of_properties(properties: Properties) -> int:
    """Empty properties take nothing, since they share one object."""
    return _OBJECT + _of_value(properties) if properties else 0


def _of_value(value: Any) -> int:
    if isinstance(value, str):
        return of_text(value)
    if isinstance(value, Mapping):
        return _DICT + sum(_ENTRY + _of_value(key) + _of_value(one) for key, one in value.items())
    if isinstance(value, Sequence):
        return _LIST + sum(_REFERENCE + _of_value(one) for one in value)
    return _NUMBER
