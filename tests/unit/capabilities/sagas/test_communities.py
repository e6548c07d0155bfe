"""Which entities belong together."""

import pytest

from graphiti_pkm.capabilities.sagas.label_propagation import clusters, communities_uuid

TRIANGLES = [("a", "b", 1), ("b", "c", 1), ("a", "c", 1), ("x", "y", 1), ("y", "z", 1), ("x", "z", 1)]


def test_what_nothing_joins_stands_apart() -> None:
    assert clusters(TRIANGLES) == [["a", "b", "c"], ["x", "y", "z"]]


def test_one_weak_joint_does_not_make_two_clusters_one() -> None:
    strong = [(one, other, 3) for one, other, _ in TRIANGLES]
    found = clusters([*strong, ("c", "x", 1)])
    assert [sorted(members) for members in found] == [["a", "b", "c"], ["x", "y", "z"]]


def test_who_is_joined_to_everything_joins_nothing() -> None:
    hub = [("me", uuid, 9) for uuid in "abcxyz"]
    assert clusters([*TRIANGLES, *hub], left_out={"me"}) == [["a", "b", "c"], ["x", "y", "z"]]


def test_the_largest_come_first_and_in_each_those_with_the_most_facts_inside() -> None:
    star = [("hub", uuid, 2) for uuid in ("p", "q", "r", "s")]
    assert clusters([("a", "b", 1), *star]) == [["hub", "p", "q", "r", "s"], ["a", "b"]]
    assert clusters([("a", "b", 1), *star], most=1) == [["hub", "p", "q", "r", "s"]]


@pytest.mark.parametrize("size", [2, 3, 4, 7, 200])
def test_it_ends_on_chains_and_circles_where_all_at_once_swings(size: int) -> None:
    uuids = [f"{n:04}" for n in range(size)]
    circle = [(one, other, 2) for one, other in zip(uuids, [*uuids[1:], uuids[0]], strict=True)]
    found = clusters(circle, most=size)
    assert sorted(uuid for members in found for uuid in members) == uuids
    assert clusters(circle, most=size) == found


def test_nothing_joined_gives_nothing() -> None:
    assert clusters([]) == []
    assert clusters([("a", "me", 5)], left_out={"me"}) == []


def test_communities_of_a_group_stand_under_a_uuid_of_their_own() -> None:
    assert communities_uuid("g") == communities_uuid("g") != communities_uuid("h")
