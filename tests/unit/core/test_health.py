"""Whether a store takes writes: as its last write was told, and tried again after a while."""

import asyncio

import pytest

from graphiti_pkm.core import health
from graphiti_pkm.core.health import FRESH_SECONDS, LastWrite


class Store:
    """Refuses for a reason, and notes what it was asked."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.attempts: list[bool] = []
        self.now = 0.0
        self.last_write = LastWrite(self.attempt, "silent", lambda: self.now)

    async def attempt(self, was_refused: bool) -> str | None:
        self.attempts.append(was_refused)
        return self.reason


async def test_a_refused_write_is_remembered_and_one_that_succeeds_clears_it() -> None:
    store = Store()
    store.last_write.ended("full")
    assert await store.last_write.refusal() == "full"
    store.last_write.ended(None)
    assert await store.last_write.refusal() is None
    assert store.attempts == []


async def test_after_a_while_it_is_tried_once_for_all_who_ask() -> None:
    store = Store()
    store.reason = "full"
    assert [await store.last_write.refusal() for _ in range(3)] == ["full"] * 3
    store.reason, store.now = None, FRESH_SECONDS
    assert [await store.last_write.refusal() for _ in range(3)] == [None] * 3
    assert store.attempts == [False, True]


async def test_a_disk_that_does_not_answer_is_one_that_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_PATIENCE_SECONDS", 0.01)

    async def never(_was_refused: bool) -> str | None:
        await asyncio.Event().wait()
        return None

    assert await LastWrite(never, "silent").refusal() == "silent"
