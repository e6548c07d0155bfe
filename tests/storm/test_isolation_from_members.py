"""Isolation from members and former members on the other servers: on Neo4j, and where hints are off, on both stores.

Hints permit nothing.
"""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked
from tests.neo4j_server import Neo4jAddress, empty


@pytest.fixture(scope="module", params=["sqlite-off", "neo4j-off", "neo4j-advise"])
def target(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    store, hints = request.param.split("-")
    settings = {"hints": hints}
    if store == "neo4j":
        server: Neo4jAddress = request.getfixturevalue("neo4j_server")
        empty(server)
        settings |= server.product_settings()
    with attacked(tmp_path_factory.mktemp("isolation") / "data", **settings) as found:
        yield found


class TestFromMembersElsewhere(Isolation):
    attackers = ("member", "former")
    attacks = Attacks.looked_up
