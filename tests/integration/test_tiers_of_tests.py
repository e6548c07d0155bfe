"""Every test is in one tier, and the tier of `make test` is large and needs Python alone."""

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SERVERS, TIERS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    file = tmp_path_factory.mktemp("collected") / "tests.json"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "tests.collected",
        "--collected",
        file,
        "--collect-only",
        "-n",
        "0",
    ]
    done = subprocess.run(
        [*command, "tests", "--ignore=tests/benchmarks"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    tests: list[dict[str, Any]] = json.loads(file.read_text())
    for test in tests:
        test["tiers"] = sorted(TIERS.keys() & {*test["marks"]})
    return tests


def folder(test: dict[str, Any]) -> str:
    return str(test["name"]).split("/")[1]


def files(tests: list[dict[str, Any]]) -> set[Path]:
    return {ROOT / str(test["name"]).partition("::")[0] for test in tests}


def test_every_test_is_in_one_tier(collected: list[dict[str, Any]]) -> None:
    assert [test["name"] for test in collected if len(test["tiers"]) != 1] == []
    assert {tier for test in collected for tier in test["tiers"]} == TIERS.keys()


def test_every_file_of_tests_is_collected(collected: list[dict[str, Any]]) -> None:
    there = {path for path in (ROOT / "tests").rglob("test_*.py") if path.parts[-2] != "benchmarks"}
    assert files(collected) == there


def test_the_quick_tier_is_large_and_starts_no_server(collected: list[dict[str, Any]]) -> None:
    quick = [test for test in collected if test["tiers"] == ["quick"]]
    counted = Counter(folder(test) for test in quick)
    assert len(quick) >= 5_000
    assert counted.keys() == {"unit", "protocol", "contracts", "temporal", "e2e"}
    assert [test["name"] for test in quick if SERVERS & {*test["fixtures"]}] == []
    assert [test["name"] for test in quick if folder(test) != "unit" and SERVERS & {*test["parameters"]}] == []


def test_the_quick_tier_runs_the_contracts_on_the_fake_and_on_sqlite(collected: list[dict[str, Any]]) -> None:
    on_a_graph = [test for test in collected if folder(test) == "contracts" and "graph" in test["fixtures"]]
    contracts = [test for test in on_a_graph if "journal" not in test["fixtures"]]  # which may be "sqlite" too
    counted = Counter((test["tiers"][0], name) for test in contracts for name in {*test["parameters"]})
    assert counted["quick", "fake"] >= counted["quick", "sqlite"] > 400
    assert counted["full", "neo4j"] == counted["quick", "sqlite"]


def test_no_quick_test_can_be_skipped(collected: list[dict[str, Any]]) -> None:
    skips = re.compile(r"pytest\.skip|skipif|importorskip|skip_without")
    quick = files([test for test in collected if test["tiers"] == ["quick"]])
    assert [path for path in sorted(quick) if skips.search(path.read_text(encoding="utf-8"))] == []
