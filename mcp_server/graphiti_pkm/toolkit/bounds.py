"""Limits on the arguments of a call: every text and list has a maximum size, and so does the call as a whole.

The type of a parameter may raise the default limits. Schemas always show the limits of lists, but those of texts only
where a type sets one, because every conversation pays for these tokens; an error states the limit.
"""

from collections.abc import Iterator
from typing import Any

from graphiti_pkm.errors import TooLarge

MOST_CHARACTERS = 2_000
"""Limit for one text, unless its type sets another."""
MOST_ITEMS = 100
"""Limit for the items of one list, unless its type sets another."""
MOST_VALUES = 20_000
"""Limit for the texts, numbers, lists and objects in all arguments of a call together."""
MOST_IN_ALL = 3_000_000
"""Limit for the characters in all arguments of a call together."""

Json = dict[str, Any]


def with_list_bounds(schema: Json) -> Json:
    """The schema, with a maximum for each list in it that has none."""
    bounded = {key: _bounded_part(key, part) for key, part in schema.items()}
    return {**bounded, "maxItems": MOST_ITEMS} if _is(bounded, "array") and "maxItems" not in bounded else bounded


def _bounded_part(key: str, part: Any) -> Any:
    if key in {"properties", "$defs"}:
        return {name: with_list_bounds(inner) for name, inner in part.items()}
    if key == "anyOf":
        return [with_list_bounds(inner) for inner in part]
    return with_list_bounds(part) if key in {"items", "additionalProperties"} and isinstance(part, dict) else part


def refuse_too_much(arguments: Json, nothing_stored: str = "") -> None:
    """Refuse a call that exceeds the limits of every call; stop counting at the first excess.

    Raises:
        TooLarge: the message ends with ``nothing_stored``.
    """
    values = characters = 0
    waiting: list[Any] = [arguments]
    while waiting:
        value = waiting.pop()
        values += 1
        if isinstance(value, str):
            characters += len(value)
        elif isinstance(value, dict):
            characters += sum(map(len, value))
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        if values > MOST_VALUES or characters > MOST_IN_ALL:
            most = f"{MOST_VALUES:,} values" if values > MOST_VALUES else f"{MOST_IN_ALL:,} characters"
            raise TooLarge(
                f"Bad arguments: one call takes at most {most} in all its arguments, and this one has more. Split it "
                f"into several calls.{nothing_stored}"
            )


def too_long(values: Json, schema: Json) -> str | None:
    """The problem with the first text or list that exceeds its maximum, and where it is in the arguments."""
    return next(_too_long(values, schema, schema, ""), None)


def too_many_characters(where: str, came: int, most: int) -> str:
    return f"{where} has {came:,} characters, at most {most:,} are allowed; shorten or split it"


def too_many_items(where: str, came: int, most: int) -> str:
    return f"{where} has {came:,} items, at most {most:,} are allowed; send them in several calls"


def _too_long(value: Any, node: Json, schema: Json, where: str) -> Iterator[str]:
    node = _schema_of(value, node, schema)
    if isinstance(value, str):
        most = node.get("maxLength", MOST_CHARACTERS)
        if len(value) > most:
            yield too_many_characters(where, len(value), most)
    elif isinstance(value, list | tuple):
        most = node.get("maxItems", MOST_ITEMS)
        if len(value) > most:
            yield too_many_items(where, len(value), most)
        for place, item in enumerate(value):
            yield from _too_long(item, node.get("items", {}), schema, f"{where}[{place}]")
    elif isinstance(value, dict):
        for name, part in node.get("properties", {}).items():
            if name in value:
                yield from _too_long(value[name], part, schema, f"{where}.{name}".lstrip("."))


def _schema_of(value: Any, node: Json, schema: Json) -> Json:
    """The target of a reference, or the branch of a union that describes the value."""
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rpartition("/")[2]]
    branches = node.get("anyOf", ())
    return next((one for one in branches if _is(one, _TYPES.get(type(value), ""))), node)


_TYPES: dict[type, str] = {str: "string", list: "array", tuple: "array", dict: "object"}


def _is(node: Json, kind: str) -> bool:
    types = node.get("type", ())
    return kind in ([types] if isinstance(types, str) else types)
