"""The planted faults: each still applies, and a run is judged as it should be. ``make mutants`` runs them all."""

from pathlib import Path

import pytest
from tests.temporal.mutants import Mutant, Run, copy_source, judge, line, load
from tests.temporal.scenario import load as scenarios

PASSED, FAILED = {"id": "one", "verdict": "passed"}, {"id": "two", "verdict": "failed"}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_source(tmp_path_factory.mktemp("source"))


@pytest.mark.parametrize("mutant", load(), ids=lambda mutant: mutant.fault)
def test_a_fault_can_be_planted(source: Path, mutant: Mutant) -> None:
    path = source / "graphiti_pkm" / mutant.file
    before = path.read_text(encoding="utf-8")
    mutant.apply(source)
    changed = path.read_text(encoding="utf-8")
    path.write_text(before, encoding="utf-8")
    assert changed != before
    compile(changed, mutant.file, "exec")


def test_faults_in_cypher_and_no_others_are_run_on_neo4j_with_a_topic_of_the_suite() -> None:
    topics = {scenario.topic for scenario in scenarios()}
    for mutant in load():
        assert (mutant.neo4j_topic in topics) == mutant.fault.startswith("in Cypher: "), mutant.fault


def test_there_are_more_than_ten_faults_and_none_is_named_twice() -> None:
    names = [mutant.fault for mutant in load()]
    assert len(names) == len(set(names)) > 10


@pytest.mark.parametrize("old", ["no such text", "import"])
def test_a_fault_that_does_not_apply_exactly_once_is_an_error(source: Path, old: str) -> None:
    with pytest.raises(ValueError, match="mend"):
        Mutant(fault="a fault", file="core/reading/views.py", old=old, new="").apply(source)


def test_a_fault_in_a_file_that_is_gone_is_an_error(source: Path) -> None:
    with pytest.raises(ValueError, match="0 times"):
        Mutant(fault="a fault", file="services/gone.py", old="x", new="").apply(source)


@pytest.mark.parametrize(
    ("scenarios", "run", "told"),
    [
        ([PASSED, PASSED], Run([]), "NOT CAUGHT"),
        ([PASSED, FAILED], Run(["two"]), "| two |"),
        ([FAILED, FAILED], Run([], "no scenario passed: the change breaks the server altogether"), "BROKEN"),
    ],
)
def test_a_run_is_judged_by_the_scenarios_that_failed(scenarios: list[dict[str, str]], run: Run, told: str) -> None:
    assert judge(scenarios) == run
    assert told in line("a fault", run)
