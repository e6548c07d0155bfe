"""Of which model a memory's vectors are, records that lack one, and the parts of the ports that change both.

A memory's vectors are of one model: those of two cannot be compared. The journal says of which; whoever writes looks
there under the group's lock, and a change is made under the lock of all groups.
"""

from typing import Literal, Protocol

from graphiti_pkm.core.model.records import EmbeddedFact, Record


class RecordedEmbedding(Record):
    """What the vectors of a memory are."""

    model: str
    dimension: int
    is_changing: bool = False
    """Older vectors are being removed: until that is done, none is written and none is to be compared."""

    def describe(self) -> str:
        """For a sentence."""
        return f"{self.model} ({self.dimension} dimensions)"


class OfModel(Protocol):
    """Whatever makes vectors of one model."""

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...


def mismatch(recorded: RecordedEmbedding | None, embedder: OfModel) -> str | None:
    """Why this embedder's vectors are nothing for a memory, and what to do; None if they are."""
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
    """A record of the graph that has no vector, and the text that its vector is made of."""

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
    """Vectors as such, whatever they mean."""

    async def embedding(self) -> tuple[str, int] | None:
        """Model name and dimension recorded in the database, None before the first."""
        ...

    async def record_embedding(self, model: str, dimension: int) -> None:
        """Record them once."""
        ...

    async def change_embedding(self, model: str, dimension: int) -> None:
        """Record others in their place; indexes of vectors go. To be called with every writer excluded."""
        ...

    async def remove_vectors(self, limit: int) -> int:
        """Take up to ``limit`` vectors away; returns how many, 0 once there is none."""
        ...

    async def without_vector(self, group_id: str, limit: int) -> list[TextToEmbed]:
        """Records of a group that have no vector: entities first, then passages, then facts, each by uuid."""
        ...

    async def embedding_size(self, *, only_missing: bool) -> EmbeddingSize:
        """Texts of the whole memory, or those of records without a vector."""
        ...


class JournalEmbedding(Protocol):
    """What says of which model the vectors are, and holds a second copy of them."""

    async def embedding(self) -> RecordedEmbedding | None:
        """None before the first is recorded."""
        ...

    async def record_embedding(self, model: str, dimension: int) -> None:
        """Record them if nothing is recorded."""
        ...

    async def begin_change(self, model: str, dimension: int) -> None:
        """Record others, which is durable when this returns; from now on no row gives a vector out."""
        ...

    async def remove_vectors(self, after_seq: int, limit: int) -> int | None:
        """Take the vectors out of the next rows; returns the last one's number, None after the end."""
        ...

    async def end_change(self) -> None:
        """All older vectors are gone, here and in the graph."""
        ...
