"""Rules of sagas that need nothing but uuids."""

import pytest

from graphiti_pkm.core.facts.saga_plan import closing_links, saga_uuid

CHAIN = [("a", "b"), ("b", "c"), ("c", "d")]


@pytest.mark.parametrize(
    ("links", "gone", "expected"),
    [
        (CHAIN, ["b"], [("a", "c")]),
        (CHAIN, ["b", "c"], [("a", "d")]),
        (CHAIN, ["a"], []),
        (CHAIN, ["c", "d"], []),
        (CHAIN, ["a", "b", "c", "d"], []),
        ([("a", "b"), ("b", "c"), ("b", "d"), ("x", "b")], ["b"], [("a", "c"), ("a", "d"), ("x", "c"), ("x", "d")]),
        ([("a", "b"), ("b", "c"), ("c", "b"), ("c", "d")], ["b", "c"], [("a", "d")]),
        ([("a", "b"), ("b", "a")], ["b"], []),
    ],
    ids=["one", "two", "first", "last", "all", "branches", "circle", "back"],
)
def test_a_chain_closes_where_episodes_go(
    links: list[tuple[str, str]], gone: list[str], expected: list[tuple[str, str]]
) -> None:
    assert sorted(closing_links(links, gone)) == expected


def test_a_saga_is_one_however_it_is_spelt_and_another_in_another_group() -> None:
    assert saga_uuid("g", "Trip to Rome") == saga_uuid("g", " trip  to ROME")
    assert len({saga_uuid("g", "Trip"), saga_uuid("h", "Trip"), saga_uuid("g", "Trap")}) == 3
