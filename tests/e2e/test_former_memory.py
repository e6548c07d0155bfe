"""A data directory that version 0.1 wrote with its embedded FalkorDB: nothing of it is lost, whatever happens.

``tests/data/former_memory.tar.gz`` is such a directory, written by commit 3ec0d07: a fact, one that ended, and an
episode that was forgotten.
"""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from tests.builders import a_write, an_episode
from tests.e2e.support import call, environment, over_stdio, run, started_once, unpack, until
from tests.integration.planted import files_with
from tests.neo4j_server import Neo4jAddress, empty
from tests.protocol.support import error_of

from graphiti_pkm.core.operating_system import Mode, open_lock, try_lock
from graphiti_pkm.storage.journal.store import SqliteJournal

pytestmark = pytest.mark.timeout(300)

KEPT = Path(__file__).parents[1] / "data" / "former_memory.tar.gz"
TOGETHER = "Ada Quill moved the harbour office to Brindle Street."
LATER = "Written by version 0.1 in the end."
AFTERWARDS = "Ada Quill retired."
NOBODY = {"neo4j_uri": "bolt://127.0.0.1:1"}
"""A Neo4j that is never reached: what is refused is refused before."""


@pytest.fixture
def former(tmp_path: Path) -> Path:
    """The directory, with what a repair and a killed rewrite leave in one."""
    unpack(KEPT, tmp_path)
    data_dir = tmp_path / "data"
    shutil.copytree(data_dir / "appendonlydir", data_dir / "appendonlydir-damaged-1")
    for name in ("temp-77.aof", "aof-repair-1.json", "database.log", "database.log.1", "users.lock", "owner.lock"):
        (data_dir / name).write_text("Ada Quill" if name.startswith("temp") else "")
    return data_dir


@pytest.fixture
def converted(former: Path) -> Path:
    assert run("status", data_dir=former).returncode == 0
    return former


def files(directory: Path) -> dict[str, bytes]:
    """Of version 0.1, but its locks and what every reader of a journal makes beside it."""
    patterns = ("journal.sqlite3*", "appendonly*", "temp-*", "aof-*", "database*")
    listed = [path for pattern in patterns for one in directory.glob(pattern) for path in (one, *one.rglob("*"))]
    found = {str(path.relative_to(directory)): path.read_bytes() for path in listed if path.is_file()}
    return {name: data for name, data in found.items() if not name.endswith("-shm") and (data or "-wal" not in name)}


def append(data_dir: Path, text: str = LATER) -> None:
    """As a server of version 0.1 that ran once more, and was killed before it put the log into the journal."""
    beside = data_dir.with_name("beside")
    beside.mkdir()
    for file in data_dir.glob("journal.sqlite3"):
        shutil.copy(file, beside)

    async def write() -> None:
        journal = SqliteJournal(beside)
        await journal.append(a_write(an_episode(text, group_id="default", name="Once more")), {}, "", {})
        for file in beside.glob("journal.sqlite3*"):
            shutil.copy(file, data_dir)
        await journal.close()

    asyncio.run(write())
    shutil.rmtree(beside)
    (data_dir / "appendonlydir").mkdir(exist_ok=True)


def writes(journal: Path) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(journal)) as connection:
        return connection.execute("SELECT * FROM writes JOIN contents USING (seq) ORDER BY seq").fetchall()


async def contents(client: Client) -> set[str]:
    return {one["content"] for one in (await call(client, "get_episodes"))["episodes"]}


async def check(client: Client, *more: str) -> None:
    """All of it is there, nothing else, and more can be stored."""
    status = await call(client, "get_status")
    assert (status["status"], status["failures"], status["backend"]) == ("ok", [], "SQLite"), status
    assert status["writes"]["failed"] == 0
    found = await call(client, "search_memory_facts", query="Where does Ada Quill work?", max_facts=10)
    known = {one["fact"]: one["status"] for one in found["facts"] if one["name"] == "WORKS_AT"}
    assert known == {
        "Ada Quill works at the Customs House.": "current",
        "Ada Quill works at the Harbour Office.": "ended",
    }
    assert await contents(client) - {AFTERWARDS} == {TOGETHER, "Ada Quill changed.", *more}
    changed = (await call(client, "what_changed", since="2020-01-01"))["changes"]
    assert "retired" in {one["change"] for one in changed}
    await call(client, "add_memory", episode_body=AFTERWARDS, uuid="3ec0d07f-1b2c-4d5e-8f70-8192a3b4c5d6")
    assert AFTERWARDS in await contents(client)


async def checked(data_dir: Path, *more: str) -> None:
    async with over_stdio(data_dir) as client:
        await check(client, *more)


