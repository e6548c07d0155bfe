"""A line in a file of the data directory that all its processes share: the first of them writes it."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from graphiti_pkm.core.operating_system import patiently, publish, replace, sync_directory


def shared_text(path: Path, make: Callable[[], str], is_valid: Callable[[str], bool]) -> str:
    """The text of this file, which is made on first use, and again if it is damaged. Raises OSError."""
    is_there = path.exists()  # before it is read: what another process makes meanwhile is not damaged
    text = known_text(path, is_valid)
    if text is None:
        keep_text(path, make(), replaces=is_there)
        text = known_text(path, is_valid)
    if text is None:
        raise OSError(f"{path} cannot be read back")
    return text


def known_text(path: Path, is_valid: Callable[[str], bool]) -> str | None:
    """The text of this file; None if there is none that is valid."""
    try:
        text = patiently(lambda: path.read_text(encoding="ascii")).strip()
    except (FileNotFoundError, UnicodeDecodeError):
        return None
    return text if is_valid(text) else None


def keep_text(path: Path, text: str, *, replaces: bool) -> None:
    """Write the file completely or not at all; it is on disk when this returns, and only its owner may read it.

    ``replaces``: also a file of that name. Otherwise that of another process stays. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    made = path.with_name(f"{path.name}.{os.getpid()}.{uuid4().hex}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)  # else a power loss may leave an empty file of that name
        if replaces:
            replace(made, path)
        else:
            with suppress(FileExistsError):
                publish(made, path)
    finally:
        made.unlink(missing_ok=True)
    sync_directory(path.parent)
