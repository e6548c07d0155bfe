"""Stores what was said, with the entities and facts found in it."""

from graphiti_pkm.capabilities.remember.prompts import PROMPTS
from graphiti_pkm.capabilities.remember.tools import add_memory, add_triplet
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import search_first
from graphiti_pkm.toolkit.tool import ADDS, ToolSpec

_SEARCHES = ("search_nodes", "search_memory_facts", "search_memories", "find_memories_by_name")
_CREATES = search_first(*_SEARCHES, next_actions=("create_relations", "add_evidence"))

CAPABILITY = Capability(
    name="remember",
    assembly="graphiti_pkm.capabilities.remember.assembly",
    tools={
        "memory": (ToolSpec(add_memory, "Add Memory", ADDS, hints=_CREATES),),
        "graph": (ToolSpec(add_triplet, "Add Triplet", ADDS, hints=_CREATES),),
    },
    prompts=PROMPTS,
)
