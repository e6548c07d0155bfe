"""The part ``embeddings``: what the vectors are, and changing it."""

from array import array
from collections.abc import Sequence

from graphiti_pkm.core.model.passages import embedded_text
from graphiti_pkm.core.model.records import EmbeddedFact, EpisodeSource, Vectors
from graphiti_pkm.core.ports.embedding import EmbeddingSize, TextToEmbed
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.database import Refused
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import embedding as queries_embedding
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.vector_indexes import ALL, ENTITIES, FACTS, PASSAGES


class Embeddings(Part):
    """The port ``GraphEmbeddings``."""

    async def embedding(self) -> tuple[str, int] | None:
        model, dimension = await schema.embedding(await self._db())
        return None if model is None or dimension is None else (model, dimension)

    async def record_embedding(self, model: str, dimension: int) -> None:
        await schema.record_embedding(await self._db(), model, dimension)

    async def change_embedding(self, model: str, dimension: int) -> None:
        db = await self._db()
        values = {"model": model, "dimension": dimension}
        # First, so that a process that builds an index meanwhile builds one that fits.
        await db.write(Query("change embedding", queries_embedding.CHANGE, values))
        for kind in ALL:
            await db.drop_vector_index(kind)
        self._opened.forget_vectors()
        self._opened.known_dimension = dimension

    async def remove_vectors(self, limit: int) -> int:
        db = await self._db()
        removed = 0
        for kind in queries_embedding.REMOVED:
            if removed < limit:
                try:
                    (found,) = await db.write(queries_embedding.remove(kind, limit - removed))
                except Refused:
                    raise Unavailable("The database does not take vectors away now. Try again.") from None
                removed += int(found["removed"])
        return removed

    async def vectors_of(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Vectors:
        if not uuids:
            return {}
        found = await self._read(*(queries_embedding.of(kind, uuids, group_ids) for kind in ALL))
        return {row["uuid"]: array("f", row["vector"]) for rows in found for row in rows}

    async def without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        texts: list[TextToEmbed] = []
        found = await self._rows(queries_embedding.without(ENTITIES, group_id, limit))
        texts += [TextToEmbed(kind="entity", uuid=row["uuid"], text=row["text"] or "") for row in found]
        if len(texts) < limit:
            texts += await self._passages_without_vector(group_id, limit - len(texts))
        if len(texts) < limit:
            found = await self._rows(queries_embedding.without(FACTS, group_id, limit - len(texts)))
            texts += [
                TextToEmbed(
                    kind="fact",
                    uuid=row["uuid"],
                    text=row.pop("text") or "",
                    fact=EmbeddedFact.model_validate(row),
                )
                for row in found
            ]
        return texts

    async def embedding_size(self, *, only_missing: bool) -> EmbeddingSize:
        queries = (queries_embedding.size(kind, only_missing=only_missing) for kind in ALL)
        found = {kind: row for kind, (row,) in zip(ALL, await self._read(*queries), strict=True)}
        return EmbeddingSize(
            entities=found[ENTITIES]["texts"],
            facts=found[FACTS]["texts"],
            passages=found[PASSAGES]["texts"],
            characters=int(sum(row["characters"] or 0 for row in found.values())),
        )

    async def _passages_without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        """Cut out here: offsets count code points."""
        found = await self._rows(queries_embedding.without(PASSAGES, group_id, limit))
        uuids = sorted({row["episode_uuid"] for row in found})
        said: dict[str, tuple[str, EpisodeSource]] = {}
        if uuids:
            rows = await self._rows(Query("contents", queries_embedding.EPISODE_CONTENTS, {"uuids": uuids}))
            said = {row["uuid"]: (row["content"] or "", row["source"]) for row in rows}
        return [
            TextToEmbed(
                kind="passage",
                uuid=row["uuid"],
                text=embedded_text(*said.get(row["episode_uuid"], ("", "text")), row["start"], row["end"]),
                episode_uuid=row["episode_uuid"],
            )
            for row in found
        ]
