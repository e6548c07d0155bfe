"""A database server gone for half a minute under load: no call hangs, nothing acknowledged is lost, it needs nobody."""

from pathlib import Path

import pytest
from tests.storm.outage import Way, running, storm

SECONDS = 30

pytestmark = pytest.mark.timeout(400)


@pytest.mark.parametrize("way", ["killed", "frozen", "lost"])
async def test_a_database_gone_for_half_a_minute(way: Way, tmp_path: Path) -> None:
    with running(tmp_path / "neo4j") as database:
        outage = await storm(tmp_path / "data", database, way, SECONDS)
    print(f"\nNeo4j {way}: {outage.figures()}", flush=True)  # noqa: T201 what `make storm` is run for
