"""A database server that is killed under load and comes back; `make storm` has it gone for longer and in other ways."""

from pathlib import Path

import pytest
from tests.storm.outage import running, storm


@pytest.mark.timeout(300)
@pytest.mark.storm
async def test_calls_fail_nothing_acknowledged_is_lost_and_nobody_is_needed(tmp_path: Path) -> None:
    with running(tmp_path / "neo4j") as database:
        await storm(tmp_path / "data", database, "killed", 0, clients=2)
