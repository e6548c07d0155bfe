"""The way of a call in DOCS/architecture.md names files and functions that exist."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "mcp_server" / "graphiti_pkm"
PAGE = (ROOT / "DOCS" / "architecture.md").read_text(encoding="utf-8")
STEPS = re.findall(r"`([\w/]+\.py)`: `([\w.]+)`", PAGE)


def test_the_page_walks_one_write_and_one_read() -> None:
    assert len(STEPS) > 12


@pytest.mark.parametrize(("file", "name"), STEPS)
def test_a_step_is_where_the_page_says(file: str, name: str) -> None:
    defined = set()
    for node in ast.parse((PACKAGE / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef):
            inner = (part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef))
            defined |= {node.name, *(f"{node.name}.{part.name}" for part in inner)}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defined.add(node.name)
    assert name in defined


PARTS = "capabilities|core|server|storage|toolkit|settings|embedding|graphiti_adapter|llm|cli"


@pytest.mark.parametrize("path", sorted(set(re.findall(rf"`((?:{PARTS})/[\w/.]*)`", PAGE))))
def test_a_path_that_the_page_names_exists(path: str) -> None:
    assert (PACKAGE / path).exists()
