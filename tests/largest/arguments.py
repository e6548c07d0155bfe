"""The largest arguments that the schema of a tool allows, in the kinds of text that have been slow."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from graphiti_pkm.toolsets.bounds import MOST_CHARACTERS

Json: TypeAlias = dict[str, Any]
Text: TypeAlias = Callable[[int, int], str]
"""Text number so and so, of so many characters."""

_NAME_LENGTH = 200
_SAID = 200
"""Characters of sentences and quotes of each of many facts: together they have a maximum."""


def _filled(start: str, part: str, length: int) -> str:
    return (start + part * (length // len(part) + 1))[:length]


KINDS: Mapping[str, Text] = {
    # One letter differs, in the middle: equal to a slip of a typist, whatever is compared.
    "alike": lambda n, size: _filled("", "anna maria ", size // 2) + chr(97 + n % 26) + _filled(f"{n} ", "schmidt ", size)[: size - size // 2 - 1],
    "letters": lambda n, size: f"{n:04d}"[: size // 2] + "a" * (size - min(4, size // 2)),
    "blanks": lambda n, size: _filled(f"{n} ", "a  ", size - 1) + "a",
    "quotes": lambda n, size: _filled(f"x{n} ", "\"'„“”«» ", size - 1) + "x",
    "uuids": lambda n, size: _filled(f"{n:08x}", "3ec0d07f1b2c4d5e6f708192a3b4c5d6e7f80912-", size - 6) + "-dirty",
    "marks": lambda n, size: _filled(f"{n} ", "e\u0301記憶\u0308ß", size),
}


class Largest:
    """Makes arguments; ``known`` gives the values of parameters that have to fit the memory, by name."""

    def __init__(self, kind: str, known: Mapping[str, Any]) -> None:
        self._text = KINDS[kind]
        self._known = known
        self._count = itertools.count()

    def of(self, schema: Json) -> Json:
        """Every parameter of a tool."""
        made = {name: self._value(name, part, schema) for name, part in schema["properties"].items()}
        return {name: value for name, value in made.items() if value is not None}

    def _value(self, name: str, node: Json, schema: Json) -> Any:
        if name in self._known:
            known = self._known[name]
            return known(next(self._count)) if callable(known) else known
        if "$ref" in node:
            node = schema["$defs"][node["$ref"].rpartition("/")[2]]
        if "anyOf" in node:
            node = node["anyOf"][-1]
        if "enum" in node:
            return node["enum"][-1]
        kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
        if "array" in kinds:
            return [self._value(f"{name}[]", node["items"], schema) for _ in range(node["maxItems"])]
        if "object" in kinds and "properties" in node:
            made = {key: self._value(key, part, schema) for key, part in node["properties"].items()}
            return {key: value for key, value in made.items() if value is not None}
        if "object" in kinds:
            return {f"p{n}": self._text(n, 90) for n in range(10)}
        if "string" in kinds:
            return self._text(next(self._count), node.get("maxLength", MOST_CHARACTERS))
        return {"integer": node.get("maximum", 10), "number": 1.0, "boolean": True}[kinds[0]]
