"""An embedder without a model: texts that share words have near vectors."""

import asyncio
import hashlib
import math
from array import array
from collections.abc import Sequence

from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.errors import TextRefused, Unavailable


class FakeEmbedder:
    """Sums one pseudo-random direction a word.

    ``is_available`` False behaves like missing weights, ``is_away`` like a service that does not answer.
    """

    model = "fake-bag-of-words"

    def __init__(self, dimension: int = 32) -> None:
        self.dimension = dimension
        self.is_available = True
        self.is_away = False
        self.trouble: str | None = None
        """What ``problem`` answers."""
        self.refused = ""
        """Texts that hold this are refused, and whatever is asked with them."""
        self.calls: list[list[str]] = []
        """The texts of every call of ``embed`` that was answered."""

    async def available(self) -> bool:
        return self.is_available

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:  # noqa: ARG002
        await asyncio.sleep(0)
        if not self.is_available:
            raise Unavailable("The embedding model has no weights.")
        if self.is_away:
            raise Unavailable("The embedding service does not answer.")
        if self.refused and any(self.refused in text for text in texts):
            raise TextRefused("The embedding service takes other texts, but not this one.")
        self.calls.append(list(texts))
        return [self._vector(text) for text in texts]

    async def problem(self) -> str | None:
        return self.trouble if self.is_available else "The embedding model has no weights."

    def _vector(self, text: str) -> Vector:
        total = [0.0] * self.dimension
        for word in fold(text).split() or [""]:
            for i, value in enumerate(self._direction(word)):
                total[i] += value
        length = math.sqrt(sum(value * value for value in total))
        return array("f", [value / length for value in total])

    def _direction(self, word: str) -> list[float]:
        noise = hashlib.shake_256(word.encode("utf-8", "surrogatepass")).digest(self.dimension)
        return [byte - 127.5 for byte in noise]
