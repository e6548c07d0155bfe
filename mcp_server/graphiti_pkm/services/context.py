"""What every use case is built from."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from graphiti_pkm.config import Settings
from graphiti_pkm.domain.ports import Embedder, Graph, GroupLocks, Journal


@dataclass(frozen=True)
class Context:
    """The ports and settings, put together in ``bootstrap``."""

    graph: Graph
    journal: Journal
    embedder: Embedder
    locks: GroupLocks
    settings: Settings
    now: Callable[[], datetime]
    """The current instant, aware UTC."""
