"""How many bytes a scratch graph takes: an estimate that depends on what is in it alone.

What is added is taken away again with the same figure, so nothing may depend on history, as ``sys.getsizeof`` does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from graphiti_pkm.capabilities.scratch.limits import Properties

EDGE = 48
"""Of an edge without properties: its place in the graph, in the order and in the index (measured: 41 to 45)."""
NODE = 400
"""Of a node beside its texts: its value, its place and its keys."""
_OBJECT = 64
_LIST = 56
_DICT = 184
_ENTRY = 30
_REFERENCE = 8
_NUMBER = 32


def of_text(text: str) -> int:
    """As CPython keeps it: a byte a character, or up to four once there is one beyond Latin."""
    return _OBJECT + len(text) * (1 if text.isascii() else 4)


def of_label(label: str) -> int:
    """The label and its two keys."""
    return 3 * of_text(label)


def of_relation(relation: str) -> int:
    """The spelling that its edges share, and its key."""
    return _DICT + 2 * of_text(relation)


def of_properties(properties: Properties) -> int:
    """None take nothing: they share one object."""
    return _OBJECT + _of_value(properties) if properties else 0


def _of_value(value: Any) -> int:
    if isinstance(value, str):
        return of_text(value)
    if isinstance(value, Mapping):
        return _DICT + sum(_ENTRY + _of_value(key) + _of_value(one) for key, one in value.items())
    if isinstance(value, Sequence):
        return _LIST + sum(_REFERENCE + _of_value(one) for one in value)
    return _NUMBER
