"""What a node or an edge of a scratch graph may be: checked before anything is added."""

import json
from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.scratch.limits import LARGEST_PROPERTIES, LONGEST_LABEL, LONGEST_RELATION, Properties
from graphiti_pkm.capabilities.scratch.models.properties import fault_of
from graphiti_pkm.errors import InvalidInput


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
