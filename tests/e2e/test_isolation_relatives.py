"""Isolation over HTTP from those who are near: every attack, by a token of hers that is held to one group, and by the
local user with a token."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import TOOLS, Target, attacked


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("isolation") / "data") as found:
        yield found


class TestFromRelatives(Isolation):
    attackers = ("held", "local")
    tools = TOOLS
