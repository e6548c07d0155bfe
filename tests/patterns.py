"""The regular expressions of a package: where they are, how they are used, and inputs built to make them slow."""

import ast
import importlib
import pkgutil
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from tests.growth import growth

_parser = importlib.import_module("re._parser")

SEARCHING = frozenset({"search", "sub", "subn", "split", "findall", "finditer"})
METHODS = frozenset({*SEARCHING, "match", "fullmatch"})
SIZES = (8, 12, 16, 20, 24, 28, 32, 40, 56, 80, 112, 160, 256, 4_096)
"""Characters."""
_PROBES = (
    " \t\n\r\"'`-_.,:;/\\|()[]{}<>*+#=~@!?$0127aAbBfzZ\u00e9\u00df\u2026\u00a0\u4e2d\ufe0f\U0001f600\u0301\x00\ud800"
)
_TAILS = ("", "\x00", "!")
_MOST_CHARACTERS = 24
_MOST_OF_SET = 6
_MOST_PAIRS = 12
_LONGEST_PUMP = 40
_MOST_ATTACKS = 200


@dataclass(frozen=True)
class Found:
    """A regular expression with the methods that are used of it."""

    where: str
    pattern: re.Pattern[str]
    methods: frozenset[str]


def modules_of(package: ModuleType) -> list[ModuleType]:
    """All modules, imported."""
    names = (one.name for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    names = (name for name in names if name != "graphiti_pkm.core.windows")  # imports on Windows only, and has none
    return [package, *(importlib.import_module(name) for name in names if not name.endswith("__main__"))]


def patterns_of(
    modules: Iterable[tuple[str, str, Mapping[str, Any]]], built: Mapping[str, tuple[str, Iterable[str]]]
) -> tuple[list[Found], list[str]]:
    """Those in (name, source, namespace) of modules, and the places of those that only a run of the code could tell.

    ``built``: how what is built where the code runs is used, and examples of it, by module.
    """
    found: list[Found] = []
    untold: list[str] = []
    given = list(modules)
    uses = {name: _uses(ast.parse(source)) for name, source, _ in given}
    for name, source, namespace in given:
        seen: set[tuple[str, int]] = set()
        for call, function, holder in _calls(ast.parse(source)):
            place = f"{name}:{call.lineno}"
            compiled, used = _compiled(call, namespace, None), None
            if compiled is None and name in built:
                used, texts = built[name]
                compiled = _compiled(call, namespace, texts)
            if compiled is None:
                untold.append(place)
                continue
            used = used or (None if function == "compile" else function)
            methods = frozenset({used}) if used else _methods(name, holder, uses)
            found.extend(Found(place, pattern, methods) for pattern in compiled)
            seen |= {(pattern.pattern, pattern.flags) for pattern in compiled}
        others = (one for one in _held(namespace) if (one.pattern, one.flags) not in seen)
        found.extend(Found(f"{name}: held at run time", pattern, METHODS) for pattern in others)
    return found, untold


def weakness(found: Found) -> str | None:
    """With what input and how its time grows faster than the input; None if nothing was found that does."""
    used = {"finditer" if method in SEARCHING else method for method in found.methods}
    for method in sorted(used - {"match"} if "fullmatch" in used else used):
        for head, pump, tail in attacks(found.pattern):
            grown = growth(_prepared(found.pattern, method, head, pump, tail), SIZES)
            if grown is not None:
                return f"{found.where}: {method} of {head!a} + {pump!a} * n + {tail!a}: {grown}"
    return None


def attacks(pattern: re.Pattern[str]) -> list[tuple[str, str, str]]:
    """(head, part to repeat, tail), from the parts of a pattern: what repeats in it, and what stands before."""
    writer = _Writer(pattern)
    pumps = {("", pump) for pump in writer.pumps()}
    for head, bodies in writer.repeats():
        for body in bodies:
            pumps |= {("", body), (head, body), ("", head + body)}
    found = sorted((head, pump, tail) for head, pump in pumps if 0 < len(pump) <= _LONGEST_PUMP for tail in _TAILS)
    kept = random.Random(0).sample(found, min(len(found), _MOST_ATTACKS))  # noqa: S311 - the same ones each time
    return sorted(kept, key=lambda one: (len(one[1]), one))  # what is exponential shows in the shortest, and fast


def repeats_a_group_possessively(pattern: re.Pattern[str]) -> bool:
    """Whether ``(?:…)*+`` stands in it, which Python 3.11.2, that of Debian 12, matches wrongly.

    ``(?>(?:…)*)`` means the same.
    """

    def within(tree: Any) -> bool:
        return any(_is_group_repeated(str(item[0]), item[1]) or any(map(within, _trees(item[1]))) for item in tree)

    return within(_parser.parse(pattern.pattern, pattern.flags))


def _is_group_repeated(operation: str, value: Any) -> bool:
    return operation == "POSSESSIVE_REPEAT" and (len(value[2]) > 1 or str(value[2][0][0]) not in _SINGLE)


_SINGLE = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})


