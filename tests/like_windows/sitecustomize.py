"""Lets graphiti_pkm run on Linux as if on Windows, in every process that has this folder in its PYTHONPATH.

Its modules, and no others, see ``sys.platform == "win32"``, find no ``fcntl`` and ``resource``, and miss what ``os``,
``signal``, ``socket`` and ``asyncio`` do not have on Windows. The calls of kernel32 and msvcrt that they make are made
here with those of Linux, and answer as Microsoft documents them. Libraries run as they do on Linux, but for rules about
files that Windows has for everybody:

- A file that any process has open is neither renamed, replaced nor removed, unless whoever opened it allowed that.
- Renaming never replaces.
- A lock is on bytes, and nobody reads or writes those: one within a file's content is refused here.
- A directory cannot be opened, nor a file synced that is open for reading only. ``select`` takes sockets only.
"""

import asyncio
import builtins
import contextlib
import ctypes
import errno
import fcntl
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OURS = "graphiti_pkm"
ABSENT_MODULES = frozenset({"fcntl", "resource", "pwd", "grp", "termios", "pty", "syslog", "readline"})
ABSENT = {
    "os": "fork forkpty getuid geteuid getgid getegid getgroups setsid setpgid getpgid getpgrp setuid setgid "
    "killpg chown lchown fchown mkfifo mknod nice openpty pipe2 posix_fallocate posix_fadvise posix_spawn "
    "pread pwrite readv writev sendfile statvfs fstatvfs sync fdatasync sysconf uname wait wait3 wait4 "
    "waitid WNOHANG getloadavg register_at_fork sched_getaffinity sched_yield memfd_create eventfd "
    "pidfd_open getpriority setpriority ctermid ttyname confstr pathconf O_CLOEXEC O_NONBLOCK O_DIRECTORY "
    "O_NOFOLLOW O_SYNC O_DSYNC O_TMPFILE O_NOATIME",
    "signal": "SIGALRM SIGKILL SIGHUP SIGQUIT SIGCHLD SIGUSR1 SIGUSR2 SIGPIPE SIGTSTP SIGCONT SIGSTOP SIGWINCH "
    "alarm pause setitimer getitimer ITIMER_REAL pthread_sigmask pthread_kill SIG_BLOCK SIG_UNBLOCK "
    "SIG_SETMASK sigwait siginterrupt",
    "socket": "AF_UNIX SO_REUSEPORT",
    "asyncio": "open_unix_connection start_unix_server",
    "select": "poll epoll",
}

_SHARES_DELETING, _CREATE_NEW, _OPEN_EXISTING, _OPEN_ALWAYS = 4, 1, 3, 4
_SHARED_MARK = os.O_NOATIME
"""A descriptor with it stands for a handle that lets others rename and remove the file; /proc shows it to all."""
_NO_HANDLE = ctypes.c_void_p(-1).value
_real_import, _real_open, _real_fsync, _real_select = builtins.__import__, os.open, os.fsync, select.select
_last_error = 0


class View(types.ModuleType):
    """A module as ours see it."""

    def __init__(self, module: types.ModuleType, absent: str = "", present: Mapping[str, Any] | None = None) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__.update(present or {}, _module=module, _absent=frozenset(absent.split()))

    def __getattr__(self, name: str) -> Any:
        if name in self._absent:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name)
        return getattr(self._module, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._module, name, value)


def as_windows(number: int) -> OSError:
    """What ``ctypes.WinError`` makes of an error of Windows."""
    known = {2: errno.ENOENT, 5: errno.EACCES, 32: errno.EACCES, 80: errno.EEXIST, 183: errno.EEXIST}
    return OSError(known.get(number, errno.EINVAL), f"WinError {number}")


def failed(number: int, answer: Any) -> Any:
    """The answer of a call that failed."""
    global _last_error  # noqa: PLW0603 there is one in Windows as well
    _last_error = number
    return answer


def lock_file(handle: int, flags: int, _reserved: int, low: int, high: int, place: Any) -> int:
    """LockFileEx."""
    offset = place._obj.Offset | place._obj.OffsetHigh << 32
    assert (low, high) == (1, 0)
    assert offset >= max(os.fstat(handle).st_size, 1 << 40), "a lock within the content keeps readers out"
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if flags & 2 else fcntl.LOCK_SH) | (fcntl.LOCK_NB if flags & 1 else 0))
    except BlockingIOError:
        return int(failed(33, 0))
    return 1


def create_file(
    path: str, _access: int, share: int, _security: None, how: int, _attributes: int, _template: None
) -> Any:
    """CreateFileW, for reading and writing."""
    if not share and Path(path).exists() and _is_open(path, even_shared=True):
        return failed(32, _NO_HANDLE)
    flags = {_CREATE_NEW: os.O_CREAT | os.O_EXCL, _OPEN_EXISTING: 0, _OPEN_ALWAYS: os.O_CREAT}[how]
    mark = _SHARED_MARK if share & _SHARES_DELETING else 0
    try:
        return _real_open(path, os.O_RDWR | os.O_CLOEXEC | flags | mark, 0o666)
    except FileExistsError:
        return failed(80, _NO_HANDLE)
    except FileNotFoundError:
        return failed(2, _NO_HANDLE)
    except PermissionError:
        return failed(5, _NO_HANDLE)


def close_handle(handle: int) -> int:
    """CloseHandle."""
    os.close(handle)
    return 1


