"""Isolation over HTTP from principals of their own: every attack, by one with a memory and by one with none yet."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import TOOLS, Target, attacked


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("isolation") / "data") as found:
        yield found


class TestFromStrangers(Isolation):
    attackers = ("eve", "new")
    tools = TOOLS
