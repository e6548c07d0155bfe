"""The tables of DOCS/clients.md leave out no framework and no configuration. ``tests/storm`` makes them anew."""

import re

from tests.client_matrix.__main__ import FROM, PAGE, TO
from tests.client_matrix.frameworks import FRAMEWORKS, PROGRAMS, lost
from tests.e2e.test_client_snippets import STDIO, WITH_TOKEN
from tests.protocol.support import SPECS

from graphiti_pkm.server.tools.registry import TOOLSETS

TABLES = PAGE.read_text(encoding="utf-8").partition(FROM)[2].partition(TO)[0]


def test_every_framework_and_every_configuration_has_a_line_without_a_failure() -> None:
    for framework in FRAMEWORKS:
        assert f"| {framework.name} (" in TABLES
        for package in framework.packages:
            name, exactly, version = package.partition("==")
            assert not exactly or f"{name.partition('[')[0]} {version}" in TABLES
    for file in (*STDIO, *WITH_TOKEN):
        assert f"(../examples/clients/{file})" in TABLES
    assert "NO" not in TABLES


def test_the_tools_that_are_offered_by_default_are_converted_by_every_framework() -> None:
    unchanged = {
        name for listed in re.findall(r"as they are: ([\w, .]+)", TABLES) for name in listed.strip().split(", ")
    }
    assert unchanged <= set(SPECS)
    assert unchanged.isdisjoint(tool.name for tool in TOOLSETS[0].tools)


def test_every_program_belongs_to_a_framework() -> None:
    assert {path.name for path in PROGRAMS.iterdir() if path.is_file()} - {"connecting.py"} == {
        framework.program for framework in FRAMEWORKS
    }


def test_what_a_schema_loses_is_counted_by_keyword_wherever_it_stands() -> None:
    text = {"type": "string", "maxLength": 5}
    original = {
        "type": "object",
        "properties": {"a": text, "b": {"type": "array", "items": text, "default": []}, "default": text},
        "required": ["a", "b"],
    }
    shown = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": text}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert lost(original, shown) == {"maxLength": 2, "default": 1, "property": 1, "required": 1, "type": 1}
