"""How many hits a search asks an index for."""

import pytest

from graphiti_pkm.storage.graph.vector_indexes import FACTS, PASSAGES
from graphiti_pkm.storage.graph.vectors import FEWEST_HITS, VectorIndexes


def indexes(*, percent: int = 100, **sizes: int) -> VectorIndexes:
    """With an index of facts, over groups of these sizes."""
    made = VectorIndexes(threshold=50_000)
    made._sizes = {FACTS: sizes}
    made._built = {FACTS: percent}
    return made


def hits(made: VectorIndexes, *groups: str, limit: int = 10) -> list[int]:
    return list(made.hits_to_ask_for(FACTS, groups, limit))


def test_a_group_that_is_all_there_is_needs_few_hits_and_more_for_a_filter() -> None:
    assert hits(indexes(big=100_000), "big") == [400, 3_200]
    assert hits(indexes(big=100_000), "big", limit=500) == [1_000, 8_000]


def test_hits_grow_with_what_others_hold() -> None:
    assert hits(indexes(big=60_000, other=540_000), "big", limit=50) == [1_000]
    assert hits(indexes(big=60_000, other=60_000), "big", limit=200)[0] == 800


def test_a_scan_is_preferred_where_it_is_as_quick() -> None:
    assert hits(indexes(big=60_000, other=6_000_000), "big", limit=50) == []


@pytest.mark.parametrize("groups", [("small",), ("small", "small"), ("unknown",), ()])
def test_a_small_group_asks_for_none(groups: tuple[str, ...]) -> None:
    assert hits(indexes(big=100_000, small=50_000), *groups) == []


def test_groups_asked_for_together_count_together() -> None:
    assert hits(indexes(big=100_000, small=50_000), "small", "big")[0] == FEWEST_HITS


def test_an_index_that_is_not_complete_or_of_other_records_is_not_used() -> None:
    assert hits(indexes(percent=40, big=100_000), "big") == []
    assert list(indexes(big=100_000).hits_to_ask_for(PASSAGES, ["big"], 10)) == []
