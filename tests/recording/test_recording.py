import copy

from tests.recording.__main__ import differences, recorded


async def test_two_runs_record_the_same_and_a_difference_is_reported() -> None:
    once, again = await recorded(limit=60), await recorded(limit=60)
    assert len(once) == 60
    assert list(differences(once, again)) == []

    other = copy.deepcopy(again)
    other[30]["answer"]["isError"] = not other[30]["answer"]["isError"]
    (found,) = differences(once, other)
    assert "call 31, stdio" in found
    assert "isError" in found
    assert len(list(differences(once, again[:-1]))) == 1
