"""When the scripted model fails: at certain calls, for certain texts, and in storms that can be repeated."""

from tests.scripted_model import (
    FAULT_KINDS,
    PASSING_KINDS,
    Fault,
    FaultPlan,
    ModelRequest,
    PermanentFault,
    ScheduledFault,
    Storm,
)
from tests.scripted_model.faults import Schedule


def a_call(text: str, schema: str = "ExtractedEntities") -> ModelRequest:
    prompt = f"<PREVIOUS MESSAGES>\n[]\n</PREVIOUS MESSAGES>\n<CURRENT MESSAGE>\n{text}\n</CURRENT MESSAGE>"
    format_ = {"type": "json_schema", "json_schema": {"name": schema, "schema": {"type": "object"}}}
    return ModelRequest("chat", {"messages": [{"role": "user", "content": prompt}], "response_format": format_})


def an_embedding(text: str) -> ModelRequest:
    return ModelRequest("embeddings", {"input": text})


def kinds(schedule: Schedule, *calls: ModelRequest) -> list[str | None]:
    return [fault.kind if (fault := schedule.next(call)) else None for call in calls]


def test_a_fault_comes_at_its_calls_of_all_or_of_its_schema() -> None:
    plan = FaultPlan(
        scheduled=(
            ScheduledFault(kind="server_error", calls=(1, 3)),
            ScheduledFault(kind="refusal", calls=(2,), schema_name="Summary"),
            ScheduledFault(kind="empty", calls=(1,), schema_name="embeddings"),
        )
    )
    calls = [a_call("a"), a_call("a", "Summary"), a_call("a"), a_call("a", "Summary"), an_embedding("a")]
    assert kinds(Schedule(plan), *calls) == ["server_error", None, "server_error", "refusal", "empty"]


def test_a_text_that_is_always_refused_is_refused_every_time_and_only_as_the_current_one() -> None:
    schedule = Schedule(FaultPlan(permanent=(PermanentFault(kind="refusal", contains="secret"),)))
    earlier = a_call("plain")
    earlier.body["messages"][0]["content"] = earlier.prompt.replace("[]", '["a secret"]')
    assert kinds(schedule, *[a_call("a secret note")] * 5, earlier, a_call("plain")) == ["refusal"] * 5 + [None] * 2


def test_a_storm_is_the_same_in_whatever_order_calls_arrive() -> None:
    storm = FaultPlan(storm=Storm(seed=3, rate=0.5))
    calls = [a_call(f"note {n}") for n in range(60)]
    forwards, backwards = Schedule(storm), Schedule(storm)
    found = kinds(forwards, *calls)
    assert found == kinds(backwards, *calls[::-1])[::-1]
    assert 15 < sum(kind is not None for kind in found) < 45
    other = Schedule(FaultPlan(storm=Storm(seed=4, rate=0.5)))
    assert found != kinds(other, *calls)


def test_a_storm_leaves_a_request_alone_after_it_struck_it_often_enough() -> None:
    schedule = Schedule(FaultPlan(storm=Storm(rate=1.0, max_repeats=2)))
    found = kinds(schedule, *[a_call("a")] * 4, *[a_call("b")] * 4)
    assert [kind is not None for kind in found] == [True, True, False, False] * 2


def test_a_storm_brings_every_kind_that_passes_and_no_other() -> None:
    schedule = Schedule(FaultPlan(storm=Storm(rate=1.0)))
    found = kinds(schedule, *[a_call(f"note {n}") for n in range(200)])
    assert set(found) == set(PASSING_KINDS)
    assert set(PASSING_KINDS) < set(FAULT_KINDS)


def test_a_storm_strikes_embeddings_only_where_it_is_told_to() -> None:
    calls = [an_embedding(f"note {n}") for n in range(5)]
    assert kinds(Schedule(FaultPlan(storm=Storm(rate=1.0))), *calls) == [None] * 5
    assert None not in kinds(Schedule(FaultPlan(storm=Storm(rate=1.0, embeddings=True))), *calls)


def test_a_plan_is_written_as_json() -> None:
    plan = FaultPlan.model_validate_json('{"permanent": [{"kind": "hang"}], "storm": {"rate": 0.1}}')
    assert Schedule(plan).next(a_call("a")) == PermanentFault(kind="hang")
    assert Fault(kind="delay", seconds=2).seconds == 2
