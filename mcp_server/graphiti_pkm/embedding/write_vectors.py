"""Computes the vectors of a write in one batch, before any lock is acquired."""

import asyncio
from collections.abc import Sequence

from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.errors import Unavailable

PATIENCE = 5.0
"""Seconds that a write waits for a service; records that are stored without vectors receive them later."""
MOST_SECONDS = 10.0
"""Seconds that a write waits for any model, for example on a busy machine; less than half a call's time limit."""
WORDS_ONLY = "found by words only: no embedding model, see get_status"
WORDS_FOR_NOW = "found by words only until the embedding model answers again (embedding: pending)"


async def embed_by_text(embedder: Embedder, texts: Sequence[str]) -> dict[str, Vector] | None:
    """Vectors by text; None without a model that answers in time. Full-text search works without vectors."""
    if not texts and not await embedder.available():
        return None
    try:
        async with asyncio.timeout(MOST_SECONDS):
            vectors = await embedder.embed(texts, PATIENCE)
    except (Unavailable, TimeoutError):
        return None
    return dict(zip(texts, vectors, strict=True))


async def why_no_vectors(embedder: Embedder) -> str:
    """The explanation for a write without vectors."""
    return WORDS_FOR_NOW if await embedder.available() else WORDS_ONLY
