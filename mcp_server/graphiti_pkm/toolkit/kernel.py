"""What the services of a capability are built from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.ports.extraction import ExtractionQueue
from graphiti_pkm.core.ports.metrics import JournalBacklog
from graphiti_pkm.core.ports.saved_graphs import SavedGraphs
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.graph.graph_part import GraphPart, P
from graphiti_pkm.storage.recovery import Recovery
from graphiti_pkm.toolkit.services import Services


class Parts(Protocol):
    """A store that gives further parts over its database: what one capability alone asks of the storage."""

    def part(self, part: GraphPart[P]) -> P:
        """The part over this store."""
        ...


@dataclass(frozen=True)
class Kernel:
    """The shared parts of one process, put together in ``bootstrap``."""

    context: Context
    parts: Parts
    groups: Groups
    committer: Committer
    erasing: Erasing
    extractions: ExtractionQueue
    backlog: JournalBacklog
    saved_graphs: SavedGraphs
    receipts: Receipts
    reads_with_model: bool = False
    """Whether each new episode is queued for a model to read."""
    backend: str = "embedded FalkorDB"
    """What get_status calls the database."""
    is_shared: bool = False
    """Whether servers with journals of their own may write into the same database."""
    attention: Callable[[], Sequence[str]] = tuple
    """What get_status should say about the database, a sentence each."""
    comparison: Recovery | None = None
    """What compares journal and graph, for get_status."""
    services: Services = field(default_factory=Services)
    """Those of the capabilities that were built before."""
