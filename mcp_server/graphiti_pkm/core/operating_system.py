"""What differs between Linux, macOS and Windows; other modules ask here instead of asking which one it is.

Only Linux was run by us. The parts for Windows are checked with the type declarations of Python for Windows, and run on
Linux over system calls that behave as documented (tests/e2e/test_other_platform.py).
"""

import contextlib
import faulthandler
import itertools
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, Literal, TypeAlias, TypeVar

if sys.platform == "win32":
    from graphiti_pkm.core import windows

    _MORE_SIGNALS: tuple[signal.Signals, ...] = (signal.SIGBREAK,)  # Ctrl-Break, or the window was closed
    _APART: Mapping[str, Any] = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
else:
    import fcntl
    import resource

    _FLOCK: Mapping[str, int] = {"shared": fcntl.LOCK_SH, "exclusive": fcntl.LOCK_EX}
    _MORE_SIGNALS: tuple[signal.Signals, ...] = ()
    _APART: Mapping[str, Any] = {"start_new_session": True}

_T = TypeVar("_T")

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, *_MORE_SIGNALS)
"""Sent by whoever wants a server to stop. Nobody sends the first one on Windows: it ends a process at once."""
CAN_FORK: Final = sys.platform != "win32"
"""Whether several workers can serve one port."""
HAS_FILE_MODES: Final = sys.platform != "win32"
"""Whether the mode of a file says who may read and write it. Windows has access control lists instead."""
TIMES_SHOW_WRITES: Final = sys.platform != "win32"
"""Whether a write changes the time of a file at once. Windows may wait until all who write to it have closed it."""
APART: Final = _APART
"""Starts a process that Ctrl-C in the console of this one does not reach, and that opens no window."""

# Locks of files between processes: the system frees them when their holder dies.

Mode: TypeAlias = Literal["shared", "exclusive"]


def open_lock(path: Path, flags: int = os.O_CREAT) -> int:
    """Open a file to lock it; closing the descriptor releases the lock.

    Programs that we start do not inherit the descriptor, so that only we keep the lock alive. Others may rename and
    remove the file while it is open. Raises OSError.

    Args:
        path: of the file.
        flags: O_CREAT makes it if necessary; with O_EXCL it must not be there yet; 0: it must be there.
    """
    if sys.platform == "win32":
        return windows.open_renamable(path, flags)
    else:
        return os.open(path, os.O_RDWR | flags, 0o600)


def try_lock(descriptor: int, mode: Mode) -> bool:
    """Take the lock if it is free now. A descriptor takes one lock in its life. Raises OSError."""
    if sys.platform == "win32":
        return windows.lock(descriptor, is_shared=mode == "shared", waits=False)
    else:
        try:
            fcntl.flock(descriptor, _FLOCK[mode] | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def wait_for_lock(descriptor: int, mode: Mode) -> None:
    """Take the lock, blocking this thread until it is free. Raises OSError."""
    if sys.platform == "win32":
        windows.lock(descriptor, is_shared=mode == "shared", waits=True)
    else:
        fcntl.flock(descriptor, _FLOCK[mode])


# Files: when they are on disk, and how they get their names.


def sync_file(path: Path) -> None:
    """Return once the content of the file is on disk. Raises OSError."""
    with path.open("r+b") as file:  # Windows syncs no file that is open for reading only
        _sync(file.fileno())


def sync_directory(directory: Path) -> None:
    """Return once the entries of the directory are on disk; Windows has no such call. Raises OSError."""
    if sys.platform != "win32":
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            _sync(descriptor)
        finally:
            os.close(descriptor)


def sync_path(directory: Path) -> None:
    """As ``sync_directory``, and with the entries of those above it, which may be as new. Raises OSError."""
    sync_directory(directory)
    for inner, outer in itertools.pairwise((directory.resolve(), *directory.resolve().parents)):
        if os.path.ismount(inner):
            return
        with contextlib.suppress(OSError):  # one of others, that we may not read, is not new
            sync_directory(outer)


def _sync(descriptor: int) -> None:
    os.fsync(descriptor)
    if sys.platform == "darwin":  # fsync leaves the data in the cache of the drive there
        with contextlib.suppress(OSError):  # a file system that has no more than fsync
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)


def publish(finished: Path, path: Path) -> None:
    """Give a finished file its name, unless another file has it. The file may keep its former name as well.

    Raises:
        FileExistsError: the name is taken; nothing was changed.
        OSError: the file system refuses.
    """
    if sys.platform == "win32":
        finished.rename(path)  # never replaces there
    else:
        try:
            os.link(finished, path)  # completely or not at all, and never replacing another
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            if path.exists():
                raise FileExistsError(f"{path.name} exists") from None
            finished.rename(path)


def replace(finished: Path, path: Path) -> None:
    """Rename a file, replacing another one of that name. Raises OSError."""
    patiently(lambda: finished.replace(path))


_PATIENCE_SECONDS, _PAUSE_SECONDS = 2.0, 0.01


def patiently(act: Callable[[], _T]) -> _T:
    """What ``act`` returns. Windows refuses to replace or to open a file at the moment in which another does."""
    if sys.platform == "win32":
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(PermissionError):
                return act()
            time.sleep(_PAUSE_SECONDS)
    return act()


