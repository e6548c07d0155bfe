"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.history.assembly import CHANGE_LISTS
from graphiti_pkm.capabilities.sagas.ports import GraphCommunities
from graphiti_pkm.capabilities.sagas.service import Digests
from graphiti_pkm.capabilities.sagas.tools import DIGESTS
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.communities import Communities
from graphiti_pkm.storage.graph.sqlite.sagas import SqliteCommunities
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey

COMMUNITIES = GraphPart[GraphCommunities](cypher=Communities, sqlite=SqliteCommunities)


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    receipts = kernel.receipts if kernel.reads_with_model else None
    queue, notify = kernel.extractions, kernel.committer.on_extractions
    communities = kernel.parts.part(COMMUNITIES)
    changes = kernel.parts.part(CHANGE_LISTS)
    return {DIGESTS: Digests(kernel.context, kernel.groups, queue, receipts, notify, communities, changes)}
