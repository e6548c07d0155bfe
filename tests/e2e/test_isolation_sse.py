"""Isolation over SSE."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("isolation") / "data", "sse") as found:
        yield found


@pytest.mark.storm
class TestOverSse(Isolation):
    attacks = Attacks.plain
