"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.compat.ports import GraphObservations
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.observations import Observations
from graphiti_pkm.storage.graph.sqlite.observations import SqliteObservations

OBSERVATIONS_PART = GraphPart[GraphObservations](cypher=Observations, sqlite=SqliteObservations)
