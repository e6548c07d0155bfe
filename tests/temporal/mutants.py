"""Plant faults in the rules of time, one at a time, and see that the suite catches each: ``make mutants``.

A mutant is a small textual replacement in a copy of the source, kept as data in ``mutants.yaml``. One that does not
apply any more is an error, as is one that no scenario notices.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict
from tests.neo4j_server import NO_NEO4J, given_address, missing_tools, started

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "mcp_server"
DATA = Path(__file__).with_name("mutants.yaml")
EMBEDDED = "tests.temporal.ours:WithoutModel"
NEO4J = "tests.temporal.ours:OnNeo4j"

_SECONDS = 600
_SHOWN = 4


class Mutant(BaseModel):
    """A fault: in ``file``, ``old`` (there exactly once) becomes ``new``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: str
    file: str
    old: str
    new: str
    neo4j_topic: str | None = None
    """Of a fault in Cypher: which scenarios are run, on Neo4j; all take minutes there."""

    def apply(self, source: Path) -> None:
        """Change the copy of the source.

        Raises:
            ValueError: the text is not there exactly once, so the fault would not be the one that is named.
        """
        path = source / "graphiti_pkm" / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.fault!r}: its text is {count} times in {self.file}, not once; mend {DATA.name}")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


class Run(NamedTuple):
    """What one copy of the source came to."""

    caught_by: list[str]
    """Ids of the scenarios that failed, up to the first that tells a wrong rule from a broken server."""
    broken: str | None = None
    """Why there is no verdict: it does not start, or every scenario fails."""


def load(path: Path = DATA) -> list[Mutant]:
    """Every mutant, in the order of the file."""
    return [Mutant.model_validate(one) for one in yaml.safe_load(path.read_text(encoding="utf-8"))]


def copy_source(into: Path) -> Path:
    """The package, without what was built."""
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    return Path(shutil.copytree(SOURCE, into / "mcp_server", ignore=ignored))


def play(mutant: Mutant | None, neo4j_topic: str | None) -> Run:
    """A run in a process of its own over a copy of the source; without a mutant of the source as it is."""
    with tempfile.TemporaryDirectory(prefix="pkm-mutant-") as name:
        source = copy_source(Path(name))
        if mutant is not None:
            mutant.apply(source)
        environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
        verdicts = Path(name) / "verdicts.json"
        imported = _python(environment, "-c", "import graphiti_pkm; print(graphiti_pkm.__file__)").stdout
        if not imported.startswith(str(source)):
            return Run([], f"the copy is not what is imported, but {imported.strip()}")
        chosen = ["--adapter", NEO4J, "--only", neo4j_topic] if neo4j_topic else ["--adapter", EMBEDDED]
        if mutant is not None:
            chosen.append("--until-noticed")
        done = _python(environment, "-m", "tests.temporal", *chosen, "--json", str(verdicts))
        if not verdicts.exists():
            return Run([], f"no verdict: {done.stderr.strip()[-300:]}")
        return judge(json.loads(verdicts.read_text(encoding="utf-8"))["scenarios"])


def judge(scenarios: Sequence[dict[str, str]]) -> Run:
    """Which scenarios caught it. A server on which nothing passes is broken, not wrong about time."""
    failed = [one["id"] for one in scenarios if one["verdict"] != "passed"]
    if len(failed) == len(scenarios):
        return Run([], "no scenario passed: the change breaks the server altogether")
    return Run(failed)


def _python(environment: dict[str, str], *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False
    )


def line(fault: str, run: Run) -> str:
    """A row of the table."""
    if run.broken:
        return f"| {fault} | BROKEN: {run.broken} |"
    if not run.caught_by:
        return f"| {fault} | NOT CAUGHT |"
    more = len(run.caught_by) - _SHOWN
    return f"| {fault} | {', '.join(run.caught_by[:_SHOWN])}{f' and {more} more' if more > 0 else ''} |"


def main() -> int:
    """0 if the suite passes on the source as it is and every fault that can be planted is caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.temporal.mutants", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="only faults that contain it")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    options = parser.parse_args()
    mutants = [mutant for mutant in load() if options.only in mutant.fault]
    with tempfile.TemporaryDirectory() as name:
        for number, mutant in enumerate(mutants):
            mutant.apply(copy_source(Path(name) / str(number)))
    in_cypher = [mutant for mutant in mutants if mutant.neo4j_topic is not None]
    others = [mutant for mutant in mutants if mutant.neo4j_topic is None]
    print("| fault | caught by |\n|---|---|", flush=True)  # noqa: T201 a command line speaks
    caught = plant(others, options.jobs)
    planted = len(others)
    if in_cypher and (given_address() or not missing_tools()):
        with _neo4j():
            caught += plant(in_cypher, 1)  # it has one database, which each run empties
        planted += len(in_cypher)
    print(f"\n{caught} of {planted} faults caught.")  # noqa: T201 same
    if planted < len(mutants):
        print(f"{len(mutants) - planted} in Cypher were not planted: {NO_NEO4J}.")  # noqa: T201 same
    return 0 if caught == planted else 1


def plant(mutants: Sequence[Mutant], jobs: int) -> int:
    """How many are caught; prints the row of each."""
    topics = [mutant.neo4j_topic for mutant in mutants]
    caught = 0
    with ThreadPoolExecutor(jobs) as pool:
        for sound in pool.map(partial(play, None), dict.fromkeys(topics)):
            if sound != Run([]):
                sys.exit(f"The source as it is does not pass: {sound}")
        for mutant, run in zip(mutants, pool.map(play, mutants, topics), strict=True):
            print(line(mutant.fault, run), flush=True)  # noqa: T201 a command line speaks
            caught += bool(run.caught_by)
    return caught


@contextmanager
def _neo4j() -> Iterator[None]:
    """The runs find a Neo4j in the environment: the one there is, or one of our own."""
    if given_address():
        yield
        return
    with started() as address:
        os.environ |= {
            "NEO4J_URI": address.uri,
            "NEO4J_USERNAME": address.username,
            "NEO4J_PASSWORD": address.password,
        }
        yield


if __name__ == "__main__":
    sys.exit(main())
