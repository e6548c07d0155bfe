"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.compat.deleting import ClassicDeleting
from graphiti_pkm.capabilities.compat.ports import GraphObservations
from graphiti_pkm.capabilities.compat.reading import ClassicReading
from graphiti_pkm.capabilities.compat.tools import CLASSIC_DELETING, CLASSIC_READING, CLASSIC_WRITING
from graphiti_pkm.capabilities.compat.writing import ClassicWriting
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.observations import Observations
from graphiti_pkm.storage.graph.sqlite.observations import SqliteObservations
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

OBSERVATIONS_PART = GraphPart[GraphObservations](cypher=Observations, sqlite=SqliteObservations)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    stored = kernel.parts.part(OBSERVATIONS_PART)
    reading = ClassicReading(kernel.context, kernel.groups, stored)
    shared = (kernel.context, kernel.groups, kernel.committer, stored, reading)
    return Built(
        {
            CLASSIC_READING: reading,
            CLASSIC_WRITING: ClassicWriting(*shared),
            CLASSIC_DELETING: ClassicDeleting(*shared),
        }
    )
