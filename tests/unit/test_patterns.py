"""No regular expression takes longer for each character of a longer text, whatever the text."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.patterns import METHODS, Found, modules_of, patterns_of, repeats_a_group_possessively, weakness

import graphiti_pkm
from graphiti_pkm.capabilities.search import periods
from graphiti_pkm.core.model import passages
from graphiti_pkm.graphiti_adapter.sqlite_driver import cypher
from graphiti_pkm.settings.loader import Settings

BUILT: dict[str, tuple[str, Iterable[str]]] = {
    "graphiti_pkm.settings.loader": ("search", [rf"\b{name}\b" for name in list(Settings.model_fields)[:5]]),
    "graphiti_pkm.capabilities.search.periods": ("finditer", [rule.pattern for rule, _ in periods._RULES]),
    "graphiti_pkm.graphiti_adapter.sqlite_driver.cypher": (
        "fullmatch",
        [cypher._pattern(query).pattern for query in (cypher._SAGA, cypher._EDGES, cypher._CANDIDATES)],
    ),
    "graphiti_pkm.core.identity.name_parts": (
        "finditer",
        [rf"(?<!\w){re.escape(word)}(?!\w)" for word in ("Nora", "a.b")],
    ),
    "graphiti_pkm.core.model.passages": (
        "fullmatch",
        [pattern for title, rule, _ in passages.UNDERLINED for pattern in (f"(?s){title}", rule)],
    ),
    "graphiti_pkm.server.tools.texts": ("search", [r"\b(?:add_memory|add_node|find_node)\b"]),
}
"""What is built where the code runs: how it is used, and what comes of it."""


def ours() -> tuple[list[Found], list[str]]:
    modules = modules_of(graphiti_pkm)
    return patterns_of(
        [(one.__name__, Path(one.__file__ or "").read_text(encoding="utf-8"), vars(one)) for one in modules], BUILT
    )


@pytest.mark.timeout(600)  # fifteen seconds of the processor
def test_every_pattern_of_the_package_is_linear() -> None:
    found, untold = ours()
    assert untold == [], "add examples to BUILT of what is built there"
    assert len(found) > 100
    assert [weak for one in found if (weak := weakness(one)) is not None] == []


def test_no_pattern_of_the_package_repeats_a_group_possessively() -> None:
    found, _ = ours()
    assert [one.pattern.pattern for one in found if repeats_a_group_possessively(one.pattern)] == []
    wrong = (r"(?:ab|c)*+c?", r"x(?:(?:ab)++)?", r"(?=(?:a.)?+)", r"(?>(?:ab)*+)")
    right = (r"[a-z]*+", r"a?+.*+", r"(?>(?:ab)*)", r"(?:a++|b)*c")
    assert [repeats_a_group_possessively(re.compile(one)) for one in (*wrong, *right)] == [True] * 4 + [False] * 4


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("fullmatch", r"[0-9a-f]{8}(?:-?[0-9a-f]+)*-?"),
        ("match", r"(?:a|a)*b"),
        ("match", r"(?:[a-z]+ ?)+;"),
        ("fullmatch", r"(?:[^\W_]|[\u0900-\u0dff])+!"),
        ("search", r"\s+$"),
        ("search", r".*x"),
        ("sub", r"\s*/\s*"),
        ("finditer", r"<[^>]*>"),
        ("findall", r"[0-9]+[a-f]"),
        ("fullmatch", r"\s*,?\s*x"),
        ("split", r"\n\s*;"),
        ("search", r"(?P<first>\d+)-\d+-(?P=first)"),
    ],
)
def test_what_is_exponential_or_quadratic_is_found(method: str, pattern: str) -> None:
    assert weakness(Found("planted", re.compile(pattern), frozenset({method}))) is not None


@pytest.mark.parametrize("pattern", [r"[a-z]+", r"(?:a|b)*+c?", r"\d{1,9}-\d{1,9}", r"[^\s]++(?:\s|\Z)", r"x|y"])
def test_what_is_linear_is_let_through(pattern: str) -> None:
    assert weakness(Found("planted", re.compile(pattern), METHODS)) is None


PLANTED = """
import re
from elsewhere import SHARED
_HELD = re.compile("a+", re.IGNORECASE)
_TABLE = (re.compile("b+"),)
def use(text, built):
    _HELD.sub("", text)
    re.search(r"c+$", text, flags=re.MULTILINE)
    return re.split(built, text)
"""


def test_patterns_are_found_wherever_they_stand_with_how_they_are_used() -> None:
    namespace: dict[str, Any] = {"re": re, "made": {"one": [re.compile("d+")]}}
    found, untold = patterns_of([("planted", PLANTED, namespace)], {})
    assert {(one.pattern.pattern, one.methods) for one in found} == {
        ("a+", frozenset({"sub"})),
        ("b+", METHODS),
        ("c+$", frozenset({"search"})),
        ("d+", METHODS),
    }
    assert {one.pattern.flags & ~re.UNICODE for one in found} == {0, re.IGNORECASE, re.MULTILINE}
    assert untold == ["planted:9"]
    found, untold = patterns_of([("planted", PLANTED, namespace)], {"planted": ("split", ["e+"])})
    assert [one.methods for one in found if one.pattern.pattern == "e+"] == [frozenset({"split"})]
    assert untold == []