def is_pinned(path: Path) -> bool:
    """Whether the file cannot be replaced because somebody, perhaps this process, has it open."""
    if sys.platform == "win32":
        return windows.is_open(path)
    else:
        return False


# File systems.

_NETWORK = re.compile(
    r"(nfs|cifs|smb|9p|drvfs|afs|ceph|lustre|gfs2|ocfs2|beegfs|vboxsf|webdav|macfuse"
    r"|fuse\.(sshfs|rclone|s3fs|davfs|gluster|ceph|smb|vmhgfs))"
)
"""How the types of file systems begin whose files other machines may have open."""
_CODE = re.compile(r"\\([0-7]{3})")
_LINUX_MOUNT = re.compile(r"\S+ (?P<place>\S+) (?P<kind>\S+) ")

Mounts: TypeAlias = Sequence[tuple[Path, str]]
"""Where file systems are, and of which type, in the order in which they were mounted."""


def network_file_system(path: Path) -> str:
    """The kind of the network file system that holds the path, or would hold it; empty if it is on this machine."""
    real = path.resolve()
    if sys.platform == "win32":
        return "network drive" if windows.is_remote(real) else ""
    else:
        return network_kind(real, mac_mounts(_mounted()) if sys.platform == "darwin" else linux_mounts(_mounted()))


def network_kind(path: Path, mounts: Mounts) -> str:
    """As ``network_file_system``, by a list of mounts."""
    found = [(place, kind) for place, kind in mounts if path.is_relative_to(place)]
    # The deepest one holds it, and of those at one place the last one, which covers the others.
    _, kind = max(reversed(found), key=lambda mount: len(mount[0].parts), default=(path, ""))
    return kind if _NETWORK.match(kind) else ""


def linux_mounts(text: str) -> Mounts:
    """What is in /proc/self/mounts."""
    found = (_LINUX_MOUNT.match(line) for line in text.splitlines())
    return [(Path(_CODE.sub(lambda code: chr(int(code[1], 8)), one["place"])), one["kind"]) for one in found if one]


def mac_mounts(text: str) -> Mounts:
    """What the command ``mount`` of macOS prints."""
    # SOURCE on PLACE (KIND, OPTIONS)
    found = (line.partition(" on ")[2].rpartition(" (") for line in text.splitlines())
    return [(Path(place), rest.partition(",")[0].rstrip(")")) for place, _, rest in found]


def _mounted() -> str:
    try:
        if sys.platform == "darwin":
            return subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout
        else:
            return Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


# Processes.


def local_socket() -> socket.socket:
    """A socket for processes of this machine alone, named by a path. Raises OSError."""
    if sys.platform == "win32":
        raise OSError("Windows has none that Python can use")
    else:
        return socket.socket(socket.AF_UNIX)


def raise_file_limit(most: int) -> int | None:
    """Raise the limit of open files to ``most`` if this user may, for this process and its children.

    Returns the limit that holds now; None: there is none.
    """
    if sys.platform == "win32":
        return None
    else:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = most if hard == resource.RLIM_INFINITY else min(hard, most)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            with contextlib.suppress(OSError, ValueError):  # macOS permits less than it reports
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
                soft = wanted
        return None if soft == resource.RLIM_INFINITY else soft


_PR_SET_PDEATHSIG = 1
_LOOKS_EVERY = 1.0


def end_with(parent: int) -> None:
    """End this process with its parent: on Linux even while it computes, elsewhere once a thread gets its turn."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 takes long to import, and few processes need it

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it had already died
            os._exit(1)
    else:
        threading.Thread(target=_outlive, args=(parent,), daemon=True).start()


def _outlive(parent: int) -> None:
    if sys.platform == "win32":  # by its id: the launcher of a virtual environment stands between the two
        windows.wait_for_end(parent)
    else:
        while os.getppid() == parent:
            time.sleep(_LOOKS_EVERY)
    os._exit(1)


@contextlib.contextmanager
def ended_when_idle(pipe: BinaryIO, seconds: float) -> Iterator[None]:
    """Read from a pipe inside; this process ends if nothing comes for so long."""
    if sys.platform == "win32":  # where nothing waits for a pipe and for a time; the traceback goes to stderr
        faulthandler.dump_traceback_later(seconds, exit=True)
        yield
        faulthandler.cancel_dump_traceback_later()
    else:
        if not select.select([pipe], [], [], seconds)[0]:
            os._exit(0)
        yield


_PAGE_COUNTS = Path("/proc/self/statm")


def bound_memory(most_bytes: int) -> None:
    """Make allocations beyond what is used now and ``most_bytes`` fail; only Linux supports this."""
    if sys.platform == "linux":
        pages = int(_PAGE_COUNTS.read_text(encoding="ascii").split()[0])
        bound = pages * resource.getpagesize() + most_bytes
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))


def give_back_memory() -> None:
    """Give memory that was freed back to the machine: glibc keeps what lies between things that stay.

    Takes milliseconds, without the interpreter's lock; does nothing where the C library has no such call.
    """
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 as above

        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def command_line(words: Sequence[str]) -> str:
    """A command for a person to copy into the shell."""
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
