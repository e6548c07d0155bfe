"""Leases and waits of the journal count by a clock that nobody sets, the same for all processes of the machine."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.builders import a_write, an_episode
from tests.fakes import FakeClock

from graphiti_pkm.core.model.job_records import BackLinkJob
from graphiti_pkm.storage.journal.steady import SteadyClock
from graphiti_pkm.storage.journal.store import SqliteJournal

LEASE = 60.0


def a_job(entity_uuid: str = "sarah") -> BackLinkJob:
    return BackLinkJob(entity_uuid=entity_uuid, names=("Sarah",), before=datetime(2026, 3, 1, tzinfo=UTC))


JUMPS = [timedelta(days=-400), timedelta(days=400)]


class Machine:
    """Its clocks: the one that people set, and the one that counts since the start."""

    def __init__(self, boot: str = "first") -> None:
        self.wall = FakeClock()
        self.since_boot = 1_000.0
        self.boot = boot

    def pass_by(self, seconds: float) -> None:
        self.wall.advance(seconds)
        self.since_boot += seconds

    def journal(self, data_dir: Path) -> SqliteJournal:
        return SqliteJournal(data_dir, self.wall, steady=SteadyClock(self.wall, lambda: (self.boot, self.since_boot)))


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_lease_neither_hangs_nor_ends_when_the_clock_is_set(tmp_path: Path, jump: timedelta) -> None:
    machine = Machine()
    one, other = machine.journal(tmp_path), machine.journal(tmp_path)
    await one.append(a_write(an_episode(), jobs=(a_job(),)), {}, "hash", {})
    assert await one.claim_job("one", LEASE)
    machine.wall.advance(jump.total_seconds())
    assert await other.claim_job("other", LEASE) is None
    machine.pass_by(LEASE - 1)
    assert await other.claim_job("other", LEASE) is None
    machine.pass_by(1)
    assert await other.claim_job("other", LEASE) is not None
    await one.close()
    await other.close()


@pytest.mark.parametrize("jump", JUMPS)
async def test_a_job_put_off_comes_when_its_time_has_passed(tmp_path: Path, jump: timedelta) -> None:
    machine = Machine()
    journal = machine.journal(tmp_path)
    await journal.append(a_write(an_episode(), jobs=(a_job(),)), {}, "hash", {})
    claimed = await journal.claim_job("one", LEASE)
    assert claimed is not None
    await journal.retry_job(claimed[0], "busy", 30)
    machine.wall.advance(jump.total_seconds())
    assert await journal.claim_job("one", LEASE) is None
    machine.pass_by(30)
    assert await journal.claim_job("one", LEASE) is not None
    await journal.close()


async def test_after_a_restart_of_the_machine_nothing_waits_for_the_clock_before_it(tmp_path: Path) -> None:
    machine = Machine()
    journal = machine.journal(tmp_path)
    write = a_write(an_episode(), jobs=(a_job(), a_job("tom")))
    await journal.append(write, {}, "hash", {})
    held, later = await journal.claim_job("one", LEASE), await journal.claim_job("one", LEASE)
    assert held is not None
    assert later is not None
    await journal.retry_job(later[0], "busy", 3_600)
    await journal.close()
    again = Machine("second")
    again.wall.advance(-400 * 86_400)
    journal = again.journal(tmp_path)
    # Who held a lease died with the machine; the wait begins anew.
    found = await journal.claim_job("two", LEASE), await journal.claim_job("two", LEASE)
    assert {one[0] for one in found if one} == {held[0], later[0]}
    await journal.close()


def test_processes_of_one_machine_have_one_clock(tmp_path: Path) -> None:
    """Whatever their time of day is."""
    ask = (
        "import sys, sqlite3; from datetime import datetime, timedelta, UTC; from pathlib import Path;"
        "from graphiti_pkm.storage.journal.connection import JournalFile;"
        "from graphiti_pkm.storage.journal.steady import SteadyClock;"
        "c = JournalFile(Path(sys.argv[1])).open('NORMAL');"
        "now = lambda: datetime.now(UTC) + timedelta(days=int(sys.argv[2]));"
        "print(SteadyClock(now).seconds(c))"
    )
    found = [
        float(subprocess.run([sys.executable, "-c", ask, str(tmp_path), days], check=True, capture_output=True).stdout)
        for days in ("0", "-400", "400")
    ]
    assert found == sorted(found)
    assert found[-1] - found[0] < timedelta(days=1).total_seconds()
    assert abs(found[0] - datetime.now(UTC).timestamp()) < timedelta(days=1).total_seconds()
