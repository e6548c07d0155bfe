"""Data directories: whether one contains a memory, and temporary ones."""

from pathlib import Path

from graphiti_pkm.errors import NotFound
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.former_memory import is_former, must_fit
from graphiti_pkm.storage.journal.opening import journal_file


def holds_memory(settings: Settings) -> bool:
    """Whether the data directory contains a memory. Raises OSError if it cannot be read."""
    return has_journal(settings) or is_to_convert(settings)


def has_journal(settings: Settings) -> bool:
    """Whether the data directory contains a journal. Raises OSError if it cannot be read."""
    return _is_there(journal_file(settings).path)


def is_to_convert(settings: Settings) -> bool:
    """Whether the memory is one of version 0.1 that the next start brings over."""
    return settings.effective_backend == "embedded" and is_former(settings.data_dir)


def require_memory(settings: Settings) -> None:
    """For commands that do not bring a former memory over.

    Raises:
        NotFound: there is none, or only a former one.
        ConfigurationError: there is one of another kind of database.
    """
    if is_to_convert(settings):
        raise NotFound(
            f"The memory in {settings.data_dir} was written by version 0.1. `graphiti-pkm status` with this --data-dir "
            "brings it over, as does the start of a server; then repeat this command."
        )
    must_fit(settings)
    if not has_journal(settings):
        raise NotFound(no_memory(settings.data_dir))


def no_memory(data_dir: Path) -> str:
    """The error for a directory without a memory; a mistyped one must not become an empty memory or backup."""
    return (
        f"There is no memory in {data_dir}. Use --data-dir to name another directory, "
        "or `graphiti-pkm serve` to create a memory there."
    )


def _is_there(path: Path) -> bool:
    """Like ``Path.exists``, but other errors than a missing path are raised in every version of Python."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
