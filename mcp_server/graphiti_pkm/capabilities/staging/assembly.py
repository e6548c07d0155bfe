"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.curation.assembly import CURATION
from graphiti_pkm.capabilities.projects.assembly import PROJECTS
from graphiti_pkm.capabilities.staging.comparing import GroupComparing
from graphiti_pkm.capabilities.staging.migrating import Migrating
from graphiti_pkm.capabilities.staging.snapshots import Snapshots
from graphiti_pkm.capabilities.staging.tools import COMPARING, MIGRATING, SNAPSHOTS
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services that the commands use."""
    context, groups, committer = kernel.context, kernel.groups, kernel.committer
    curation = kernel.parts.part(CURATION)
    stored = (curation, kernel.parts.part(PROJECTS))
    return Built(
        {
            SNAPSHOTS: Snapshots(context, groups, committer),
            COMPARING: GroupComparing(context, groups, curation),
            MIGRATING: Migrating(context, groups, committer, stored),
        }
    )
