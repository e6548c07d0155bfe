"""Processes of one machine whose time of day is set while they share a journal: real clocks, by libfaketime."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.faketime import time_of_day

_ASK = """
import asyncio, json, sys
from datetime import UTC, datetime
from pathlib import Path
from graphiti_pkm.storage.journal.store import SqliteJournal
from tests.builders import a_write, an_episode
from graphiti_pkm.core.model.job_records import BackLinkJob

async def main(data_dir, what, seconds):
    journal = SqliteJournal(Path(data_dir))
    if what == "put":
        job = BackLinkJob(entity_uuid="sarah", names=("Sarah",), before=datetime(2026, 3, 1, tzinfo=UTC))
        await journal.append(a_write(an_episode(), jobs=(job,)), {}, "hash", {})
    claimed = await journal.claim_job(what, seconds)
    if what == "put_off":
        await journal.retry_job(claimed[0], "busy", seconds)
    if what == "wait":
        async with asyncio.timeout(20):
            while claimed is None:
                await asyncio.sleep(0.05)
                claimed = await journal.claim_job(what, seconds)
    await journal.close()
    return {"claimed": claimed is not None, "year": datetime.now(UTC).year}

print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], float(sys.argv[3])))))
"""


def ask(data_dir: Path, what: str, seconds: float) -> tuple[bool, int]:
    """Another process: whether it got the job, and which year it takes it to be."""
    command = [sys.executable, "-c", _ASK, str(data_dir), what, str(seconds)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    told = json.loads(done.stdout)
    return told["claimed"], told["year"]


@pytest.mark.parametrize("jump", ["-800d", "+800d"])
def test_leases_and_waits_go_on_when_the_time_of_day_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: str
) -> None:
    data_dir = tmp_path / "data"
    with time_of_day(monkeypatch, tmp_path) as time:
        got, year = ask(data_dir, "put", 600)
        assert got
        time.set(jump)
        got, other_year = ask(data_dir, "claim", 600)
        assert abs(other_year - year) >= 2, "the time of day was not set"
        assert not got, "the lease ended with the jump"


@pytest.mark.parametrize("jump", ["-800d", "+800d"])
def test_a_job_that_was_put_off_comes_whatever_the_time_of_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jump: str
) -> None:
    data_dir = tmp_path / "data"
    with time_of_day(monkeypatch, tmp_path) as time:
        ask(data_dir, "put", 0)
        ask(data_dir, "put_off", 1)
        time.set(jump)
        assert ask(data_dir, "wait", 600)[0]
