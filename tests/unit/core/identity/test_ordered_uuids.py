"""Uuids that sort as their records do, and those of their copies."""

from uuid import UUID, uuid4, uuid5

import pytest

from graphiti_pkm.core.identity.ordered_uuids import ordered_uuids, uuid_of_copy

ENDS = ("00000000-0000-8000-8000-000000000000", "ffffffff-ffff-8fff-bfff-ffffffffffff")


def test_they_sort_in_their_order_and_differ_from_the_first_digits_on() -> None:
    found = ordered_uuids(4_000)
    assert found == sorted(found)
    assert len({one[:8] for one in found}) > 3_900, "they are shown by their first eight characters"
    assert {(UUID(one).version, UUID(one).variant) for one in found} == {(8, "specified in RFC 4122")}
    assert set(found).isdisjoint(ordered_uuids(4_000))
    assert ordered_uuids(0) == []


@pytest.mark.parametrize("namespace", [UUID(int=0), UUID(int=2**128 - 1), uuid5(UUID(int=0), "default")])
def test_copies_are_in_the_same_order_and_always_the_same(namespace: UUID) -> None:
    originals = [ENDS[0], *ordered_uuids(2_000), ENDS[1]]
    copies = [uuid_of_copy(namespace, one) for one in originals]
    assert copies == sorted(copies)
    assert copies == [uuid_of_copy(namespace, one) for one in originals]
    assert len({*copies, *originals}) == 2 * len(originals)
    assert len({one[:8] for one in originals} & {one[:8] for one in copies}) < 20
    assert {UUID(one).version for one in copies} == {8}, "a copy of a copy keeps the order too"
    again = [uuid_of_copy(uuid5(UUID(int=0), "archive"), one) for one in copies]
    assert again == sorted(again)


def test_copies_in_two_groups_have_other_digits() -> None:
    original = ordered_uuids(9)
    groups = [uuid5(UUID(int=0), name) for name in ("work", "work_staging", "work_archive")]
    assert len({uuid_of_copy(group, one)[:8] for group in groups for one in original}) == 27


@pytest.mark.parametrize("original", [str(uuid4()), "not a uuid", "", ENDS[1].upper()])
def test_any_other_uuid_has_the_copy_that_it_always_had(original: str) -> None:
    namespace = uuid5(UUID(int=0), "default")
    assert uuid_of_copy(namespace, original) == str(uuid5(namespace, original))
