"""The one list of toolsets and tools. A new tool is a function and a line here."""

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcp_types import ToolAnnotations

from graphiti_pkm.capabilities.explore.source_tools import get_fact_sources
from graphiti_pkm.capabilities.explore.tools import (
    get_entity_connections,
    get_entity_edge,
    get_entity_timeline,
    get_episode_entities,
    get_episodes,
    get_status,
)
from graphiti_pkm.capabilities.explore.walk_tools import find_entity_path, get_entity_subgraph
from graphiti_pkm.capabilities.forget.tools import forget
from graphiti_pkm.capabilities.history.tools import restore_fact, retire_fact, what_changed
from graphiti_pkm.capabilities.remember.tools import add_memory, delete_entity_edge, delete_episode
from graphiti_pkm.capabilities.remember.triplet_tools import add_triplet, clear_graph
from graphiti_pkm.capabilities.sagas.tools import build_communities, summarize_saga
from graphiti_pkm.capabilities.scratch.tools.edges import (
    add_edge,
    add_edges,
    find_edges,
    get_neighbors,
    remove_edge,
    subgraph,
)
from graphiti_pkm.capabilities.scratch.tools.exchange import export_graph, import_graph
from graphiti_pkm.capabilities.scratch.tools.graphs import compare_graphs, delete_graph, get_graph_info, list_graphs
from graphiti_pkm.capabilities.scratch.tools.memory import commit_graph, load_memory_graph, open_graph, save_graph
from graphiti_pkm.capabilities.scratch.tools.nodes import add_node, add_nodes, find_node, list_nodes, remove_node
from graphiti_pkm.capabilities.scratch.tools.queries import (
    all_paths,
    betweenness_centrality,
    bridges,
    communities,
    connected_components,
    degree_centrality,
    find_cycles,
    impact_of_removal,
    pagerank,
    shortest_path,
    transitive_reduction,
)
from graphiti_pkm.capabilities.search.tools import search_episodes, search_memory_facts, search_nodes
from graphiti_pkm.core.model.access import TIERS, Tier
from graphiti_pkm.errors import ConfigurationError, InvalidInput
from graphiti_pkm.server.tools.guard import GuardedTool
from graphiti_pkm.server.tools.texts import only_naming
from graphiti_pkm.settings.loader import Settings

READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
# A memory is a closed world; these two say otherwise because their specification demands it (C22).
READS_OPEN = READS.model_copy(update={"open_world_hint": True})
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
ENDS = ADDS.model_copy(update={"idempotent_hint": True})
DELETES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
_REASONING = "graphiti_pkm.toolsets.reasoning_"


@dataclass(frozen=True)
class ToolLine:
    """One tool: its function, how clients show it, what it may do, how its errors begin."""

    function: Callable[..., Any]
    title: str
    annotations: ToolAnnotations = field(default_factory=lambda: READS)
    failure: str = ""
    permitted_to: Tier | None = None
    """The lowest tier that may call it, if that is not told by what it does."""

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def description(self) -> str:
        """The function's docstring, one line a paragraph."""
        paragraphs = inspect.cleandoc(self.function.__doc__ or "").split("\n\n")
        return "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @property
    def writes(self) -> bool:
        return not self.annotations.read_only_hint

    @property
    def tier(self) -> Tier:
        """The lowest tier that may call it: to delete for good is for a curator, to add for a contributor."""
        if self.permitted_to is not None:
            return self.permitted_to
        return "curator" if self.annotations.destructive_hint else "contributor" if self.writes else "reader"

    @property
    def shown_by(self) -> str:
        """The tool that shows what a call stored whose end is not known."""
        of_scratch_graphs = self.function.__module__.startswith(_REASONING) and self.function is not commit_graph
        return "list_graphs" if of_scratch_graphs else "get_episodes"

    def build(self, *, enabled: Collection[str] | None = None, read_only_caller: bool = False) -> GuardedTool:
        """The tool as the server registers it; its texts name no tool that is not ``enabled`` (None: all are)."""
        names = known_tools() if enabled is None else enabled
        annotations = self.annotations.model_copy(update={"title": self.title})
        return GuardedTool.build(
            self.function,
            title=self.title,
            describe=lambda text: only_naming(text, known_tools(), names),
            description=self.description,
            annotations=annotations,
            failure=self.failure,
            shown_by=self.shown_by,
            read_only_caller=read_only_caller,
            tier=self.tier,
        )


@dataclass(frozen=True)
class Toolset:
    """Tools that are switched on and off together."""

    name: str
    about: str
    tools: tuple[ToolLine, ...]


