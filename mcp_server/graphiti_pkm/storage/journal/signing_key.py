"""The key that signs cursors and confirmations: a file of the data directory, which all its processes share."""

import secrets
from pathlib import Path

from graphiti_pkm.storage.journal.shared_text import keep_text, known_text, shared_text

_FILE = "signing.key"
_BYTES = 32
_DIGITS = frozenset("0123456789abcdef")


def signing_key(data_dir: Path) -> bytes:
    """The key of this directory, created on first use, or again if the file is damaged. Raises OSError."""
    return bytes.fromhex(shared_text(data_dir / _FILE, lambda: secrets.token_bytes(_BYTES).hex(), _is_key))


def keep_signing_key(data_dir: Path, key: bytes) -> None:
    """Store the key that the other hosts of the database use. Raises OSError."""
    path = data_dir / _FILE
    if known_text(path, _is_key) != key.hex():
        keep_text(path, key.hex(), replaces=True)


def _is_key(text: str) -> bool:
    return len(text) == 2 * _BYTES and set(text) <= _DIGITS
