"""Who has called what within the hour: by caller, bounded, in one process and across workers."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from graphiti_pkm.core.model.access import Caller, SharedMemory
from graphiti_pkm.server.tools.recent_calls import HOUR, OwnRecentCalls, RecentCalls
from graphiti_pkm.server.tools.shared_recent_calls import SharedRecentCalls

ANNA, BEN = Caller(principal="anna"), Caller(principal="ben")


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


Make: TypeAlias = Callable[[Clock, int], RecentCalls]


@pytest.fixture(params=["own", "shared"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    def made(clock: Clock, most: int) -> RecentCalls:
        if request.param == "own":
            return OwnRecentCalls(clock, most)
        return SharedRecentCalls(tmp_path / "limits.sqlite3", clock, most)

    return made


def test_a_call_counts_for_an_hour_and_for_what_the_caller_may_see(make: Make) -> None:
    clock = Clock()
    calls = make(clock, 10)
    calls.add(ANNA, "search_nodes")
    assert calls.has_any(ANNA, ["search_memory_facts", "search_nodes"])
    assert calls.has_any(ANNA.model_copy(update={"token": "other", "tier": "reader"}), ["search_nodes"])
    assert not calls.has_any(ANNA, ["search_memory_facts"])
    for other in (
        BEN,
        ANNA.model_copy(update={"groups": ("work",)}),
        ANNA.model_copy(update={"shared": (SharedMemory(memory="team", tier="reader"),)}),
    ):
        assert not calls.has_any(other, ["search_nodes"])
    clock.now += HOUR - 1
    assert calls.has_any(ANNA, ["search_nodes"])
    clock.now += 1
    assert not calls.has_any(ANNA, ["search_nodes"])


def test_a_call_again_counts_anew(make: Make) -> None:
    clock = Clock()
    calls = make(clock, 10)
    for _ in range(3):
        calls.add(ANNA, "search_nodes")
        clock.now += HOUR - 1
    assert calls.has_any(ANNA, ["search_nodes"])


def test_only_so_many_are_kept_and_the_oldest_goes(make: Make) -> None:
    clock = Clock()
    calls = make(clock, 3)
    callers = [Caller(principal=f"user{number}") for number in range(5)]
    for caller in callers:
        clock.now += 61
        calls.add(caller, "search_nodes")
    assert [calls.has_any(caller, ["search_nodes"]) for caller in callers] == [False, False, True, True, True]


def test_what_is_over_takes_no_memory() -> None:
    clock = Clock()
    calls = OwnRecentCalls(clock)
    for number in range(100):
        calls.add(Caller(principal=f"user{number}"), "search_nodes")
    clock.now += HOUR
    calls.add(ANNA, "search_nodes")
    assert len(calls) == 1


def test_another_worker_knows_of_a_call_and_no_name_is_in_the_file(tmp_path: Path) -> None:
    clock, path = Clock(), tmp_path / "limits.sqlite3"
    SharedRecentCalls(path, clock).add(ANNA, "search_nodes")
    assert SharedRecentCalls(path, clock).has_any(ANNA, ["search_nodes"])
    assert not SharedRecentCalls(path, clock).has_any(BEN, ["search_nodes"])
    with sqlite3.connect(path) as connection:
        assert "anna" not in "".join(connection.iterdump())


def test_without_the_file_a_worker_knows_its_own_calls(tmp_path: Path) -> None:
    (tmp_path / "limits.sqlite3").write_text("This is no database, and too long to be taken for the start of one." * 9)
    calls = SharedRecentCalls(tmp_path / "limits.sqlite3", Clock())
    calls.add(ANNA, "search_nodes")
    assert calls.has_any(ANNA, ["search_nodes"])
    assert not calls.has_any(BEN, ["search_nodes"])
