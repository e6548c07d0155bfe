"""Traversal without a query: complete answers in pages."""

from graphiti_pkm.capabilities.explore.connections import Connections
from graphiti_pkm.capabilities.explore.timelines import Timelines
from graphiti_pkm.core.reading.lookups import Lookups


class Exploring(Connections, Timelines, Lookups):
    """Connections and timeline of an entity, and what is read by uuid."""
