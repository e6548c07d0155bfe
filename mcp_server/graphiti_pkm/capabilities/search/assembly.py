"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.search.episodes import EpisodeSearch
from graphiti_pkm.capabilities.search.ports import GraphFlags, GraphNeighbours
from graphiti_pkm.capabilities.search.service import Searching
from graphiti_pkm.capabilities.search.tools import EPISODE_SEARCH, SEARCHING
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.curation import Curation
from graphiti_pkm.storage.graph.parts.neighbours import Neighbours
from graphiti_pkm.storage.graph.sqlite.curation import SqliteCuration
from graphiti_pkm.storage.graph.sqlite.episodes import SqliteNeighbours
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

NEIGHBOURS = GraphPart[GraphNeighbours](cypher=Neighbours, sqlite=SqliteNeighbours)

FLAGS = GraphPart[GraphFlags](cypher=Curation, sqlite=SqliteCuration)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    neighbours = kernel.parts.part(NEIGHBOURS)
    return Built(
        {
            SEARCHING: Searching(kernel.context, kernel.groups, neighbours, kernel.parts.part(FLAGS)),
            EPISODE_SEARCH: EpisodeSearch(kernel.context, kernel.groups, neighbours),
        }
    )
