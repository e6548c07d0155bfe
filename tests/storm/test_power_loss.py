"""The power goes, at any instant: what was acknowledged is there, whole and once, and what was forgotten is not.

No machine is switched off. A session of real servers, a client and commands is put on a tape, call by call. A disk that
keeps only what was synced plays it, and the product opens what it may leave. ``disk.py`` says how strict it is.
"""

import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import time_ns
from typing import TypeAlias
from uuid import uuid4

import pytest
from tests.e2e.support import call, over_stdio
from tests.storm.aftermath import faults, forgotten_words, opened, put
from tests.storm.disk import Directory, Disk, Part
from tests.storm.dump import differences
from tests.storm.session import Note, Session, long, recorded, short
from tests.storm.tape import SAY, SYNC, recorder, recording, records

from graphiti_pkm.storage.journal.connection import MEMORY, JournalFile
from graphiti_pkm.storage.journal.server_id import SERVER_ID
from graphiti_pkm.storage.journal.store import SqliteJournal

RANDOM_POINTS = 150
REBUILT, SERVED = 20, 100
"""Every so many states are rebuilt as well, and opened by a real server."""
LEAST_POINTS, LEAST_STATES, LEAST_ACKNOWLEDGED = 200, 300, 60
Way: TypeAlias = tuple[Part, Part]
"""What is kept of the content, and of the names, that no fsync covers."""
WHILE_SYNCED: tuple[Way, ...] = (("torn", "all"), ("some", "some"), ("some", "all"), ("none", "all"), ("all", "none"))
ELSEWHERE: tuple[Way, ...] = (("none", "none"), ("all", "all"), ("some", "some"))

pytestmark = pytest.mark.timeout(3600)


@dataclass
class Seen:
    """What came of it."""

    points: int = 0
    states: int = 0
    rebuilt: int = 0
    served: int = 0
    backups: int = 0

    def figures(self, seed: int, session: Session) -> str:
        return (
            f"power loss {seed}: {len(session.acknowledged)} acknowledged writes, {len(session.played) // 2} calls; "
            f"{self.states} different states at {self.points} points, {self.rebuilt} rebuilt, {self.served} served, "
            f"{self.backups} backups checked"
        )


async def test_whenever_the_power_goes_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    session = await recorded(tmp_path, long)
    seed = time_ns()
    seen = Seen()
    for point, way, left in _states(session, random.Random(seed), seen):  # noqa: S311 a storm is no secret
        where = f"seed {seed}, record {point}, {way}"
        data_dir = put(left, session, tmp_path / "left")
        assert forgotten_words(session, point, data_dir) == [], where
        if session.expected(point):
            assert (data_dir / "signing.key").read_bytes() == (session.data_dir / "signing.key").read_bytes(), where
        graph = await opened(data_dir)
        assert faults(graph, session, point) == [], where
        if seen.states % REBUILT == 0:
            assert differences(graph, await opened(data_dir, rebuilds=True)) == [], where
            seen.rebuilt += 1
        if seen.states % SERVED == 0:
            await _serves(session, point, data_dir, where)
            seen.served += 1
        seen.backups += await _backups_are_whole(session, point, data_dir, where)
    print(f"\n{seen.figures(seed, session)}", flush=True)  # noqa: T201 what `make storm` is run for
    assert seen.points >= LEAST_POINTS
    assert seen.states >= LEAST_STATES
    assert len(session.acknowledged) >= LEAST_ACKNOWLEDGED
    assert seen.rebuilt
    assert seen.served
    assert seen.backups


async def test_a_memory_that_does_not_sync_its_log_loses_notes(tmp_path: Path) -> None:
    """The tests above could not pass without the syncs that they are about."""
    session = await recorded(tmp_path, short)
    point = max(session.acknowledged.values())
    disk, left_out = Disk(session.root), set[int]()
    for record in session.played[: point + 1]:
        if record.kind == SYNC and record.path.endswith(f"{MEMORY}-wal"):
            left_out.add(record.call)
        elif record.call not in left_out:
            disk.play(record)
    data_dir = put(disk.left("none", "all", random.Random(0)), session, tmp_path / "left")  # noqa: S311 nothing is drawn
    there = faults(await opened(data_dir), session, point)
    assert left_out
    assert [fault for fault in there if fault.startswith("lost: ")]


def test_the_id_of_a_server_on_neo4j_is_on_disk_before_it_is_used(tmp_path: Path) -> None:
    root, tape = tmp_path / "disk", tmp_path / "tape"
    root.mkdir()
    program = "import sys, pathlib; from graphiti_pkm.storage.journal.server_id import server_id; "
    subprocess.run(
        [sys.executable, "-c", f"{program} server_id(pathlib.Path(sys.argv[1]))", root],
        env=os.environ | recording(recorder(tmp_path), root, tape),
        check=True,
    )
    disk = Disk(root)
    for record in records(tape):
        disk.play(record)
    left = disk.left("none", "none", random.Random(0))  # noqa: S311 nothing is drawn
    assert left[str(root.resolve() / SERVER_ID)] == (root / SERVER_ID).read_bytes()


def _states(session: Session, draw: random.Random, seen: Seen) -> Iterator[tuple[int, Way, Directory]]:
    """Different ones, each with the record after which the power went: around each fsync, at answers, and at random."""
    disk, known = Disk(session.root), set[object]()
    syncs = {record.call for record in session.played if record.kind == SYNC}
    points = set(draw.sample(range(len(session.played)), RANDOM_POINTS))
    for index, record in enumerate(session.played):
        disk.play(record)
        is_sync = record.call in syncs
        if not is_sync and record.kind != SAY and index not in points:
            continue
        seen.points += 1
        for way in WHILE_SYNCED if is_sync and record.kind == SYNC else ELSEWHERE:
            left = disk.left(*way, draw)
            if (case := (_digest(left), session.stage(index))) not in known:
                known.add(case)
                seen.states += 1
                yield index, way, left
    assert disk.seen() == _files(session.root), "a call is not on the tape"


def _digest(left: Directory) -> bytes:
    digest = hashlib.sha256()
    for path, content in sorted(left.items()):
        digest.update(f"{path} {len(content)} ".encode())
        digest.update(content)
    return digest.digest()


def _files(root: Path) -> Directory:
    return {str(path): path.read_bytes() for path in root.resolve().rglob("*") if path.is_file()}


async def _serves(session: Session, point: int, data_dir: Path, where: str) -> None:
    """A server finds every note by its words, and takes another one."""
    async with over_stdio(data_dir) as client:
        for uuid in session.expected(point):
            note = session.notes[uuid]
            if not note.hidden:
                found = await call(client, "search_episodes", query=f"note-{note.number}", group_ids=[note.group])
                assert any(f"(note-{note.number})" in str(episode) for episode in found["episodes"]), where
        await call(client, "add_memory", **Note(len(session.notes), str(uuid4()), "afterwards").arguments)
        status = await call(client, "get_status")
        assert (status["status"], status["failures"]) == ("ok", []), where


async def _backups_are_whole(session: Session, point: int, data_dir: Path, where: str) -> int:
    """A backup that was acknowledged is there, as it was; one that was not is whole or not there. Returns how many."""
    journal = SqliteJournal(data_dir, file=JournalFile(data_dir, name=MEMORY))
    count = 0
    for name, at in session.backups.items():
        path = data_dir.with_name(name)
        if at <= point:
            assert path.read_bytes() == (session.root / name).read_bytes(), where
        elif path.exists():
            assert await journal.verify_backup(path), where
            count += 1
    await journal.close()
    return count
