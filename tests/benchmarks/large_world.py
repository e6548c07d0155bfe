"""As many entities, facts and passages as asked for, loaded in bulk: most of it the database makes itself.

Vectors are those of real sentences, two mixed and some noise: random directions have no neighbours to find.
"""

from array import array
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

import numpy as np
from tests.benchmarks.texts import journal

from graphiti_pkm.core.model.passages import split_passages
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.graph.queries.search import scope
from graphiti_pkm.storage.graph.queries.values import Query
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.graph.values import Instant

SENTENCES = 600
NOISE = 0.01
"""A coordinate of a sentence's vector is about 0.05."""
DEGREE = 10
"""Facts for each entity that has any, so a fifth of the entities have."""
DAYS = 1_000
_PASSAGES_AN_EPISODE = 8
_BATCH = 1_000
_MOST_LISTED = datetime(2023, 1, 1, tzinfo=UTC)


def _uuid(kind: int, number: str) -> str:
    """In Cypher, the uuid of the record of this number."""
    return f"'{kind}0000000-0000-4000-8000-' + right('000000000000' + toString({number}), 12)"


_EPISODE = _uuid(2, f"n.number / {_PASSAGES_AN_EPISODE}")
_DAY = "$days[n.number % size($days)]"
_ENTITIES = f"""UNWIND $rows AS r CREATE (n:Entity {{uuid: {_uuid(1, "r.i")}, number: r.i, name: 'Entity ' + r.i,
  summary: '', group_id: $group, created_at: $days[0], name_embedding: vecf32(r.v)}})"""
_EPISODES = f"""MATCH (n:Entity) WHERE n.number % {_PASSAGES_AN_EPISODE} = 0
  CREATE (e:Episodic {{uuid: {_EPISODE}, name: 'Entry ' + n.number, group_id: $group,
    content: 'The harbour project went on as planned. ', source: 'text', source_description: '', entity_edges: [],
    created_at: {_DAY}, valid_at: {_DAY}}})
  CREATE (s:SearchText {{id: e.uuid, scope: $episode_scope, text: 'the harbour project went on as planned'}})
  CREATE (s)-[:OF]->(e)"""
_PASSAGES = f"""MATCH (n:Entity) WHERE n.number >= $first AND n.number < $last
  CREATE (p:Passage {{uuid: {_uuid(3, "n.number")}, number: n.number, group_id: $group,
  episode_uuid: {_EPISODE}, start: 0, end: 39, paragraph: 0, sentence: 0, created_at: {_DAY}, valid_at: {_DAY},
  embedding: n.name_embedding}})"""
_FACTS = f"""MATCH (n:Entity) WHERE n.number >= $first AND n.number < $last
  MATCH (h:Entity {{uuid: {_uuid(1, "n.number % $ends")}}})
  MATCH (o:Entity {{uuid: {_uuid(1, "(n.number * 7 + 1) % $ends")}}})
  CREATE (h)-[:RELATES_TO {{uuid: {_uuid(4, "n.number")}, number: n.number, group_id: $group, name: 'WORKS_WITH',
    fact: 'One works with the other on matter ' + n.number, episodes: [{_EPISODE}], created_at: {_DAY},
    valid_at: {_DAY}, recorded_day: $numbers[n.number % size($days)], search_scope: $fact_scope,
    search_text: 'works with one works with the other matter ' + n.number, fact_embedding: n.name_embedding}}]->(o)"""
_GROUP = "MERGE (g:Group {id: $group}) SET g.holds = true"
_REGROUP = (
    "MATCH (n:Entity) SET n.group_id = $prefix + (n.number % $groups)",
    f"MATCH (p:Passage) SET p.group_id = $prefix + (p.number / {_PASSAGES_AN_EPISODE} % $groups)",
    "MATCH ()-[e:RELATES_TO]->() SET e.group_id = $prefix + (e.number % $groups)",
)


class Vectors:
    """Draws vectors that lie as those of sentences do."""

    def __init__(self, sentences: np.ndarray) -> None:
        self._sentences = sentences

    @classmethod
    async def of_the_journal(cls, settings: Settings) -> "Vectors":
        """Embeds some of its sentences."""
        embedder = LocalEmbedder(settings)
        texts = list(islice(_sentences(), SENTENCES))
        found = await embedder.embed(texts)
        await embedder.close()
        return cls(np.array([list(vector) for vector in found], dtype=np.float32))

    def draw(self, count: int, seed: int) -> list[Vector]:
        """Unit vectors, the same for a seed."""
        draw = np.random.default_rng(seed)
        first, second = draw.integers(len(self._sentences), size=(2, count))
        share = draw.random((count, 1), dtype=np.float32)
        mixed = share * self._sentences[first] + (1 - share) * self._sentences[second]
        mixed += NOISE * draw.standard_normal(mixed.shape, dtype=np.float32)
        mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        return [array("f", one.tobytes()) for one in mixed]


async def load(store: GraphStore, vectors: Vectors, size: int, group: str) -> None:
    """All of it in one group."""
    database = await store.database()
    days = [_MOST_LISTED + timedelta(days=i) for i in range(DAYS)]
    values = {
        "group": group,
        "days": list(map(Instant.of, days)),
        "numbers": [int(f"{day:%Y%m%d}") for day in days],
        "ends": max(2, 2 * size // DEGREE),
        "episode_scope": scope(group, "episode"),
        "fact_scope": scope(group, "fact"),
    }
    for begun in range(0, size, _BATCH):
        count = min(_BATCH, size - begun)
        rows = [{"i": begun + i, "v": vector} for i, vector in enumerate(vectors.draw(count, seed=begun))]
        await database.write(Query("entities", _ENTITIES, {"rows": rows, "group": group, "days": values["days"]}))
    for begun in range(0, size, 10 * _BATCH):
        for text in (_FACTS, _PASSAGES):
            await database.write(Query("fill", text, {**values, "first": begun, "last": begun + 10 * _BATCH}))
    for text in (_EPISODES, _GROUP):
        await database.write(Query("fill", text, values))


async def regroup(store: GraphStore, prefix: str, groups: int) -> None:
    """The same records in so many groups of one size, ``prefix`` with a number."""
    database = await store.database()
    for text in _REGROUP:
        await database.write(Query("regroup", text, {"prefix": prefix, "groups": groups}))
    text = "UNWIND range(0, $groups - 1) AS i MERGE (g:Group {id: $prefix + i}) SET g.holds = true"
    await database.write(Query("groups", text, {"prefix": prefix, "groups": groups}))


def _sentences() -> Iterator[str]:
    for entry in journal():
        for span in split_passages(entry.text):
            yield entry.text[span.start : span.end]
