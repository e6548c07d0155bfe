"""The text form of answers."""

import json
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from graphiti_pkm.core.model.answers import (
    AddMemoryResponse,
    DeleteResponse,
    EntityResult,
    EpisodeSearchResponse,
    EpisodeView,
    FactResponse,
    FactSearchResponse,
    FactView,
    RetiredFact,
    Scope,
)
from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.core.reading.paging import DEFAULT_CHARS
from graphiti_pkm.toolkit.rendering import rendered, text_of

ONE = "aaaaaaaa-1111-4111-8111-111111111111"
LIKE_ONE = "aaaaaaaa-1122-4111-8111-111111111111"
TWO = "bbbbbbbb-1111-4111-8111-111111111111"


def a_fact_view(uuid: str = ONE, **fields: object) -> FactView:
    values: dict[str, object] = {
        "uuid": uuid,
        "group_id": "t1",
        "fact": "Maria manages Tom.",
        "name": "MANAGES",
        "source_node_uuid": ONE,
        "source_node_name": "Maria",
        "target_node_uuid": TWO,
        "target_node_name": "Tom",
        "status": "current",
        "created_at": "2026-01-01T00:00:00+00:00",
    }
    return FactView.model_validate({**values, **fields})


def a_receipt(**fields: object) -> AddMemoryResponse:
    nothing = {name: [] for name in ("entities", "facts", "retired", "needs_attention", "related")}
    values = {
        "message": "Stored.",
        "episode_uuid": TWO,
        "status": "stored",
        "group_id": "t1",
        "name": "n",
        "valid_at": "2026-01-01T00:00:00+00:00",
        "linked": 0,
        "linking": 0,
    }
    return AddMemoryResponse.model_validate({**values, **nothing, **fields})


def page(*facts: FactView, groups: tuple[str, ...] = ("t1",)) -> dict[str, object]:
    answer = FactSearchResponse(
        message="Found.",
        total=len(facts),
        returned=len(facts),
        truncated=False,
        scope=Scope(group_ids=list(groups)),
        facts=list(facts),
    )
    rendered = json.loads(text_of(answer.model_dump(mode="json")))
    assert isinstance(rendered, dict)
    return rendered


def test_nulls_and_empty_fields_go_but_zero_and_false_stay() -> None:
    assert page() == {
        "message": "Found.",
        "total": 0,
        "returned": 0,
        "truncated": False,
        "scope": {"group_ids": ["t1"]},
    }


def test_a_uuid_is_cut_to_eight_characters_and_a_few_more_where_two_look_alike() -> None:
    facts = page(a_fact_view(ONE), a_fact_view(LIKE_ONE))["facts"]
    assert isinstance(facts, list)
    assert [fact["uuid"] for fact in facts] == ["aaaaaaaa-111", "aaaaaaaa-112"]
    assert [fact["target_node_uuid"] for fact in facts] == ["bbbbbbbb", "bbbbbbbb"]


def test_times_are_told_to_the_second_and_stay_exact_in_the_structure() -> None:
    exact = {
        "valid_at": "2026-03-01T00:00:00+00:00",
        "invalid_at": "0987-04-05T06:07:08.900000+00:00",
        "reference_time": "2026-03-01T12:00:00.000001+00:00",
        "created_at": "2026-03-01T12:00:00.123456+00:00",
        "expired_at": "2026-03-02T12:00:59.999999+00:00",
    }
    answer = FactResponse(message="at 2026-03-01T12:00:00.123456+00:00", fact=a_fact_view(**exact))
    data, text = rendered(answer)
    told = json.loads(text)
    assert {name: told["fact"][name] for name in exact} == {
        "valid_at": "2026-03-01",
        "invalid_at": "0987-04-05T06:07:08Z",
        "reference_time": "2026-03-01T12:00:00Z",
        "created_at": "2026-03-01T12:00:00Z",
        "expired_at": "2026-03-02T12:00:59Z",
    }
    assert told["message"] == answer.message
    assert data["fact"].items() >= exact.items()