async def refusal(data_dir: Path, **settings: Any) -> tuple[str, str]:
    """Code and message of a server that starts no memory."""
    async with over_stdio(data_dir, **settings) as client:
        result = await client.call_tool("get_episodes", {})
        return str((result.structured_content or {})["code"]), error_of(result)


def named(message: str, **settings: object) -> None:
    """Run the command that a message names, with what its reader has configured."""
    (command,) = re.findall(r"`graphiti-pkm ([^`]+)`", message)
    done = run(*shlex.split(command), **settings)
    assert done.returncode == 0, done.stderr


@contextmanager
def held(path: Path, mode: Mode) -> Iterator[None]:
    lock = open_lock(path)
    assert try_lock(lock, mode)
    try:
        yield
    finally:
        os.close(lock)


async def test_it_opens_with_every_answer_and_its_files_are_kept_and_named(former: Path) -> None:
    before = files(former)
    await checked(former)
    assert files(former / "before-sqlite") == before
    assert {path.name for path in former.iterdir()} - {"signing-key", "signing.key"} == {
        "audit.sqlite3",
        "before-sqlite",
        "locks",
        "memory.sqlite3",
    }
    assert f"{former / 'before-sqlite'}, " in run("doctor", data_dir=former).stdout
    await checked(former)


async def test_what_is_forgotten_later_is_gone_from_what_was_kept(converted: Path) -> None:
    assert "before-sqlite/journal.sqlite3" in files_with(converted, "Quill")
    async with over_stdio(converted) as client:
        (ada,) = (await call(client, "search_nodes", names=["Ada Quill"], max_nodes=1))["nodes"]
        preview = await call(client, "forget", entity_uuid=ada["uuid"])
        done = await call(client, "forget", entity_uuid=ada["uuid"], confirm=preview["confirm"])
        assert done["status"] == "forgotten", done
        assert files_with(converted, "Quill") == []
    assert not (converted / "before-sqlite").exists()
    assert "version 0.1" not in run("doctor", data_dir=converted).stdout


RESTORED = ("after", "storage.journal.store:SqliteJournal.restore", 1)
HALF_BUILT = ("after", "storage.graph.sqlite.core_parts:Writer.apply", 2)
BUILT = ("before", "storage.former_memory:_set_aside", 1)
MOVED = ("after", "storage.former_memory:shutil.move", 1)


async def killed(data_dir: Path, when: str, step: str, times: int, *command: str) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.killed", when, step, str(times), *(command or ["status"])),
        env=environment(data_dir=data_dir),
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert await process.wait() == -signal.SIGKILL, step


@pytest.mark.storm
async def test_killed_at_each_step_in_turn_it_goes_on_and_loses_nothing(former: Path) -> None:
    before = files(former)
    for step in (
        ("before", "storage.journal.store:SqliteJournal.restore", 1),
        ("before", "storage.journal.copies:_join_spending", 1),
        RESTORED,
        ("after", "storage.graph.sqlite.store:SqliteGraph.clear", 1),
        ("after", "storage.graph.sqlite.core_parts:Writer.apply", 1),
        HALF_BUILT,
        ("before", "storage.journal.store:SqliteJournal.end_rebuild", 1),
        BUILT,
    ):
        await killed(former, *step)
        assert files(former) == before, step
    for _ in range(3):
        await killed(former, *MOVED)
    await checked(former)
    assert (files(former), files(former / "before-sqlite")) == ({}, before)


async def test_servers_that_start_at_once_bring_it_over_once(former: Path, tmp_path: Path) -> None:
    logs = [tmp_path / f"log-{number}" for number in range(3)]
    async with (
        over_stdio(former, log=logs[0]) as one,
        over_stdio(former, log=logs[1]) as other,
        over_stdio(former, log=logs[2]) as third,
    ):
        assert len({frozenset(found) for found in await asyncio.gather(*map(contents, (one, other, third)))}) == 1
        for client in (one, other, third):
            await check(client)
    assert "".join(log.read_text() for log in logs).count("bringing the memory of version 0.1") == 1


@pytest.mark.storm
async def test_nothing_is_changed_while_version_01_runs_and_it_is_brought_over_after_that(former: Path) -> None:
    before = files(former)
    async with over_stdio(former) as client:
        with held(former / "users.lock", "shared"):
            message = error_of(await client.call_tool("get_episodes", {}))
            assert "Version 0.1 is still running" in message
            refused = await asyncio.to_thread(run, "status", data_dir=former)
            assert (refused.returncode, refused.stdout) == (1, "")
            assert "Version 0.1 is still running" in refused.stderr
            assert files(former) == before
        await check(client)


