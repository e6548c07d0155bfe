"""Stores what was said, with the entities and facts found in it."""

from graphiti_pkm.capabilities.remember.prompts import PROMPTS
from graphiti_pkm.capabilities.remember.tools import add_memory, add_triplet
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ADDS, ToolSpec

CAPABILITY = Capability(
    name="remember",
    assembly="graphiti_pkm.capabilities.remember.assembly",
    tools={
        "memory": (ToolSpec(add_memory, "Add Memory", ADDS),),
        "graph": (ToolSpec(add_triplet, "Add Triplet", ADDS),),
    },
    prompts=PROMPTS,
)
