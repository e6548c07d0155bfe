"""The table of figures leaves none out."""

import ast
from itertools import islice
from pathlib import Path

from tests.benchmarks.__main__ import NAMES
from tests.benchmarks.measuring import Figure, Target
from tests.benchmarks.people import Load, _notes
from tests.benchmarks.report import _REASONS, page

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def _measures(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    return any(isinstance(part, ast.AsyncFunctionDef) and part.name == "figures" for part in body)


def test_a_load_tells_its_slowest_call_and_every_error() -> None:
    load = Load()
    for number in range(1, 101):
        load.add("get_status", number / 100, None)
    load.add("search_nodes", 7.0, "unavailable")
    assert (load.p50, load.p95) == (0.51, 0.96)
    assert load.slowest == {"get_status": 1.0, "search_nodes": 7.0}
    assert load.errors == {"search_nodes: unavailable": 1}
    assert "slowest 7,000 ms of 101 calls, errors: {'search_nodes: unavailable': 1}" in str(load)


def test_no_note_of_the_many_people_is_told_twice() -> None:
    notes = list(islice(_notes(), 6_000))
    assert len(set(notes)) == len(notes)
    assert max(map(len, notes)) < 2_000


def test_every_benchmark_is_run_for_the_table() -> None:
    assert sorted(NAMES) == sorted(path.stem for path in BENCHMARKS.glob("*.py") if _measures(path))


def test_the_page_says_why_a_figure_is_missed() -> None:
    name = next(iter(_REASONS))
    missed = Figure(f"{name}, 1 worker", "68", "200", 68.0, Target(">=", 200))
    also = Figure(f"{name}, 3 workers", "290", "300", 290.0, Target(">=", 300))
    reached = Figure(f"{name}, 2 workers", "301", "300", 301.0, Target(">=", 300))
    nobody_knows = [Figure(what, "1", "2", 0.5, Target(">=", 1)) for what in ("steps", "leaps")]

    told = page([missed, reached, also, *nobody_knows], 0.5)

    assert f"- {name}, 1 worker; {name}, 3 workers: {_REASONS[name]}\n- steps\n- leaps\n" in told
    assert f"- {name}, 2 workers" not in told
