"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.scratch.service import Reasoning
from graphiti_pkm.capabilities.scratch.tools.parameters import REASONING
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """By the keys that the tools ask with."""
    walks = kernel.parts.part(WALKS_PART)
    neighbours = kernel.parts.part(NEIGHBOURS)
    writing = kernel.services[WRITING]
    return {REASONING: Reasoning(kernel.context, kernel.groups, writing, kernel.saved_graphs, walks, neighbours)}