def test_the_end_that_a_fact_had_before_is_told_like_the_one_that_it_has() -> None:
    ends = {"invalid_at": "2026-02-23T00:00:00+00:00", "former_invalid_at": "2026-03-31T00:00:00+00:00"}
    ended = RetiredFact(uuid=ONE, fact="Thilo agreed", kind="retired", **ends)
    (told,) = json.loads(text_of(a_receipt(retired=[ended]).model_dump(mode="json")))["retired"]
    assert (told["invalid_at"], told["former_invalid_at"]) == ("2026-02-23", "2026-03-31")


def test_a_time_of_the_text_is_accepted_as_a_parameter() -> None:
    (fact,) = page(a_fact_view(valid_at="2026-03-01T12:30:00.500000+00:00"))["facts"]  # type: ignore[misc]
    assert parse_instant(fact["valid_at"], ZoneInfo("Europe/Berlin")) == datetime(2026, 3, 1, 12, 30, tzinfo=UTC)


def test_what_took_the_place_of_a_fact_is_cut_like_every_uuid() -> None:
    retired = RetiredFact(uuid=ONE, fact="Maria manages Tom.", kind="retired", replaced_by=LIKE_ONE)
    told = json.loads(text_of(a_receipt(retired=[retired]).model_dump(mode="json")))
    assert told["retired"] == [
        {"uuid": "aaaaaaaa-111", "fact": "Maria manages Tom.", "kind": "retired", "replaced_by": "aaaaaaaa-112"}
    ]


def test_counts_under_the_name_of_a_list_are_shown() -> None:
    removed = {"episodes": 1, "facts": 2}
    answer = DeleteResponse(message="Deleted.", removed=removed, removed_names=[], kept={}, kept_because=[])
    assert json.loads(text_of(answer.model_dump(mode="json"))) == {"message": "Deleted.", "removed": removed}


def test_a_uuid_inside_a_text_stays_whole() -> None:
    facts = page(a_fact_view(TWO, fact=ONE, episodes=[ONE], direction="in"))["facts"]
    assert isinstance(facts, list)
    assert (facts[0]["fact"], facts[0]["episodes"]) == (ONE, ["aaaaaaaa"])


def test_the_asked_entity_and_the_only_group_are_not_repeated() -> None:
    facts = page(a_fact_view(direction="out"), a_fact_view(direction="in"))["facts"]
    assert isinstance(facts, list)
    assert {"source_node_uuid", "source_node_name", "group_id", "kind"} & set(facts[0]) == set()
    assert {"target_node_uuid", "target_node_name"} & set(facts[1]) == set()
    assert facts[1]["source_node_uuid"] == "aaaaaaaa"


def test_the_group_is_told_where_several_were_searched() -> None:
    facts = page(a_fact_view(), groups=("t1", "t2"))["facts"]
    assert isinstance(facts, list)
    assert facts[0]["group_id"] == "t1"


def test_content_is_shown_as_it_is() -> None:
    content = 'Zeile 1\n\n"שלום" 日本語 🙂 null {}'
    answer = EpisodeSearchResponse(
        message="Found.",
        total=1,
        returned=1,
        truncated=False,
        scope=Scope(group_ids=["t1"]),
        episodes=[EpisodeView(uuid=ONE, group_id="t1", name="n", content=content)],
    )
    data, text = rendered(answer)
    assert json.loads(text)["episodes"][0]["content"] == data["episodes"][0]["content"] == content


def test_a_long_receipt_is_cut_to_size_and_says_what_it_left_out() -> None:
    entities = [EntityResult(uuid=ONE, name=f"entity {i} {'x' * 150}", outcome="created") for i in range(500)]
    receipt = a_receipt(entities=entities)
    text = text_of(receipt.model_dump(mode="json"))
    assert len(text) <= DEFAULT_CHARS
    shown = json.loads(text)
    assert shown["episode_uuid"] == "bbbbbbbb"
    assert len(shown["entities"]) + shown["omitted"]["entities"] == 500


