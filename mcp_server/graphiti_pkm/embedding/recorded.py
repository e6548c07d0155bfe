"""An embedder that is available only while the memory's vectors are of its model."""

import logging
from collections.abc import Sequence

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.embedding import RecordedEmbedding, mismatch
from graphiti_pkm.core.ports.ports import Embedder, Journal
from graphiti_pkm.errors import PkmError, Unavailable

_log = logging.getLogger(__name__)


class RecordedEmbedder:
    """The port ``Embedder``, unavailable while the memory has vectors of another model, which can change any time."""

    def __init__(self, inner: Embedder, journal: Journal) -> None:
        self._inner = inner
        self._journal = journal
        self._seen: RecordedEmbedding | None = None
        self._failure: str | None = None

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimension(self) -> int:
        return self._inner.dimension

    async def available(self) -> bool:
        """Raises the errors of the wrapped embedder."""
        return await self._mismatch() is None and await self._inner.available()

    async def embed(self, texts: Sequence[str], patience: float | None = None) -> list[Vector]:
        """Also raises Unavailable if the memory's vectors are of another model."""
        if (reason := await self._mismatch()) is not None:
            raise Unavailable(reason)
        try:
            vectors = await self._inner.embed(texts, patience)
        except Unavailable as error:
            self._failure = error.message
            raise
        self._failure = None
        return vectors

    async def problem(self) -> str | None:
        """Why no vectors are available now, or why the last request failed."""
        return await self._mismatch() or await self._inner.problem() or self._failure

    async def _mismatch(self) -> str | None:
        try:
            self._seen = await self._journal.embedding()
        except PkmError as error:  # reads continue without the journal
            _log.debug("the journal does not say of which model the vectors are: %s", error.code)
        return mismatch(self._seen, self._inner)
