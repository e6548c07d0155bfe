"""The shared parts that the services of all capabilities are built from."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.ports.extraction import ExtractionQueue, Extractor
from graphiti_pkm.core.ports.metrics import JournalBacklog
from graphiti_pkm.core.ports.saved_graphs import SavedGraphs
from graphiti_pkm.core.ports.summaries import Summarizer
from graphiti_pkm.core.ports.takeover import Lease, SharedExtractionJobs
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.core.waiting import Signal
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.graph.graph_part import GraphPart, P
from graphiti_pkm.storage.recovery import Recovery
from graphiti_pkm.toolkit.services import Services, never_rebuilding


class Parts(Protocol):
    """A store that provides the parts of the storage that a single capability needs."""

    def part(self, part: GraphPart[P]) -> P:
        """The given part, bound to this store's database."""
        ...


@dataclass(frozen=True)
class Model:
    """The ports to the configured model."""

    extractor: Extractor
    summarizer: Summarizer


@dataclass(frozen=True)
class Kernel:
    """The shared parts of one process, assembled in ``bootstrap``."""

    context: Context
    parts: Parts
    groups: Groups
    committer: Committer
    erasing: Erasing
    extractions: ExtractionQueue
    backlog: JournalBacklog
    saved_graphs: SavedGraphs
    receipts: Receipts
    model: Model | None = None
    """None if no model is configured; episodes are then not queued for one."""
    extraction_changed: Signal = field(default_factory=Signal)
    """Sent whenever a job for the model changes."""
    shared_extraction_jobs: SharedExtractionJobs | None = None
    """None unless other servers use the same database."""
    lease: Lease | None = None
    """How soon other servers take over the jobs of this one if it stops; None: the default."""
    wait_until_rebuilt: Callable[[], Awaitable[None]] = never_rebuilding
    """Returns once the graph agrees with the journal; raises Unavailable while a rebuild is unfinished."""
    backend: str = "SQLite"
    """The name of the database in get_status."""
    comparison: Recovery | None = None
    """Compares journal and graph for get_status."""
    services: Services = field(init=False)
    """The services of the capabilities that were built before."""

    def __post_init__(self) -> None:
        services = Services(self.receipts.stop_waiting, self.wait_until_rebuilt, self.context.signer)
        object.__setattr__(self, "services", services)