def test_a_receipt_says_title_and_day_once_and_counts_nothing_that_is_not_there() -> None:
    shown = json.loads(text_of(a_receipt(message="Stored 'n' (2026-01-01): text only.").model_dump(mode="json")))
    assert shown == {
        "message": "Stored 'n' (2026-01-01): text only.",
        "episode_uuid": "bbbbbbbb",
        "status": "stored",
        "group_id": "t1",
    }
    shown = json.loads(text_of(a_receipt(message="No name.", linked=2).model_dump(mode="json")))
    assert (shown["name"], shown["valid_at"], shown["linked"]) == ("n", "2026-01-01", 2)


def _change(**fields: object) -> dict[str, object]:
    note = {"at": "2018-09-10T09:00:00+00:00", "told_at": "2018-09-10T00:00:00+00:00", "episode_uuid": None}
    return {**note, "group_id": "default", **fields}


def test_changes_stand_under_their_note_and_what_was_moved_in_one_line() -> None:
    old, new, other = (f"{digit}fc55e7e-1111-4111-8111-000000000000" for digit in "123")
    was, became = "ADR 10 was accepted (from 2018-04-10, voided)", "ADR 10 was accepted (from 2018-04-12)"
    changes = [
        _change(change="voided", fact_uuid=old, fact=was, replaced_by=new, replacement=became),
        _change(change="added", fact_uuid=new, fact=became),
        _change(change="added", fact_uuid=other, fact="Homebrew was Sven's idea (known from 2018-09-10)"),
        _change(change="added", fact_uuid=old, fact=was, told_at="2018-04-10T00:00:00+00:00"),
    ]
    data = {"message": "Found", "scope": {"group_ids": ["default"]}, "changes": changes}
    correction, first = json.loads(text_of(data))["changes"]
    assert [one["fact"] for one in correction["facts"]] == [
        "ADR 10 was accepted (from 2018-04-10, voided → from 2018-04-12)",
        "Homebrew was Sven's idea (known from 2018-09-10)",
    ]
    assert (correction["facts"][0]["fact_uuid"], correction["facts"][0]["replaced_by"]) == (old[:8], new[:8])
    assert [one["fact"] for one in first["facts"]] == [was]


def test_what_became_another_sentence_keeps_both() -> None:
    change = _change(change="retired", fact_uuid="x", fact="I live in Rome (until May)", replaced_by="y")
    data = {"message": "Found", "scope": {"group_ids": ["default"]}}
    changes = [{**change, "replacement": "I live in Oslo (from May)"}, _change(change="added", fact_uuid="z", fact="Z")]
    (note,) = json.loads(text_of({**data, "changes": changes}))["changes"]
    assert [one["fact"] for one in note["facts"]] == ["I live in Rome (until May)", "Z"]
    assert note["facts"][0]["replacement"] == "I live in Oslo (from May)"


def test_the_start_of_a_day_is_a_date_in_the_zone_that_is_read_back_as_the_same_instant() -> None:
    for zone, moment, shown in (
        ("Europe/Berlin", "2026-02-28T23:00:00+00:00", "2026-03-01"),
        ("Europe/Berlin", "2026-03-01T00:00:00+00:00", "2026-03-01T00:00:00Z"),
        ("America/Havana", "2026-11-01T04:00:00+00:00", "2026-11-01"),
        ("America/Havana", "2026-11-01T05:00:00+00:00", "2026-11-01T05:00:00Z"),  # midnight again
        ("Asia/Tokyo", "0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00Z"),
        ("America/New_York", "0001-01-01T00:00:00+00:00", "0001-01-01T00:00:00Z"),  # before the calendar
    ):
        _, text = rendered(FactResponse(message="", fact=a_fact_view(valid_at=moment)), ZoneInfo(zone))
        told = json.loads(text)["fact"]["valid_at"]
        assert told == shown
        assert parse_instant(told, ZoneInfo(zone)) == parse_instant(moment, UTC)


