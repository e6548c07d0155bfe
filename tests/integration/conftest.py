"""Stores: on each kind of database, and on the one that Graphiti's own code and our Cypher know."""

from collections.abc import AsyncIterator

import pytest
from graphiti_core.driver.driver import GraphDriver

from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.storage.graph.store import GraphStore


@pytest.fixture(params=["sqlite", "neo4j"])
def graph(request: pytest.FixtureRequest) -> Graph:
    """On each kind of database. Not async: a fixture that is cannot ask for one that is."""
    found: Graph = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture
def store(neo4j_graph: GraphStore) -> GraphStore:
    """Where Graphiti's own code writes beside ours."""
    return neo4j_graph


@pytest.fixture
async def driver(store: GraphStore) -> AsyncIterator[GraphDriver]:
    driver = await store.driver()
    yield driver
    await driver.close()
