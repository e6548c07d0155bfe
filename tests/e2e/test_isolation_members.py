"""Isolation over HTTP from those who share a memory with her: by one to whom another of her groups is open, and by one
to whom all of them were."""

from collections.abc import Iterator

import pytest
from tests.e2e.isolation_attacks import Attacks
from tests.e2e.isolation_suite import Isolation
from tests.e2e.isolation_target import Target, attacked


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with attacked(tmp_path_factory.mktemp("isolation") / "data") as found:
        yield found


class TestFromMembers(Isolation):
    attackers = ("member", "former")
    attacks = Attacks.looked_up
