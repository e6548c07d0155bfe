"""Repair of a damaged append-only file, with a report; what was cut off comes back from the journal.

The watchdog imports this: standard library only, nothing slow.
"""

import json
import os
import re
import shutil
import subprocess
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

DIRECTORY = "appendonlydir"
MANIFEST = "appendonly.aof.manifest"
SEAL = "appendonly.seal.json"
KEPT_ORIGINALS = 2
"""A damaged original still holds what was deleted later, so only the newest are kept."""


class Repair(NamedTuple):
    """One repair, as its report file keeps it."""

    time: str
    outcome: str
    """``cut`` after the last whole command, ``skipped`` unreadable commands, or ``started_empty``."""
    bytes_before: int
    bytes_after: int
    original: str
    """Name in the data directory under which the damaged files are kept."""


_CHUNK = 1024 * 1024
_ENTRY = re.compile(r"file (\S+) seq \d+ type [bhi]\b.*")


def is_complete(data_dir: Path) -> bool:
    """Whether the manifest is well formed and all its files are there.

    To be asked before each start: Redis starts empty, without a word, beside files that lost their manifest,
    and redis-check-aof "repairs" a damaged manifest into an empty one.
    """
    directory = data_dir / DIRECTORY
    if not directory.is_dir() or not any(directory.iterdir()):
        return True
    try:
        lines = (directory / MANIFEST).read_text().splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    entries = [_ENTRY.fullmatch(line) for line in lines if not line.startswith("#")]
    return bool(entries) and all(entry and (directory / entry[1]).is_file() for entry in entries)


def is_damaged(data_dir: Path, redis_server: str) -> bool:
    """Whether redis-check-aof finds fault with the append-only file."""
    return _check(data_dir, redis_server, fix=False) != 0


def seal(data_dir: Path) -> None:
    """Note size and checksum of each part when the database has stopped in order.

    A flipped byte inside a value is no error to Redis, which loads it as if it had been written so.

    Raises:
        OSError: for example because the disk is full; the older note then stands.
    """
    sealed = {path.name: [path.stat().st_size, _checksum(path)] for path in _parts(data_dir)}
    partial = data_dir / f".{SEAL}.new"
    partial.write_text(json.dumps(sealed))
    partial.replace(data_dir / SEAL)


def is_altered(data_dir: Path) -> bool:
    """Whether what was there at the last orderly stop is there no more; what came after it is not looked at.

    Redis only appends to a part and never uses its name again.
    """
    try:
        sealed = json.loads((data_dir / SEAL).read_text())
        known = ((path, *sealed[path.name]) for path in _parts(data_dir) if path.name in sealed)
        return any(_checksum(path, length) != checksum for path, length, checksum in known)
    except (OSError, ValueError, TypeError):
        return False  # never stopped in order, or the note itself is damaged: Redis finds what it can


def repair(data_dir: Path, redis_server: str) -> Repair:
    """Cut the append-only file after its last whole command, or start empty where that does not help.

    Raises:
        OSError: the damaged files cannot be copied or replaced, for example because the disk is full.
    """
    stamp = _stamp()
    before = size(data_dir)
    damaged = data_dir / DIRECTORY
    original = data_dir / f"{DIRECTORY}-damaged-{stamp}"
    _copy(damaged, original)
    if _check(data_dir, redis_server, fix=True) != 0 or _check(data_dir, redis_server, fix=False) != 0:
        shutil.rmtree(damaged)
        return _report(data_dir, Repair(stamp, "started_empty", before, 0, original.name))
    return _report(data_dir, Repair(stamp, "cut", before, size(data_dir), original.name))


def set_aside(data_dir: Path) -> Repair:
    """Start empty: for files that are whole in form and that the database cannot load all the same."""
    stamp = _stamp()
    before = size(data_dir)
    original = data_dir / f"{DIRECTORY}-damaged-{stamp}"
    (data_dir / DIRECTORY).rename(original)
    return _report(data_dir, Repair(stamp, "started_empty", before, 0, original.name))


def note_skipped(data_dir: Path) -> Repair:
    """Report that the database passed over commands it could not understand; their writes are missing.

    To be called once it has loaded; a rewrite afterwards drops those commands.
    """
    stamp, now = _stamp(), size(data_dir)
    original = data_dir / f"{DIRECTORY}-damaged-{stamp}"
    _copy(data_dir / DIRECTORY, original)
    return _report(data_dir, Repair(stamp, "skipped", now, now, original.name))


