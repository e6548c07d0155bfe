"""Graphiti's view of the graph: it is read-only and hides everything that a model must not see.

Graphiti executes no queries of its own. Its reads go through the interfaces of its driver and are answered by the same
code as our tools. All other requests are refused, so that a version of Graphiti that reads or saves more is noticed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn
from uuid import uuid4

from graphiti_core.driver.driver import GraphDriver, GraphDriverSession, GraphProvider
from graphiti_core.driver.graph_operations.graph_operations import GraphOperationsInterface
from graphiti_core.driver.search_interface.search_interface import SearchInterface
from graphiti_core.edges import EntityEdge
from graphiti_core.nodes import EntityNode, EpisodicNode
from graphiti_core.search.search_filters import SearchFilters
from pydantic import PrivateAttr

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.errors import ConfigurationError, PkmError
from graphiti_pkm.graphiti_adapter.pipeline_result import StartOf
from graphiti_pkm.graphiti_adapter.readable_store import ReadableStore


@dataclass
class KnownFact:
    """The state of a fact in the graph before Graphiti processed it."""

    valid_at: datetime | None
    invalid_at: datetime | None
    is_event: bool


@dataclass
class Seen:
    """The records that a run has seen, by uuid, and how earlier parts of the episode changed them."""

    entities: dict[str, EntityNode] = field(default_factory=dict)
    """Entities as they are in the graph."""
    facts: dict[str, KnownFact] = field(default_factory=dict)
    found: dict[str, EntityNode] = field(default_factory=dict)
    """Known and new entities of earlier parts, in their latest state."""
    named: dict[str, str] = field(default_factory=dict)
    """The uuids of these entities by name key."""
    recorded: dict[str, EntityEdge] = field(default_factory=dict)
    """New facts of earlier parts."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Names of entities that were found by similarity, by the stand-ins that Graphiti is given."""

    def hide_name(self, node: EntityNode) -> EntityNode:
        """The entity under a unique stand-in for its name; Graphiti would merge "Invoice 0002" into "Invoice 0001".

        The model sees the real name and decides whether both are the same.
        """
        stand_in = uuid4().hex
        self.hidden[stand_in] = node.name
        return node.model_copy(update={"name": stand_in})

    def show_names(self, nodes: Iterable[EntityNode]) -> None:
        """Restore the names of the entities that the model chose."""
        for node in nodes:
            node.name = self.hidden.get(node.name, node.name)

    def remember(self, nodes: Iterable[EntityNode], edges: Iterable[EntityEdge]) -> None:
        """Store entities and facts for the next part, which may mention them again."""
        for node in nodes:
            self.found[node.uuid] = node
            self.named[name_key(node.group_id, node.name)] = node.uuid
        self.recorded.update((edge.uuid, edge) for edge in edges if edge.uuid not in self.facts)

    def new_facts_between(self, uuids: Sequence[str]) -> list[EntityEdge]:
        """Copies of the new facts between those entities; copies, because Graphiti sets ends on them."""
        return [
            edge.model_copy(update={"valid_at": edge.valid_at and StartOf.fact(edge.uuid, edge.valid_at)})
            for edge in self.recorded.values()
            if {edge.source_node_uuid, edge.target_node_uuid} <= set(uuids)
        ]


class ModelSearch(SearchInterface):
    """The store's searches without what a model must not see: retired facts, plans, readings, our own attributes."""

    _inner: SearchInterface = PrivateAttr()
    _seen: Seen = PrivateAttr()

    def __init__(self, store: ReadableStore, seen: Seen) -> None:
        super().__init__()
        self._inner = store.graphiti_search(for_model=True)
        self._seen = seen

    async def node_similarity_search(
        self,
        driver: Any,
        search_vector: list[float],
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityNode]:
        """Entities under stand-ins for their names; ``node_get_by_names`` finds those with the same name.

        A text that could not be embedded, for example because the memory has vectors of another model, finds nothing.
        """
        if not any(search_vector):
            return []
        found = await self._inner.node_similarity_search(
            driver, search_vector, search_filter, group_ids, limit, min_score
        )
        return [self._seen.hide_name(_shown(node, self._seen)) for node in found]

    async def node_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityNode]:
        found = await self._inner.node_fulltext_search(driver, query, search_filter, group_ids, limit)
        return [_shown(node, self._seen) for node in found]

    async def edge_similarity_search(
        self,
        driver: Any,
        search_vector: list[float],
        source_node_uuid: str | None,
        target_node_uuid: str | None,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[EntityEdge]:
        if not any(search_vector):
            return []
        found = await self._inner.edge_similarity_search(
            driver, search_vector, source_node_uuid, target_node_uuid, search_filter, group_ids, limit, min_score
        )
        return self._shown_facts(found)

    async def edge_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EntityEdge]:
        """Includes the facts that earlier parts found between the two entities, so that none is extracted twice."""
        earlier = self._seen.new_facts_between(search_filter.edge_source_node_uuids or ())
        found = await self._inner.edge_fulltext_search(driver, query, search_filter, group_ids, limit)
        return [*earlier, *self._shown_facts(found)]

    async def episode_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: SearchFilters,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[EpisodicNode]:
        return await self._inner.episode_fulltext_search(driver, query, search_filter, group_ids, limit)

    def _shown_facts(self, edges: list[EntityEdge]) -> list[EntityEdge]:
        for edge in edges:
            known = KnownFact(edge.valid_at, edge.invalid_at, is_event=edge.attributes.get("kind") == "event")
            self._seen.facts.setdefault(edge.uuid, known)
            edge.attributes = {}
            counts_from = edge.valid_at or edge.reference_time  # Graphiti does not end facts without a start
            if counts_from is not None:
                edge.valid_at = StartOf.fact(edge.uuid, counts_from, is_explicit=edge.valid_at is not None)
        return edges


