"""Which file the settings mean: the journal's own, or the one that it shares with the graph."""

from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.connection import JOURNAL, MEMORY, JournalFile
from graphiti_pkm.storage.journal.store import SqliteJournal


def journal_file(settings: Settings) -> JournalFile:
    """Nothing is opened or made."""
    return JournalFile(settings.data_dir, name=MEMORY if settings.effective_backend == "embedded" else JOURNAL)


def journal_of(settings: Settings) -> SqliteJournal:
    """The journal in that file; opened on first use."""
    return SqliteJournal(settings.data_dir, file=journal_file(settings))
