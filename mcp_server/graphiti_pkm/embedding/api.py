"""Implements the port ``Embedder`` with a service that offers OpenAI's ``/embeddings``: texts leave the machine.

The service's messages are never logged or shown in errors, because they may quote texts, answers or the key.
"""

import asyncio
import importlib
import logging
import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import UNCOUNTED, Metrics
from graphiti_pkm.embedding.local.vector_cache import VectorCache
from graphiti_pkm.embedding.request_batcher import Outcome, RequestBatcher, closed
from graphiti_pkm.errors import TextRefused, Unavailable
from graphiti_pkm.settings.embedding import (
    EmbeddingSettings,
    check_embedding,
    embedding_dimension,
    embedding_model,
    takes_dimension,
)
from graphiti_pkm.settings.keys import is_openai

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MOST_CHARACTERS = 8_000
"""Characters per text; longer texts are truncated. Sentences have at most 900."""
BLANK = "."
"""Embedded in place of a blank text, which services refuse."""

_CALLS_AT_ONCE = 4
_SECONDS = 60.0
_RETRIES = 5
"""Retries of a background call: the client backs off exponentially and obeys Retry-After."""
_RETRIES_IN_HASTE = 2
_REST_SECONDS = 30.0
_REFUSED = frozenset({400, 413, 422})
_KEY_REFUSED = frozenset({401, 403})
_MOVED = frozenset({301, 302, 303, 307, 308})
_UNKNOWN = 404
_BUSY = 429

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EmbeddingService:
    """The address, model and dimension of a service."""

    model: str
    dimension: int
    base_url: str
    key: SecretStr | None
    """None for a service that requires none."""
    sends_dimension: bool
    """Whether the model accepts a dimension as a parameter; for other models the answer's dimension is checked."""

    @property
    def host(self) -> str:
        """The host that receives the texts."""
        return urlsplit(self.base_url).hostname or self.base_url


def service_of(settings: EmbeddingSettings) -> EmbeddingService:
    """The service that the settings configure. Raises ConfigurationError if they contradict each other."""
    check_embedding(settings)
    model = embedding_model(settings)
    return EmbeddingService(
        model=model,
        dimension=embedding_dimension(settings),
        base_url=settings.embedding_base_url,
        key=settings.embedding_api_key,
        sends_dimension=takes_dimension(model),
    )


