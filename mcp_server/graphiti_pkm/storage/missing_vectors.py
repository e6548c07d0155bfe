"""Embeds records stored without a vector: the model was unavailable, or the memory changes to another model."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import NewVectors, Vector, WriteIntent, WriteKind
from graphiti_pkm.core.ports.embedding import TextToEmbed
from graphiti_pkm.errors import ModelUnavailable, TextRefused, Unavailable, WritePending
from graphiti_pkm.storage.commit import Committer

_NOTHING = "."
"""Embedded instead of a text that the model refuses; such a record is found by words."""
TEXTS = 256
"""Texts per write; about a second of the local model."""


class MissingVectors:
    """Works in small journalled writes: if stopped at any point, it continues from there."""

    def __init__(self, context: Context, committer: Committer) -> None:
        self._context = context
        self._graph = context.graph
        self._committer = committer

    async def embed_some(self, group_id: str, patience: float | None = None) -> int | None:
        """Embed the next texts of a group; returns how many got a vector, None if none lacks one.

        Raises:
            ModelUnavailable: there are no vectors to be had now.
            Unavailable: the database is away.
        """
        texts = await self._graph.embeddings.without_vector(group_id, TEXTS)
        if not texts:
            return None
        try:
            vectors = await self._vectors([one.text for one in texts], patience)
        except Unavailable as error:
            raise ModelUnavailable(error.message) from error
        embedded = {(one.uuid, one.text): vector for one, vector in zip(texts, vectors, strict=True)}
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            # Some may have been embedded, changed or deleted meanwhile.
            left = await self._graph.embeddings.without_vector(group_id, TEXTS)
            same = [one for one in left if (one.uuid, one.text) in embedded]
            if same:
                intent = WriteIntent(
                    uuid=str(uuid4()),
                    group_id=group_id,
                    kind=WriteKind.JOB,
                    recorded_at=await self._committer.time(group_id),
                    new_vectors=_new_vectors(same),
                )
                try:
                    await self._committer.commit(intent, {one.uuid: embedded[one.uuid, one.text] for one in same})
                except WritePending as error:
                    raise Unavailable(error.message) from error
        return len(same)

    async def _vectors(self, texts: Sequence[str], patience: float | None) -> list[Vector]:
        """A text that the model refuses must neither delay the others nor be sent again and again."""
        embedder = self._context.embedder

        async def alone(text: str) -> Vector:
            try:
                return (await embedder.embed([text], patience))[0]
            except TextRefused:
                return (await embedder.embed([_NOTHING], patience))[0]

        try:
            return await embedder.embed(texts, patience)
        except TextRefused:
            return await asyncio.gather(*map(alone, texts))


def _new_vectors(texts: Sequence[TextToEmbed]) -> NewVectors:
    return NewVectors(
        entities=tuple(one.uuid for one in texts if one.kind == "entity"),
        facts=tuple(one.fact for one in texts if one.fact is not None),
        passages=tuple((one.episode_uuid, one.uuid) for one in texts if one.episode_uuid is not None),
    )
