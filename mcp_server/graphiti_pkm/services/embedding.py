"""Vectors of what a write stores, made in one batch before any lock is held."""

from collections.abc import Sequence

from graphiti_pkm.domain.ports import Embedder
from graphiti_pkm.domain.records import Vector
from graphiti_pkm.errors import Unavailable


async def embed_by_text(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vector] | None:
    """Vectors by text; None without a model: what is stored is then found by words only."""
    if not await embedder.available():
        return None
    try:
        vectors = await embedder.embed(texts)
    except Unavailable:
        return None
    return dict(zip(texts, vectors, strict=True))