TOOLSETS: tuple[Toolset, ...] = (
    Toolset(
        "memory",
        "Store, search and explore episodes, entities and facts.",
        (
            ToolLine(add_memory, "Add Memory", ADDS),
            ToolLine(search_nodes, "Search Nodes"),
            ToolLine(search_memory_facts, "Search Memory Facts"),
            ToolLine(search_episodes, "Search Episodes"),
            ToolLine(
                get_entity_connections, "Get Entity Connections", READS_OPEN, "Error getting entity connections: "
            ),
            ToolLine(get_entity_timeline, "Get Entity Timeline", READS_OPEN, "Error getting entity timeline: "),
            ToolLine(get_episodes, "Get Episodes"),
            ToolLine(get_episode_entities, "Get Episode Entities"),
            ToolLine(get_entity_edge, "Get Entity Edge"),
            ToolLine(get_fact_sources, "Get Fact Sources"),
            ToolLine(what_changed, "What Changed"),
            ToolLine(retire_fact, "Retire Fact", ENDS),
            ToolLine(restore_fact, "Restore Fact", ENDS),
            ToolLine(delete_episode, "Delete Episode", DELETES),
            ToolLine(delete_entity_edge, "Delete Entity Edge", DELETES, permitted_to="librarian"),
            ToolLine(forget, "Forget", DELETES),
            ToolLine(get_status, "Get Status"),
        ),
    ),
    Toolset(
        "graph",
        "Walk over several facts at once; write one fact as it is; sum up with a model; empty whole groups.",
        (
            ToolLine(find_entity_path, "Find Entity Path"),
            ToolLine(get_entity_subgraph, "Get Entity Subgraph"),
            ToolLine(add_triplet, "Add Triplet", ADDS),
            ToolLine(summarize_saga, "Summarize Saga", ENDS),
            ToolLine(build_communities, "Build Communities", ENDS),
            ToolLine(clear_graph, "Clear Graph", DELETES),
        ),
    ),
    # What only a scratch graph loses was the caller's own and of this hour: a contributor may take it out as well.
    Toolset(
        "reasoning",
        "Scratch graphs: transient graphs to think with, apart from memory, addressed by labels.",
        (
            ToolLine(list_graphs, "List Graphs"),
            ToolLine(delete_graph, "Delete Graph", DELETES, permitted_to="contributor"),
            ToolLine(get_graph_info, "Get Graph Info"),
            ToolLine(compare_graphs, "Compare Graphs"),
            ToolLine(add_node, "Add Node", ENDS),
            ToolLine(add_nodes, "Add Nodes", ENDS),
            ToolLine(find_node, "Find Node"),
            ToolLine(remove_node, "Remove Node", DELETES, permitted_to="contributor"),
            ToolLine(list_nodes, "List Nodes"),
            ToolLine(add_edge, "Add Edge", ENDS),
            ToolLine(add_edges, "Add Edges", ENDS),
            ToolLine(find_edges, "Find Edges"),
            ToolLine(remove_edge, "Remove Edge", DELETES, permitted_to="contributor"),
            ToolLine(get_neighbors, "Get Neighbors"),
            ToolLine(subgraph, "Subgraph"),
            ToolLine(shortest_path, "Shortest Path"),
            ToolLine(all_paths, "All Paths"),
            ToolLine(pagerank, "Pagerank"),
            ToolLine(connected_components, "Connected Components"),
            ToolLine(find_cycles, "Find Cycles"),
            ToolLine(transitive_reduction, "Transitive Reduction", DELETES, permitted_to="contributor"),
            ToolLine(degree_centrality, "Degree Centrality"),
            ToolLine(betweenness_centrality, "Betweenness Centrality"),
            ToolLine(impact_of_removal, "Impact Of Removal"),
            ToolLine(bridges, "Bridges"),
            ToolLine(communities, "Communities"),
            ToolLine(import_graph, "Import Graph", ENDS),
            ToolLine(export_graph, "Export Graph"),
            ToolLine(load_memory_graph, "Load Memory Graph", ENDS),
            ToolLine(commit_graph, "Commit Graph", ENDS),
            ToolLine(save_graph, "Save Graph", ENDS),
            ToolLine(open_graph, "Open Graph", ENDS),
        ),
    ),
)


def known_tools(toolsets: Sequence[Toolset] = TOOLSETS) -> frozenset[str]:
    """Names of all tools, switched on or not."""
    return frozenset(tool.name for toolset in toolsets for tool in toolset.tools)


def select(settings: Settings, toolsets: Sequence[Toolset] = TOOLSETS) -> tuple[ToolLine, ...]:
    """The tools that the settings switch on, in the order of the list.

    Raises:
        ConfigurationError: a setting names a toolset or tool that does not exist, or nothing is left.
    """
    _must_be_known("toolsets", settings.toolsets, [toolset.name for toolset in toolsets])
    chosen = [tool for toolset in toolsets if toolset.name in settings.toolsets for tool in toolset.tools]
    _must_be_known("tools", settings.tools, [tool.name for tool in chosen])
    _must_be_known("exclude_tools", settings.exclude_tools, sorted(known_tools(toolsets)))
    kept = tuple(
        tool
        for tool in chosen
        if (not settings.tools or tool.name in settings.tools)
        and tool.name not in settings.exclude_tools
        and not (settings.read_only and tool.writes)
    )
    if not kept:
        raise ConfigurationError("The settings toolsets, tools, exclude_tools and read_only leave no tool.")
    return kept


def permitted(tools: Sequence[ToolLine], tier: Tier) -> tuple[ToolLine, ...]:
    """Those of ``tools`` that a token of this tier may call."""
    return tuple(tool for tool in tools if TIERS.index(tool.tier) <= TIERS.index(tier))


def narrowed(tools: Sequence[ToolLine], header: str, toolsets: Sequence[Toolset] = TOOLSETS) -> tuple[ToolLine, ...]:
    """Those of ``tools`` that belong to the toolsets named in an ``X-MCP-Toolsets`` header; never others.

    Raises:
        InvalidInput: the header names a toolset that does not exist.
    """
    named = [part.strip() for part in header.split(",") if part.strip()]
    known = [toolset.name for toolset in toolsets]
    if any(name not in known for name in named):
        raise InvalidInput(f"X-MCP-Toolsets names an unknown toolset. Known: {', '.join(known)}.")
    allowed = {tool.name for toolset in toolsets if toolset.name in named for tool in toolset.tools}
    return tuple(tool for tool in tools if tool.name in allowed)


def _must_be_known(setting: str, names: Iterable[str], known: Sequence[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ConfigurationError(f"{setting} names {', '.join(unknown)}. Known: {', '.join(known)}.")
