"""kill -9 before every call on the files of a memory: what was acknowledged is there, whole and once.

A session is put on a tape. What a kill leaves is what the calls before it did, for the system keeps that: each of these
directories is opened by the product. Some servers are really killed, also for what other processes see of that.
"""

import asyncio
import contextlib
import random
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

import pytest
from tests.benchmarks.stdio import StdioServer
from tests.e2e.support import COMMAND, call
from tests.storm.aftermath import faults, forgotten_words, opened, put
from tests.storm.disk import Directory, Disk
from tests.storm.dump import differences
from tests.storm.session import GROUPS, Session, recorded, short
from tests.storm.tape import END, SAY, calls, recorder, recording, records

LEAST_CALLS = 500
REBUILT = 25
"""Every so many directories are rebuilt as well."""
SERVERS, LEAST_KILLS = 40, 35
_NOTES = 3
_LAST, _SURELY_LAST = 20, 10
"""Episodes that are asked for, and notes that are among them."""

pytestmark = pytest.mark.timeout(3600)


async def test_a_kill_before_any_call_leaves_what_was_acknowledged(tmp_path: Path) -> None:
    session = await recorded(tmp_path, short)
    count = rebuilt = 0
    for point, left in _before_each_call(session):
        count += 1
        data_dir = put(left, session, tmp_path / "left")
        assert forgotten_words(session, point, data_dir) == [], point
        graph = await opened(data_dir)
        assert faults(graph, session, point) == [], point
        if count % REBUILT == 0:
            assert differences(graph, await opened(data_dir, rebuilds=True)) == [], point
            rebuilt += 1
    print(f"\nkilled before each of {count} calls, {rebuilt} times rebuilt")  # noqa: T201 what `make storm` is run for
    assert count >= LEAST_CALLS


def _before_each_call(session: Session) -> Iterator[tuple[int, Directory]]:
    """The files, with the record after which the processes are killed; calls on shared memory change none."""
    disk = Disk(session.root)
    for index, record in enumerate(session.played):
        if record.kind not in {SAY, END} and not record.path.endswith("-shm"):
            yield index - 1, disk.seen()
        disk.play(record)


@dataclass
class Killer:
    """Servers that are killed before a call, spread over all that they make."""

    directory: Path
    seed: int = field(default_factory=time_ns)
    kills: int = 0

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)  # noqa: S311 a storm is no secret
        self._library = recorder(self.directory)

    def session(self, name: str) -> Session:
        session = Session(self.directory / name)
        session.root.mkdir()
        return session

    def kill_ats(self, session: Session) -> Iterator[int]:
        """Before which call, for each server, after one that is not killed in ``session``."""
        length = self.serve(session)
        for first in range(0, length - length // SERVERS, length // SERVERS):
            yield first + self._draw.randint(1, length // SERVERS)

    def serve(self, session: Session, kill_at: int = 0) -> int:
        """Write notes until the server is killed; returns how many calls it made."""
        tape = self.directory / "tape"
        tape.unlink(missing_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in recording(self._library, session.root, tape, kill_at).items():
                patch.setenv(name, value)
            server = StdioServer([COMMAND, "serve", "--data-dir", str(session.data_dir)])
        with server, contextlib.suppress(RuntimeError, BrokenPipeError):  # it ended
            server.initialize()
            self._write(session, server)
            server.close()
        self.kills += server.process.returncode == -signal.SIGKILL
        return calls(records(tape)).total()

    def _write(self, session: Session, server: StdioServer) -> None:
        """Whatever is acknowledged is so after record 0."""
        for number in range(len(session.notes), len(session.notes) + _NOTES):
            note = session.note(number)
            session.notes[note.uuid] = note
            server.call("add_memory", **note.arguments)
            session.acknowledged[note.uuid] = 0
            if note.hidden:
                (person,) = server.call("search_nodes", names=[note.people[0]], group_ids=[note.group])["nodes"]
                confirm = server.call("forget", entity_uuid=person["uuid"])["confirm"]
                session.forgotten[note.hidden] = 0, sys.maxsize
                server.call("forget", entity_uuid=person["uuid"], confirm=confirm)
                session.forgotten[note.hidden] = 0, 0


async def test_killed_servers_leave_what_they_acknowledged(tmp_path: Path) -> None:
    """Each begins an empty memory."""
    killer = Killer(tmp_path)
    for number, kill_at in enumerate(killer.kill_ats(killer.session("whole"))):
        session = killer.session(f"killed-{number}")
        await asyncio.to_thread(killer.serve, session, kill_at)
        assert forgotten_words(session, 0, session.data_dir) == [], (killer.seed, kill_at)
        assert faults(await opened(session.data_dir), session, 0) == [], (killer.seed, kill_at)
    print(f"\n{killer.kills} servers killed, each on an empty memory")  # noqa: T201 what `make storm` is run for
    assert killer.kills >= LEAST_KILLS


async def test_a_server_has_what_those_acknowledged_that_are_killed_beside_it(tmp_path: Path) -> None:
    """It keeps the shared memory alive, in which those that are killed may have been in the middle of a change."""
    killer = Killer(tmp_path)
    session = killer.session("shared")
    await asyncio.to_thread(killer.serve, session)  # its first session makes more calls than those that follow
    async with session.client() as witness:
        for kill_at in killer.kill_ats(session):
            await asyncio.to_thread(killer.serve, session, kill_at)
            page = await call(witness, "get_episodes", group_ids=list(GROUPS), max_episodes=_LAST)
            newest = list(session.acknowledged)[-_SURELY_LAST:]
            assert {episode["uuid"] for episode in page["episodes"]} >= set(newest), (killer.seed, kill_at)
            assert (await call(witness, "get_status"))["failures"] == [], (killer.seed, kill_at)
    assert faults(await opened(session.data_dir), session, 0) == [], killer.seed
    print(f"\n{killer.kills} servers killed beside another")  # noqa: T201 what `make storm` is run for
    assert killer.kills >= LEAST_KILLS
