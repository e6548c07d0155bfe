"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.explore.paths import Paths
from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.explore.service import Exploring
from graphiti_pkm.capabilities.explore.sources import Sources
from graphiti_pkm.capabilities.explore.tools import EXPLORING, WALKS, WORDS
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.walks import Walks
from graphiti_pkm.storage.graph.sqlite.walks import SqliteWalks
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

WALKS_PART = GraphPart[GraphWalks](cypher=Walks, sqlite=SqliteWalks)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    walks = kernel.parts.part(WALKS_PART)
    return Built(
        {
            EXPLORING: Exploring(kernel.context, kernel.groups),
            WORDS: Sources(kernel.context, kernel.groups, walks),
            WALKS: Paths(kernel.context, kernel.groups, walks),
        }
    )
