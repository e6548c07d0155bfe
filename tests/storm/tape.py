"""A tape of what processes do to the files of a directory: each call that changes or syncs one, and what they say.

``tape.c`` writes it, preloaded into them. It sees the calls of the C library, which Python and SQLite use. A test that
plays a tape compares the end with the real files: a call that is not on it would be noticed.
"""

import json
import os
import shutil
import struct
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SOURCE = Path(__file__).with_name("tape.c")
_HEAD = struct.Struct("=IQQqqIII")
WRITE, TRUNCATE, SYNC, CREATE, EMPTY, NAMELESS = "w", "t", "s", "c", "e", "n"
UNLINK, RENAME, LINK, MKDIR, SAY, END = "u", "r", "l", "m", "p", "."


@dataclass(frozen=True)
class Record:
    """Before a call, or after it (``END``): then ``length`` is what the call returned."""

    kind: str
    call: int
    inode: int
    offset: int
    length: int
    path: str
    other: str
    data: bytes


def recorder(directory: Path) -> Path:
    """The library, built there."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    assert compiler, "The tests of power loss and of kills at every write need Linux and a C compiler: apt install gcc."
    library = directory / "tape.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, _SOURCE, "-pthread"], check=True)
    return library


def recording(library: Path, root: Path, tape: Path, kill_at: int = 0) -> dict[str, str]:
    """For the environment of a process whose doings in ``root`` go on the tape; it dies before call ``kill_at``."""
    return {
        "LD_PRELOAD": str(library),
        "TAPE_ROOT": str(root.resolve()),
        "TAPE_FILE": str(tape),
        "TAPE_KILL_AT": str(kill_at),
    }


def records(tape: Path) -> Iterator[Record]:
    """In their order, which is that of all processes."""
    data = memoryview(tape.read_bytes())
    at = 0
    while at < len(data):
        kind, call, inode, offset, length, *sizes = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        parts = []
        for size in sizes:
            parts.append(bytes(data[at : at + size]))
            at += size
        path, other, content = parts
        yield Record(chr(kind), call, inode, offset, length, os.fsdecode(path), os.fsdecode(other), content)


def calls(played: Iterable[Record]) -> "Counter[int]":
    """How many calls on the files each process made, the first one first."""
    return Counter(record.call >> 32 for record in played if record.kind not in {SAY, END})


def answers(played: list[Record]) -> list[tuple[int, dict[str, Any]]]:
    """What servers answered to calls of tools, without errors, each with the index of the record that ends it."""
    found = []
    lines: dict[int, bytes] = {}
    for index, record in enumerate(played):
        if record.kind != SAY:
            continue
        process = record.call >> 32
        *whole, lines[process] = (lines.get(process, b"") + record.data).split(b"\n")
        for line in whole:
            result = json.loads(line).get("result", {}) if line.startswith(b"{") else {}
            if isinstance(answer := result.get("structuredContent"), dict) and not result.get("isError"):
                found.append((index, answer))
    return found
