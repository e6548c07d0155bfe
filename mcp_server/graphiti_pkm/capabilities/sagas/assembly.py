"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.extraction.capability import EXTRACTING
from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.sagas.jobs import SummaryJobs
from graphiti_pkm.capabilities.sagas.ports import GraphCommunities
from graphiti_pkm.capabilities.sagas.service import SummaryService
from graphiti_pkm.capabilities.sagas.tools import SUMMARIES
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.communities import Communities
from graphiti_pkm.storage.graph.sqlite.sagas import SqliteCommunities
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

COMMUNITIES = GraphPart[GraphCommunities](cypher=Communities, sqlite=SqliteCommunities)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    receipts = None if kernel.model is None else kernel.receipts
    queue, notify = kernel.extractions, kernel.committer.on_extractions
    communities = kernel.parts.part(COMMUNITIES)
    changes = kernel.parts.part(CHANGE_LISTS)
    if kernel.model is not None:
        kernel.services[EXTRACTING].summary_jobs = SummaryJobs(
            kernel.context, kernel.committer, kernel.model.summarizer, communities
        )
    return Built(
        {SUMMARIES: SummaryService(kernel.context, kernel.groups, queue, receipts, notify, communities, changes)}
    )
