"""Isolation where several processes answer behind one port."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import TOOLS, Target, attacked


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("isolation") / "data", workers=2) as found:
        yield found


@pytest.mark.storm
class TestWithWorkers(Isolation):
    tools = TOOLS
    attacks = Attacks.plain
