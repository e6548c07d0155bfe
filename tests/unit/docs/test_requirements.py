"""The map of requirements to tests is true both ways."""

import ast
from collections import Counter
from pathlib import Path

from tests.requirements import MOST_ROWS_A_TEST, ROWS, SHOWN_BY

TESTS = Path(__file__).resolve().parents[2]
CLAIMS = {f"{file}::{test}": rows.split() for file, tests in SHOWN_BY.items() for test, rows in tests.items()}


def test_every_row_in_scope_has_a_test() -> None:
    assert sorted(ROWS - {row for rows in CLAIMS.values() for row in rows}) == []


def test_every_test_that_shows_a_row_is_there_once() -> None:
    for file, tests in SHOWN_BY.items():
        nodes = ast.walk(ast.parse((TESTS / file).read_text(encoding="utf-8")))
        known = Counter(node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        assert {test: known[test] for test in tests} == dict.fromkeys(tests, 1), file


def test_every_claim_is_a_row_in_scope() -> None:
    assert [(test, row) for test, rows in CLAIMS.items() for row in rows if row not in ROWS] == []


def test_no_test_claims_more_than_three_rows() -> None:
    assert [test for test, rows in CLAIMS.items() if len(rows) > MOST_ROWS_A_TEST] == []
