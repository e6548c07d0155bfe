"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.sagas.service import Digests
from graphiti_pkm.capabilities.sagas.tools import DIGESTS
from graphiti_pkm.storage.graph.parts.change_lists import ChangeLists
from graphiti_pkm.storage.graph.parts.communities import Communities
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    receipts = kernel.receipts if kernel.reads_with_model else None
    queue, notify = kernel.extractions, kernel.committer.on_extractions
    communities, changes = kernel.parts.part(cypher=Communities), kernel.parts.part(cypher=ChangeLists)
    return {DIGESTS: Digests(kernel.context, kernel.groups, queue, receipts, notify, communities, changes)}
