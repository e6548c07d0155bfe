"""What every use case is built from."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.config import Settings
from graphiti_pkm.domain.group_locks import GroupLocks
from graphiti_pkm.domain.ports import Embedder, Graph, Journal
from graphiti_pkm.services.signing import Signer


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
    signer: Signer = field(default_factory=Signer)
    """Of cursors and confirmations."""
