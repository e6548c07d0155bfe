"""Traversal without a query: complete answers in pages."""

from graphiti_pkm.capabilities.explore.completing import Completing
from graphiti_pkm.capabilities.explore.connections import Connections
from graphiti_pkm.capabilities.explore.lookups import Lookups
from graphiti_pkm.capabilities.explore.timelines import Timelines


class Exploring(Connections, Timelines, Lookups, Completing):
    """Connections and timeline of an entity, reads by uuid, and completions."""
