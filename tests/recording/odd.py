"""Calls of a tool that do not fit it, made from its schema."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
UNKNOWN = "00000000-0000-4000-8000-000000000000"


def odd_calls(schema: Json) -> Iterator[Json]:
    """Nothing given, names of nothing, a name too many; then each parameter of the wrong type, and too large."""
    parameters = schema.get("properties", {})
    required = {name: _plain(name, parameters[name]) for name in schema.get("required") or ()}
    yield {}
    yield required
    yield required | {"nonsense": 1}
    for name, part in parameters.items():
        yield required | {name: "many" if part.get("type") != "string" else {"a": [1]}}
        yield required | {name: _large(part)}


def _plain(name: str, part: Json) -> Any:
    if "enum" in part:
        return part["enum"][0]
    match part.get("type"):
        case "array":
            return [_plain(name, part["items"])]
        case "object":
            return {inner: _plain(inner, part["properties"][inner]) for inner in part.get("required", ())}
        case "string":
            return UNKNOWN if "uuid" in name else "2024" if name == "since" else "no such thing"
        case _:
            return 1


def _large(part: Json) -> Any:
    match part.get("type"):
        case "array":
            return [_plain("", part["items"])] * (part.get("maxItems", 1000) + 1)
        case "object":
            return {f"p{number}": "x" * 100 for number in range(1000)}
        case "string":
            return "x" * (part.get("maxLength", 100_000) + 1)
        case _:
            return part.get("maximum", 10**9) + 1