def _trees(value: Any) -> Iterator[Any]:
    """The patterns within one item of a pattern."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from _trees(part)


class _Writer:
    """Writes texts that a pattern, or the beginning of it, matches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._tree = _parser.parse(pattern.pattern, pattern.flags)
        self._dice = random.Random(ascii(pattern.pattern))  # noqa: S311 - the same texts each time
        self._characters: dict[str, None] = {}

    def repeats(self) -> list[tuple[str, set[str]]]:
        """For each repeated part what may stand before it, and some texts of it."""
        return list(self._walk(self._tree, ""))

    def pumps(self) -> set[str]:
        """Characters of the pattern one by one and in pairs, and whole matches with and without their end."""
        wholes = {self._write(self._tree) for _ in range(2)}
        characters = list(self._characters)[:_MOST_CHARACTERS]
        pairs = {"".join(self._dice.choices(characters, k=2)) for _ in range(_MOST_PAIRS)} if characters else set()
        return {*wholes, *(whole[:-1] for whole in wholes), *characters, *pairs, " ", "\n", "\n ", "a. ", "1", "a "}

    def _walk(self, tree: Any, head: str) -> Iterator[tuple[str, set[str]]]:
        for item in tree:
            operation, value = str(item[0]), item[1]
            if operation.endswith("REPEAT"):
                body = value[2]
                yield head, {self._write(body) for _ in range(2)}
                yield from self._walk(body, head)
            elif operation == "BRANCH":
                for branch in value[1]:
                    yield from self._walk(branch, head)
            elif operation == "SUBPATTERN":
                yield from self._walk(value[-1], head)
            elif operation == "ATOMIC_GROUP":
                yield from self._walk(value, head)
            elif operation.startswith("ASSERT"):
                yield from self._walk(value[1], head)
            head += self._write([item])

    def _write(self, tree: Any) -> str:
        return "".join(self._one(str(item[0]), item[1]) for item in tree)

    def _one(self, operation: str, value: Any) -> str:
        if operation == "LITERAL":
            self._characters[chr(value)] = None
            return chr(value)
        if operation in {"NOT_LITERAL", "ANY", "IN"}:
            items = (
                [("NEGATE", None), ("LITERAL", value)] if operation == "NOT_LITERAL" else value or [("NEGATE", None)]
            )
            members = _members(items)
            self._characters.update(dict.fromkeys(members[:_MOST_OF_SET]))
            return self._dice.choice(members)
        if operation.endswith("REPEAT"):
            least, most, body = value
            return "".join(self._write(body) for _ in range(min(max(least, self._dice.randint(1, 2)), most)))
        if operation == "BRANCH":
            return self._write(self._dice.choice(value[1]))
        if operation in {"SUBPATTERN", "ATOMIC_GROUP"}:
            return self._write(value[-1] if operation == "SUBPATTERN" else value)
        return ""


def _members(items: Any) -> list[str]:
    """Some characters of a set."""
    negated = str(items[0][0]) == "NEGATE"
    tests = [_test(str(operation), value) for operation, value in items if str(operation) != "NEGATE"]
    ends = [chr(one) for operation, value in items for one in _ends(str(operation), value)]
    chosen = [one for one in dict.fromkeys((*ends, *_PROBES)) if any(test(one) for test in tests) != negated]
    return chosen or ["\uffff"]


