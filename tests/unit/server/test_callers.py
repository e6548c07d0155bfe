"""How often and how much one principal may call."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from starlette.requests import Request

from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.errors import InvalidInput, NotAllowed, TooManyCalls
from graphiti_pkm.server.auth.callers import Limits, caller_of
from graphiti_pkm.server.auth.rate_limits import OwnBuckets
from graphiti_pkm.server.auth.shared_rate_limits import SharedBuckets
from graphiti_pkm.settings.loader import Settings

ANNA, BEN = Caller(principal="anna"), Caller(principal="ben")
SETTINGS = Settings(calls_per_minute=6, writes_per_minute=2, characters_per_call=1_000)


class Clock:
    """Seconds, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_too_many_calls_are_refused_with_the_seconds_to_wait_and_then_allowed() -> None:
    clock = Clock()
    limits = Limits(SETTINGS, OwnBuckets(clock))
    for _ in range(6):
        limits.check(ANNA, {}, writes=False)
    with pytest.raises(TooManyCalls, match=r"at most 6 calls a minute.*in 10 second") as refused:
        limits.check(ANNA, {}, writes=False)
    clock.now += refused.value.retry_after
    limits.check(ANNA, {}, writes=False)
    with pytest.raises(TooManyCalls):
        limits.check(ANNA, {}, writes=False)


def test_writes_are_counted_apart_and_leave_reads_free() -> None:
    limits = Limits(SETTINGS, OwnBuckets(Clock()))
    for _ in range(2):
        limits.check(ANNA, {}, writes=True)
    with pytest.raises(TooManyCalls, match="at most 2 writes a minute"):
        limits.check(ANNA, {}, writes=True)
    limits.check(ANNA, {}, writes=False)


def test_one_principal_uses_up_nobody_elses_calls_and_the_local_one_has_no_limit() -> None:
    limits = Limits(SETTINGS, OwnBuckets(Clock()))
    for _ in range(6):
        limits.check(ANNA, {}, writes=False)
    limits.check(BEN, {}, writes=False)
    for _ in range(50):
        limits.check(LOCAL, {"episode_body": "x" * 5_000}, writes=True)


def test_a_call_that_holds_too_much_is_refused_with_both_numbers() -> None:
    limits = Limits(SETTINGS, OwnBuckets(Clock()))
    limits.check(ANNA, {"episode_body": "x" * 900}, writes=True)
    with pytest.raises(InvalidInput, match=r"may hold 1,000 characters, and this one has 1,\d\d\d.*Nothing was stored"):
        limits.check(ANNA, {"episode_body": "x" * 600, "facts": [{"fact": "y" * 600}]}, writes=True)


def test_whoever_is_idle_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    buckets = OwnBuckets(clock)
    limits = Limits(SETTINGS, buckets)
    monkeypatch.setattr("graphiti_pkm.server.auth.rate_limits._MOST_KNOWN", 100)
    for number in range(300):
        clock.now += 1
        limits.check(Caller(principal=f"librechat:{number}"), {}, writes=False)
    assert len(buckets) <= 100


def test_processes_that_share_a_file_count_together(tmp_path: Path) -> None:
    clock = Clock()
    ours, theirs = (Limits(SETTINGS, SharedBuckets(tmp_path / "new" / "limits.sqlite3", clock)) for _ in range(2))
    for _ in range(3):
        ours.check(ANNA, {}, writes=False)
        theirs.check(ANNA, {}, writes=False)
    for limits in (ours, theirs):
        with pytest.raises(TooManyCalls, match=r"at most 6 calls a minute.*in 10 second"):
            limits.check(ANNA, {}, writes=False)
        limits.check(BEN, {}, writes=False)
    clock.now += 10
    theirs.check(ANNA, {}, writes=False)
    with pytest.raises(TooManyCalls):
        ours.check(ANNA, {}, writes=False)


def test_whoever_is_idle_is_not_kept_in_the_file_either(tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "limits.sqlite3"
    limits = Limits(SETTINGS, SharedBuckets(path, clock))
    for number in range(300):
        clock.now += 1
        limits.check(Caller(principal=f"librechat:{number}"), {}, writes=False)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM buckets").fetchone()[0] <= 130


def test_a_clock_that_was_set_back_neither_gives_nor_takes_calls(tmp_path: Path) -> None:
    clock = Clock()
    limits = Limits(SETTINGS, SharedBuckets(tmp_path / "limits.sqlite3", clock))
    for _ in range(5):
        limits.check(ANNA, {}, writes=False)
    clock.now -= 90
    limits.check(ANNA, {}, writes=False)
    with pytest.raises(TooManyCalls, match="in 10 second"):
        limits.check(ANNA, {}, writes=False)


def test_without_the_file_a_process_counts_by_itself(tmp_path: Path) -> None:
    (tmp_path / "limits.sqlite3").mkdir()
    limits = Limits(SETTINGS, SharedBuckets(tmp_path / "limits.sqlite3", Clock()))
    for _ in range(6):
        limits.check(ANNA, {}, writes=False)
    with pytest.raises(TooManyCalls):
        limits.check(ANNA, {}, writes=False)


def test_a_request_that_nothing_has_checked_is_nobodys() -> None:
    assert caller_of(None, read_only=False).is_local
    with pytest.raises(NotAllowed, match="was not checked"):
        caller_of(Request({"type": "http", "headers": []}), read_only=False)
