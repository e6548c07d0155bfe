"""An answer to a schema that no rule knows: stated values where there are any, nothing where a field may stay empty."""

from collections.abc import Mapping
from typing import Any

from tests.scripted_model.model_request import Json

_EMPTY: Mapping[str, object] = {
    "null": None,
    "string": "",
    "integer": 0,
    "number": 0.0,
    "boolean": True,
    "array": [],
}


def filled(schema: Json, stated: Mapping[str, object] | None = None) -> Json:
    """An object that fits the schema.

    Args:
        schema: of an object, as pydantic writes it.
        stated: values by the names of the schema's fields, in text or as they are.
    """
    stated = stated or {}
    properties = schema.get("properties") or {}
    return {name: _value(part, stated.get(name), schema) for name, part in properties.items()}


def _value(part: Json, stated: Any, root: Json) -> Any:
    choices = [_resolved(choice, root) for choice in part.get("anyOf", [part])]
    if stated is not None:
        return next((fit for choice in choices if (fit := _fitting(choice, stated)) is not None), stated)
    if any(choice.get("type") == "null" for choice in choices):
        return None
    first = choices[0]
    if "const" in first or "enum" in first:
        return first.get("const", (first.get("enum") or [None])[0])
    if first.get("type") == "object":
        return filled({**first, "$defs": root.get("$defs", {})})
    return _EMPTY.get(first.get("type", "string"), "")


def _resolved(part: Json, root: Json) -> Json:
    reference = str(part.get("$ref", ""))
    return root["$defs"][reference.rpartition("/")[2]] if reference else part


def _fitting(choice: Json, stated: Any) -> Any:
    """What was stated, of the choice's type; None if it has no such form."""
    kind = choice.get("type")
    if not isinstance(stated, str) or kind == "string":
        return stated
    if kind == "boolean":
        return {"true": True, "yes": True, "false": False, "no": False}.get(stated.casefold())
    if kind == "array":
        return [one.strip() for one in stated.split(",")]
    try:
        return {"integer": int, "number": float}[str(kind)](stated)
    except (KeyError, ValueError):
        return None
