"""A Neo4j Community server of a test's own: started, killed and started again on the same files.

It is the real one, from Maven Central, in a process of its own; it needs a JDK (17 or newer) and Maven.
"""

import os
import select
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest
from neo4j import GraphDatabase
from tests.neo4j_server.jars import jars, missing_tools
from tests.ports import free_port

__all__ = [
    "NO_NEO4J",
    "Neo4jAddress",
    "Neo4jServer",
    "empty",
    "given_address",
    "missing_tools",
    "skip_without_tools",
    "started",
]

START_SECONDS = 120.0
STOP_SECONDS = 60.0
BATCH = 20_000
JAVA = [
    *("--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED"),
    *("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED"),
    *("-Dio.netty.tryReflectionSetAccessible=true", "-Dlog4j2.disable.jmx=true"),
]
# Most of a short run is the start, which is twice as quick without the optimising compiler. Classes need no check.
QUICK_START = [
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
]


NO_NEO4J = "tests on Neo4j need a JDK (17+) and Maven, or a server in NEO4J_URI"


def skip_without_tools() -> None:
    """End the test that asks, unless a server can be started here."""
    if missing := missing_tools():
        pytest.skip(f"no {', '.join(missing)}: {NO_NEO4J}")


@dataclass(frozen=True)
class Neo4jAddress:
    """Where a Neo4j answers and as whom."""

    uri: str
    username: str
    password: str = field(repr=False)

    def product_settings(self) -> dict[str, Any]:
        """Of a server of ours on it."""
        return {"neo4j_uri": self.uri, "neo4j_username": self.username, "neo4j_password": self.password}


def given_address() -> Neo4jAddress | None:
    """The server the environment names: a run on it empties its database."""
    uri = os.environ.get("NEO4J_URI")
    if not uri:
        return None
    return Neo4jAddress(uri, os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))


class Neo4jServer:
    """One Neo4j with its files in ``directory``, listening on loopback.

    ``java`` are options for its machine, ``settings`` for itself, in the place of those it has here.
    """

    username = "neo4j"

    def __init__(
        self,
        directory: Path,
        *,
        heap: str = "512m",
        java: list[str] = QUICK_START,
        port: int | None = None,
        password: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._home = directory
        self._java = [f"-Xms{heap}", f"-Xmx{heap}", *java]
        self._settings = [f"{name}={value}" for name, value in (settings or {}).items()]
        self._process: subprocess.Popen[bytes] | None = None
        self._port = port or free_port()
        self.password = password or f"p{token_urlsafe(16)}"  # one that begins with "-" is an option to Neo4j
        self.uri = f"bolt://127.0.0.1:{self._port}"

    @property
    def address(self) -> Neo4jAddress:
        return Neo4jAddress(self.uri, self.username, self.password)

    def product_settings(self) -> dict[str, Any]:
        """Of a server process of ours on it."""
        return self.address.product_settings()

    def lose(self) -> None:
        """Take away what it kept on disk, while it is down."""
        shutil.rmtree(self._home / "data")

    def start(self) -> None:
        """Returns when it answers; on the files of a server that was killed, when it has recovered them."""
        found = jars()
        self._home.mkdir(parents=True, exist_ok=True)
        command = ["java", *self._java, *JAVA, "-cp", f"{found}/*:{found}", "Launcher", str(self._home)]
        errors = self._home / "errors.log"
        with errors.open("ab") as log:
            process = subprocess.Popen(
                [*command, str(self._port), *self._settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{self.password}\n".encode())
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], START_SECONDS)
        if not ready or process.stdout.readline() != b"READY\n":
            self.kill()
            raise RuntimeError(f"Neo4j did not start.\n{errors.read_text(errors='replace')[-2000:]}")

    def kill(self) -> None:
        """As ``kill -9``."""
        if self._process is not None:
            self._process.kill()
            self._ended(self._process)

    def freeze(self) -> None:
        """Connections stay open and nobody answers, as behind a network that is gone."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        """In order: it writes a checkpoint first."""
        if self._process is not None:
            assert self._process.stdin is not None
            self._process.stdin.close()
            self._ended(self._process)

    def _ended(self, process: "subprocess.Popen[bytes]") -> None:
        process.wait(STOP_SECONDS)
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        self._process = None


@contextmanager
def started() -> Iterator[Neo4jAddress]:
    """A server without files that outlast it."""
    with tempfile.TemporaryDirectory(prefix="pkm-neo4j-") as directory:
        server = Neo4jServer(Path(directory))
        try:
            server.start()
            yield server.address
        finally:
            server.kill()


def empty(address: Neo4jAddress, database: str = "neo4j") -> None:
    """Takes every record out and the vector indexes with them, which follow from the records; other indexes stay."""
    with (
        GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver,
        driver.session(database=database) as session,
    ):
        # Relations first, in batches: a hub with all of its own in one transaction would not fit into memory.
        for batch in ("MATCH ()-[r]->() WITH r LIMIT $limit DELETE r", "MATCH (n) WITH n LIMIT $limit DELETE n"):
            while session.run(batch, limit=BATCH).consume().counters.contains_updates:
                pass
        for name in session.run("SHOW VECTOR INDEXES YIELD name").value():
            session.run(f"DROP INDEX `{name}` IF EXISTS").consume()
