"""Starting, sharing and stopping the embedded database, with real processes."""

# ruff: noqa: ASYNC240 - a test may block its own loop for a file

import asyncio
import os
import socket
import stat
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.integration.embedded_support import Client, count, end_database, endpoint, query, stopped, until

from graphiti_pkm.errors import ConfigurationError, Unavailable
from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.embedded import EmbeddedDatabase
from graphiti_pkm.storage.graph.embedded.redis_socket import State, info, probe
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, try_lock


@pytest.fixture
async def data_dir(tmp_path: Path) -> AsyncIterator[Path]:
    directory = tmp_path / "data"
    yield directory
    await end_database(directory)


async def test_the_first_client_starts_the_database_on_a_private_socket(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.1)
    path = await database.acquire()
    assert await count(path) == 0
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert path.parent.stat().st_uid == os.geteuid()
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    now = await database.info()
    assert now is not None
    assert now.memory_bytes > 0
    assert not now.loading
    assert database.last_repair() is None
    database.release()


async def test_acquiring_and_recovering_again_change_nothing(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.1)
    paths = {await database.acquire(), await database.acquire(), await database.recover()}
    assert len(paths) == 1
    before = database.incarnation
    await asyncio.gather(*(database.recover() for _ in range(30)))
    assert database.incarnation == before
    database.release()


async def test_processes_share_one_database(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.1)
    await database.acquire()
    with Client(data_dir) as one, Client(data_dir) as two:
        pids = {await one.ask("acquire"), await two.ask("acquire"), endpoint(data_dir).redis_pid}
        assert len(pids) == 1
    database.release()


async def test_processes_that_start_at_the_same_instant_make_one_server(data_dir: Path) -> None:
    data_dir.mkdir()
    with Client(data_dir) as a, Client(data_dir) as b, Client(data_dir) as c, Client(data_dir) as d:
        clients = (a, b, c, d)
        await asyncio.gather(*(client.ask("release") for client in clients))  # all are up
        for client in clients:
            client.tell("acquire")
        pids = await asyncio.gather(*(client.heard() for client in clients))
    assert len(set(pids)) == 1


async def test_the_last_one_out_stops_it_and_the_next_finds_the_data(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.05)
    await query(await database.acquire(), "CREATE (:A), (:B)")
    first = database.incarnation
    database.release()
    await stopped(data_dir)
    assert probe(endpoint(data_dir).socket) is State.ABSENT
    assert await count(await database.acquire()) == 2
    assert database.incarnation != first
    database.release()


async def test_a_killed_client_does_not_keep_the_database_alive(data_dir: Path) -> None:
    with Client(data_dir) as client:
        await client.ask("acquire")
        client.process.kill()
        await stopped(data_dir)


async def test_the_database_cannot_be_stopped_while_one_client_is_left(data_dir: Path) -> None:
    with Client(data_dir) as other:
        await other.ask("acquire")
        database = EmbeddedDatabase(data_dir, 0.05)
        await database.acquire()
        database.release()
        users = open_lock(data_dir / "users.lock")
        assert not try_lock(users, EXCLUSIVE)  # which is what the watchdog needs
        assert await other.ask("release") == "released"
        os.close(users)
        await stopped(data_dir)


async def test_clients_that_come_while_it_stops_get_a_fresh_one(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.02)
    for made in range(6):
        path = await database.acquire()
        try:
            assert await count(path) == made
            await query(path, "CREATE (:A)")
        finally:
            database.release()


async def test_a_grown_append_only_file_is_rewritten_before_the_stop(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.05)
    path = await database.acquire()
    for _ in range(4):
        await query(path, f"CREATE (:A {{text: '{'x' * 200_000}'}})")
    await query(path, "MATCH (a) DELETE a")
    assert int(info(str(path), "persistence")["aof_current_size"]) > 800_000
    database.release()
    await stopped(data_dir)
    assert aof.size(data_dir) < 10_000
    assert not any(b"xxxx" in file.read_bytes() for file in (data_dir / "appendonlydir").iterdir())


async def test_a_released_database_is_not_recovered(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.05)
    await database.acquire()
    database.release()
    with pytest.raises(Unavailable, match="closing"):
        await database.recover()


async def test_a_cancelled_acquire_leaves_a_database_that_others_can_use(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.1)
    first = asyncio.create_task(database.acquire())
    await until((data_dir / "start.lock").exists)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    assert await count(await database.acquire()) == 0
    database.release()


@pytest.mark.parametrize("name", ["file", "file/below", "unwritable"])
async def test_an_unusable_data_directory_is_refused_with_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "unwritable").mkdir(mode=0o500)
    # Root may write anywhere, except into what the kernel makes.
    place = Path("/proc/self") if name == "unwritable" and os.geteuid() == 0 else tmp_path / name
    with pytest.raises(ConfigurationError, match=r"cannot be used.*--data-dir"):
        await EmbeddedDatabase(place, 0.1).acquire()


async def test_logs_of_the_database_stay_private_and_short(data_dir: Path) -> None:
    database = EmbeddedDatabase(data_dir, 0.05)
    path = await database.acquire()
    await query(path, "CREATE (:A {text: 'PLANTED'})")
    for broken in ("CREATE PLANTED (", "MATCH (a) RETURN PLANTED"):
        with pytest.raises(Exception, match="PLANTED"):
            await query(path, broken)
    database.release()
    await stopped(data_dir)
    log = data_dir / "database.log"
    assert "PLANTED" not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


async def test_a_database_that_refuses_a_ping_for_a_full_disk_is_alive(tmp_path: Path) -> None:
    # What Redis answers while it cannot write its append-only file; reads still work then.
    assert await _answered_with(tmp_path, b"-MISCONF Errors writing to the AOF file: No space left on device\r\n") is (
        State.READY
    )


async def test_loading_is_not_dead(tmp_path: Path) -> None:
    assert await _answered_with(tmp_path, b"-LOADING Redis is loading the dataset in memory\r\n") is State.LOADING


async def test_a_listener_without_an_answer_is_busy_not_dead(tmp_path: Path) -> None:
    assert await _answered_with(tmp_path, b"") is State.BUSY


async def _answered_with(tmp_path: Path, reply: bytes) -> State:
    """What a probe makes of a listener with this reply."""
    path = os.path.relpath(tmp_path / "s")
    found = threading.Event()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(reply)
                found.wait()

        server = threading.Thread(target=serve)
        server.start()
        state = await asyncio.to_thread(probe, path, 0.2)
        found.set()
        server.join()
    return state


async def test_the_watchdog_imports_nothing_slow() -> None:
    slow = {"asyncio", "redis", "falkordb", "pydantic", "numpy", "logging", "graphiti_core"}
    script = "import sys, graphiti_pkm.storage.graph.embedded.watchdog; print(*sys.modules)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE)
    said, _ = await process.communicate()
    assert not slow & set(said.decode().split())
