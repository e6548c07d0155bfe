"""The adapter for Graphiti itself works: what it can be asked it answers, right or wrong as its rules have it."""

import pytest
from neo4j import GraphDatabase
from tests.neo4j_server import Neo4jAddress
from tests.temporal.runner import run
from tests.temporal.scenario import load
from tests.temporal.upstream import GraphitiCore

VERDICTS = {
    "chain-of-three": "passed",
    "replaces-one-of-two": "passed",
    "told-again-after-deletion": "passed",
    "late-episode-comes-first": "passed",
    "two-steps-in-one-note": "failed",
    "deleted-episode-of-two": "failed",
    "correction-of-a-value": "failed",
    "restored-after-retiring": "not supported",
}


def indexes(address: Neo4jAddress) -> set[str]:
    with GraphDatabase.driver(address.uri, auth=(address.username, address.password)) as driver:
        return {row["name"] for row in driver.execute_query("SHOW INDEXES YIELD name").records}


@pytest.mark.timeout(120)
async def test_graphiti_is_asked_what_its_adapter_supports(neo4j_server: Neo4jAddress) -> None:
    scenarios = [one for one in load() if one.id in VERDICTS]
    before = indexes(neo4j_server)
    async with GraphitiCore(neo4j_server) as adapter:
        outcomes = [await run(adapter, one) for one in scenarios]
    assert {one.scenario.id: one.verdict for one in outcomes} == VERDICTS, [one.details for one in outcomes]
    assert indexes(neo4j_server) <= before, "one of them takes no long names, which tests of ours write there"
