"""The vectors of the fake graph as such."""

from collections.abc import Iterator, Sequence

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables

from graphiti_pkm.core.model.passages import embedded_text
from graphiti_pkm.core.model.records import EmbeddedFact, NewVectors, Vectors
from graphiti_pkm.core.ports.embedding import EmbeddingSize, TextToEmbed

_KINDS = ("entity", "passage", "fact")


class FakeEmbeddings(FakePart):
    """The port ``GraphEmbeddings``."""

    async def embedding(self) -> tuple[str, int] | None:
        return (await self._db()).embedding

    async def record_embedding(self, model: str, dimension: int) -> None:
        db = await self._db()
        if db.embedding is None:
            db.embedding = (model, dimension)

    async def change_embedding(self, model: str, dimension: int) -> None:
        (await self._db()).embedding = (model, dimension)

    async def remove_vectors(self, limit: int) -> int:
        db = await self._db()
        gone = list(db.vectors)[:limit]
        for uuid in gone:
            del db.vectors[uuid]
        return len(gone)

    async def without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        db = await self._db()
        found = [text for group, text in _texts(db) if group == group_id and text.uuid not in db.vectors]
        return sorted(found, key=lambda text: (_KINDS.index(text.kind), text.uuid))[:limit]

    async def vectors_of(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Vectors:
        db = await self._db()
        held = {text.uuid for group, text in _texts(db) if group in group_ids}
        return {uuid: db.vectors[uuid] for uuid in uuids if uuid in held and uuid in db.vectors}

    async def embedding_size(self, *, only_missing: bool) -> EmbeddingSize:
        db = await self._db()
        texts = [text for _, text in _texts(db) if not (only_missing and text.uuid in db.vectors)]
        counts = [sum(text.kind == kind for text in texts) for kind in _KINDS]
        characters = sum(len(text.text) for text in texts)
        return EmbeddingSize(entities=counts[0], passages=counts[1], facts=counts[2], characters=characters)


def _texts(db: Tables) -> Iterator[tuple[str, TextToEmbed]]:
    """With their groups."""
    for entity in db.entities.values():
        yield entity.group_id, TextToEmbed(kind="entity", uuid=entity.uuid, text=entity.name)
    for passage in db.passages.values():
        episode = db.episodes[passage.episode_uuid]
        text = embedded_text(episode.content, episode.source, passage.start, passage.end)
        yield (
            episode.group_id,
            TextToEmbed(kind="passage", uuid=passage.uuid, text=text, episode_uuid=episode.uuid),
        )
    for fact in db.facts.values():
        ends = {"source_uuid": fact.source_uuid, "target_uuid": fact.target_uuid}
        about = EmbeddedFact(uuid=fact.uuid, episodes=fact.episodes, **ends)
        yield fact.group_id, TextToEmbed(kind="fact", uuid=fact.uuid, text=fact.text, fact=about)


def give(db: Tables, given: NewVectors, vectors: Vectors) -> None:
    """To what is there and has none."""
    there = db.entities.keys() | db.facts.keys() | db.passages.keys()
    for uuid in given.uuids:
        if uuid in there and uuid in vectors:
            db.vectors.setdefault(uuid, vectors[uuid])