class ApiEmbedder:
    """Embeds with a service. The client is imported with the first text. Use each instance in one event loop only."""

    def __init__(self, service: EmbeddingService, metrics: Metrics = UNCOUNTED) -> None:
        self._service = service
        self._clients: dict[int, AsyncOpenAI] = {}
        """Clients by their number of retries."""
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._rests_until = 0.0
        """Until this time, requests with ``patience`` skip a service that has just timed out."""
        self._cache = VectorCache(metrics)
        self._patient = RequestBatcher(partial(self._send, _RETRIES), _CALLS_AT_ONCE)
        # A separate queue, so that a search does not wait behind a thousand sentences.
        self._hasty = RequestBatcher(partial(self._send, _RETRIES_IN_HASTE), _CALLS_AT_ONCE)

    @property
    def model(self) -> str:
        return self._service.model

    @property
    def dimension(self) -> int:
        return self._service.dimension

    async def available(self) -> bool:
        """True, because a service is configured; requests show whether it answers."""
        return True

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """One unit vector per text, in order, from its first 8,000 characters.

        ``patience``: the seconds after which to give up, because somebody waits for the result.

        Raises:
            Unavailable: the service cannot be reached, refuses, or sends an invalid answer; the error says what to do.
        """
        vectors = self._cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            if patience is not None and monotonic() < self._rests_until:
                raise Unavailable(f"The embedding service at {self._service.host} did not answer a moment ago.")
            batcher, retries = (self._patient, _RETRIES) if patience is None else (self._hasty, _RETRIES_IN_HASTE)
            await self._open(retries)  # outside the timeout, because the first import takes time
            try:
                async with asyncio.timeout(patience):
                    found = await batcher.embed([_prepared(text) for text in missing])
            except TimeoutError:
                self._rests_until = monotonic() + _REST_SECONDS
                raise Unavailable(f"The embedding service at {self._service.host} did not answer in time.") from None
            self._rests_until = 0.0
            fresh = dict(zip(missing, found, strict=True))
            self._cache.put(fresh)
            vectors.update(fresh)
        # Copies, because callers may change their vectors, and the same text may occur twice or be in the cache.
        return [vectors[text][:] for text in texts]

    async def problem(self) -> str | None:
        """None, because the caller of the last request reports its failure."""
        return None

    async def close(self) -> None:
        """End the calls under way and fail waiting requests. May be called repeatedly."""
        self._is_closed = True
        await asyncio.gather(self._patient.close(), self._hasty.close())
        while self._clients:
            _, client = self._clients.popitem()
            await client.close()

    async def _open(self, retries: int) -> "AsyncOpenAI":
        async with self._opening:
            if self._is_closed:
                raise closed()
            if retries not in self._clients:
                module = await asyncio.to_thread(importlib.import_module, "graphiti_pkm.llm.service")
                key, url = self._service.key, self._service.base_url
                client = module.open_client(
                    url, key.get_secret_value() if key else None, _SECONDS, is_openai=is_openai(url)
                )
                client.max_retries = retries
                self._clients[retries] = client
            return self._clients[retries]

    async def _send(self, retries: int, texts: list[str], *, is_form_taken: bool = False) -> list[Outcome]:
        """Embed in one call, or in several if the service refuses one of the texts, so that the others get vectors."""
        client = await self._open(retries)
        import openai  # noqa: PLC0415  (loaded by now)

        try:
            return list(await self._ask(client, texts))
        except openai.APIStatusError as error:
            refusal = self._explained(error.status_code)
            if error.status_code not in _REFUSED:
                return [refusal] * len(texts)
        except openai.OpenAIError as error:
            _log.warning("the embedding service failed: %s", type(error).__name__)
            return [
                Unavailable(
                    f"The embedding service at {self._service.host} cannot be reached ({type(error).__name__}); "
                    "check the network and GRAPHITI_PKM_EMBEDDING_BASE_URL."
                )
            ] * len(texts)
        except Unavailable as error:
            return [error] * len(texts)
        return await self._apart(retries, texts, refusal, is_form_taken=is_form_taken)

    async def _apart(
        self, retries: int, texts: list[str], refusal: Unavailable, *, is_form_taken: bool
    ) -> list[Outcome]:
        """Embed parts after a refusal. A harmless text first shows whether the service refuses all such requests."""
        if not is_form_taken:
            (harmless,) = [refusal] if texts == [BLANK] else await self._send(retries, [BLANK])
            if isinstance(harmless, Unavailable):
                return [refusal] * len(texts)
        if len(texts) == 1:
            return [TextRefused(f"The embedding service at {self._service.host} takes other texts, but not this one.")]
        half = len(texts) // 2
        return [
            *await self._send(retries, texts[:half], is_form_taken=True),
            *await self._send(retries, texts[half:], is_form_taken=True),
        ]

    async def _ask(self, client: "AsyncOpenAI", texts: list[str]) -> list[Vector]:
        """Send one request. Raises Unavailable for an invalid answer, and the client's errors."""
        # Request numbers, because some compatible services do not support base64, the client's default.
        wanted: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if self._service.sends_dimension:
            wanted["dimensions"] = self.dimension
        if self._service.key is None:
            from graphiti_pkm.llm.service import WITHOUT_KEY  # noqa: PLC0415  (loaded by now)

            wanted["extra_headers"] = WITHOUT_KEY
        answer = await client.embeddings.create(**wanted)
        try:
            by_place = {one.index: array("f", one.embedding) for one in answer.data}
        except (AttributeError, TypeError, ValueError, OverflowError):
            raise self._misfit("what is no list of vectors") from None
        if len(answer.data) != len(texts) or by_place.keys() != set(range(len(texts))):
            raise self._misfit(f"{len(answer.data)} vectors to {len(texts)} texts")
        lengths = {len(vector) for vector in by_place.values()}
        if lengths != {self.dimension}:
            raise Unavailable(
                f"{self.model} at {self._service.host} gives vectors of {max(lengths)} dimensions, not of "
                f"{self.dimension}: set GRAPHITI_PKM_EMBEDDING_DIMENSION to what the model gives, "
                "then run `graphiti-pkm reembed`."
            )
        return [self._unit(by_place[place]) for place in range(len(texts))]

    def _unit(self, vector: Vector) -> Vector:
        length = math.sqrt(math.fsum(value * value for value in vector))
        if not math.isfinite(length) or length == 0:
            raise self._misfit("a vector without a direction")
        return array("f", [value / length for value in vector])

    def _misfit(self, what: str) -> Unavailable:
        return Unavailable(
            f"The embedding service at {self._service.host} answers with {what}; check that "
            f"{self.model} is an embedding model and GRAPHITI_PKM_EMBEDDING_BASE_URL leads to it."
        )

    def _explained(self, status: int) -> Unavailable:
        """Our error for a status, without the answer's text, which may quote the request or the key."""
        _log.warning("the embedding service answered with HTTP %d", status)
        host = self._service.host
        if status in _KEY_REFUSED:
            return Unavailable(
                f"The embedding service at {host} refuses the key (HTTP {status}): set "
                "GRAPHITI_PKM_EMBEDDING_API_KEY to a valid one and start the server again."
            )
        if status == _UNKNOWN:
            return Unavailable(
                f"The embedding service at {host} knows no model {self.model}, or its address is another (HTTP 404): "
                "check GRAPHITI_PKM_EMBEDDING_MODEL and GRAPHITI_PKM_EMBEDDING_BASE_URL."
            )
        if status in _MOVED:
            return Unavailable(
                f"The embedding service at {host} sends us to another address (HTTP {status}), where nothing is sent: "
                "set GRAPHITI_PKM_EMBEDDING_BASE_URL to the final one."
            )
        if status in _REFUSED:
            return Unavailable(
                f"The embedding service at {host} does not take the request (HTTP {status}): check that {self.model} "
                f"is an embedding model that gives {self.dimension} dimensions."
            )
        why = "asks to wait, or its quota is spent" if status == _BUSY else "has a fault of its own"
        return Unavailable(f"The embedding service at {host} {why} (HTTP {status}).")


def _prepared(text: str) -> str:
    """The part of a text that is sent, without lone surrogates, which JSON cannot represent."""
    cut = text[:MOST_CHARACTERS].encode("utf-8", "replace").decode()
    return cut if cut.strip() else BLANK
