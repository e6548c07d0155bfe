"""Our own server passes every scenario of the temporal suite, with nothing left out as not supported."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from tests.temporal.ours import GraphitiPkm, WithoutModel
from tests.temporal.runner import run
from tests.temporal.scenario import Scenario, load

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(120)]

SCENARIOS = load()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[GraphitiPkm]:
    async with WithoutModel() as adapter:
        yield adapter


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
async def test_scenario(server: GraphitiPkm, scenario: Scenario) -> None:
    outcome = await run(server, scenario)
    assert outcome.verdict == "passed", "\n".join([scenario.why, *outcome.details])


async def test_there_are_at_least_sixty() -> None:
    assert len(SCENARIOS) >= 60