def _ends(operation: str, value: Any) -> tuple[int, ...]:
    if operation == "RANGE":
        between = range(value[0], value[1] + 1)
        kinds = (str.isalnum, lambda one: not one.isalnum(), str.isspace)  # where ranges of scripts overlap with words
        firsts = (next((one for one in between if kind(chr(one))), value[0]) for kind in kinds)
        return (*value, *firsts)
    return (value,) if operation == "LITERAL" else ()


def _test(operation: str, value: Any) -> Callable[[str], bool]:
    if operation in {"LITERAL", "RANGE"}:
        low, high = value if operation == "RANGE" else (value, value)
        return lambda one: low <= ord(one) <= high
    kind = str(value).rpartition("_")[2]
    holds = {"DIGIT": str.isdecimal, "SPACE": str.isspace, "WORD": lambda one: one.isalnum() or one == "_"}[kind]
    return lambda one: holds(one) != ("_NOT_" in str(value))


def _prepared(
    pattern: re.Pattern[str], method: str, head: str, pump: str, tail: str
) -> Callable[[int], Callable[[], object]]:
    def prepare(size: int) -> Callable[[], object]:
        text = head + pump * max(1, size // len(pump)) + tail
        if method == "finditer":
            return lambda: sum(1 for _ in pattern.finditer(text))
        return lambda: getattr(pattern, method)(text)

    return prepare


def _calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str, str | None]]:
    """Calls of functions of ``re``, each with the name that holds what it compiles, if one does."""
    holders = {
        id(node.value): target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            raise AssertionError("import re as a whole: what is used of it is looked for by its name")
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        is_ours = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
        if is_ours and node.func.attr in {"compile", *METHODS}:
            yield node, node.func.attr, holders.get(id(node))


def _compiled(
    call: ast.Call, namespace: Mapping[str, Any], built: Iterable[str] | None
) -> list[re.Pattern[str]] | None:
    """What a call compiles; None if its arguments are known only where it runs."""
    flags = next((one.value for one in call.keywords if one.arg == "flags"), None)
    if flags is None and isinstance(call.func, ast.Attribute) and call.func.attr == "compile" and len(call.args) > 1:
        flags = call.args[1]
    try:
        flag = 0 if flags is None else _value(flags, namespace)
        texts = list(built) if built is not None else [_value(call.args[0], namespace)]
    except NameError:
        return None
    return [re.compile(text, flag) for text in texts if isinstance(text, str)]


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    return eval(compile(ast.Expression(node), "<pattern>", "eval"), dict(namespace))  # noqa: S307 - our own source


def _methods(module: str, holder: str | None, uses: Mapping[str, dict[str, set[str]]]) -> frozenset[str]:
    """What is done with a pattern; anything, if it is not held by a name or is handed on."""
    if holder is None:
        return METHODS
    own = uses[module].get(holder, set())
    elsewhere = (used.get(f"{module}.{holder}", set()) for used in uses.values())
    return frozenset(own.union(*elsewhere)) or METHODS


def _uses(tree: ast.Module) -> dict[str, set[str]]:
    """The methods used of each name, one that is imported by its full name; all of them of a name that is handed on."""
    imported = {
        one.asname or one.name: f"{node.module}.{one.name}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
    }
    asked = {
        id(node.value): node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    uses: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            method = asked.get(id(node))
            used = {method} if method in METHODS else METHODS if method is None else set()
            uses.setdefault(imported.get(node.id, node.id), set()).update(used)
    return uses


def _held(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    """Patterns among the values of a namespace."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, dict):
        for key, one in value.items():
            if not str(key).startswith("__"):
                yield from _held(one, depth - 1)
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _held(one, depth - 1)
    elif depth and isinstance(value, type) and value.__module__.startswith("graphiti_pkm"):
        yield from _held(dict(vars(value)), depth - 1)
