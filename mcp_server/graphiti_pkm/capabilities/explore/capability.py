"""Reads completely, in pages, from something known: connections, timelines, sources, paths."""

from graphiti_pkm.capabilities.explore.prompts import PROMPTS
from graphiti_pkm.capabilities.explore.tools import (
    find_entity_path,
    get_entity_connections,
    get_entity_edge,
    get_entity_subgraph,
    get_entity_timeline,
    get_episode_entities,
    get_episodes,
    get_fact_sources,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import READS_OPEN, ToolSpec

CAPABILITY = Capability(
    name="explore",
    assembly="graphiti_pkm.capabilities.explore.assembly",
    tools={
        "memory": (
            ToolSpec(
                get_entity_connections,
                "Get Entity Connections",
                READS_OPEN,
                "Error getting entity connections: ",
                hints=Hints(("get_entity_timeline", "get_fact_sources", "mark_useful")),
            ),
            ToolSpec(
                get_entity_timeline,
                "Get Entity Timeline",
                READS_OPEN,
                "Error getting entity timeline: ",
                hints=Hints(("get_episodes", "get_fact_sources")),
            ),
            ToolSpec(get_episodes, "Get Episodes", hints=Hints(("get_episode_entities",))),
            ToolSpec(get_episode_entities, "Get Episode Entities", hints=Hints(("get_entity_connections",))),
            ToolSpec(get_entity_edge, "Get Entity Edge", hints=Hints(("get_fact_sources",))),
            ToolSpec(get_fact_sources, "Get Fact Sources", hints=Hints(("mark_useful", "retire_fact"))),
        ),
        "graph": (
            ToolSpec(find_entity_path, "Find Entity Path", hints=Hints(("get_fact_sources",))),
            ToolSpec(get_entity_subgraph, "Get Entity Subgraph", hints=Hints(("get_entity_connections",))),
        ),
    },
    prompts=PROMPTS,
)