def last_repair(data_dir: Path) -> Repair | None:
    """The newest report, None if nothing was ever repaired."""
    for path in sorted(data_dir.glob("aof-repair-*.json"), reverse=True):
        try:
            return Repair(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            continue
    return None


def is_settled(data_dir: Path) -> bool:
    """Whether the graph was made anew since the newest repair, or there was none."""
    repaired = last_repair(data_dir)
    return repaired is None or _settled_mark(data_dir, repaired).exists()


def settle(data_dir: Path) -> None:
    """Note that what the newest repair lost is back."""
    repaired = last_repair(data_dir)
    if repaired is not None:
        _settled_mark(data_dir, repaired).touch()


def sweep(data_dir: Path) -> bool:
    """Remove kept originals of repairs and files of rewrites that were cut short; False while older parts are there.

    Redis takes older parts away itself, in a thread, once a rewrite is complete.
    """
    for copy in (*data_dir.glob(f"{DIRECTORY}-damaged-*"), data_dir / f"{DIRECTORY}-unfinished-copy"):
        shutil.rmtree(copy, ignore_errors=True)
    for part in (*data_dir.glob("temp-*.aof"), *data_dir.glob("temp-*.rdb")):
        if not _is_being_written(part):
            part.unlink(missing_ok=True)
    try:
        lines = (data_dir / DIRECTORY / MANIFEST).read_text().splitlines()
    except OSError:
        return False
    used = {entry[1] for line in lines if (entry := _ENTRY.fullmatch(line)) and " type h" not in line}
    return all(path.name in used for path in _parts(data_dir))


def _is_being_written(part: Path) -> bool:
    """By the process whose number is in its name."""
    number = re.search(r"(?<!\d)(\d+)\.", part.name)
    try:
        os.kill(int(number[1]) if number else 0, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return number is not None


def _parts(data_dir: Path) -> Iterator[Path]:
    return (path for path in (data_dir / DIRECTORY).glob("*") if path.name != MANIFEST)


def _checksum(path: Path, length: int = -1) -> int:
    """CRC-32 of the first ``length`` bytes; a shorter file has another."""
    checksum, left = 0, path.stat().st_size if length < 0 else length
    with path.open("rb") as file:
        while left > 0 and (chunk := file.read(min(left, _CHUNK))):
            checksum, left = zlib.crc32(chunk, checksum), left - len(chunk)
    return checksum if left <= 0 else -1


def _settled_mark(data_dir: Path, repaired: Repair) -> Path:
    return data_dir / f"aof-repair-{repaired.time}.settled"


def size(data_dir: Path) -> int:
    """Bytes of the append-only file, all its parts together."""
    total = 0
    for path in (data_dir / DIRECTORY).glob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # a rewrite replaced it meanwhile
            continue
    return total


def _check(data_dir: Path, redis_server: str, *, fix: bool) -> int:
    """Exit code of redis-check-aof, which is redis-server under another name."""
    arguments = ["redis-check-aof", *(["--fix"] if fix else []), str(data_dir / DIRECTORY / MANIFEST)]
    return subprocess.run(  # noqa: S603 the shipped binary
        arguments,
        executable=redis_server,
        input=b"y\n" * 4,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    ).returncode


def _copy(directory: Path, to: Path) -> None:
    """All of it or nothing under that name."""
    unfinished = to.with_name(f"{DIRECTORY}-unfinished-copy")
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(directory, unfinished)
    unfinished.rename(to)


def _stamp() -> str:
    now = time.time()
    return time.strftime("%Y%m%dT%H%M%S", time.gmtime(now)) + f"{int(now * 1000) % 1000:03d}Z"


def _report(data_dir: Path, done: Repair) -> Repair:
    (data_dir / SEAL).unlink(missing_ok=True)  # names of parts start again at 1
    path = data_dir / f"aof-repair-{done.time}.json"
    with path.open("w") as file:
        json.dump(done._asdict(), file)
        file.flush()
        os.fsync(file.fileno())
    for old in sorted(data_dir.glob(f"{DIRECTORY}-damaged-*"))[:-KEPT_ORIGINALS]:
        shutil.rmtree(old)
    return done
