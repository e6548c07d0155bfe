"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.forget.clearing import Clearing
from graphiti_pkm.capabilities.forget.deleting import Deleting
from graphiti_pkm.capabilities.forget.service import Forgetting
from graphiti_pkm.capabilities.forget.tools import CLEARING, DELETING, FORGETTING
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    return Built(
        {
            CLEARING: Clearing(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
            DELETING: Deleting(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
            FORGETTING: Forgetting(kernel.context, kernel.groups, kernel.committer, kernel.erasing),
        }
    )
