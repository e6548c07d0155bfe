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


BOUNDED_QUERIES = {
    "the limit is validated, 20 and 50": "B-25",
    "the pattern is bounded": "B-02",
    "read_graph is removed": "B-20",
    "README: signatures": "B-41",
    "README: no read_graph": "B-38",
    "README: architecture": "B-40",
    "changelog": "B-42",
    "version": "B-44",
    "tests of a large graph": "B-49",
    "the manual check": "B-48",
}
"""The acceptance list of the other server. That its internal loader stays is no point: nothing here loads all."""
STATED_AS_DONE = {
    "entries: schema": "M-06",
    "entries: storage": "M-34",
    "embeddings": "M-70",
    "search by meaning": "M-42",
    "projects": "M-53",
    "tools of before": "M-60",
    "transports": "M-97",
    "timestamps": "M-09",
}


def test_each_point_of_the_acceptance_list_of_bounded_queries_has_a_test() -> None:
    assert {point for point, row in BOUNDED_QUERIES.items() if row not in _claimed()} == set()


def test_each_part_that_was_stated_as_done_has_a_test() -> None:
    assert {part for part, row in STATED_AS_DONE.items() if row not in _claimed()} == set()


def _claimed() -> set[str]:
    return {row for rows in CLAIMS.values() for row in rows}
