"""Runs Graphiti's ``add_episode`` and returns what it would have saved.

This module imports graphiti_core, which is slow, so ``pipeline`` imports it in a thread on first use.
"""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphiti_core import Graphiti
from graphiti_core.edges import EntityEdge, EpisodicEdge
from graphiti_core.embedder import EmbedderClient
from graphiti_core.graphiti_types import GraphitiClients
from graphiti_core.llm_client import LLMClient
from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
from graphiti_core.utils.bulk_utils import resolve_edge_pointers
from graphiti_core.utils.maintenance.edge_operations import extract_edges, resolve_extracted_edges
from pydantic import BaseModel

from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.graphiti_adapter.pipeline_clients import CleaningModel, JobEmbedder, NoReranker, steady_prompts
from graphiti_pkm.graphiti_adapter.pipeline_graph import ModelDriver, ModelReads, ModelSearch, Seen
from graphiti_pkm.graphiti_adapter.pipeline_types import Ontology
from graphiti_pkm.graphiti_adapter.readable_store import ReadableStore
from graphiti_pkm.settings.loader import silence_dependencies

silence_dependencies()


@dataclass(frozen=True)
class Captured:
    """What ``add_episode`` would have saved for one part."""

    nodes: list[EntityNode]
    edges: list[EntityEdge]
    """New facts, and facts of the graph that were mentioned again."""
    endings: list[tuple[EntityEdge, str]]
    """Facts of the graph that have ended, each with the uuid of the fact that ended it."""
    left_out: int
    """Number of names and facts that Graphiti dropped."""


@dataclass(frozen=True)
class Part:
    """One part of an episode with its context."""

    content: str
    previous: Sequence[Episode]
    instructions: str


class Run:
    """Runs the pipeline on the parts of one episode in order."""

    def __init__(
        self,
        store: ReadableStore,
        embedder: Embedder,
        model: LLMClient,
        types: Ontology,
        parallel_calls: int,
    ) -> None:
        self.seen = Seen()
        self._store = store
        self._embedder = JobEmbedder(embedder)
        self._model = CleaningModel(model)
        self._types = types
        self._parallel_calls = parallel_calls

    async def read(self, episode: Episode, part: Part, excluded: Sequence[str]) -> Captured:
        """Read one part. Raises PkmErrors of model and database, and any error of Graphiti on unexpected answers."""
        node = _node(episode, part.content)
        reads = ModelReads(self._store, node, [_node(one, one.content) for one in part.previous], self.seen)
        driver = ModelDriver(ModelSearch(self._store, self.seen), reads)
        graphiti = _Capturing(driver, self._model, self._embedder, self._parallel_calls, self.seen)
        wordless = self._model.left_out
        await graphiti.add_episode(
            name=episode.name,
            episode_body=part.content,
            source_description=episode.source_description,
            reference_time=episode.valid_at,
            source=node.source,
            group_id=episode.group_id,
            uuid=episode.uuid,
            entity_types=self._types.entities or None,
            excluded_entity_types=list(excluded) or None,
            edge_types=self._types.facts or None,
            edge_type_map=self._types.signatures or None,
            custom_extraction_instructions=part.instructions or None,
        )
        for swallowed in (driver.refusal, reads.failure):
            if swallowed is not None:
                raise swallowed
        if graphiti.captured is None:
            raise RuntimeError("add_episode saved nothing")
        self.seen.remember(graphiti.captured.nodes, graphiti.captured.edges)
        return replace(graphiti.captured, left_out=graphiti.captured.left_out + self._model.left_out - wordless)


class _Capturing(Graphiti):
    """Graphiti that saves nothing and reports which fact ended which."""

    def __init__(
        self, driver: ModelDriver, model: LLMClient, embedder: EmbedderClient, parallel_calls: int, seen: Seen
    ) -> None:
        super().__init__(
            graph_driver=driver,
            llm_client=model,
            embedder=embedder,
            cross_encoder=NoReranker(),
            max_coroutines=parallel_calls,
            prompt_library=steady_prompts(seen.hidden),
        )
        self.captured: Captured | None = None
        self._seen = seen
        self._collapsed = 0
        self._invalidated: list[EntityEdge] = []
        self._invalidated_by: dict[str, list[str]] = {}

    def _capture_initialization_telemetry(self) -> None:
        """Send nothing."""

    async def _extract_and_resolve_edges(
        self,
        episode: EpisodicNode | list[EpisodicNode],
        extracted_nodes: list[EntityNode],
        previous_episodes: list[EpisodicNode],
        edge_type_map: dict[tuple[str, str], list[str]],
        group_id: str,
        edge_types: dict[str, type[BaseModel]] | None,
        nodes: list[EntityNode],
        uuid_map: dict[str, str],
        strict_edge_types: bool = False,
        custom_extraction_instructions: str | None = None,
        entity_types: dict[str, type[BaseModel]] | None = None,
        clients: GraphitiClients | None = None,
    ) -> tuple[list[EntityEdge], list[EntityEdge], list[EntityEdge]]:
        """Like Graphiti's own method, but also record which fact ended which."""
        self._seen.show_names(nodes)
        clients = clients or self.clients
        primary = episode[0] if isinstance(episode, list) else episode
        extracted, materialized = await extract_edges(
            clients,
            episode,
            extracted_nodes,
            previous_episodes,
            edge_type_map,
            group_id,
            edge_types,
            strict_edge_types,
            custom_extraction_instructions,
        )
        if materialized:
            await self._merge_materialized_endpoint_nodes(
                materialized, primary, previous_episodes, entity_types, nodes, uuid_map, clients=clients
            )
            self._seen.show_names(nodes)
        pointed = resolve_edge_pointers(extracted, uuid_map)
        self._collapsed = len(extracted) - len(pointed)  # facts between two names of the same entity
        resolved, self._invalidated, new = await resolve_extracted_edges(
            clients,
            pointed,
            primary,
            nodes,
            edge_types or {},
            edge_type_map,
            invalidated_by=self._invalidated_by,
        )
        return resolved, self._invalidated, new

    async def _process_episode_data(
        self,
        episode: EpisodicNode | list[EpisodicNode],
        nodes: list[EntityNode],
        entity_edges: list[EntityEdge],
        *_: Any,
        **__: Any,
    ) -> tuple[list[EpisodicEdge], EpisodicNode]:
        """Capture what Graphiti's own method would save. Sagas are written by the call that stores the episode."""
        resolved = entity_edges[: len(entity_edges) - len(self._invalidated)]
        self.captured = Captured(nodes, resolved, _endings(self._invalidated, self._invalidated_by), self._collapsed)
        return [], episode[0] if isinstance(episode, list) else episode


def _endings(
    invalidated: Sequence[EntityEdge], invalidated_by: Mapping[str, Sequence[str]]
) -> list[tuple[EntityEdge, str]]:
    """Each ended fact with its cause. Graphiti lists both in the same order, and a fact once per cause."""
    causes = defaultdict(deque, {uuid: deque(by) for uuid, by in invalidated_by.items()})
    return [(edge, causes[edge.uuid].popleft()) for edge in invalidated]


def _node(episode: Episode, content: str) -> EpisodicNode:
    return EpisodicNode(
        uuid=episode.uuid,
        name=episode.name,
        group_id=episode.group_id,
        labels=[],
        source=EpisodeType.from_str(episode.source),
        content=content,
        source_description=episode.source_description,
        created_at=episode.created_at,
        valid_at=episode.valid_at,
    )
