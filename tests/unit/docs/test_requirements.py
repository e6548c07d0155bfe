import ast
from collections.abc import Iterator
from pathlib import Path

from tests.requirements import MOST_ROWS_A_TEST, ROWS

TESTS = Path(__file__).resolve().parents[2]


def _claims() -> Iterator[tuple[str, list[str]]]:
    for path in sorted([*TESTS.rglob("test_*.py"), *TESTS.rglob("*_suite.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not node.name.startswith("test_"):
                continue
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and getattr(decorator.func, "id", "") == "requirement":
                    rows = [str(a.value) for a in decorator.args if isinstance(a, ast.Constant)]
                    yield f"{path.relative_to(TESTS)}::{node.name}", rows


def test_every_row_in_scope_has_a_test() -> None:
    claimed = {row for _, rows in _claims() for row in rows}
    assert sorted(ROWS - claimed) == []


def test_every_claim_is_a_row_in_scope() -> None:
    assert [(test, row) for test, rows in _claims() for row in rows if row not in ROWS] == []


def test_no_test_claims_more_than_three_rows() -> None:
    assert [test for test, rows in _claims() if len(rows) > MOST_ROWS_A_TEST] == []
