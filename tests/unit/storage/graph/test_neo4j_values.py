"""What becomes of parameters and answers on the way to Neo4j and back."""

from array import array
from datetime import UTC, datetime, timedelta, timezone

import pytest
from neo4j.time import Date, DateTime

from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.neo4j.values import UNKNOWN, native, parameters, plain

MOMENT = datetime(2026, 3, 14, 9, 30, 0, 123456, tzinfo=UTC)


def test_instants_go_in_utc_and_come_back_as_texts() -> None:
    stored = native({"at": [MOMENT.astimezone(timezone(timedelta(hours=5))), MOMENT.replace(tzinfo=None)]})
    assert stored == {"at": [MOMENT, MOMENT]}
    assert [at.tzinfo for at in stored["at"]] == [UTC, UTC]  # type: ignore[index, call-overload]
    assert plain([DateTime.from_native(MOMENT), {"at": DateTime.from_native(MOMENT)}]) == [
        "2026-03-14T09:30:00.123456+00:00",
        {"at": "2026-03-14T09:30:00.123456+00:00"},
    ]
    assert plain(Date(2026, 3, 14)) == "2026-03-14"


def test_a_text_that_looks_like_an_instant_stays_a_text() -> None:
    assert native("2026-03-14T09:30:00+00:00") == "2026-03-14T09:30:00+00:00"


def test_what_is_before_and_after_all_is_added_where_it_is_asked_for() -> None:
    assert parameters("RETURN $dawn", {"now": None}) == {"now": None, "dawn": UNKNOWN["dawn"]}
    assert parameters("RETURN 1", {}) == {}
    assert UNKNOWN["dawn"] <= DateTime.from_native(datetime.min.replace(tzinfo=UTC))
    assert UNKNOWN["dusk"] >= DateTime.from_native(datetime.max.replace(tzinfo=UTC))


def test_sequences_and_vectors_become_lists() -> None:
    assert native({"a": ("x", 1, True), "v": array("f", [0.5, -0.25])}) == {"a": ["x", 1, True], "v": [0.5, -0.25]}


@pytest.mark.parametrize(
    "value",
    ["a\x00b", "\ud800", 2**63, float("nan"), array("f", [float("inf")]), {"": 1}, {"a`b": 1}, {"\x00": 1}, object()],
)
def test_what_cannot_be_stored_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput):
        native([value])
