"""The use cases as one value: what the MCP edge is given."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the edge answers tools/list before the use cases are loaded
    from graphiti_pkm.capabilities.explore.paths import Paths
    from graphiti_pkm.capabilities.explore.service import Exploring
    from graphiti_pkm.capabilities.explore.sources import Sources
    from graphiti_pkm.capabilities.forget.clearing import Clearing
    from graphiti_pkm.capabilities.forget.deleting import Deleting
    from graphiti_pkm.capabilities.forget.service import Forgetting
    from graphiti_pkm.capabilities.history.changes import Changes
    from graphiti_pkm.capabilities.history.retiring import Retiring
    from graphiti_pkm.capabilities.remember.service import Writing
    from graphiti_pkm.capabilities.remember.triplets import Triplets
    from graphiti_pkm.capabilities.sagas.service import Digests
    from graphiti_pkm.capabilities.scratch.service import Reasoning
    from graphiti_pkm.capabilities.search.episodes import EpisodeSearch
    from graphiti_pkm.capabilities.search.service import Searching
    from graphiti_pkm.capabilities.status.figures import Figures
    from graphiti_pkm.capabilities.status.service import Status


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
