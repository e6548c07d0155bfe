"""The calls of Windows that Python's own library lacks; ``operating_system`` alone imports this.

Why not a library: no lock of ``msvcrt`` is shared, which group locks need; ``portalocker`` shares one only with pywin32
beside it, ``filelock`` through a SQLite file of its own. The one call that does it, ``LockFileEx``, is below.
"""

import ctypes
import os
import sys
from ctypes import wintypes
from pathlib import Path

assert sys.platform == "win32"  # noqa: S101 elsewhere the type checker skips what follows

import msvcrt  # noqa: E402 as it is nowhere else

_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)

_SHARED_LOCK, _EXCLUSIVE_LOCK, _DO_NOT_WAIT = 0, 2, 1
_LOCK_VIOLATION, _SHARING_VIOLATION = 33, 32
_LOCKED_BYTE = 1 << 62
"""Far behind the end of any file: a lock keeps others from reading and writing the bytes that it covers."""
_READ_AND_WRITE = 0xC000_0000
_SHARE_ALL, _SHARE_NOTHING = 7, 0
_DISPOSITIONS = {os.O_CREAT | os.O_EXCL: 1, 0: 3, os.O_CREAT: 4}
_ORDINARY_FILE = 0x80
_NO_HANDLE = wintypes.HANDLE(-1).value
_REMOTE_DRIVE = 4
_SYNCHRONIZE = 0x0010_0000
_FOR_EVER = 0xFFFF_FFFF


class _Overlapped(ctypes.Structure):
    """OVERLAPPED: here it only says where the locked byte is."""

    _fields_ = (
        ("Internal", ctypes.c_size_t),
        ("InternalHigh", ctypes.c_size_t),
        ("Offset", wintypes.DWORD),
        ("OffsetHigh", wintypes.DWORD),
        ("hEvent", wintypes.HANDLE),
    )


_lock_file = _kernel32.LockFileEx
_lock_file.restype = wintypes.BOOL
_lock_file.argtypes = (
    *(wintypes.HANDLE, wintypes.DWORD, wintypes.DWORD, wintypes.DWORD, wintypes.DWORD),
    ctypes.POINTER(_Overlapped),
)
_create_file = _kernel32.CreateFileW
_create_file.restype = wintypes.HANDLE
_create_file.argtypes = (
    *(wintypes.LPCWSTR, wintypes.DWORD, wintypes.DWORD, wintypes.LPVOID),
    *(wintypes.DWORD, wintypes.DWORD, wintypes.HANDLE),
)
_close_handle = _kernel32.CloseHandle
_close_handle.argtypes = (wintypes.HANDLE,)
_drive_type = _kernel32.GetDriveTypeW
_drive_type.argtypes = (wintypes.LPCWSTR,)
_open_process = _kernel32.OpenProcess
_open_process.restype = wintypes.HANDLE
_open_process.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
_wait = _kernel32.WaitForSingleObject
_wait.argtypes = (wintypes.HANDLE, wintypes.DWORD)


def lock(descriptor: int, *, is_shared: bool, waits: bool) -> bool:
    """Lock an open file; False if another has it and ``waits`` is false. Windows frees it with the descriptor."""
    flags = (_SHARED_LOCK if is_shared else _EXCLUSIVE_LOCK) | (0 if waits else _DO_NOT_WAIT)
    place = _Overlapped(Offset=_LOCKED_BYTE & 0xFFFF_FFFF, OffsetHigh=_LOCKED_BYTE >> 32)
    if _lock_file(msvcrt.get_osfhandle(descriptor), flags, 0, 1, 0, ctypes.byref(place)):
        return True
    if ctypes.get_last_error() == _LOCK_VIOLATION:
        return False
    raise ctypes.WinError(ctypes.get_last_error())


def open_renamable(path: Path, flags: int) -> int:
    """As ``os.open`` for reading and writing, but others may rename and remove the file meanwhile."""
    handle = _create_file(str(path), _READ_AND_WRITE, _SHARE_ALL, None, _DISPOSITIONS[flags], _ORDINARY_FILE, None)
    if handle == _NO_HANDLE:
        raise ctypes.WinError(ctypes.get_last_error())
    return msvcrt.open_osfhandle(handle, os.O_RDWR | os.O_NOINHERIT)


def is_open(path: Path) -> bool:
    """Whether any process has the file open."""
    handle = _create_file(str(path), _READ_AND_WRITE, _SHARE_NOTHING, None, _DISPOSITIONS[0], _ORDINARY_FILE, None)
    if handle == _NO_HANDLE:
        return ctypes.get_last_error() == _SHARING_VIOLATION
    _close_handle(handle)
    return False


def is_remote(path: Path) -> bool:
    """Whether the drive of an absolute path is on another machine."""
    return bool(_drive_type(path.anchor) == _REMOTE_DRIVE)


def wait_for_end(process_id: int) -> None:
    """Return when the process has ended."""
    process = _open_process(_SYNCHRONIZE, False, process_id)  # noqa: FBT003 it is not inherited
    if process:
        _wait(process, _FOR_EVER)