def test_a_fact_does_not_say_twice_what_its_sentence_and_its_dates_say() -> None:
    day = "2026-03-01T10:00:00+00:00"
    (fact,) = page(a_fact_view(valid_at=day, reference_time=day))["facts"]  # type: ignore[misc]
    assert {"reference_time", "source_node_name", "target_node_name"} & set(fact) == set()
    assert (fact["source_node_uuid"], fact["target_node_uuid"]) == ("aaaaaaaa", "bbbbbbbb")
    other = a_fact_view(fact="Mariana leads it.", valid_at=day, reference_time="2026-03-02T10:00:00+00:00")
    (fact,) = page(other)["facts"]  # type: ignore[misc]
    assert (fact["source_node_name"], fact["target_node_name"]) == ("Maria", "Tom")
    assert fact["reference_time"] == "2026-03-02T10:00:00Z"


def test_what_only_a_relation_names_is_no_end_of_a_fact() -> None:
    status = a_fact_view(name="HAS_STATUS", fact="ADR 3 is accepted", value="accepted", target_node_name="Status")
    (fact,) = page(status)["facts"]  # type: ignore[misc]
    assert {"target_node_uuid", "target_node_name"} & set(fact) == set()
    measured = a_fact_view(name="SLEEPS", fact="Five hours", value="5", target_node_name="sleep")
    (fact,) = page(measured)["facts"]  # type: ignore[misc]
    assert (fact["target_node_uuid"], fact["target_node_name"]) == ("bbbbbbbb", "sleep")


def test_the_day_of_the_recording_stands_once_and_in_a_fact_only_another_one() -> None:
    late = {"created_at": "2026-01-02T00:00:00+00:00"}
    shown = page(a_fact_view(), a_fact_view(TWO), a_fact_view(LIKE_ONE, **late))
    assert shown["recorded"] == "2026-01-01"
    facts = shown["facts"]
    assert isinstance(facts, list)
    assert [fact.get("created_at") for fact in facts] == [None, None, "2026-01-02"]
    assert "recorded" not in page(a_fact_view())


def test_dates_stand_in_the_text_as_they_were_told_and_beside_the_instant_in_the_content() -> None:
    fact = a_fact_view(
        valid_at="2017-01-01T00:00:00+00:00",
        told_start="2017",
        invalid_at="2020-09-01T00:00:00+00:00",
        told_end="autumn 2020",
    )
    scope = Scope(group_ids=["t1"])
    page = FactSearchResponse(message="Found 1.", total=1, returned=1, truncated=False, scope=scope, facts=[fact])
    for answer in (FactResponse(message="One fact.", fact=fact), page):
        data, text = rendered(answer)
        shown, said = json.loads(text), data
        shown = shown["fact"] if "fact" in shown else shown["facts"][0]
        said = said["fact"] if "fact" in said else said["facts"][0]
        assert (shown["valid_at"], shown["invalid_at"]) == ("2017", "autumn 2020")
        assert "told_start" not in shown
        assert (said["valid_at"], said["told_start"]) == ("2017-01-01T00:00:00+00:00", "2017")


def test_metadata_are_shown_as_they_were_given() -> None:
    given = {"uuid": ONE, "at": "2026-03-01T00:00:00+00:00", "nothing": None, "empty": ""}
    data = {"entry_id": ONE, "timestamp": "2026-03-01T00:00:00+00:00", "metadata": given}
    assert json.loads(text_of(data)) == {"entry_id": ONE[:8], "timestamp": "2026-03-01", "metadata": given}
    assert json.loads(text_of({"entry_id": ONE, "metadata": {}})) == {"entry_id": ONE[:8]}
