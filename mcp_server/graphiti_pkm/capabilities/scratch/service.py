"""The services of scratch graphs, built only if the toolset ``reasoning`` is enabled."""

from datetime import timedelta

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.scratch.analysis import ScratchAnalysis
from graphiti_pkm.capabilities.scratch.comparing import ScratchComparing
from graphiti_pkm.capabilities.scratch.edges import ScratchEdges
from graphiti_pkm.capabilities.scratch.exchange import ScratchExchange
from graphiti_pkm.capabilities.scratch.matching.matching import Matcher
from graphiti_pkm.capabilities.scratch.memory_bridge.commit import ScratchCommit
from graphiti_pkm.capabilities.scratch.memory_bridge.loading import ScratchBridge
from graphiti_pkm.capabilities.scratch.nodes import ScratchNodes
from graphiti_pkm.capabilities.scratch.saving import ScratchSaving
from graphiti_pkm.capabilities.scratch.snapshots import Snapshots
from graphiti_pkm.capabilities.scratch.tenants import ScratchGraphs
from graphiti_pkm.capabilities.scratch.views import ScratchLooking
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.ports.saved_graphs import SavedGraphs


class Reasoning:
    """One service for each group of tools, all over the same graphs."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        writing: Writing,
        saved: SavedGraphs,
        walks: GraphWalks,
        neighbours: GraphNeighbours,
    ) -> None:
        settings = context.settings
        idle = timedelta(hours=settings.scratch_idle_hours)
        self.graphs = ScratchGraphs(settings.scratch_limits, idle, context.now, context.signer, context.elapsed)
        self.matcher = Matcher(self.graphs, context.embedder, settings)
        self.nodes = ScratchNodes(self.graphs, self.matcher)
        self.edges = ScratchEdges(self.matcher)
        self.looking = ScratchLooking(self.graphs, self.matcher)
        self.comparing = ScratchComparing(self.graphs, settings.zone)
        self._snapshots = Snapshots(self.matcher, settings.scratch_seconds)
        self.analysis = ScratchAnalysis(self.graphs, self._snapshots)
        self.exchange = ScratchExchange(self.graphs, self.matcher, self._snapshots)
        self.bridge = ScratchBridge(context, groups, self.graphs, walks, neighbours)
        self.committing = ScratchCommit(context, groups, writing, self.graphs)
        self.saving = ScratchSaving(context, groups, self.graphs, saved)

    async def close(self) -> None:
        """Stop the worker processes."""
        await self._snapshots.close()
