"""One run of redis-server with the FalkorDB module, as a child of the watchdog.

Redis writes its log into a pipe that the watchdog drains: so the log file stays small, and it never holds what
users wrote (Redis and FalkorDB quote commands and queries in some messages, whatever the log level).
"""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path

LOG_FILE = "database.log"
LOG_BYTES = 256 * 1024
LINE_CHARACTERS = 300
STOP_SECONDS = 20.0
"""How long an orderly shutdown may take; what was acknowledged is in the append-only file by then anyway."""

_PREFIX = re.compile(r"\d+:[A-Z] \d\d \w{3} \d{4} [\d:.]+ [.*#-] ")
_SKIPPED = "sending an error to its AOF-loading-client"
_REPEATED = f"{_SKIPPED}: '-Constraint already exists'"
"""FalkorDB writes the making of a constraint twice into the append-only file; the second is refused, and no loss."""
_MAY_QUOTE = re.compile(r"['\"`]")
_MODULE_MAY_QUOTE = re.compile(r"['\"`:{\[(]")
_PR_SET_PDEATHSIG = 1
_READ = 65536


def scrub(line: str) -> str:
    """A log line up to where it may begin to quote a command or a query."""
    mark = _PREFIX.match(line)
    start = mark.end() if mark else 0
    pattern = _MODULE_MAY_QUOTE if line.startswith("<graph>", start) else _MAY_QUOTE
    found = pattern.search(line, start)
    return (line[: found.start()] + "…" if found else line)[:LINE_CHARACTERS]


class DatabaseLog:
    """The log file of a data directory: scrubbed, and never longer than twice ``LOG_BYTES``."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / LOG_FILE
        self.recent: deque[str] = deque(maxlen=20)
        """The last lines of this run, scrubbed."""
        self.skipped_commands = 0
        """Commands of the append-only file that failed while loading."""
        self._rest = b""
        self._in_redis = False

    def begin(self) -> None:
        """A new run of redis-server."""
        self.recent.clear()
        self.skipped_commands = 0
        self._rest = b""
        self._in_redis = False

    def feed(self, data: bytes) -> None:
        """Take what Redis wrote."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[:_READ]
        for line in lines:
            self._take(line.decode(errors="replace").rstrip())

    def note(self, message: str) -> None:
        """A line of our own."""
        self._write(f"watchdog {os.getpid()}: {message}")

    def _take(self, line: str) -> None:
        if _PREFIX.match(line):
            self._in_redis = True
        elif self._in_redis or not line:
            # The rest of a message of several lines, which may be what a user wrote. Before Redis's own first line it
            # is the dynamic linker's, and worth keeping.
            return
        if _SKIPPED in line and _REPEATED not in line:
            self.skipped_commands += 1
        self._write(scrub(line))

    def _write(self, line: str) -> None:
        self.recent.append(line)
        try:
            if self._path.exists() and self._path.stat().st_size > LOG_BYTES:
                self._path.replace(self._path.with_suffix(".log.1"))
            with self._path.open("a") as file:
                file.write(line + "\n")
        except OSError:
            return  # a full disk: the database can still be read, and the log is only a help


class RedisProcess:
    """A running redis-server; ``output`` becomes readable when it logs or ends."""

    def __init__(self, command: list[str], keep_open: int) -> None:
        """Start it; ``keep_open`` is a descriptor it shall inherit (the owner's lock).

        Raises:
            OSError: it cannot be executed here.
        """
        self._process = subprocess.Popen(  # noqa: S603 the shipped binary
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(keep_open,),
            preexec_fn=_end_with_parent(),  # noqa: PLW1509 the watchdog has one thread
            process_group=0,
        )
        self.pid = self._process.pid
        if self._process.stdout is None:
            raise AssertionError("Popen was asked for a pipe")
        self.output = self._process.stdout.fileno()
        os.set_blocking(self.output, False)
        self._sentinel = None if sys.platform == "linux" else Sentinel(self.pid)

    def exit_code(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll()

    def drain(self, log: DatabaseLog) -> bool:
        """Move what it wrote into the log; False once it has closed its output."""
        while True:
            try:
                data = os.read(self.output, _READ)
            except BlockingIOError:
                return True
            if not data:
                return False
            log.feed(data)

    def stop(self) -> None:
        """End it in order (SIGTERM is Redis's SHUTDOWN), or by force if that takes too long."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()

    def close(self, log: DatabaseLog) -> int:
        """Reap it, with the process of an unfinished rewrite if it left one; its exit code."""
        code = self._process.wait()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self.drain(log)
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._sentinel is not None:
            self._sentinel.dismiss()
        return code


class Sentinel:
    """Ends a process when we die, where the kernel cannot be asked to (macOS): a shell waiting on our pipe."""

    def __init__(self, pid: int) -> None:
        self._shell = subprocess.Popen(  # noqa: S603 a constant script
            ["/bin/sh", "-c", 'read -r dismissed || kill -TERM "$1"', "sh", str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """The process is gone: its number may soon be another's."""
        self._shell.communicate(b"dismissed\n")


def _end_with_parent() -> Callable[[], None] | None:
    """What a child runs before exec so that the kernel ends it when the watchdog dies (Linux)."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return ask


def names_database(pid: int, socket: str) -> bool:
    """Whether this process is the redis-server of that socket (a recorded number may have been given to another)."""
    proc = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        try:
            return os.fsencode(socket) in proc.read_bytes()
        except OSError:
            return False
    shown = subprocess.run(  # noqa: S603 no shell
        ["/bin/ps", "-ww", "-o", "command=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return socket in shown.stdout
