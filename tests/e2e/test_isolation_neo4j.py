"""Isolation on Neo4j."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked
from tests.neo4j_server import Neo4jAddress, empty


@pytest.fixture(scope="module")
def target(neo4j_server: Neo4jAddress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    empty(neo4j_server)
    settings = neo4j_server.product_settings()
    with attacked(tmp_path_factory.mktemp("isolation") / "data", **settings) as found:
        yield found


class TestOnNeo4j(Isolation):
    attacks = Attacks.looked_up
