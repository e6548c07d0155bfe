"""A database with one large group and a small one, embedded, with a threshold that the large one exceeds."""

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from tests.builders import a_fact, a_passage, an_entity, an_episode, at

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import Entity, Fact, Passage, Vector
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.queries.search import scope
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.graph.vector_indexes import Embedded
from graphiti_pkm.storage.graph.vectors import VectorIndexes

LARGE, SMALL = "large-group", "small-group"
SIZE = 4_500
FEW = 40
THRESHOLD = 4_000
DIMENSION = 24
TOPICS = 60
NOW = at(2026, 6)
ALL_KINDS = {"entities", "facts", "passages"}

_ENTITIES = "UNWIND $rows AS r CREATE (n:Entity) SET n = r.p SET n.name_embedding = r.v"
_FACTS = """UNWIND $rows AS r MATCH (h:Entity {uuid: r.source}) MATCH (o:Entity {uuid: r.target})
  CREATE (h)-[e:RELATES_TO]->(o) SET e = r.p SET e.fact_embedding = r.v"""
_PASSAGES = "UNWIND $rows AS r CREATE (p:Passage) SET p = r.p SET p.embedding = r.v"
_GROUP = "UNWIND $rows AS r CREATE (g:Group) SET g = r.p"


class Watched(VectorIndexes):
    """Tells which searches an index answered."""

    def __init__(self) -> None:
        super().__init__(THRESHOLD)
        self.answered: list[str] = []

    async def _indexed(self, db, kind: Embedded, query: Query) -> list[Row] | None:  # type: ignore[no-untyped-def]
        found = await super()._indexed(db, kind, query)
        if found is not None and query.name.startswith("nearest"):
            self.answered.append(kind.name)
        return found


class VectorWorld:
    """What was written, with the vector of each record."""

    def __init__(self, store: GraphStore) -> None:
        self.use(store)
        self._draw = np.random.default_rng(7)
        self._topics = self._draw.standard_normal((TOPICS, DIMENSION))
        self.vectors: dict[str, Vector] = {}
        self.entities: list[Entity] = []
        self.facts: list[Fact] = []
        self.passages: list[Passage] = []

    def use(self, store: GraphStore) -> None:
        """From now on; it has the same content."""
        self.store = store
        self.watched = watch(store)

    def vector(self) -> Vector:
        """Near one of the topics, as sentences are."""
        values = self._topics[self._draw.integers(TOPICS)] + 0.6 * self._draw.standard_normal(DIMENSION)
        return array("f", (values / np.linalg.norm(values)).astype(np.float32).tobytes())

    async def fill(self, group: str, size: int) -> None:
        """As many entities, facts and passages, as our writes leave them but without what searches do not read."""
        entities = [an_entity(f"Name {i}", group_id=group) for i in range(size)]
        facts = [
            a_fact(one, entities[(i * 7 + 1) % size], text=f"Told {i}", valid_at=at(2020 + i % 5))
            for i, one in enumerate(entities)
        ]
        passages = [a_passage(an_episode(f"Note {i}", group_id=group)) for i in range(size)]
        self.vectors |= {one.uuid: self.vector() for one in (*entities, *facts, *passages)}
        self.entities += entities
        self.facts += facts
        self.passages += passages
        await self.store.embeddings.record_embedding("test", DIMENSION)
        await self._create(_ENTITIES, [(one.uuid, mapping.entity_properties(one)) for one in entities])
        told = [(one.uuid, mapping.fact_properties(one, scope(group, "fact"))) for one in facts]
        ends = [{"source": one.source_uuid, "target": one.target_uuid} for one in facts]
        await self._create(_FACTS, told, ends)
        spoken = [
            (
                one.uuid,
                {"uuid": one.uuid, "group_id": group, "episode_uuid": one.episode_uuid, "start": 0, "end": one.end},
            )
            for one in passages
        ]
        await self._create(_PASSAGES, spoken)
        await self._create(_GROUP, [(passages[0].uuid, {"id": group, "holds": True})])

    async def _create(self, text: str, records: Sequence[tuple[str, Row]], more: Sequence[Row] | None = None) -> None:
        rows = [
            {"p": properties, "v": self.vectors[uuid], **(more[i] if more else {})}
            for i, (uuid, properties) in enumerate(records)
        ]
        await (await self.store.database()).write(Query("fill", text, {"rows": rows}))

    def nearest(self, records: Sequence[Entity | Fact], query: Vector, limit: int) -> list[str]:
        """Computed here, over all of them."""
        matrix = np.array([self.vectors[record.uuid] for record in records])
        order = np.argsort(-(matrix @ np.array(query)), kind="stable")[:limit]
        return [records[i].uuid for i in order]

    def large(self, records: Sequence[Entity] | Sequence[Fact]) -> list[Entity | Fact]:
        return [record for record in records if record.group_id == LARGE]


def watch(store: GraphStore) -> Watched:
    """Give a store indexes that tell, with the threshold."""
    watched = Watched()
    store._opened.vectors = watched
    return watched


def entities(group: str = LARGE) -> EntityFilter:
    return EntityFilter(group_ids=(group,))


def facts(group: str = LARGE, **fields: object) -> FactFilter:
    return FactFilter(group_ids=(group,), now=NOW, **fields)


def episodes(group: str = LARGE) -> EpisodeFilter:
    return EpisodeFilter(group_ids=(group,))


async def until_built(store: GraphStore, is_so: Callable[[dict[str, int]], bool]) -> None:
    """Wait for what the database does in the background, then look at it; the test's own time limit ends it."""
    while not is_so({index.name: index.percent for index in await store.vectors.vector_indexes()}):
        pass
    await store.vectors.detect_vector_indexes()


def all_built(percents: dict[str, int]) -> bool:
    return set(percents) == ALL_KINDS and all(percent == 100 for percent in percents.values())
