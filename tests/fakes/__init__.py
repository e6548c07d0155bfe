"""In-memory fakes of every port in ``graphiti_pkm.core.ports.ports``; tests/contracts keeps them honest."""

from tests.fakes.clock import FakeClock
from tests.fakes.embedder import FakeEmbedder
from tests.fakes.extractions import FakeExtractionQueue
from tests.fakes.graph import FakeGraph
from tests.fakes.journal import FakeJournal
from tests.fakes.locks import FakeLocks

__all__ = ["FakeClock", "FakeEmbedder", "FakeExtractionQueue", "FakeGraph", "FakeJournal", "FakeLocks"]
