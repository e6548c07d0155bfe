"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.capabilities.remember.tools import TRIPLETS, WRITING
from graphiti_pkm.capabilities.remember.triplets import Triplets
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    receipts = None if kernel.model is None else kernel.receipts
    writing = Writing(kernel.context, kernel.groups, kernel.committer, receipts)
    return Built({WRITING: writing, TRIPLETS: Triplets(kernel.context, kernel.groups, writing)})
