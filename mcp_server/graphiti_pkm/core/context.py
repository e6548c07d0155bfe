"""The dependencies of every use case."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.ports import Embedder, Journal
from graphiti_pkm.core.ports.usage import UNRECORDED, UsageLog
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.settings.loader import Settings


@dataclass(frozen=True)
class Context:
    """The ports and settings, created in ``bootstrap``."""

    graph: Graph
    journal: Journal
    embedder: Embedder
    locks: GroupLocks
    settings: Settings
    now: Callable[[], datetime]
    """The current instant, aware UTC."""
    signer: Signer = field(default_factory=Signer)
    """Signs cursors and confirmations."""
    elapsed: Callable[[], float] = time.monotonic
    """A monotonic clock in seconds, for idle times."""
    usage: UsageLog = UNRECORDED
    """Counts what searches return."""
