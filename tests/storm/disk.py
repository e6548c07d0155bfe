"""A disk that plays a tape: what has reached it for good, what a power loss may still take, and what it may leave.

Strict, stricter than file systems are: an fsync covers the changes of one file, or the names of one directory, that had
returned before it began. Of all else any part may be lost: names without the content, content without the names,
sectors of one write without the others, a later write without an earlier one.
"""

import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal, TypeAlias

from tests.storm.tape import (
    CREATE,
    EMPTY,
    END,
    LINK,
    MKDIR,
    NAMELESS,
    RENAME,
    SAY,
    SYNC,
    TRUNCATE,
    UNLINK,
    WRITE,
    Record,
)

SECTOR = 512
_HALF = 0.5
Part: TypeAlias = Literal["none", "all", "some", "torn"]
"""What is kept of that which no fsync covers. ``torn``: all of it, but only the first sectors of the last write."""
Directory: TypeAlias = Mapping[str, bytes]
"""Content by path."""


@dataclass
class _Change:
    """A write, or a truncation to ``size``."""

    call: int
    offset: int = 0
    data: bytes = b""
    size: int | None = None
    is_over: bool = False

    def sectors(self) -> "list[_Change]":
        """What of it reaches the disk at once, each."""
        if self.size is not None:
            return [self]
        end = self.offset + len(self.data)
        cuts = [self.offset, *range(self.offset // SECTOR * SECTOR + SECTOR, end, SECTOR), end]
        return [
            _Change(self.call, start, self.data[start - self.offset : stop - self.offset])
            for start, stop in itertools.pairwise(cuts)
        ]

    def put(self, content: bytearray) -> None:
        if self.size is not None:
            del content[self.size :]
            content.extend(bytes(self.size - len(content)))
        else:
            content.extend(bytes(max(0, self.offset - len(content))))
            content[self.offset : self.offset + len(self.data)] = self.data


@dataclass
class _File:
    synced: bytearray = field(default_factory=bytearray)
    changes: dict[int, _Change] = field(default_factory=dict)
    """By call, in the order of calls."""


_Entries: TypeAlias = dict[str, _File | None]
"""Files by path; a directory is None."""


@dataclass
class _Renaming:
    """A change of names."""

    kind: str
    path: str
    other: str
    file: _File | None
    is_over: bool = False

    def put(self, entries: _Entries) -> None:
        if self.kind in {UNLINK, RENAME}:
            entries.pop(self.path, None)
        if self.kind != UNLINK:
            entries[self.other or self.path] = self.file

    def directories(self) -> set[str]:
        return {str(PurePath(path).parent) for path in (self.path, self.other) if path}


class Disk:
    """One directory, ``root``, which was there and empty before the tape began."""

    def __init__(self, root: Path) -> None:
        self._root = str(root.resolve())
        self._seen: _Entries = {self._root: None}
        """As processes see it."""
        self._synced: _Entries = {self._root: None}
        self._renamings: dict[int, _Renaming] = {}
        self._inodes: dict[int, _File] = {}
        self._calls: dict[int, Record] = {}
        self._covered: dict[int, list[int]] = {}
        """Calls, by each fsync that has begun."""

    def play(self, record: Record) -> None:
        """The next record."""
        if record.kind == SAY:
            return
        if record.kind != END:
            self._calls[record.call] = record
            self._begin(record)
        else:
            self._end(self._calls.pop(record.call), record)

    def _begin(self, record: Record) -> None:
        if record.kind in {WRITE, TRUNCATE}:
            size = record.length if record.kind == TRUNCATE else None
            change = _Change(record.call, record.offset, record.data, size)
            self._inodes[record.inode].changes[record.call] = change
        elif record.kind == SYNC:
            pending = self._renamings if self._is_directory(record.path) else self._inodes[record.inode].changes
            self._covered[record.call] = [call for call, one in pending.items() if one.is_over]
        elif record.kind in {UNLINK, RENAME, LINK, MKDIR}:
            file = self._seen.get(record.path)
            self._renamings[record.call] = _Renaming(record.kind, record.path, record.other, file)

    def _end(self, begun: Record, record: Record) -> None:
        has_failed = record.length < 0
        if begun.kind == SYNC:
            covered = self._covered.pop(begun.call)
            if not has_failed:
                self._sync(begun, covered)
        elif begun.kind in {CREATE, EMPTY, NAMELESS}:
            if not has_failed:
                self._opened(begun, record.inode)
        elif begun.kind in {WRITE, TRUNCATE}:
            changes = self._inodes[begun.inode].changes
            changes[begun.call].is_over = True
            if has_failed:
                del changes[begun.call]
            elif begun.kind == WRITE:
                changes[begun.call].data = begun.data[: record.length]
        elif has_failed:
            del self._renamings[begun.call]
        else:
            self._rename(begun.call, self._renamings[begun.call])

    def _opened(self, begun: Record, inode: int) -> None:
        if begun.kind == EMPTY:
            self._inodes[inode].changes[begun.call] = _Change(begun.call, size=0, is_over=True)
        elif begun.kind == NAMELESS or begun.path not in self._seen:  # else another process was quicker
            self._inodes[inode] = file = _File()
            if begun.kind == CREATE:
                self._rename(begun.call, _Renaming(CREATE, begun.path, "", file))

    def _rename(self, call: int, renaming: _Renaming) -> None:
        renaming.is_over = True
        renaming.put(self._seen)
        self._renamings[call] = renaming

    def _sync(self, begun: Record, covered: list[int]) -> None:
        if self._is_directory(begun.path):
            for call in covered:
                one = self._renamings.get(call)
                if one is not None and begun.path in one.directories():
                    one.put(self._synced)
                    del self._renamings[call]
            return
        file = self._inodes[begun.inode]
        for call in covered:
            if call in file.changes:  # else another fsync was quicker
                file.changes.pop(call).put(file.synced)

    def _is_directory(self, path: str) -> bool:
        return path in self._seen and self._seen[path] is None

    def left(self, content: Part, names: Part, draw: random.Random) -> Directory:
        """The files after a power loss now; the shared memory of SQLite is no file then."""
        entries = dict(self._synced)
        for one in _kept(list(self._renamings.values()), names, draw):
            one.put(entries)
        return {
            path: _content(file, content, draw)
            for path, file in entries.items()
            if file is not None and not path.endswith("-shm") and self._is_reached(path, entries)
        }

    def seen(self) -> Directory:
        """The files as processes see them now, which is what a kill leaves."""
        return {
            path: _content(file, "all", random.Random(0))  # noqa: S311 nothing is drawn
            for path, file in self._seen.items()
            if file is not None and not path.endswith("-shm")
        }

    def _is_reached(self, path: str, entries: _Entries) -> bool:
        parents = itertools.takewhile(lambda parent: str(parent) != self._root, PurePath(path).parents)
        return all(entries.get(str(parent), self) is None for parent in parents)


def _kept(changes: Sequence[_Renaming], part: Part, draw: random.Random) -> Iterator[_Renaming]:
    share = draw.random()
    yield from (one for one in changes if part in {"all", "torn"} or (part == "some" and draw.random() < share))


def _content(file: _File, part: Part, draw: random.Random) -> bytes:
    content = bytearray(file.synced)
    share, tearing, growing = draw.random(), draw.random(), draw.random()
    changes = list(file.changes.values()) if part != "none" else []
    for change in changes:
        is_last = change is changes[-1]
        if part == "all" or (part == "torn" and not is_last) or (part == "some" and draw.random() < share):
            change.put(content)
        elif part == "torn":
            sectors = change.sectors()
            for sector in sectors[: draw.randint(0, len(sectors))]:
                sector.put(content)
        elif draw.random() < tearing:
            for sector in change.sectors():
                if draw.random() < _HALF:
                    sector.put(content)
        elif draw.random() < growing:  # the size was written, not the data
            content.extend(bytes(max(0, change.offset + len(change.data) - len(content))))
    return bytes(content)
