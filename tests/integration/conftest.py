"""A store on each kind of database."""

from collections.abc import AsyncIterator

import pytest
from graphiti_core.driver.driver import GraphDriver

from graphiti_pkm.storage.graph.store import GraphStore


@pytest.fixture(params=["falkor", "neo4j"])
def store(request: pytest.FixtureRequest) -> GraphStore:
    """On each kind of database. Not async: a fixture that is cannot ask for one that is."""
    found: GraphStore = request.getfixturevalue(f"{request.param}_graph")
    return found


@pytest.fixture
async def driver(store: GraphStore) -> AsyncIterator[GraphDriver]:
    driver = await store.driver()
    yield driver
    await driver.close()
