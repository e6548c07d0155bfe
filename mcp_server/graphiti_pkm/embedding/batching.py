"""One thread that embeds the texts of all waiting callers together.

The thread works in short passes. Each takes texts of several callers, so that many small requests in flight are as
fast as one big one; between two passes newcomers are looked at. Every second pass serves requests that fit into it
whole, the smallest first: one line does not wait for a thousand sentences. The others serve the oldest request
first: a thousand sentences are not kept waiting for ever by lines.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import PkmError, Unavailable

PASS_TOKENS = 1024
"""Estimated tokens of a pass: about 0.2 s on two cores."""

_MOST_TOKENS = 256
_TOKENS_AROUND = 2
_BYTES_PER_TOKEN = 3
"""On the safe side: English has four to five, other scripts about three."""

logger = logging.getLogger(__name__)


class Encoder(Protocol):
    """A loaded model."""

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, in order."""
        ...


class Batcher:
    """Starts its thread and loads the model with the first request; may be used from any thread."""

    def __init__(self, load: Callable[[], Encoder]) -> None:
        self._load = load
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(self, texts: Sequence[str]) -> "Future[list[Vector]]":
        """Vectors of the texts, in order; cancelling the future leaves other requests alone.

        Raises:
            Unavailable: closed, now or before the vectors were ready.
        """
        request = _Request(texts)
        with self._changed:
            if self._closed:
                raise _closed()
            if self._thread is None:
                # A daemon, so that a process that forgets to close can still end.
                self._thread = threading.Thread(target=self._work, name="embedder", daemon=True)
                self._thread.start()
            self._waiting.append(request)
            self._changed.notify()
        return request.future

    def close(self) -> None:
        """Fail what still waits and end the thread after its present pass; harmless when repeated."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        encoder: Encoder | None = None
        small_first = True
        while requests := self._next_requests():
            try:
                encoder = encoder or self._load()
            except Exception as error:  # noqa: BLE001 - the thread lives on; every waiting caller gets the error
                for request in requests:
                    request.fail(_for_caller(error))
                continue
            parts = (_small_ones(requests) if small_first else []) or _oldest_first(requests)
            small_first = not small_first
            _run(encoder, parts)
        with self._changed:
            for request in self._waiting:
                request.fail(_closed())
            self._waiting.clear()

    def _next_requests(self) -> "list[_Request]":
        """All that are not done, oldest first; waits for one. Empty once closed."""
        with self._changed:
            while not self._closed:
                self._waiting = [request for request in self._waiting if not request.future.done()]
                if self._waiting:
                    return list(self._waiting)
                self._changed.wait()
            return []


class _Request:
    """The texts of one caller; only the thread touches it after it was submitted."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.future: Future[list[Vector]] = Future()
        self._texts = texts
        self._costs = [_cost(text) for text in texts]
        # Longest last: taken from the end, texts of similar length are embedded together.
        self._todo = sorted(range(len(texts)), key=self._costs.__getitem__)
        self._vectors: dict[int, Vector] = {}
        self.cost = sum(self._costs)
        """Estimated tokens still to be embedded."""

    def take(self, room: int) -> "_Part":
        """The next texts that fit."""
        taken: list[int] = []
        used = 0
        while self._todo and used + self._costs[self._todo[-1]] <= room:
            index = self._todo.pop()
            used += self._costs[index]
            taken.append(index)
        self.cost -= used
        return _Part(self, taken, [self._texts[index] for index in taken], used)

    def receive(self, indices: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Keep vectors; the last ones answer the caller."""
        self._vectors.update(zip(indices, vectors, strict=True))
        if len(self._vectors) == len(self._texts) and self._begin_answer():
            self.future.set_result([self._vectors[index] for index in range(len(self._texts))])

    def fail(self, error: Exception) -> None:
        if self._begin_answer():
            self.future.set_exception(error)

    def _begin_answer(self) -> bool:
        """False if the caller has given up; afterwards it cannot any more."""
        return not self.future.done() and self.future.set_running_or_notify_cancel()


class _Part:
    """Some texts of a request that are embedded in the same pass."""

    def __init__(self, request: _Request, indices: list[int], texts: list[str], cost: int) -> None:
        self.request, self.indices, self.texts, self.cost = request, indices, texts, cost


def _small_ones(requests: Sequence[_Request]) -> list[_Part]:
    """The smallest requests that fit whole into one pass."""
    parts: list[_Part] = []
    room = PASS_TOKENS
    for request in sorted(requests, key=lambda request: request.cost):
        if request.cost > room:
            break
        parts.append(request.take(room))
        room -= parts[-1].cost
    return parts


def _oldest_first(requests: Sequence[_Request]) -> list[_Part]:
    """As much as fits, in the order of arrival."""
    parts: list[_Part] = []
    room = PASS_TOKENS
    for request in requests:
        parts.append(request.take(room))
        room -= parts[-1].cost
    return [part for part in parts if part.texts]


def _run(encoder: Encoder, parts: Sequence[_Part]) -> None:
    try:
        vectors = encoder.encode([text for part in parts for text in part.texts])
    except Exception as error:  # noqa: BLE001 - the thread lives on; the callers of this pass get the error
        for part in parts:
            part.request.fail(_for_caller(error))
        return
    begin = 0
    for part in parts:
        end = begin + len(part.texts)
        part.request.receive(part.indices, vectors[begin:end])
        begin = end


def _cost(text: str) -> int:
    """Estimated tokens."""
    head = text[: _MOST_TOKENS * _BYTES_PER_TOKEN].encode(errors="surrogatepass")
    return min(_MOST_TOKENS, _TOKENS_AROUND + len(head) // _BYTES_PER_TOKEN)


def _for_caller(error: Exception) -> PkmError:
    if isinstance(error, PkmError):
        return error
    kind = type(error).__name__
    logger.error("embedding failed: %s", kind)  # without the message and traceback, which could hold content
    return Unavailable(f"The embedding model failed ({kind}); try again, and if it stays so run `graphiti-pkm doctor`.")


def _closed() -> PkmError:
    return Unavailable("The embedder is shutting down; start the server again, then repeat the call.")
