"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.curation.assembly import CURATION
from graphiti_pkm.capabilities.staging.capability import COMPARING, SNAPSHOTS
from graphiti_pkm.capabilities.staging.comparing import GroupComparing
from graphiti_pkm.capabilities.staging.snapshots import Snapshots
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services that the commands use."""
    return Built(
        {
            SNAPSHOTS: Snapshots(kernel.context, kernel.groups, kernel.committer),
            COMPARING: GroupComparing(kernel.context, kernel.groups, kernel.parts.part(CURATION)),
        }
    )
