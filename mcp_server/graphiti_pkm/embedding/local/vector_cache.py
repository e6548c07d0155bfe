"""Vectors of short texts, kept for the next time: names and facts are embedded again and again."""

from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import CACHED_TEXTS, UNCOUNTED, Metrics

_TEXTS = 4096
_LENGTH = 200
"""Characters; sentences of an episode hardly ever come again."""


class VectorCache:
    """Least recently used out first."""

    def __init__(self, metrics: Metrics = UNCOUNTED) -> None:
        self._metrics = metrics
        self._vectors: OrderedDict[str, array[float]] = OrderedDict()

    def get(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Those that are known."""
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        for text in found:
            self._vectors.move_to_end(text)
        if found:
            self._metrics.add(CACHED_TEXTS, len(found))
        return found

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Keep those of short texts."""
        for text, vector in vectors.items():
            if len(text) <= _LENGTH:
                self._vectors[text] = vector
        while len(self._vectors) > _TEXTS:
            self._vectors.popitem(last=False)
