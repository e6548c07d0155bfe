"""kill -9 of redis-server, of the watchdog, of both, and during a start."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.embedded_support import Client, count, end_database, endpoint, query, stopped, until

from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.embedded.redis_process import names_database
from graphiti_pkm.storage.graph.embedded.redis_socket import read_endpoint


@pytest.fixture
async def data_dir(tmp_path: Path) -> AsyncIterator[Path]:
    directory = tmp_path / "data"
    yield directory
    await end_database(directory)


@pytest.fixture
async def database(data_dir: Path) -> AsyncIterator[EmbeddedDatabase]:
    held = EmbeddedDatabase(data_dir, 0.1)
    await held.acquire()
    yield held
    held.release()


async def test_a_killed_redis_is_started_again_with_everything_acknowledged(
    data_dir: Path, database: EmbeddedDatabase
) -> None:
    path = await database.acquire()
    for _ in range(50):
        await query(path, "CREATE (:A)")
    os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    assert await count(await database.recover()) == 50


async def test_many_callers_make_one_recovery(data_dir: Path, database: EmbeddedDatabase) -> None:
    before = database.incarnation
    os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    await stopped(data_dir)
    await asyncio.gather(*(database.recover() for _ in range(30)))
    after = database.incarnation
    assert after != before
    await database.recover()
    assert database.incarnation == after


async def test_surviving_processes_recover_the_same_database(data_dir: Path, database: EmbeddedDatabase) -> None:
    with Client(data_dir) as one, Client(data_dir) as two:
        old = {await one.ask("acquire"), await two.ask("acquire")}
        os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
        await stopped(data_dir)
        one.tell("recover")
        two.tell("recover")
        await database.recover()
        new = {await one.heard(), await two.heard(), endpoint(data_dir).redis_pid}
    assert len(new) == 1
    assert not new & old


async def test_a_killed_watchdog_takes_redis_with_it_and_clients_recover(
    data_dir: Path, database: EmbeddedDatabase
) -> None:
    await query(await database.acquire(), "CREATE (:A)")
    old = endpoint(data_dir)
    os.kill(old.watchdog_pid, signal.SIGKILL)
    await stopped(data_dir)
    assert not names_database(old.redis_pid, old.socket)
    assert await count(await database.recover()) == 1
    assert endpoint(data_dir).watchdog_pid != old.watchdog_pid


async def test_both_killed_at_once_are_recovered(data_dir: Path, database: EmbeddedDatabase) -> None:
    await query(await database.acquire(), "CREATE (:A)")
    old = endpoint(data_dir)
    for pid in (old.watchdog_pid, old.redis_pid):
        os.kill(pid, signal.SIGKILL)
    await stopped(data_dir)
    assert await count(await database.recover()) == 1


async def test_after_a_recovery_the_last_one_out_still_stops_it(data_dir: Path, database: EmbeddedDatabase) -> None:
    os.kill(endpoint(data_dir).watchdog_pid, signal.SIGKILL)
    await stopped(data_dir)
    await database.recover()
    database.release()
    await stopped(data_dir)


@pytest.mark.parametrize("victim", ["redis", "watchdog"])
async def test_a_kill_during_the_start_only_delays_it(data_dir: Path, victim: str) -> None:
    database = EmbeddedDatabase(data_dir, 0.1)
    starting = asyncio.create_task(database.acquire())
    await until(lambda: read_endpoint(data_dir))
    found = endpoint(data_dir)
    os.kill(found.redis_pid if victim == "redis" else found.watchdog_pid, signal.SIGKILL)
    await starting
    assert await count(await database.recover()) == 0
    database.release()


async def test_a_client_killed_while_it_starts_the_database_blocks_nobody(data_dir: Path) -> None:
    with Client(data_dir) as client:
        client.tell("acquire")
        await until((data_dir / "owner.lock").exists)
        client.process.kill()
    database = EmbeddedDatabase(data_dir, 0.1)
    assert await count(await database.acquire()) == 0
    database.release()


async def test_a_database_that_lost_its_socket_file_is_replaced(data_dir: Path, database: EmbeddedDatabase) -> None:
    path = await database.acquire()
    await query(path, "CREATE (:A)")
    before = endpoint(data_dir).redis_pid
    path.unlink()
    assert await count(await database.recover()) == 1
    assert endpoint(data_dir).redis_pid != before


async def test_a_data_directory_made_anew_gets_its_own_database(data_dir: Path, database: EmbeddedDatabase) -> None:
    await query(await database.acquire(), "CREATE (:A)")
    os.kill(endpoint(data_dir).redis_pid, signal.SIGKILL)
    await stopped(data_dir)
    data_dir.rename(data_dir.with_name("moved"))
    assert await count(await database.recover()) == 0
    assert (data_dir / "users.lock").exists()


async def test_a_process_of_another_program_under_the_recorded_number_is_not_ended(data_dir: Path) -> None:
    assert not names_database(os.getpid(), str(data_dir / "s.sock"))


async def test_where_the_kernel_cannot_end_redis_a_sentinel_does() -> None:
    script = (
        "import os, signal, subprocess\n"
        "from graphiti_pkm.storage.graph.embedded.redis_process import Sentinel\n"
        "child = subprocess.Popen(['sleep', '1000'])\n"
        "guard = Sentinel(child.pid)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    await process.communicate()  # ends when nobody holds its output: sleep inherited it
    assert process.returncode == -signal.SIGKILL


async def test_a_dismissed_sentinel_ends_nothing() -> None:
    script = (
        "import subprocess\n"
        "from graphiti_pkm.storage.graph.embedded.redis_process import Sentinel\n"
        "child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
        "Sentinel(child.pid).dismiss()\n"
        "child.communicate()\n"
        "print(child.returncode)\n"
    )
    done = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
