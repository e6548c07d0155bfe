"""The use cases of scratch graphs as one value; built only where the toolset ``reasoning`` is switched on."""

from datetime import timedelta

from graphiti_pkm.domain.saved_graphs import SavedGraphs
from graphiti_pkm.services.context import Context
from graphiti_pkm.services.groups import Groups
from graphiti_pkm.services.scratch_analysis import ScratchAnalysis
from graphiti_pkm.services.scratch_bridge import ScratchBridge
from graphiti_pkm.services.scratch_commit import ScratchCommit
from graphiti_pkm.services.scratch_comparing import ScratchComparing
from graphiti_pkm.services.scratch_edges import ScratchEdges
from graphiti_pkm.services.scratch_exchange import ScratchExchange
from graphiti_pkm.services.scratch_graphs import ScratchGraphs
from graphiti_pkm.services.scratch_looking import ScratchLooking
from graphiti_pkm.services.scratch_matching import Matcher
from graphiti_pkm.services.scratch_nodes import ScratchNodes
from graphiti_pkm.services.scratch_saving import ScratchSaving
from graphiti_pkm.services.writing import Writing


class Reasoning:
    """One object per group of use cases, over the same graphs."""

    def __init__(self, context: Context, groups: Groups, writing: Writing, saved: SavedGraphs) -> None:
        settings = context.settings
        idle = timedelta(hours=settings.scratch_idle_hours)
        self.graphs = ScratchGraphs(settings.scratch_limits, idle, context.now, context.signer)
        self.matcher = Matcher(self.graphs, context.embedder, settings)
        self.nodes = ScratchNodes(self.graphs, self.matcher)
        self.edges = ScratchEdges(self.matcher)
        self.looking = ScratchLooking(self.graphs, self.matcher)
        self.comparing = ScratchComparing(self.graphs)
        self.analysis = ScratchAnalysis(self.graphs, self.matcher, settings.scratch_seconds)
        self.exchange = ScratchExchange(self.graphs, self.matcher, self.analysis.pictures)
        self.bridge = ScratchBridge(context, groups, self.graphs)
        self.committing = ScratchCommit(context, groups, writing, self.graphs)
        self.saving = ScratchSaving(context, groups, self.graphs, saved)

    async def close(self) -> None:
        """End what runs beside the server."""
        await self.analysis.close()
