"""The port ``Embedder`` with metrics."""

import time
from collections.abc import Sequence

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import EMBEDDED_TEXTS, EMBEDDING_ERRORS, EMBEDDING_SECONDS, Metrics
from graphiti_pkm.core.ports.ports import Embedder


class MeasuredEmbedder:
    """Counts the requests to the embedder that it wraps."""

    def __init__(self, inner: Embedder, metrics: Metrics) -> None:
        self._inner = inner
        self._metrics = metrics

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def available(self) -> bool:
        """As the one within."""
        return await self._inner.available()

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """As the one within."""
        self._metrics.add(EMBEDDED_TEXTS, len(texts))
        began = time.perf_counter()
        try:
            return await self._inner.embed(texts, patience)
        except Exception:
            self._metrics.add(EMBEDDING_ERRORS, 1)
            raise
        finally:
            self._metrics.observe(EMBEDDING_SECONDS, time.perf_counter() - began)

    async def problem(self) -> str | None:
        """As the one within."""
        return await self._inner.problem()
