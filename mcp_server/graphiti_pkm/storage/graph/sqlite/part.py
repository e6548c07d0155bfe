"""What the parts of the store share."""

from graphiti_pkm.storage.graph.sqlite.file import SqliteFile
from graphiti_pkm.storage.graph.sqlite.vector_cache import VectorCache


class OpenFile:
    """The file of a memory, and the vectors that this process keeps of it."""

    def __init__(self, file: SqliteFile) -> None:
        self.file = file
        self.cache = VectorCache()


class SqlitePart:
    """One named part of the store; it keeps nothing of its own."""

    def __init__(self, opened: OpenFile) -> None:
        self._file = opened.file
        self._cache = opened.cache
