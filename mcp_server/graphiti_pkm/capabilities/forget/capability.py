"""Removes for good: an episode, a fact, a claim, a person, whole groups; also from the files."""

from graphiti_pkm.capabilities.forget.tools import clear_graph, delete_entity_edge, delete_episode, forget
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import look_first
from graphiti_pkm.toolkit.tool import DELETES, ToolSpec

CAPABILITY = Capability(
    name="forget",
    assembly="graphiti_pkm.capabilities.forget.assembly",
    tools={
        "memory": (
            ToolSpec(
                delete_episode,
                "Delete Episode",
                DELETES,
                hints=look_first("get_episodes", "search_episodes", "get_entity_timeline", "get_fact_sources"),
            ),
            ToolSpec(
                delete_entity_edge,
                "Delete Entity Edge",
                DELETES,
                permitted_to="librarian",
                hints=look_first(
                    "get_fact_sources", "get_entity_edge", "search_memory_facts", "get_entity_connections"
                ),
            ),
            ToolSpec(forget, "Forget", DELETES),
        ),
        "graph": (ToolSpec(clear_graph, "Clear Graph", DELETES),),
    },
)
