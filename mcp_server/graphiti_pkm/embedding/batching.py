"""Embeds the texts of all waiting callers together, in one thread.

The thread works in short passes. A pass embeds texts of several callers, so that many small requests are as fast as a
large one, and new requests are considered after each pass. Every second pass serves complete small requests, the
smallest first, so that one line does not wait for a thousand sentences. The other passes serve the oldest request
first, so that many lines cannot delay a thousand sentences for ever.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import PkmError, Unavailable

PASS_TOKENS = 1024
"""Estimated tokens per pass, which take about 0.2 s on two cores."""

_MOST_TOKENS = 256
_TOKENS_AROUND = 2
_BYTES_PER_TOKEN = 3
"""A conservative estimate: English has four to five, other scripts about three."""

logger = logging.getLogger(__name__)


class Encoder(Protocol):
    """A loaded model."""

    def encode(self, texts: Sequence[str]) -> list[Vector]:
        """One vector per text, in order."""
        ...


class Batcher:
    """Starts its thread and loads the model at the first request. May be used from any thread."""

    def __init__(self, load: Callable[[], Encoder]) -> None:
        self._load = load
        self._changed = threading.Condition()
        self._waiting: list[_Request] = []
        self._closed = False
        self._thread: threading.Thread | None = None

    def submit(self, texts: Sequence[str]) -> "Future[list[Vector]]":
        """Vectors of the texts, in order. Cancelling the future does not affect other requests.

        Raises:
            Unavailable: the batcher is closed, or was closed before the vectors were ready.
        """
        request = _Request(texts)
        with self._changed:
            if self._closed:
                raise _closed()
            if self._thread is None:
                # A daemon thread, so that a process can end without closing it.
                self._thread = threading.Thread(target=self._work, name="embedder", daemon=True)
                self._thread.start()
            self._waiting.append(request)
            self._changed.notify()
        return request.future

    def close(self) -> None:
        """Fail waiting requests and end the thread after its current pass. May be called repeatedly."""
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
            except Exception as error:  # noqa: BLE001 - the thread continues; every waiting caller gets the error
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
        """Wait for requests and return all unfinished ones, oldest first; empty if the batcher is closed."""
        with self._changed:
            while not self._closed:
                self._waiting = [request for request in self._waiting if not request.future.done()]
                if self._waiting:
                    return list(self._waiting)
                self._changed.wait()
            return []


class _Request:
    """The texts of one caller. After submission only the thread accesses it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.future: Future[list[Vector]] = Future()
        self._texts = texts
        self._costs = [_cost(text) for text in texts]
        # Sorted by length and taken from the end, so that texts of similar length are embedded together.
        self._todo = sorted(range(len(texts)), key=self._costs.__getitem__)
        self._vectors: dict[int, Vector] = {}
        self.cost = sum(self._costs)
        """Estimated tokens still to be embedded."""

    def take(self, room: int) -> "_Part":
        """The next texts that fit into the remaining tokens."""
        taken: list[int] = []
        used = 0
        while self._todo and used + self._costs[self._todo[-1]] <= room:
            index = self._todo.pop()
            used += self._costs[index]
            taken.append(index)
        self.cost -= used
        return _Part(self, taken, [self._texts[index] for index in taken], used)

    def receive(self, indices: Sequence[int], vectors: Sequence[Vector]) -> None:
        """Store vectors; the last ones complete the request."""
        self._vectors.update(zip(indices, vectors, strict=True))
        if len(self._vectors) == len(self._texts) and self._begin_answer():
            self.future.set_result([self._vectors[index] for index in range(len(self._texts))])

    def fail(self, error: Exception) -> None:
        if self._begin_answer():
            self.future.set_exception(error)

    def _begin_answer(self) -> bool:
        """Return False if the caller has given up; otherwise prevent it from giving up from now on."""
        return not self.future.done() and self.future.set_running_or_notify_cancel()


class _Part:
    """The texts of a request that are embedded in the same pass."""

    def __init__(self, request: _Request, indices: list[int], texts: list[str], cost: int) -> None:
        self.request, self.indices, self.texts, self.cost = request, indices, texts, cost


def _small_ones(requests: Sequence[_Request]) -> list[_Part]:
    """The smallest requests that fit completely into one pass."""
    parts: list[_Part] = []
    room = PASS_TOKENS
    for request in sorted(requests, key=lambda request: request.cost):
        if request.cost > room:
            break
        parts.append(request.take(room))
        room -= parts[-1].cost
    return parts


def _oldest_first(requests: Sequence[_Request]) -> list[_Part]:
    """As many texts as fit into one pass, in order of arrival."""
    parts: list[_Part] = []
    room = PASS_TOKENS
    for request in requests:
        parts.append(request.take(room))
        room -= parts[-1].cost
    return [part for part in parts if part.texts]


def _run(encoder: Encoder, parts: Sequence[_Part]) -> None:
    try:
        vectors = encoder.encode([text for part in parts for text in part.texts])
    except Exception as error:  # noqa: BLE001 - the thread continues; the callers of this pass get the error
        for part in parts:
            part.request.fail(_for_caller(error))
        return
    begin = 0
    for part in parts:
        end = begin + len(part.texts)
        part.request.receive(part.indices, vectors[begin:end])
        begin = end


def _cost(text: str) -> int:
    """Estimated number of tokens."""
    head = text[: _MOST_TOKENS * _BYTES_PER_TOKEN].encode(errors="surrogatepass")
    return min(_MOST_TOKENS, _TOKENS_AROUND + len(head) // _BYTES_PER_TOKEN)


def _for_caller(error: Exception) -> PkmError:
    if isinstance(error, PkmError):
        return error
    kind = type(error).__name__
    logger.error("embedding failed: %s", kind)  # without message and traceback, which may contain content
    return Unavailable(f"The embedding model failed ({kind}); try again, and if it stays so run `graphiti-pkm doctor`.")


def _closed() -> PkmError:
    return Unavailable("The embedder is shutting down; start the server again, then repeat the call.")
