"""Servers in processes of their own on one real database: what one that was killed had to read, another reads once."""

import json
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.neo4j_server import Neo4jAddress, empty
from tests.scripted_model import FaultPlan, PermanentFault, ScriptedModel

from graphiti_pkm.capabilities.extraction.takeover import TAKEN

ROOT = Path(__file__).parents[2]
LEASE_SECONDS = 4.0
DEADLINE_SECONDS = 60.0
TEXT = "Anna Berg WORKS_AT Acme."

pytestmark = pytest.mark.timeout(180)


class Host:
    """One server process with a data directory of its own."""

    def __init__(self, data_dir: Path, settings: dict[str, Any]) -> None:
        self.data_dir = data_dir
        self.log = data_dir.parent / f"{data_dir.name}.log"
        with self.log.open("a") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.takeover_host"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        self._say({"settings": {**settings, "data_dir": str(data_dir)}, "lease": LEASE_SECONDS})

    def ask(self, what: str, text: str = "") -> Any:
        self._say({"what": what, "text": text})
        return self.heard()

    def heard(self) -> Any:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], DEADLINE_SECONDS)[0], self.log.read_text()[-2000:]
        line = self.process.stdout.readline()
        assert line, self.log.read_text()[-2000:]
        return json.loads(line)

    def until(self, state: str, episode: str) -> dict[str, Any]:
        """The receipt once it tells this; no event of another process does."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while True:
            receipt: dict[str, Any] = self.ask("receipt", episode)
            if receipt["state"] == state:
                return receipt
            assert time.monotonic() < deadline, receipt
            time.sleep(0.05)

    def job(self) -> tuple[str, str]:
        """State of the one job of its queue, and why."""
        with sqlite3.connect(self.data_dir / "journal.sqlite3") as journal:
            (found,) = journal.execute("SELECT state, reason FROM extractions").fetchall()
        return found[0], found[1]

    def until_job(self, state: str, reason: str) -> None:
        """Once its job has ended so; the mark in its queue comes after the graph's."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while self.job() != (state, reason):
            assert time.monotonic() < deadline, self.job()
            time.sleep(0.05)

    def let_leases_run_out(self) -> None:
        with sqlite3.connect(self.data_dir / "journal.sqlite3") as journal:
            journal.execute("UPDATE extractions SET lease_until = 0 WHERE state = 'running'")

    def _say(self, what: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()


@contextmanager
def running(data_dir: Path, settings: dict[str, Any]) -> Iterator[Host]:
    """Killed in the end."""
    host = Host(data_dir, settings)
    try:
        assert host.heard() == "ready"
        yield host
    finally:
        host.process.kill()
        host.process.communicate()


@pytest.fixture
def shared(neo4j_server: Neo4jAddress, scripted_model: ScriptedModel) -> Iterator[dict[str, Any]]:
    """Settings of servers on one empty database, with a model."""
    empty(neo4j_server)
    server = {"neo4j_uri": neo4j_server.uri, "neo4j_username": neo4j_server.username}
    model = {"llm_model": "scripted", "llm_base_url": scripted_model.url, "llm_api_key": "sk-none"}
    yield {**server, "neo4j_password": neo4j_server.password, **model}
    empty(neo4j_server)


def test_what_a_killed_server_was_reading_another_reads_and_the_first_drops_when_it_is_back(
    shared: dict[str, Any], scripted_model: ScriptedModel, tmp_path: Path
) -> None:
    scripted_model.change(faults=FaultPlan(permanent=(PermanentFault(kind="hang", contains="Anna"),)))
    with ExitStack() as first:
        one = first.enter_context(running(tmp_path / "one", shared))
        episode = one.ask("add", TEXT)
        scripted_model.wait_for(lambda stats: stats.faults.get("hang", 0) >= 1)
        with running(tmp_path / "two", shared) as two:
            told = two.ask("receipt", episode)
            assert (told["state"], told["reason"]) == ("running", "another server of this memory reads it")
            first.close()
            scripted_model.change(faults=FaultPlan())
            scripted_model.release()
            done = two.until("done", episode)
            assert len(done["facts"]) == 1
            two.until_job("done", "")
            facts, calls = two.ask("facts"), scripted_model.stats.calls
            assert len(facts) == 1
            assert one.job()[0] == "running"

            one.let_leases_run_out()
            with running(tmp_path / "one", shared) as again:
                assert again.ask("receipt", episode)["state"] == "done"
                again.until_job("cancelled", TAKEN)
                assert again.ask("receipt", episode)["facts"] == done["facts"]
                assert again.ask("facts") == facts
            assert scripted_model.stats.calls == calls
