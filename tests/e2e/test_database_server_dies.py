"""A database server that is killed under load and comes back; `make storm` has it gone for longer and in other ways."""

from pathlib import Path

import pytest
from tests.falkor import RemoteFalkor
from tests.neo4j_server import Neo4jServer
from tests.storm.outage import running, storm


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", [RemoteFalkor, Neo4jServer])
async def test_calls_fail_nothing_acknowledged_is_lost_and_nobody_is_needed(
    kind: "type[RemoteFalkor | Neo4jServer]", short_directory: Path, tmp_path: Path
) -> None:
    with running(kind, short_directory) as database:
        await storm(tmp_path / "data", database, "killed", 0, clients=2)
