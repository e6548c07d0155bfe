"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.curation import tools
from graphiti_pkm.capabilities.curation.capability import CHECKS
from graphiti_pkm.capabilities.curation.checks import Checks
from graphiti_pkm.capabilities.curation.explaining import Explaining
from graphiti_pkm.capabilities.curation.fitness import FitnessTools
from graphiti_pkm.capabilities.curation.merging import Merging
from graphiti_pkm.capabilities.curation.ports import GraphCuration, GraphMerging
from graphiti_pkm.capabilities.curation.report import Report
from graphiti_pkm.capabilities.curation.reviews import Reviews
from graphiti_pkm.capabilities.curation.similar import Similar
from graphiti_pkm.capabilities.curation.splitting import Splitting
from graphiti_pkm.capabilities.curation.unmerging import Unmerging
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.curation import Curation
from graphiti_pkm.storage.graph.parts.merging import CypherMerging
from graphiti_pkm.storage.graph.sqlite.curation import SqliteCuration
from graphiti_pkm.storage.graph.sqlite.merging import SqliteMerging
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

CURATION = GraphPart[GraphCuration](cypher=Curation, sqlite=SqliteCuration)
MERGING = GraphPart[GraphMerging](cypher=CypherMerging, sqlite=SqliteMerging)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    stored = kernel.parts.part(CURATION)
    merges = kernel.parts.part(MERGING)
    model = kernel.model
    explaining = None if model is None else Explaining(kernel.context, kernel.extractions, model.summarizer)
    similar = Similar(kernel.context, kernel.groups, stored, kernel.committer, explaining)
    merging = Merging(kernel.context, kernel.groups, stored, merges, kernel.committer)
    unmerging = Unmerging(kernel.context, kernel.groups, stored, merges, kernel.committer, merging)
    return Built(
        {
            tools.REVIEWS: Reviews(kernel.context, kernel.groups, stored, kernel.committer),
            tools.SIMILAR: similar,
            CHECKS: Checks(kernel.context, kernel.groups, stored, kernel.committer, similar),
            tools.FITNESS: FitnessTools(kernel.context, kernel.groups, stored, kernel.committer),
            tools.REPORT: Report(kernel.context, kernel.groups, stored),
            tools.MERGING: merging,
            tools.UNMERGING: unmerging,
            tools.SPLITTING: Splitting(kernel.context, kernel.groups, merges, kernel.committer),
        },
        {"merges": unmerging.finish_periodically},
    )
