"""Isolation on a FalkorDB server."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked
from tests.falkor import RemoteFalkor


@pytest.fixture(scope="module")
def target(falkor_server: RemoteFalkor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    settings = falkor_server.settings(f"test_{uuid4().hex}")
    with attacked(tmp_path_factory.mktemp("isolation") / "data", **settings) as found:
        yield found


class TestOnFalkorDB(Isolation):
    attacks = Attacks.looked_up
