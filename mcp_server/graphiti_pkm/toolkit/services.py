"""The use cases as one value: what the MCP edge is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the edge answers tools/list before the use cases are loaded
    from graphiti_pkm.services.changes import Changes
    from graphiti_pkm.services.clearing import Clearing
    from graphiti_pkm.services.deleting import Deleting
    from graphiti_pkm.services.digests import Digests
    from graphiti_pkm.services.episode_search import EpisodeSearch
    from graphiti_pkm.services.exploring import Exploring
    from graphiti_pkm.services.figures import Figures
    from graphiti_pkm.services.forgetting import Forgetting
    from graphiti_pkm.services.paths import Paths
    from graphiti_pkm.services.reasoning import Reasoning
    from graphiti_pkm.services.retiring import Retiring
    from graphiti_pkm.services.searching import Searching
    from graphiti_pkm.services.sources import Sources
    from graphiti_pkm.services.status import Status
    from graphiti_pkm.services.triplets import Triplets
    from graphiti_pkm.services.writing import Writing


async def _whole() -> None:
    """Of a graph that nobody rebuilds."""


@dataclass(frozen=True)
class Services:
    """One object per group of use cases, built in ``bootstrap``."""

    writing: "Writing"
    searching: "Searching"
    episode_search: "EpisodeSearch"
    exploring: "Exploring"
    sources: "Sources"
    paths: "Paths"
    triplets: "Triplets"
    clearing: "Clearing"
    changes: "Changes"
    retiring: "Retiring"
    deleting: "Deleting"
    forgetting: "Forgetting"
    digests: "Digests"
    status: "Status"
    figures: "Figures"
    stop_waiting: Callable[[], None] = lambda: None
    """Calls that wait for a model are answered now."""
    whole: Callable[[], Awaitable[None]] = _whole
    """Returns once the graph is what the journal says; raises Unavailable while a rebuild is not finished."""
    reasoning: "Reasoning | None" = None
    """Only where the toolset reasoning is switched on."""
