"""Isolation from members and former members once more where hints are off, on both stores: hints permit nothing."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked
from tests.neo4j_server import Neo4jAddress, empty


@pytest.fixture(scope="module", params=["sqlite", "neo4j"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    settings = {"hints": "off"}
    if request.param == "neo4j":
        server: Neo4jAddress = request.getfixturevalue("neo4j_server")
        empty(server)
        settings |= server.product_settings()
    with attacked(tmp_path_factory.mktemp("isolation") / "data", **settings) as found:
        yield found


class TestFromMembersWithoutHints(Isolation):
    attackers = ("member", "former")
    attacks = Attacks.looked_up
