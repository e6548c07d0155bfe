"""A database server gone for half a minute under load: no call hangs, nothing acknowledged is lost, it needs nobody."""

from pathlib import Path

import pytest
from tests.falkor import RemoteFalkor
from tests.neo4j_server import Neo4jServer
from tests.storm.outage import Way, running, storm

SECONDS = 30

pytestmark = pytest.mark.timeout(400)


@pytest.mark.parametrize("way", ["killed", "frozen", "lost"])
@pytest.mark.parametrize("kind", [RemoteFalkor, Neo4jServer])
async def test_a_database_gone_for_half_a_minute(
    kind: "type[RemoteFalkor | Neo4jServer]", way: Way, short_directory: Path, tmp_path: Path
) -> None:
    with running(kind, short_directory) as database:
        outage = await storm(tmp_path / "data", database, way, SECONDS)
    print(f"\n{kind.__name__} {way}: {outage.figures()}", flush=True)  # noqa: T201 what `make storm` is run for
