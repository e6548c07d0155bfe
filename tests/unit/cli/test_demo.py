from typing import Any

import pytest

from graphiti_pkm.cli.demo import when

MARCH, MAY = "2026-03-02T17:45:00+00:00", "2026-05-29T00:00:00+00:00"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ({"kind": "state", "valid_at": MARCH}, "since 2026-03-02"),
        ({"kind": "state", "valid_at": MARCH, "invalid_at": MAY}, "2026-03-02 to 2026-05-29"),
        ({"kind": "state", "invalid_at": MAY, "reference_time": MARCH}, "until 2026-05-29"),
        ({"kind": "state", "reference_time": MARCH}, "known since 2026-03-02"),
        ({"kind": "state"}, "start unknown"),
        ({"kind": "event", "valid_at": MARCH}, "2026-03-02"),
        ({"kind": "reading", "valid_at": MARCH}, "2026-03-02"),
    ],
)
def test_the_time_of_a_fact_is_said_no_more_precisely_than_it_is_known(fact: dict[str, Any], said: str) -> None:
    assert when(fact) == said
