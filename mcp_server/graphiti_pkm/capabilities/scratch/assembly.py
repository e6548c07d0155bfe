"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.explore.assembly import WALKS_PART
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.scratch.service import Reasoning
from graphiti_pkm.capabilities.scratch.tools import REASONING
from graphiti_pkm.capabilities.search.assembly import NEIGHBOURS
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    walks = kernel.parts.part(WALKS_PART)
    neighbours = kernel.parts.part(NEIGHBOURS)
    writing = kernel.services[WRITING]
    reasoning = Reasoning(kernel.context, kernel.groups, writing, kernel.saved_graphs, walks, neighbours)
    return Built({REASONING: reasoning}, {"scratch graphs": reasoning.graphs.sweep_periodically}, reasoning.close)
