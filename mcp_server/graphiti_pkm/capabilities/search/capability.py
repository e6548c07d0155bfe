"""Finds entities, facts and episodes by words and meaning."""

from graphiti_pkm.capabilities.search.tools import search_episodes, search_memory_facts, search_nodes
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ToolSpec

CAPABILITY = Capability(
    name="search",
    assembly="graphiti_pkm.capabilities.search.assembly",
    tools={
        "memory": (
            ToolSpec(search_nodes, "Search Nodes"),
            ToolSpec(search_memory_facts, "Search Memory Facts"),
            ToolSpec(search_episodes, "Search Episodes"),
        ),
    },
)
