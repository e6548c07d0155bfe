"""Lines that anybody can cause, as many as they like: the first few are written, and how many more there were."""

import logging
from typing import Any

from graphiti_pkm.server.observability.logging import Repeats, fields_of


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def line(
    level: int = logging.WARNING, message: str = "again", name: str = "graphiti_pkm.x", **event: Any
) -> logging.LogRecord:
    record = logging.LogRecord(name, level, "x.py", 1, message, (), None)
    record.event = event
    return record


def written(repeats: Repeats, *records: logging.LogRecord) -> list[dict[str, object]]:
    return [fields_of(each) for record in records for each in repeats.passed(record)]


def test_the_same_warning_is_written_ten_times_a_minute_and_then_counted() -> None:
    clock = Clock()
    repeats = Repeats(clock)
    assert len(written(repeats, *(line() for _ in range(5_000)))) == 10
    clock.now = 61
    told = written(repeats, line(logging.INFO, "something else"))
    assert [(one["message"], one.get("left_out")) for one in told] == [("again", 4_990), ("something else", None)]
    assert len(written(repeats, *(line() for _ in range(20)))) == 10


def test_refusals_are_counted_whatever_request_they_belong_to() -> None:
    lines = [line(logging.INFO, "audit", audit="refused", outcome="token_missing", request=f"{n}") for n in range(99)]
    assert len(written(Repeats(Clock()), *lines)) == 10
    floods = [line(logging.INFO, "call", error="too_many_calls", ms=n, request=f"{n}") for n in range(99)]
    assert len(written(Repeats(Clock()), *floods)) == 10


def test_no_write_and_no_call_is_left_out() -> None:
    repeats = Repeats(Clock())
    writes = [line(logging.INFO, "audit", audit="write", outcome="ok", request=f"{n}") for n in range(500)]
    assert len(written(repeats, *writes, *(line(logging.INFO, "call", tool="t") for _ in range(500)))) == 1_000


def test_other_lines_are_other_lines() -> None:
    repeats = Repeats(Clock())
    assert len(written(repeats, *(line(message=f"{n}") for n in range(50)))) == 50
    assert len(written(repeats, *(line(name="asyncio", message=f"{n}") for n in range(50)))) == 10  # told without text


def test_what_was_counted_is_written_at_the_end() -> None:
    repeats = Repeats(Clock())
    written(repeats, *(line() for _ in range(12)))
    assert [fields_of(one)["left_out"] for one in repeats.due()] == [2]
    assert repeats.due() == []


def test_what_is_remembered_is_bounded() -> None:
    repeats = Repeats(Clock())
    written(repeats, *(line(message=f"{n}") for n in range(5_000)))
    assert len(repeats._seen) == 1_000
