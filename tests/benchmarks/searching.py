"""What searches of large groups take beside the embedding of their question, through MCP.

Episodes are two sentences of the journal each, always in another pairing; entities have the names of ``naming``, facts
the first words of a sentence, as many as facts have.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle

from tests.benchmarks.large_world import Vectors, sentences
from tests.benchmarks.measuring import Figure
from tests.benchmarks.naming import names
from tests.benchmarks.retrieval import against_embedding
from tests.benchmarks.world import client_of, memory
from tests.builders import a_fact, a_name, a_passage, a_write, an_entity, an_episode

from graphiti_pkm.bootstrap import Memory
from graphiti_pkm.core.model.records import Record
from graphiti_pkm.storage.commit import Committer

SIZES = (10_000, 100_000)
"""Episodes in the group."""
NAMED = 10_000
"""Entities, and facts, in the smaller group."""
AIMS = {
    SIZES[0]: {"search_episodes": 3.0, "search_nodes": 2.0, "search_memory_facts": 2.0},
    SIZES[1]: {"search_episodes": 4.0},
}
GROUP = "default"
WORDS = 12
_ROUNDS = 40
_BATCH = 1_000
_FIRST_DAY = datetime(2020, 1, 1, tzinfo=UTC)
_STEP = timedelta(minutes=20)


async def figures(*, quick: bool = False) -> list[Figure]:
    """Each size in a memory of its own."""
    found: list[Figure] = []
    for size in SIZES:
        async with memory() as opened, client_of(opened) as client:
            vectors = await Vectors.of_the_journal(opened.context.settings)
            await _tell(opened, vectors, size // 100 if quick else size)
            if "search_nodes" in AIMS[size]:
                await _name(opened, vectors, NAMED // 100 if quick else NAMED)
            found += await against_embedding(opened, client, AIMS[size], f"in a group of {size:,}", _ROUNDS)
    return found


async def _tell(opened: Memory, vectors: Vectors, count: int) -> None:
    texts = list(sentences())
    records: list[list[Record]] = []
    for number in range(count):
        first, second = texts[number % len(texts)], texts[(31 * number + number // len(texts) + 7) % len(texts)]
        told = an_episode(
            f"{first} {second}", name=f"Note {number}", group_id=GROUP, valid_at=_FIRST_DAY + number * _STEP
        )
        split = len(first) + 1
        records.append(
            [
                a_passage(told, 0, len(first), paragraph=1, sentence=0),
                a_passage(told, split, split + len(second), paragraph=1, sentence=1),
                told,
            ]
        )
    await _write(opened, vectors, records, embedded=2)


async def _name(opened: Memory, vectors: Vectors, count: int) -> None:
    entities = [an_entity(name, group_id=GROUP) for name in names()[:count]]
    await _write(opened, vectors, [[one, a_name(one)] for one in entities], embedded=1)
    ends = entities[: max(2, count // 5)]
    facts: Iterator[Record] = (
        a_fact(
            ends[number % len(ends)],
            ends[(7 * number + 1) % len(ends)],
            "WORKS_WITH",
            text=" ".join(text.split()[:WORDS]),
            valid_at=_FIRST_DAY + number * _STEP,
        )
        for number, text in zip(range(count), cycle(sentences()), strict=False)
    )
    await _write(opened, vectors, [[fact] for fact in facts], embedded=1)


async def _write(opened: Memory, vectors: Vectors, records: Sequence[Sequence[Record]], *, embedded: int) -> None:
    """The first of each stand with a vector."""
    write = Committer(opened.context).commit
    for begun in range(0, len(records), _BATCH):
        batch = records[begun : begun + _BATCH]
        uuids = [one.uuid for each in batch for one in each[:embedded]]
        drawn = vectors.draw(len(uuids), seed=begun)
        await write(a_write(*(record for each in batch for record in each)), dict(zip(uuids, drawn, strict=True)))
