"""The figure that is reported and never asserted (a busy machine would fail it): how long a traversal takes."""

import pytest
from tests.benchmarks.traversal import figures


@pytest.mark.timeout(180)
async def test_the_benchmark_reports_how_long_traversals_of_f1_take() -> None:
    reported = {figure.what: figure for figure in await figures(rounds=2)}
    assert set(reported) == {
        "get_entity_connections on F1 through MCP, p95",
        "get_entity_timeline on F3 beside F1 through MCP, p95",
    }
    for figure in reported.values():
        assert figure.ours.endswith(" ms")
        assert figure.aim is None
