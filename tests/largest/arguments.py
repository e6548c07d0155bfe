"""The largest arguments that the schema of a tool allows, in the kinds of text that have been slow."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from graphiti_pkm.toolkit.bounds import MOST_CHARACTERS

Json: TypeAlias = dict[str, Any]
Text: TypeAlias = Callable[[int, int], str]
"""Text number so and so, of so many characters."""


def _filled(start: str, part: str, length: int) -> str:
    return (start + part * (length // len(part) + 1))[:length]


def _alike(number: int, size: int) -> str:
    """Texts of which most differ from each other by a few letters in the middle."""
    half = _filled("", "anna maria ", size // 2)
    return _filled(f"{half}{_letters(number)} ", "schmidt huber ", size - 1) + "r"


def _letters(number: int) -> str:
    """A number in letters: names that differ in a digit are compared no further."""
    return "".join(chr(97 + int(digit)) for digit in str(number))


KINDS: Mapping[str, Text] = {
    "alike": _alike,
    "letters": lambda number, size: _filled(_letters(number), "a", size),
    "blanks": lambda number, size: _filled(f"{_letters(number)} ", "a  ", size - 1) + "a",
    "quotes": lambda number, size: _filled(f"x{_letters(number)} ", "\"'„“”«»\u2019 ", size - 1) + "x",
    "uuids": lambda number, size: (
        _filled(f"{number:08x}", "3ec0d07f1b2c4d5e6f708192a3b4c5d6e7f80912", size - 6) + "-dirty"
    ),
    "marks": lambda number, size: _filled(f"{_letters(number)} ", "e\u0301記憶\u0308ß", size - 1) + "x",
}


class Largest:
    """Makes arguments; ``known`` has the values of parameters that must fit the memory, by name, None to leave out."""

    def __init__(self, text: Text, known: Mapping[str, Any]) -> None:
        self._text = text
        self._known = known
        self._count = itertools.count()

    def of(self, schema: Json) -> Json:
        """Every parameter of a tool."""
        return self._object(schema)

    def _object(self, node: Json) -> Json:
        made = {name: self._value(name, part) for name, part in node["properties"].items()}
        return {name: value for name, value in made.items() if value is not None}

    def _value(self, name: str, node: Json) -> Any:
        if name in self._known:
            known = self._known[name]
            return known(next(self._count)) if callable(known) else known
        if "enum" in node:
            return node["enum"][-1]
        match node["type"]:
            case "array":
                return [self._value(f"{name}[]", node["items"]) for _ in range(node["maxItems"])]
            case "object":
                return self._object(node) if "properties" in node else {f"p{n}": self._text(n, 90) for n in range(10)}
            case "string":
                return self._text(next(self._count), node.get("maxLength", MOST_CHARACTERS))
            case kind:
                return {"integer": node.get("maximum", 10), "number": 1.0, "boolean": True}[kind]
