"""As many entities, facts and passages as asked for, in as many groups, on either store.

Vectors are those of real sentences, two mixed and some noise: random directions have no neighbours to find.
"""

from array import array
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TypeAlias

import numpy as np
from tests.benchmarks.texts import journal
from tests.builders import a_fact, a_passage, a_write, an_entity, an_episode

from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Record, Vector, WriteIntent
from graphiti_pkm.core.model.records import Vectors as Embedded
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings

SENTENCES = 600
NOISE = 0.01
"""A coordinate of a sentence's vector is about 0.05."""
DEGREE = 10
"""Facts for each entity that has any, so a fifth of the entities have."""
DAYS = 1_000
_PASSAGES_AN_EPISODE = 8
_BATCH = 1_000
_FIRST_DAY = datetime(2023, 1, 1, tzinfo=UTC)
_TEXT = "The harbour project went on as planned. "

Write: TypeAlias = Callable[[WriteIntent, Embedded], Awaitable[None]]
"""Of a committer, or of a graph alone."""


class Vectors:
    """Draws vectors that lie as those of sentences do."""

    def __init__(self, sentences: np.ndarray) -> None:
        self._sentences = sentences

    @classmethod
    async def of_the_journal(cls, settings: Settings) -> "Vectors":
        """Embeds some of its sentences."""
        embedder = LocalEmbedder(settings)
        texts = list(islice(sentences(), SENTENCES))
        found = await embedder.embed(texts)
        await embedder.close()
        return cls(np.array([list(vector) for vector in found], dtype=np.float32))

    def draw(self, count: int, seed: int) -> list[Vector]:
        """Unit vectors, the same for a seed."""
        return [array("f", one.tobytes()) for one in self.matrix(count, seed)]

    def matrix(self, count: int, seed: int) -> np.ndarray:
        """The same as rows."""
        draw = np.random.default_rng(seed)
        first, second = draw.integers(len(self._sentences), size=(2, count))
        share = draw.random((count, 1), dtype=np.float32)
        mixed = share * self._sentences[first] + (1 - share) * self._sentences[second]
        mixed += NOISE * draw.standard_normal(mixed.shape, dtype=np.float32)
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        return np.asarray(mixed)


async def load(write: Write, vectors: Vectors, size: int, prefix: str, groups: int = 1) -> None:
    """So many of each kind in all, in groups of one size: ``prefix`` with a number."""
    each = size // groups
    for number in range(groups):
        for kind, records in enumerate(_kinds(f"{prefix}{number}", each)):
            for begun in range(0, each, _BATCH):
                batch = records[begun : begun + _BATCH]
                drawn = vectors.draw(len(batch), seed=(number * 3 + kind) * size + begun)
                together = [record for records in batch for record in records]
                embedded = {records[0].uuid: vector for records, vector in zip(batch, drawn, strict=True)}
                await write(a_write(*together), embedded)


def _kinds(group: str, count: int) -> Iterator[Sequence[tuple[Record, ...]]]:
    """Entities, facts, and passages, some of them with their episode; the first of each has an embedding."""
    days = [_FIRST_DAY + timedelta(days=day) for day in range(DAYS)]
    entities = [an_entity(f"Entity {i}", group_id=group, created_at=days[0]) for i in range(count)]
    yield [(entity,) for entity in entities]
    texts = [
        an_episode(_TEXT, group_id=group, name=f"Entry {i}", valid_at=days[i % DAYS], created_at=days[i % DAYS])
        for i in range(-(-count // _PASSAGES_AN_EPISODE))
    ]
    ends = max(2, 2 * count // DEGREE)
    yield [
        (
            a_fact(
                entities[i % ends],
                entities[(i * 7 + 1) % ends],
                "WORKS_WITH",
                text=f"One works with the other on matter {i}.",
                created_at=days[i % DAYS],
                valid_at=days[i % DAYS],
                episodes=(texts[i // _PASSAGES_AN_EPISODE].uuid,),
            ),
        )
        for i in range(count)
    ]
    passages = [a_passage(texts[i // _PASSAGES_AN_EPISODE], sentence=i % _PASSAGES_AN_EPISODE) for i in range(count)]
    yield [
        (passage, texts[i // _PASSAGES_AN_EPISODE]) if i % _PASSAGES_AN_EPISODE == 0 else (passage,)
        for i, passage in enumerate(passages)
    ]


def sentences() -> Iterator[str]:
    """Of the journal, in order."""
    for entry in journal():
        for span in split_passages(entry.text):
            yield entry.text[span.start : span.end]
