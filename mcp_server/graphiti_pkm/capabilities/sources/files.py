"""Reads a file that is to be ingested: only under the root of documents, whole, and as it is at one moment."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graphiti_pkm.capabilities.sources.converting import CONVERTERS, converted
from graphiti_pkm.capabilities.sources.layout import Format
from graphiti_pkm.errors import InvalidInput, NotFound

MOST_BYTES = 4_000_000
_MOST_OF_OTHERS = 50_000_000
"""Bytes of a PDF or DOCX, of which little is text."""
_FORMATS: dict[str, Format] = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}
_PACKED = (".pdf", ".docx")
_NO_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_BINARY = getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class SourceFile:
    """A file that was read."""

    path: str
    """Under the root, with ``/`` between its parts."""
    kind: Format
    text: str
    """As it stands there, with its own line breaks and without a byte order mark; of other formats what they become."""


def read_file(path: Path, root: Path) -> SourceFile:
    """The file, which is opened only if it lies under the root with all links followed.

    Raises:
        NotFound: there is no such file.
        InvalidInput: it lies elsewhere, is too long, no text, or was changed while it was read.
    """
    try:
        base, real = root.resolve(strict=True), path.resolve(strict=True)
    except (OSError, RuntimeError):  # a loop of links is a RuntimeError in Python 3.12
        raise NotFound(f"There is no file {path}. Nothing of it was stored.") from None
    if not real.is_relative_to(base):
        raise InvalidInput(
            f"{path} does not lie under {base}. Nothing of it was read; --document-root DIRECTORY names another root."
        )
    ending = real.suffix.lower()
    if ending not in _FORMATS and ending not in CONVERTERS:
        raise InvalidInput(f"{path}: only these can be ingested: {', '.join((*_FORMATS, *CONVERTERS))}.")
    if not real.is_file():
        raise InvalidInput(f"{path} is no file. Nothing of it was stored.")
    try:
        descriptor = os.open(real, os.O_RDONLY | _NO_WAIT | _BINARY)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}. Nothing of it was stored.") from None
    with os.fdopen(descriptor, "rb") as opened:
        if real.resolve() != real:
            raise changed(path)
        read = read_whole(opened, path, _MOST_OF_OTHERS if ending in _PACKED else MOST_BYTES)
    text, kind = (decoded(read, path), _FORMATS[ending]) if ending in _FORMATS else converted(read, path)
    return SourceFile(real.relative_to(base).as_posix(), kind, text)


def read_whole(opened: BinaryIO, path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of an opened file. Raises InvalidInput if it is none, too long, or not the same afterwards."""
    before = os.fstat(opened.fileno())
    if not stat.S_ISREG(before.st_mode):
        raise InvalidInput(f"{path} is no file. Nothing of it was stored.")
    if before.st_size > most:
        raise InvalidInput(
            f"{path} has {before.st_size:,} bytes, more than {most:,}. Nothing of it was stored; divide it."
        )
    read = opened.read(most + 1)
    after = os.fstat(opened.fileno())
    if len(read) != before.st_size or (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise changed(path)
    return read


def decoded(read: bytes, path: Path) -> str:
    """The text of a file. Raises InvalidInput."""
    try:
        text = read.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{path} is no text in UTF-8 (byte {error.start:,}). Nothing of it was stored; convert it."
        ) from None
    if "\x00" in text:
        raise InvalidInput(f"{path} contains a NUL character, so it is no text. Nothing of it was stored.")
    return text


def changed(path: Path) -> InvalidInput:
    """That a file was not the same all the time."""
    return InvalidInput(f"{path} was changed while it was read. Nothing of it was stored; ingest it again.")