class ModelReads(GraphOperationsInterface):
    """The other reads of ``add_episode``: an episode or a part of it, the previous episodes, and entities."""

    _store: ReadableStore = PrivateAttr()
    _group_id: str = PrivateAttr()
    _episode: EpisodicNode = PrivateAttr()
    _previous: list[EpisodicNode] = PrivateAttr()
    _seen: Seen = PrivateAttr()
    _failure: PkmError | None = PrivateAttr(default=None)

    def __init__(self, store: ReadableStore, episode: EpisodicNode, previous: list[EpisodicNode], seen: Seen) -> None:
        super().__init__()
        self._store = store
        self._episode = episode
        self._previous = previous
        self._seen = seen

    @property
    def failure(self) -> PkmError | None:
        """The first error of a read that Graphiti swallowed."""
        return self._failure

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EpisodicNode:  # noqa: ARG002
        return self._episode

    async def retrieve_episodes(self, driver: Any, reference_time: Any, *_: Any, **__: Any) -> list[EpisodicNode]:  # noqa: ARG002
        """The given previous episodes, because the ``<=`` on dates in Graphiti's own query would match everything."""
        return self._previous

    async def node_get_by_names(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 as in GraphitiSearch
        names: list[str],
        group_ids: list[str],  # noqa: ARG002 those of the episode
    ) -> list[EntityNode]:
        """Entities by any spelling or alias, under the requested name, so that Graphiti matches them without a model.

        Errors are stored, because Graphiti swallows them and would create an entity that already exists.
        """
        try:
            return await self._named(names)
        except PkmError as error:
            self._failure = self._failure or error
            raise

    async def _named(self, names: Sequence[str]) -> list[EntityNode]:
        group = self._episode.group_id
        keys = {name: name_key(group, name) for name in names}
        held = await self._store.records.get_names(list(dict.fromkeys(keys.values())))
        entities = await self._store.records.get_entities([name.entity_uuid for name in held.values()], [group])
        by_uuid = {entity.uuid: _shown(node_of(entity), self._seen) for entity in entities}
        by_uuid = {**by_uuid, **self._seen.found}
        uuids = {key: one.entity_uuid for key, one in held.items()} | self._seen.named
        found = {name: by_uuid.get(uuids.get(key, "")) for name, key in keys.items()}
        return [
            node if node.name == name else node.model_copy(update={"name": name})
            for name, node in found.items()
            if node is not None
        ]

    async def node_get_by_uuids(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 as in GraphitiSearch
        uuids: list[str],
        group_id: str | None = None,  # noqa: ARG002 that of the episode
    ) -> list[EntityNode]:
        entities = await self._store.records.get_entities(uuids, [self._episode.group_id])
        return [_shown(node_of(entity), self._seen) for entity in entities]


class ModelDriver(GraphDriver):
    """A driver for one run of the pipeline, which offers the two interfaces above and refuses all queries."""

    provider = GraphProvider.NEO4J
    """The dialect of Graphiti's queries, which this driver refuses whatever store it reads."""

    def __init__(self, search: ModelSearch, reads: GraphOperationsInterface) -> None:
        self._database = ""
        self.search_interface = search
        self.graph_operations_interface = reads
        self.refusal: ConfigurationError | None = None
        """The error of the last query, stored because some callers swallow it."""

    def clone(self, database: str) -> "ModelDriver":  # noqa: ARG002 the signature is Graphiti's
        """Return this driver, because groups are not separate graphs."""
        return self

    async def execute_query(self, cypher_query_: str, **_: Any) -> NoReturn:  # noqa: ARG002 the signature is Graphiti's
        """Raises ConfigurationError."""
        self._refuse()

    def session(self, database: str | None = None) -> GraphDriverSession:  # noqa: ARG002 the signature is Graphiti's
        """Raises ConfigurationError."""
        self._refuse()

    async def delete_all_indexes(self) -> NoReturn:
        """Raises ConfigurationError."""
        self._refuse()

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> NoReturn:  # noqa: ARG002 same
        """Raises ConfigurationError."""
        self._refuse()

    async def close(self) -> None:
        """Do nothing, because the driver has no connection."""

    def _refuse(self) -> NoReturn:
        self.refusal = ConfigurationError(
            "The installed graphiti-core asks the database for what this product does not know. Nothing was changed. "
            "Install the versions of requirements.lock."
        )
        raise self.refusal


def node_of(entity: Entity) -> EntityNode:
    """The entity in Graphiti's form, without attributes, which would appear in its prompts."""
    return EntityNode(
        uuid=entity.uuid,
        name=entity.name,
        group_id=entity.group_id,
        labels=[BASE, entity.label] if entity.label else [BASE],
        summary=entity.summary,
        created_at=entity.created_at,
    )


def _shown(node: EntityNode, seen: Seen) -> EntityNode:
    """The entity as an earlier part of the episode left it, or else as it is in the graph."""
    labels = [BASE, *sorted(label for label in node.labels if label != BASE)]
    node = node.model_copy(update={"labels": labels, "attributes": {}})
    seen.entities.setdefault(node.uuid, node.model_copy(deep=True))
    return seen.found.get(node.uuid, node)