@pytest.mark.storm
async def test_it_waits_for_the_end_of_the_database_of_version_01(former: Path) -> None:
    before = files(former)
    async with over_stdio(former) as client:
        with held(former / "owner.lock", "exclusive"):
            waiting = asyncio.create_task(call(client, "get_episodes"))
            conversion = former / "locks" / "conversion.lock"
            await asyncio.to_thread(until, conversion.exists, "the conversion to begin")
            assert files(former) == before
        await waiting
        await check(client)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def beheaded(file: Path) -> None:
    file.write_bytes(b"damaged " * 64 + file.read_bytes()[512:])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, *(pytest.param(one, marks=pytest.mark.storm) for one in (beheaded, emptied))])
async def test_a_damaged_journal_is_told_nothing_is_changed_and_a_backup_helps(
    former: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    backup = tmp_path / "backup"
    shutil.copy(former / "journal.sqlite3", backup)
    damage(former / "journal.sqlite3")
    before = files(former)
    code, message = await refusal(former)
    assert code == "damaged_store"
    assert "journal.sqlite3 is damaged" in message
    assert "restore BACKUP --replace" in message
    assert files(former) == before
    refused = run("restore", str(backup), data_dir=former)
    assert (refused.returncode, "--replace" in refused.stderr) == (1, True)
    restored = run("restore", str(backup), "--replace", data_dir=former)
    assert restored.returncode == 0, restored.stderr
    assert (files(former), files(former / "before-sqlite")) == ({}, before)
    await checked(former)


async def test_commands_that_do_not_bring_it_over_say_so_and_change_nothing(former: Path, tmp_path: Path) -> None:
    before = files(former)
    for command in (["backup", str(tmp_path / "copy")], ["reembed"], ["queue", "list"], ["rebuild"]):
        refused = run(*command, data_dir=former)
        assert refused.returncode == 1, command
        assert "was written by version 0.1" in refused.stderr
    doctor = run("doctor", data_dir=former)
    assert doctor.returncode == 0, doctor.stdout
    assert "of version 0.1; `graphiti-pkm serve` brings it over" in doctor.stdout
    assert files(former) == before
    assert not (former / "memory.sqlite3").exists()
    await checked(former)


def test_what_version_01_left_in_the_write_ahead_log_is_brought_over(former: Path) -> None:
    append(former)
    assert (former / "journal.sqlite3-wal").stat().st_size > 0
    asyncio.run(checked(former, LATER))


@pytest.mark.storm
def test_what_version_01_stored_between_two_attempts_is_brought_over(former: Path) -> None:
    asyncio.run(killed(former, *HALF_BUILT))
    append(former)
    asyncio.run(checked(former, LATER))


def finished(_former: Path) -> None:
    return


def finished_and_tidied(former: Path) -> None:
    shutil.rmtree(former / "before-sqlite")


@pytest.mark.parametrize("state", [finished, pytest.param(finished_and_tidied, marks=pytest.mark.storm)])
def test_what_version_01_stored_after_that_is_told_kept_and_found_elsewhere(
    converted: Path, tmp_path: Path, state: Callable[[Path], None]
) -> None:
    state(converted)
    append(converted)
    _told_and_found_elsewhere(converted, tmp_path, LATER)
    asyncio.run(checked(converted))


@pytest.mark.storm
def test_what_version_01_stored_when_only_its_files_had_to_be_set_aside_is_told(former: Path, tmp_path: Path) -> None:
    asyncio.run(killed(former, *BUILT))
    append(former)
    _told_and_found_elsewhere(former, tmp_path, LATER, TOGETHER, "Ada Quill changed.")
    asyncio.run(checked(former))


def _told_and_found_elsewhere(data_dir: Path, tmp_path: Path, *told: str) -> None:
    journals = [data_dir / name for name in ("journal.sqlite3", "memory.sqlite3")]
    before = [writes(journal) for journal in journals]
    code, message = asyncio.run(refusal(data_dir))
    assert code == "configuration"
    assert "Version 0.1 of graphiti-pkm was used in" in message
    assert run("doctor", data_dir=data_dir).returncode == 1
    assert [writes(journal) for journal in journals] == before

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for pattern in ("journal.sqlite3*", "appendonlydir*"):
        for path in data_dir.glob(pattern):
            path.rename(elsewhere / path.name)

    async def found() -> None:
        async with over_stdio(elsewhere) as client:
            assert await contents(client) == set(told)

    asyncio.run(found())


def test_a_memory_without_a_write_becomes_one_without_a_write(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    (data_dir / "appendonlydir").mkdir(parents=True)
    asyncio.run(_opened(SqliteJournal(data_dir)))
    for _ in range(2):
        told = json.loads(run("status", "--json", data_dir=data_dir).stdout)
        assert (told["status"], told["groups"]) == ("ok", {})
    assert (data_dir / "before-sqlite" / "journal.sqlite3").exists()


async def _opened(journal: SqliteJournal) -> None:
    await journal.counts()
    await journal.close()


@pytest.mark.storm
def test_vectors_whose_model_was_being_changed_take_no_episode_along(former: Path) -> None:
    async def begin() -> None:
        journal = SqliteJournal(former)
        await journal.begin_change("another-model", 256)
        await journal.close()

    asyncio.run(begin())
    code, message = asyncio.run(refusal(former))
    assert code == "embedding_mismatch"
    named(message, data_dir=former)
    asyncio.run(checked(former))


# What is never begun: an empty memory beside another one.


def every_start_says(message: str, data_dir: Path, **settings: object) -> None:
    """And no command takes the directory for one without a memory."""
    for command in (["status"], ["doctor"], ["backup", str(data_dir / "copy")]):
        done = run(*command, data_dir=data_dir, **settings)
        assert done.returncode == 1, command
        assert message.partition(": ")[2] in done.stdout + done.stderr, command


@pytest.fixture
def of_a_server(tmp_path: Path) -> Path:
    """The data directory of a server on Neo4j."""
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    append(data_dir, "Told on Neo4j.")
    (data_dir / "appendonlydir").rmdir()
    (data_dir / "server-id").write_text("3ec0d07f-1b2c-4d5e-8f70-8192a3b4c5d6")
    return data_dir


@pytest.mark.storm
def test_the_journal_of_a_database_server_is_refused_without_it_and_brought_over_as_told(of_a_server: Path) -> None:
    code, message = asyncio.run(refusal(of_a_server))
    assert (code, "neo4j_uri" in message) == ("configuration", True)
    assert run("restore", str(of_a_server / "mistyped"), data_dir=of_a_server).returncode == 1
    every_start_says(message, of_a_server)
    named(message)

    async def found() -> None:
        async with over_stdio(of_a_server) as client:
            assert await contents(client) == {"Told on Neo4j."}

    asyncio.run(found())


def test_an_embedded_memory_is_refused_on_neo4j_before_it_is_asked(converted: Path) -> None:
    code, message = asyncio.run(refusal(converted, **NOBODY))
    assert (code, str(converted / "memory.sqlite3") in message) == ("configuration", True)
    assert run("restore", str(converted / "mistyped"), data_dir=converted, **NOBODY).returncode == 1
    every_start_says(message, converted, **NOBODY)
    asyncio.run(checked(converted))


@pytest.mark.storm
async def test_a_memory_of_version_01_is_brought_to_neo4j_as_told(former: Path, neo4j_server: Neo4jAddress) -> None:
    empty(neo4j_server)
    neo4j: dict[str, Any] = neo4j_server.product_settings()
    before = files(former)
    for told in ("--backend embedded", "memory.sqlite3"):
        code, message = await refusal(former, **neo4j)
        assert (code, told in message) == ("configuration", True)
        assert files(former) in (before, {})
        await asyncio.to_thread(named, message, **neo4j)
    async with over_stdio(former, **neo4j) as client:
        assert (await call(client, "get_status"))["backend"] == "Neo4j"
        assert await contents(client) == {TOGETHER, "Ada Quill changed."}
    empty(neo4j_server)


def test_a_graph_without_its_journal_is_told_and_a_backup_is_brought_in(former: Path, tmp_path: Path) -> None:
    backup = (former / "journal.sqlite3").rename(tmp_path / "backup")
    code, message = asyncio.run(refusal(former))
    assert (code, "without its journal" in message) == ("configuration", True)
    every_start_says(message, former)
    named(message.replace("BACKUP", str(backup)))
    asyncio.run(checked(former))
    assert files(former) == {}


def test_a_converted_memory_that_is_lost_is_told_and_can_be_brought_over_again(converted: Path) -> None:
    (converted / "memory.sqlite3").unlink()
    code, message = asyncio.run(refusal(converted))
    assert (code, "has no memory.sqlite3 any more" in message) == ("configuration", True)
    every_start_says(message, converted)
    named(message)
    asyncio.run(checked(converted))


def test_an_empty_memory_of_the_other_kind_stands_in_nobodys_way(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    asyncio.run(_opened(SqliteJournal(data_dir)))
    started_once(data_dir)
    assert run("status", data_dir=data_dir).returncode == 0
