"""What Graphiti's pipeline sees of the graph: reads, and nothing that a model should not be shown.

Graphiti runs no query of its own here. Each of its reads goes through an interface of its driver, which is answered by
the same code as our tools; whatever else it asks is refused, so that a version which asks or saves more is noticed.
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
    """A fact of the graph as it was before Graphiti looked at it."""

    valid_at: datetime | None
    invalid_at: datetime | None
    is_event: bool


@dataclass
class Seen:
    """The records of the graph that a run was shown, by uuid, with what earlier parts of the episode made of them."""

    entities: dict[str, EntityNode] = field(default_factory=dict)
    """As they are in the graph."""
    facts: dict[str, KnownFact] = field(default_factory=dict)
    found: dict[str, EntityNode] = field(default_factory=dict)
    """Entities that earlier parts named, known or new, as the latest left them."""
    named: dict[str, str] = field(default_factory=dict)
    """Their uuids by key of the name."""
    recorded: dict[str, EntityEdge] = field(default_factory=dict)
    """New facts of earlier parts."""
    hidden: dict[str, str] = field(default_factory=dict)
    """Names of entities that were found by likeness, by what Graphiti is given instead."""

    def hide_name(self, node: EntityNode) -> EntityNode:
        """The same under a name that is like no other: Graphiti takes "Invoice 0002" for "Invoice 0001" unasked.

        The model is shown the name, and says whether it is the same.
        """
        stand_in = uuid4().hex
        self.hidden[stand_in] = node.name
        return node.model_copy(update={"name": stand_in})

    def show_names(self, nodes: Iterable[EntityNode]) -> None:
        """Give those that the model chose their names back."""
        for node in nodes:
            node.name = self.hidden.get(node.name, node.name)

    def remember(self, nodes: Iterable[EntityNode], edges: Iterable[EntityEdge]) -> None:
        """For the next part, which may name and tell them again."""
        for node in nodes:
            self.found[node.uuid] = node
            self.named[name_key(node.group_id, node.name)] = node.uuid
        self.recorded.update((edge.uuid, edge) for edge in edges if edge.uuid not in self.facts)

    def new_facts_between(self, uuids: Sequence[str]) -> list[EntityEdge]:
        """New facts between those entities, each a copy: Graphiti sets ends on what it is given."""
        return [
            edge.model_copy(update={"valid_at": edge.valid_at and StartOf.fact(edge.uuid, edge.valid_at)})
            for edge in self.recorded.values()
            if {edge.source_node_uuid, edge.target_node_uuid} <= set(uuids)
        ]


class ModelSearch(SearchInterface):
    """The store's searches, without what a model is not to see: retired facts, plans, readings, our own attributes."""

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
        """Under other names: what is the same by its name is found by ``node_get_by_names``.

        Nothing is near a text that could not be embedded, be it for a memory with vectors of another model.
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
        """With the facts that earlier parts found between the same two entities, so that none is returned twice."""
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
            counts_from = edge.valid_at or edge.reference_time  # Graphiti ends nothing that has no start
            if counts_from is not None:
                edge.valid_at = StartOf.fact(edge.uuid, counts_from, is_explicit=edge.valid_at is not None)
        return edges


class ModelReads(GraphOperationsInterface):
    """The rest of what ``add_episode`` reads: one episode, or a part of it, with those before it, and entities."""

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
        """The first error of a read that Graphiti does not pass on."""
        return self._failure

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> EpisodicNode:  # noqa: ARG002
        return self._episode

    async def retrieve_episodes(self, driver: Any, reference_time: Any, *_: Any, **__: Any) -> list[EpisodicNode]:  # noqa: ARG002
        """Those chosen before: Graphiti's own query compares dates with ``<=``, which matches everything here."""
        return self._previous

    async def node_get_by_names(
        self,
        _cls: Any,
        driver: Any,  # noqa: ARG002 as in GraphitiSearch
        names: list[str],
        group_ids: list[str],  # noqa: ARG002 those of the episode
    ) -> list[EntityNode]:
        """By any spelling and alias, under the name asked: Graphiti compares it, and needs no model then.

        What this raises is kept: Graphiti swallows it and would make an entity that is there already.
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
    """A driver for one run of the pipeline: the two interfaces above, and no query of Graphiti's own."""

    provider = GraphProvider.FALKORDB

    def __init__(self, search: ModelSearch, reads: GraphOperationsInterface) -> None:
        self._database = ""
        self.search_interface = search
        self.graph_operations_interface = reads
        self.refusal: ConfigurationError | None = None
        """Of the last query; some of its callers swallow the error."""

    def clone(self, database: str) -> "ModelDriver":  # noqa: ARG002 the signature is Graphiti's
        """Itself: a group is no other graph."""
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
        """Nothing: it has no connection."""

    def _refuse(self) -> NoReturn:
        self.refusal = ConfigurationError(
            "The installed graphiti-core asks the database for what this product does not know. Nothing was changed. "
            "Install the versions of requirements.lock."
        )
        raise self.refusal


def node_of(entity: Entity) -> EntityNode:
    """An entity as Graphiti holds it; attributes stay out, as they would stand in its prompts."""
    return EntityNode(
        uuid=entity.uuid,
        name=entity.name,
        group_id=entity.group_id,
        labels=[BASE, entity.label] if entity.label else [BASE],
        summary=entity.summary,
        created_at=entity.created_at,
    )


def _shown(node: EntityNode, seen: Seen) -> EntityNode:
    """As an earlier part left it, or as the graph has it."""
    labels = [BASE, *sorted(label for label in node.labels if label != BASE)]
    node = node.model_copy(update={"labels": labels, "attributes": {}})
    seen.entities.setdefault(node.uuid, node.model_copy(deep=True))
    return seen.found.get(node.uuid, node)
