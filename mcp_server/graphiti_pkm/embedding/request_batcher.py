"""Sends the texts of all waiting callers to a service in as few calls as possible.

Requests of the same turn of the event loop share a call. While the maximum number of calls is under way, new requests
are collected. A caller that gives up, or a text that is refused, does not affect other callers.
"""

import asyncio
from array import array
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import PkmError, Unavailable

MOST_TEXTS = 256
MOST_CHARACTERS = 100_000
"""Characters per call: below the limits of all services, at three characters per token."""

Outcome: TypeAlias = "array[float] | PkmError"
Send: TypeAlias = Callable[[list[str]], Awaitable[list[Outcome]]]
"""One call to the service, which returns for each text its vector, or the reason for its absence."""


class RequestBatcher:
    """Batches requests. Use each instance in one event loop only."""

    def __init__(self, send: Send, at_once: int) -> None:
        """``at_once``: maximum number of calls under way."""
        self._send = send
        self._at_once = at_once
        self._waiting: deque[tuple[_Request, int]] = deque()
        self._calls: set[asyncio.Task[None]] = set()
        self._is_closed = False

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order. Cancelling does not affect other callers. Raises Unavailable."""
        if self._is_closed:
            raise closed()
        if not texts:
            return []
        request = _Request(texts)
        self._waiting.extend((request, place) for place in range(len(texts)))
        asyncio.get_running_loop().call_soon(self._start)
        return await request.answer

    async def close(self) -> None:
        """Fail waiting requests and end the calls under way. May be called repeatedly."""
        self._is_closed = True
        calls = list(self._calls)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        while self._waiting:
            self._waiting.popleft()[0].fail(closed())

    def _start(self) -> None:
        while len(self._calls) < self._at_once and not self._is_closed and (batch := self._next()):
            call = asyncio.create_task(self._call(batch))
            self._calls.add(call)
            call.add_done_callback(self._ended)

    def _ended(self, call: asyncio.Task[None]) -> None:
        self._calls.discard(call)
        self._start()

    def _next(self) -> "list[tuple[_Request, int]]":
        """As many texts as fit into a call, in order of arrival, without those whose callers have given up."""
        batch: list[tuple[_Request, int]] = []
        characters = 0
        while self._waiting and len(batch) < MOST_TEXTS:
            request, place = self._waiting[0]
            length = len(request.texts[place])
            if batch and characters + length > MOST_CHARACTERS:
                break
            self._waiting.popleft()
            if not request.answer.done():
                batch.append((request, place))
                characters += length
        return batch

    async def _call(self, batch: "list[tuple[_Request, int]]") -> None:
        try:
            outcomes = await self._send([request.texts[place] for request, place in batch])
        except asyncio.CancelledError:
            outcomes = [closed()] * len(batch)
        for (request, place), outcome in zip(batch, outcomes, strict=True):
            if isinstance(outcome, PkmError):
                request.fail(outcome)
            else:
                request.receive(place, outcome)


class _Request:
    """The texts of one caller."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.answer: asyncio.Future[list[Vector]] = asyncio.get_running_loop().create_future()
        self._vectors: dict[int, Vector] = {}

    def receive(self, place: int, vector: Vector) -> None:
        """Store a vector; the last one completes the request."""
        self._vectors[place] = vector
        if len(self._vectors) == len(self.texts) and not self.answer.done():
            self.answer.set_result([self._vectors[place] for place in range(len(self.texts))])

    def fail(self, error: PkmError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


def closed() -> PkmError:
    """The error of requests after the embedder was closed."""
    return Unavailable("The embedder is shutting down; start the server again, then repeat the call.")
