"""Our own server passes every scenario of the temporal suite on each kind of database, with nothing left out."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.temporal.ours import GraphitiPkm, OnNeo4j, WithoutModel
from tests.temporal.runner import run
from tests.temporal.scenario import Scenario, load

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SCENARIOS = load()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["embedded", "neo4j"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[GraphitiPkm]:
    is_embedded = request.param == "embedded"
    async with WithoutModel() if is_embedded else OnNeo4j(request.getfixturevalue("neo4j_server")) as adapter:
        yield adapter


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_scenario(server: GraphitiPkm, scenario: Scenario) -> None:
    outcome = await run(server, scenario)
    assert outcome.verdict == "passed", "\n".join([scenario.why, *outcome.details])


async def test_there_are_at_least_sixty() -> None:
    assert len(SCENARIOS) >= 60
