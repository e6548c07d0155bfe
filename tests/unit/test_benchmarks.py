"""The table of figures leaves none out."""

import ast
from pathlib import Path

from tests.benchmarks.__main__ import NAMES

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def _measures(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(part, ast.AsyncFunctionDef) and part.name == "figures" for part in body)


def test_every_benchmark_is_run_for_the_table() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in BENCHMARKS.glob("*.py") if _measures(path))
