"""Implements the port ``Embedder`` with a local model: no key, no network, and texts stay on this machine."""

import asyncio
import importlib.util
import logging
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import UNCOUNTED, Metrics
from graphiti_pkm.embedding.batching import Batcher, Encoder
from graphiti_pkm.embedding.local.vector_cache import VectorCache
from graphiti_pkm.embedding.local.weight_files import FETCH_COMMAND, MINILM, Weights, find_weights
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:
    from graphiti_pkm.embedding.local.minilm import SentenceEncoder

_DIMENSION = 384

logger = logging.getLogger(__name__)


class LocalEmbedder:
    """all-MiniLM-L6-v2 in NumPy or ONNX Runtime, which is loaded in a thread with the first text.

    Weights are looked for only once: restart the server after fetching them. Use each instance in one event loop only.
    """

    def __init__(self, settings: Settings, weights: Weights = MINILM, metrics: Metrics = UNCOUNTED) -> None:
        self._settings = settings
        self._wanted = weights
        self._deciding = threading.Lock()
        self._decided = False
        self._directory: Path | None = None
        self._batcher = Batcher(self._load)
        self._cache = VectorCache(metrics)

    @property
    def model(self) -> str:
        return self._wanted.model

    @property
    def dimension(self) -> int:
        return _DIMENSION

    @property
    def is_fast(self) -> bool:
        """Whether ONNX Runtime computes the vectors; NumPy does otherwise."""
        return self._settings.local_runtime == "auto" and importlib.util.find_spec("onnxruntime") is not None

    async def available(self) -> bool:
        """False if the weights are missing; does not load them.

        Raises:
            ConfigurationError: the setting ``model_dir`` or the weights found are wrong.
        """
        return await self._find() is not None

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:  # noqa: ARG002
        """One unit vector per text, in order, from its first 256 tokens.

        ``patience`` is ignored: it is meant for models that are called over a network, and this one never hangs.

        Raises:
            Unavailable: the weights are missing, or the embedder is closed.
            ConfigurationError: the setting ``model_dir`` or the weights found are wrong.
        """
        vectors = self._cache.get(texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            if reason := await self.problem():
                raise Unavailable(reason)
            answer: asyncio.Future[list[Vector]] = asyncio.wrap_future(self._batcher.submit(missing))
            fresh = dict(zip(missing, await answer, strict=True))
            self._cache.put(fresh)
            vectors.update(fresh)
        # Copies, because callers may change their vectors, and the same text may occur twice or be in the cache.
        return [vectors[text][:] for text in texts]

    async def problem(self) -> str | None:
        """A message if the weights are missing. Raises ConfigurationError like ``available``."""
        if await self._find() is not None:
            return None
        return (
            f"There are no weights of {self.model} here, so that only full-text search works; "
            f"`{FETCH_COMMAND}` fetches them once, then start the server again."
        )

    async def close(self) -> None:
        """Fail waiting requests and end the thread. May be called repeatedly."""
        await asyncio.to_thread(self._batcher.close)

    async def _find(self) -> Path | None:
        if not self._decided:
            await asyncio.to_thread(self._decide)
        return self._directory

    def _decide(self) -> None:
        with self._deciding:
            if not self._decided:
                self._directory = find_weights(self._settings, self._wanted)
                self._decided = True

    def _load(self) -> Encoder:
        """Load NumPy and the weights; runs in the batcher's thread, so that the server's start does not wait."""
        if self._directory is None:
            raise Unavailable(f"There are no weights of {self.model} here.")
        started = time.perf_counter()
        model_type = (_onnx_model() if self.is_fast else None) or _numpy_model()
        try:
            model = model_type(self._directory)
        except OSError as error:
            raise Unavailable(
                f"The weights of {self.model} cannot be read ({error.strerror}); check them with `graphiti-pkm doctor`."
            ) from error
        milliseconds = 1000 * (time.perf_counter() - started)
        logger.info("%s loaded in %.0f ms, in %s", self.model, milliseconds, model_type.runtime)
        return model


def _onnx_model() -> "type[SentenceEncoder] | None":
    """The model for ONNX Runtime; None if that is installed and cannot be loaded, which is said in the log."""
    try:
        from graphiti_pkm.embedding.local.onnx_minilm import OnnxMiniLM  # noqa: PLC0415 - only where it is used
    except (ImportError, OSError) as error:
        logger.warning("onnxruntime cannot be loaded (%s); NumPy computes the vectors", type(error).__name__)
        return None
    return OnnxMiniLM


def _numpy_model() -> "type[SentenceEncoder]":
    from graphiti_pkm.embedding.local.minilm import MiniLM  # noqa: PLC0415 - NumPy is not loaded at the start

    return MiniLM
