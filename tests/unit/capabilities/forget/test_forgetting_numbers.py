"""Forgetting a name with numbers: every spelling of it goes, and other numbers neither go nor are reported."""

import pytest
from tests.unit.capabilities.forget.test_forgetting_names import NOTHING
from tests.unit.capabilities.forget.test_forgetting_places import Placed

from graphiti_pkm.capabilities.forget.models import ForgetResponse

PHONE, RACK = "+49 170 1234567", "rack 1-12"


async def forgotten(name: str, *texts: str, by_query: bool) -> tuple[ForgetResponse, list[str]]:
    told = Placed(name, label=None)
    await told.introduced()
    later = [await told.note(text) for text in texts]
    done = await told.forgotten(**({"query": name} if by_query else {}))
    return done, [told.content(one) for one in later]


@pytest.mark.parametrize("by_query", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (PHONE, "On +49-170-123-45-67 nobody answers."),
        (PHONE, "Only +491701234567 is free."),
        (PHONE, "Try\n+49 170 123\n4567"),
        ("+49-170-123-45-67", "Call +49 1701 234567 at 18:30"),
        (RACK, "The hot rack 1\n12 hums"),
        (RACK, "The hot rack\r\n1\r\n12 hums"),
        (RACK, "Rack 1 _ 12 hums"),
        (RACK, "A rack 1 -12 hums"),
        ("New York", "We saw New\nYork"),
    ],
)
async def test_every_spelling_goes(name: str, text: str, *, by_query: bool) -> None:
    done, left = await forgotten(name, text, "Henrik hums\n12 songs", by_query=by_query)
    assert [one.replace("Try", "").strip() for one in left] == ["[forgotten]", "Henrik hums\n12 songs"]
    assert done.found_afterwards == [NOTHING]


@pytest.mark.parametrize("by_query", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        (PHONE, "On +49 170 12345678 somebody sings"),
        (PHONE, "On +49 170 1234568 somebody sings"),
        (RACK, "Then rack 11-2 hums"),
        (RACK, "Then rack 112 hums"),
        (RACK, "Then rack 1-123 hums"),
        (RACK, "Then rack 1\n\n1-2 hums"),
        ("release 1.1-2", "Then release 1.12 came"),
        ("unit 734", "Then unit 7-34 came"),
    ],
)
async def test_other_numbers_stay_and_are_not_reported(name: str, text: str, *, by_query: bool) -> None:
    done, left = await forgotten(name, text, by_query=by_query)
    assert left == [text]
    assert done.found_afterwards == [NOTHING]
    assert not done.ask_user


@pytest.mark.parametrize("text", ["Then rack 12-1 hums", "Then rack 1-2 hums"])
async def test_numbers_in_another_order_are_others(text: str) -> None:
    done, left = await forgotten(RACK, text, by_query=False)
    assert (left, done.found_afterwards, done.ask_user) == ([text], [NOTHING], None)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        (PHONE, "On 0170 or 49 170 1234567 somebody sings", "49 170 1234567"),
        ("0170 1234567", "On 01701234567 somebody sings", "01701234567"),
        ("R2D2", "Then R2-D2 came", "R2-D2"),
        ("Unit 734", "Then 734 Unit came", "734 Unit"),
    ],
)
async def test_what_may_be_the_same_number_stays_and_is_reported(name: str, text: str, form: str) -> None:
    done, left = await forgotten(name, text, by_query=False)
    assert left == [text]
    call = f"1 episode holds {form!r}, which may be meant: forget with query={form!r} takes it out"
    assert done.found_afterwards == [call]
