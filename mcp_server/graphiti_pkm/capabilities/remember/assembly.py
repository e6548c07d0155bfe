"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.capabilities.remember.triplet_tools import TRIPLETS
from graphiti_pkm.capabilities.remember.triplets import Triplets
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    receipts = kernel.receipts if kernel.reads_with_model else None
    writing = Writing(kernel.context, kernel.groups, kernel.committer, receipts)
    return {WRITING: writing, TRIPLETS: Triplets(kernel.context, kernel.groups, writing)}
