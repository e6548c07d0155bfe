"""Our own server passes every scenario of the temporal suite on each kind of database, with nothing left out."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from tests.neo4j_server import empty
from tests.temporal.ours import GraphitiPkm, WithoutModel
from tests.temporal.runner import run
from tests.temporal.scenario import Scenario, load

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SCENARIOS = load()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["embedded", "neo4j"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[GraphitiPkm]:
    database: dict[str, Any] = {}
    if request.param == "neo4j":
        address = request.getfixturevalue("neo4j_server")
        empty(address)
        database = {
            "neo4j_uri": address.uri,
            "neo4j_username": address.username,
            "neo4j_password": address.password,
        }
    async with WithoutModel(**database) as adapter:
        yield adapter


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_scenario(server: GraphitiPkm, scenario: Scenario) -> None:
    outcome = await run(server, scenario)
    assert outcome.verdict == "passed", "\n".join([scenario.why, *outcome.details])


async def test_there_are_at_least_sixty() -> None:
    assert len(SCENARIOS) >= 60
