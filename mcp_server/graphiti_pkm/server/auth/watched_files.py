"""Files that decide who may do what: private, written as a whole, and read again whenever they change."""

import json
import logging
import os
import stat
import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from pydantic import TypeAdapter, ValidationError

from graphiti_pkm.core.operating_system import HAS_FILE_MODES, patiently, replace
from graphiti_pkm.errors import ConfigurationError

_log = logging.getLogger(__name__)

VERSION = 1
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_YOUNG = 1.0
"""Seconds after a change in which another may leave the file's times and size as they are."""
_T = TypeVar("_T")


class _Dated(Protocol):
    """What counts from one time to another."""

    @property
    def created(self) -> datetime: ...
    @property
    def expires(self) -> datetime | None: ...
    @property
    def revoked(self) -> datetime | None: ...


_D = TypeVar("_D", bound=_Dated)


class Watched(Generic[_T]):
    """What a file says, read again whenever it has changed; nothing if it cannot be used."""

    def __init__(self, path: Path, read: Callable[[Path], _T], nothing: _T, then: str) -> None:
        """``then``: what the log says in front of the reason if the file cannot be used."""
        self._path = path
        self._read = read
        self._nothing = nothing
        self._then = then
        self._value = nothing
        self._stamp: tuple[int, ...] | None = None
        self._is_settled = False
        self._said: str | None = None
        self.has_existed = False

    def value(self) -> _T:
        try:
            stamp = _stamp_of(self._path)
            if stamp is not None:
                self.has_existed = True
            if stamp != self._stamp or not self._is_settled:
                self._value = self._read(self._path)
                self._stamp = stamp
                self._is_settled = stamp is None or abs(time.time() - stamp[1] / 1e9) > _YOUNG
            self._said = None
        except ConfigurationError as error:
            self._value, self._is_settled = self._nothing, False
            if error.message != self._said:  # once, not on every request
                _log.error("%s: %s", self._then, error.message)
            self._said = error.message
        return self._value


def read_private(path: Path, what: str) -> str | None:
    """A file that decides who may do what; None if there is none. Raises ConfigurationError if others may write it."""
    try:
        if HAS_FILE_MODES and path.stat().st_mode & _OTHERS_WRITE:
            raise ConfigurationError(f"Others may write the {what} {path}. Do `chmod 600` on it.")
        return patiently(lambda: path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"Cannot read the {what} {path}: {type(error).__name__}.") from None


def write_private(path: Path, content: Mapping[str, object], what: str) -> None:
    """Replace a file as a whole by JSON that only its owner can read. Raises ConfigurationError."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # created with mode 0600
        try:
            with os.fdopen(fd, "w", encoding="utf-8") as file:
                json.dump(content, file, indent=1)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            replace(Path(name), path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ConfigurationError(f"Cannot write the {what} {path}: {error.strerror}. Nothing was changed.") from None


def parse_entries(
    text: str, where: str, what: str, entries: TypeAdapter[tuple[_D, ...]], *, may_be_list: bool = False
) -> tuple[_D, ...]:
    """What lets callers in, from JSON: an object with a version and, as ``what``, the entries.

    ``may_be_list``: whether the entries may also come alone.

    Raises ConfigurationError.
    """
    try:
        data = json.loads(text)
        if isinstance(data, dict) or not may_be_list:
            if not isinstance(data, dict) or data.get("version") != VERSION:
                raise ConfigurationError(f"The {what} in {where} are of another version of this product.")
            data = data.get(what)
        found = entries.validate_python(data)
    except ValidationError as error:
        # Never quote the input: somebody may have entered a token where its hash belongs.
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ConfigurationError(f"The {what} in {where} do not fit: {place}: {first['msg']}.") from None
    except ValueError:
        raise ConfigurationError(f"The {what} in {where} are no JSON.") from None
    times = [at for one in found for at in (one.created, one.expires, one.revoked)]
    if any(at is not None and at.tzinfo is None for at in times):
        raise ConfigurationError(f"A time of the {what} in {where} has no offset; write it as 2026-03-01T00:00:00Z.")
    return found


def _stamp_of(path: Path) -> tuple[int, ...] | None:
    """What changes when a file does; None if there is none. Raises ConfigurationError."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigurationError(f"Cannot read {path}: {type(error).__name__}.") from None
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size
