"""The model of a memory's vectors, records without one, and the ports that change both.

All vectors of a memory are of one model, since those of two cannot be compared. The journal records which; every writer
checks it under the group's lock, and it is changed under the lock of all groups.
"""

from collections.abc import Sequence
from typing import Literal, Protocol

from graphiti_pkm.core.model.records import EmbeddedFact, Record, Vectors


class RecordedEmbedding(Record):
    """The model and dimension of a memory's vectors."""

    model: str
    dimension: int
    is_changing: bool = False
    """Older vectors are being removed: until that is done, none is written or compared."""

    def describe(self) -> str:
        """Name and dimension, for a sentence."""
        return f"{self.model} ({self.dimension} dimensions)"


class OfModel(Protocol):
    """Anything that makes vectors of one model."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...


def mismatch(recorded: RecordedEmbedding | None, embedder: OfModel) -> str | None:
    """Why this embedder does not match the memory, and what to do; None if it does."""
    if recorded is None:
        return None
    own = f"{embedder.model} ({embedder.dimension} dimensions)"
    if (recorded.model, recorded.dimension) != (embedder.model, embedder.dimension):
        return (
            f"The vectors of this memory are of {recorded.describe()}, this server embeds with {own}: vectors of two "
            "models cannot be compared. Start it with the settings that wrote the memory, or change the memory to "
            "these with `graphiti-pkm reembed`, which keeps all else as it is."
        )
    if recorded.is_changing:
        return (
            f"The memory is being changed to vectors of {own} by `graphiti-pkm reembed`: until that is done, words are "
            "searched. If the command was ended, a running server or the next start goes on with it."
        )
    return None


class TextToEmbed(Record):
    """A record without a vector, and the text to embed."""

    kind: Literal["entity", "fact", "passage"]
    uuid: str
    text: str
    episode_uuid: str | None = None
    """Of a passage."""
    fact: EmbeddedFact | None = None
    """Of a fact."""


class EmbeddingSize(Record):
    """How much there is to embed."""

    entities: int = 0
    facts: int = 0
    passages: int = 0
    characters: int = 0

    @property
    def texts(self) -> int:
        return self.entities + self.facts + self.passages


class GraphEmbeddings(Protocol):
    """Changes the vectors of the graph."""

    async def embedding(self) -> tuple[str, int] | None:
        """Model name and dimension recorded in the database, None before the first."""
        ...

    async def record_embedding(self, model: str, dimension: int) -> None:
        """Record them once."""
        ...

    async def change_embedding(self, model: str, dimension: int) -> None:
        """Record another model; vector indexes are dropped. Call it with every writer excluded."""
        ...

    async def remove_vectors(self, limit: int) -> int:
        """Remove up to ``limit`` vectors; returns how many, 0 when none is left."""
        ...

    async def without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        """Records of a group that have no vector: entities first, then passages, then facts, each by uuid."""
        ...

    async def vectors_of(self, uuids: Sequence[str], group_ids: Sequence[str]) -> Vectors:
        """The vectors of these entities, facts and passages, for a write that copies them; never for an answer."""
        ...

    async def embedding_size(self, *, only_missing: bool) -> EmbeddingSize:
        """Texts of the whole memory, or those of records without a vector."""
        ...


class JournalEmbedding(Protocol):
    """Records the model of the vectors, and contains a second copy of them."""

    async def embedding(self) -> RecordedEmbedding | None:
        """None before the first is recorded."""
        ...

    async def record_embedding(self, model: str, dimension: int) -> None:
        """Record them if nothing is recorded."""
        ...

    async def begin_change(self, model: str, dimension: int) -> None:
        """Record another model, durably; from now on rows are read without vectors."""
        ...

    async def remove_vectors(self, after_seq: int, limit: int) -> int | None:
        """Remove the vectors of the next rows; returns the last row's number, None at the end."""
        ...

    async def end_change(self) -> None:
        """All older vectors are removed, here and in the graph."""
        ...
