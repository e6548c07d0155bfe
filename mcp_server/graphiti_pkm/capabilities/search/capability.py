"""Finds entities, facts and episodes by words and meaning."""

from graphiti_pkm.capabilities.search.tools import search_episodes, search_memory_facts, search_nodes
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import ToolSpec

CAPABILITY = Capability(
    name="search",
    assembly="graphiti_pkm.capabilities.search.assembly",
    tools={
        "memory": (
            ToolSpec(
                search_nodes, "Search Nodes", hints=Hints(("add_memory", "create_relations", "get_entity_connections"))
            ),
            ToolSpec(
                search_memory_facts, "Search Memory Facts", hints=Hints(("get_fact_sources", "get_entity_timeline"))
            ),
            ToolSpec(search_episodes, "Search Episodes", hints=Hints(("get_episode_entities", "get_episodes"))),
        ),
    },
)
