"""The key that signs cursors and confirmations: a file of the data directory, which all its processes share."""

import os
import secrets
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from graphiti_pkm.core import operating_system

_FILE = "signing.key"
_BYTES = 32
_DIGITS = frozenset("0123456789abcdef")


def signing_key(data_dir: Path) -> bytes:
    """The key of this directory, created on first use, or again if the file is damaged. Raises OSError."""
    path = data_dir / _FILE
    is_there = path.exists()  # before it is read: what another process makes meanwhile is not damaged
    known = _read(path)
    if known is None:
        _place(path, secrets.token_bytes(_BYTES), replace=is_there)
        known = _read(path)
    if known is None:
        raise OSError(f"{path} cannot be read back")
    return known


def keep_signing_key(data_dir: Path, key: bytes) -> None:
    """Store the key that the other hosts of the database use. Raises OSError."""
    path = data_dir / _FILE
    if _read(path) != key:
        _place(path, key, replace=True)


def _read(path: Path) -> bytes | None:
    """The key; None if there is none, or none that is valid."""
    try:
        text = operating_system.patiently(lambda: path.read_text(encoding="ascii")).strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return bytes.fromhex(text) if len(text) == 2 * _BYTES and set(text) <= _DIGITS else None


def _place(path: Path, key: bytes, *, replace: bool) -> None:
    """Write the file completely or not at all; without ``replace`` never replacing another process's."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f"{_FILE}.{os.getpid()}.{uuid4().hex}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex())
        if replace:
            operating_system.replace(made, path)
        else:
            with suppress(FileExistsError):
                operating_system.publish(made, path)
    finally:
        made.unlink(missing_ok=True)
