"""Arguments by chance from a tool's own schema: valid, nearly valid and hostile ones."""

import random
from collections.abc import Callable
from typing import Any, TypeAlias
from uuid import UUID

from mcp_types import Tool

Json: TypeAlias = dict[str, Any]

NAMES = ("Tom", "Heron", "me", "Anna Müller", "default", "work")
DATES = ("2026-03-01", "2026-03", "2020", "2026-03-01T12:00:00+02:00")
NO_DATES = (
    "2026-13-45",
    "0000-00-00",
    "9999-12-31T23:59:59-23:59",
    "0001-01-01T00:00:00+23:59",
    "٢٠٢٦-٠١-٠١",
    "now",
    "-1",
)
TEXTS = (
    *("", " ", "\n", "null", "None", "undefined", "NaN", "true", "0", "-1", "1e309", "9" * 400, "١٢٣", "Ⅷ"),
    *(
        "\u200b",
        "\u202etxt.exe",
        "\ufeff",
        "a\u200db",
        "\u0301" * 50,
        "שלום",
        "👩‍👩‍👧‍👦",
        "ß",
        "ı",
        "İ" * 50,
        "\ufdfa" * 30,
    ),
    *("\x00", "a\x00b", "\x1b[31m", "\ud800", "a\udc00b", "\udfff\ud800"),
    *("x" * 300, "x" * 3_000, "é" * 9_000, "a " * 5_000, "word, " * 800),
    *(
        "[]",
        "{}",
        "[1, 2]",
        '["a", null]',
        '{"a": 1}',
        "[" * 500,
        '{"a":' * 200,
        '"',
        "\\",
        "%s%n",
        "{0}",
        "{{7*7}}",
        "${x}",
    ),
    *(
        "'; DROP TABLE writes; --",
        "' OR 1=1 //",
        "}) DETACH DELETE (n",
        "`",
        "$uuid",
        "@name:(a|b)",
        "-(*) ~%%",
        "* : { } [ ]",
    ),
    *(
        "../../etc/passwd",
        "/dev/zero",
        "file:///etc/passwd",
        "pkm://entity/1",
        "<script>",
        "&amp;",
        "(a+)+$",
        "t_" + "0" * 32,
    ),
    *("00000000", "00000000-0000-0000-0000-000000000000", "DEADBEEF-dead-BEEF", "11111111-1111-4111-8111-11111111111"),
)
NUMBERS: tuple[object, ...] = (0, 1, -1, 2, 100, 2**31, 2**63, -(2**63) - 1, 2**70, 10**300, 0.5, -0.0, 1e308, 5e-324)
NOT_NUMBERS: tuple[object, ...] = (float("nan"), float("inf"), float("-inf"))
DEEPEST = 60
"""Levels of nesting: what the JSON parsers of clients and servers all take."""


class Arguments:
    """Makes calls; ``learn`` gives it what answers held, so that cursors and uuids of one tool reach another."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        self._learnt: list[str] = []

    def learn(self, text: str) -> None:
        if text and len(self._learnt) < 500:
            self._learnt.append(text)
        elif text:
            self._learnt[self._random.randrange(500)] = text

    def call(self, tool: Tool, base: Json) -> Json:
        """``base`` is a call that is as it should be."""
        schema = tool.input_schema
        chance = self._random
        arguments = dict(base)
        for name, node in schema["properties"].items():
            if name not in arguments and chance.random() < 0.25:
                arguments[name] = self._valid(node, name)
        for _ in range(chance.choice((0, 1, 1, 1, 2, 3))):
            name = chance.choice([*schema["properties"], *arguments] or ["nothing"])
            arguments[name] = self._bent(schema["properties"].get(name, {}), name)
        if chance.random() < 0.03:
            arguments[chance.choice(("nope", "", "__class__", "\ud800", "a" * 500))] = self._hostile()
        if arguments and chance.random() < 0.05:
            del arguments[chance.choice(list(arguments))]
        return arguments

    def _valid(self, node: Json, name: str) -> Any:
        chance = self._random
        if "enum" in node:
            return chance.choice(node["enum"])
        kind = node.get("type")
        if kind == "array":
            return [self._valid(node.get("items", {}), name) for _ in range(chance.randrange(4))]
        if kind == "object":
            parts, wanted = node.get("properties", {}), node.get("required", ())
            chosen = [key for key in parts if key in wanted or chance.random() < 0.3]
            return {key: self._valid(parts[key], key) for key in chosen}
        if kind == "integer":
            least = node.get("minimum", 0)
            return chance.randint(least, min(node.get("maximum", least + 20), least + 50))
        plain = {"number": (0.5, 1, 2.5), "boolean": (True, False)}
        return chance.choice(plain[kind]) if kind in plain else self._text(name)

    def _text(self, name: str) -> str:
        chance = self._random
        if "uuid" in name or name in {"cursor", "receipt", "confirm", "near"}:
            return chance.choice(self._learnt or ["11111111"])
        if name.endswith(("_at", "_after", "_before", "since", "until", "time", "as_of")):
            return chance.choice(DATES)
        return chance.choice((*NAMES, *self._learnt[-5:]))

    def _bent(self, node: Json, name: str) -> Any:
        """A value that fits nearly, or not at all."""
        chance = self._random
        kinds: list[Callable[[], Any]] = [self._hostile, lambda: chance.choice(TEXTS), lambda: self._text(name)]
        kinds.append(lambda: chance.choice((*NO_DATES, *DATES)))
        if "minimum" in node or "maximum" in node:
            least, most = node.get("minimum", 0), node.get("maximum", 10**6)
            kinds.append(
                lambda: chance.choice((least, most, least - 1, most + 1, str(least), float(least), f"{least}.0"))
            )
        if node.get("type") == "array":
            kinds.append(lambda: [self._hostile() for _ in range(chance.choice((1, 2, 5, 101)))])
            kinds.append(lambda: [self._bent(node.get("items", {}), name)])
        if (properties := node.get("properties")) is not None:
            whole = {key: self._valid(part, key) for key, part in properties.items()}
            key = chance.choice(list(properties))
            kinds += [lambda: {**whole, key: self._bent(properties[key], key)}, lambda: {**whole, "nope": 1}] * 2
        return chance.choice(kinds)()

    def _hostile(self, depth: int = 0) -> Any:
        chance = self._random
        if depth < DEEPEST and chance.random() < (0.25 if depth == 0 else 0.6 if depth < 3 else 0.4):
            inner = self._hostile(depth + 1)
            return chance.choice(([inner], {"a": inner}, [inner, inner], {chance.choice(NAMES): inner}))
        pools = (TEXTS, NUMBERS, NOT_NUMBERS, (None, True, False, [], {}, [None], [""], [[]]), self._learnt or NAMES)
        return chance.choice(chance.choice(pools))


def is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
