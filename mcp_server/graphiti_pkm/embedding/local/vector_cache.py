"""Caches the vectors of short texts, because names and facts are embedded repeatedly."""

from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.metrics import CACHED_TEXTS, UNCOUNTED, Metrics

_TEXTS = 4096
_LENGTH = 200
"""Characters of the longest cached text; sentences of episodes are rarely embedded again."""


class VectorCache:
    """Evicts the least recently used vectors first."""

    def __init__(self, metrics: Metrics = UNCOUNTED) -> None:
        self._metrics = metrics
        self._vectors: OrderedDict[str, array[float]] = OrderedDict()

    def get(self, texts: Sequence[str]) -> dict[str, Vector]:
        """The cached vectors of these texts."""
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        for text in found:
            self._vectors.move_to_end(text)
        if found:
            self._metrics.add(CACHED_TEXTS, len(found))
        return found

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Cache the vectors of short texts."""
        for text, vector in vectors.items():
            if len(text) <= _LENGTH:
                self._vectors[text] = vector
        while len(self._vectors) > _TEXTS:
            self._vectors.popitem(last=False)