def drive_type(_root: str) -> int:
    """GetDriveTypeW: of a disk of this machine, if a test does not want another."""
    return int(os.environ.get("LIKE_WINDOWS_DRIVE", "3"))


def open_process(_access: int, _inherited: bool, process_id: int) -> int:
    """OpenProcess."""
    try:
        return os.pidfd_open(process_id)
    except ProcessLookupError:
        return int(failed(87, 0))


def wait_for_single_object(handle: int, _milliseconds: int) -> int:
    """WaitForSingleObject, without end."""
    _real_select([handle], [], [])
    return 0


class Kernel32:
    """What ctypes.WinDLL("kernel32") has of it."""

    def __init__(self, name: str, *, use_last_error: bool) -> None:
        assert (name, use_last_error) == ("kernel32", True)

        self.LockFileEx, self.CreateFileW, self.CloseHandle = lock_file, create_file, close_handle
        self.GetDriveTypeW, self.OpenProcess, self.WaitForSingleObject = (
            drive_type,
            open_process,
            wait_for_single_object,
        )


def _is_open(path: Any, *, even_shared: bool = False) -> bool:
    """Whether any process has it open, and has not allowed that it is renamed or removed."""
    wanted = os.path.realpath(path)
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended, or is not ours to look at
            for descriptor in (process / "fd").iterdir():
                with contextlib.suppress(OSError):  # closed meanwhile
                    is_it = str(descriptor.readlink()) == wanted
                    if is_it and (even_shared or not _is_marked(process / "fdinfo" / descriptor.name)):
                        return True
    return False


def _is_marked(information: Path) -> bool:
    lines = (line.split() for line in information.read_text(encoding="ascii").splitlines())
    return any(name == "flags:" and int(flags, 8) & _SHARED_MARK for name, flags, *_ in lines)


def _rename(source: Any, target: Any) -> None:
    """As ``os.rename`` on Windows: in one step, and never replacing."""
    if ctypes.CDLL(None, use_errno=True).renameat2(-100, os.fsencode(source), -100, os.fsencode(target), 1):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), source, None, target)


def _guarded(act: Any) -> Any:
    def guarded(*paths: Any, **options: Any) -> None:
        for path in () if options.get("dir_fd") else paths:
            if act is not _rename or path is paths[0]:  # a rename that does not replace leaves its target alone
                _refuse_if_open(path)
        act(*paths, **options)

    return guarded


def _refuse_if_open(path: Any) -> None:
    if Path(path).is_file() and _is_open(path):
        raise PermissionError(errno.EACCES, "The file is being used by another process", path)


def open_file(path: Any, flags: int, mode: int = 0o777, **options: Any) -> int:
    """os.open."""
    if Path(path).is_dir():
        raise PermissionError(errno.EACCES, "Permission denied", path)
    return _real_open(path, flags, mode, **options)


def fsync(descriptor: int) -> None:
    """os.fsync."""
    if fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, "Bad file descriptor")
    _real_fsync(descriptor)


def select_sockets(*lists: Any) -> Any:
    """select.select."""
    assert all(isinstance(one, socket.socket) for each in lists[:3] for one in each), "select takes only sockets"
    return _real_select(*lists)


async def create_subprocess_exec(*command: str, creationflags: int, **options: Any) -> Any:
    """asyncio.create_subprocess_exec."""
    assert not options.keys() & {"start_new_session", "preexec_fn", "pass_fds"}
    assert creationflags
    return await asyncio.create_subprocess_exec(*command, **options)


_MSVCRT = types.ModuleType("msvcrt")
_MSVCRT.__dict__.update(get_osfhandle=lambda descriptor: descriptor, open_osfhandle=lambda handle, _flags: handle)
_PRESENT: dict[str, dict[str, Any]] = {
    "sys": {"platform": "win32"},
    "os": {"open": open_file, "fsync": fsync, "O_NOINHERIT": 0, "O_BINARY": 0},
    "signal": {"SIGBREAK": signal.SIGTTIN},
    "select": {"select": select_sockets},
    "asyncio": {"create_subprocess_exec": create_subprocess_exec},
    "subprocess": {"CREATE_NEW_PROCESS_GROUP": 0x200, "CREATE_NO_WINDOW": 0x8000000},
    "ctypes": {"WinDLL": Kernel32, "WinError": as_windows, "get_last_error": lambda: _last_error},
}
_MODULES = (sys, os, signal, socket, select, asyncio, subprocess, ctypes)
VIEWS = {one.__name__: View(one, ABSENT.get(one.__name__, ""), _PRESENT.get(one.__name__)) for one in _MODULES}


def _import(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:  # noqa: A002
    importer = globals or {}
    is_ours = str(importer.get("__package__") or importer.get("__name__") or "").partition(".")[0] == OURS
    if not is_ours or level:
        return _real_import(name, globals, locals, fromlist, level)
    if name in ABSENT_MODULES:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    if name == "msvcrt":
        return _MSVCRT
    found = _real_import(name, globals, locals, fromlist, level)
    return VIEWS.get(getattr(found, "__name__", ""), found)


builtins.__import__ = _import
os.rename, os.replace = _guarded(_rename), _guarded(os.replace)
os.unlink = os.remove = _guarded(os.unlink)
shutil._use_fd_functions = False
tempfile.TemporaryFile = tempfile.NamedTemporaryFile
