"""Tries things out beside the memory that is relied on, and goes back."""

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.staging.comparing import GroupComparing
    from graphiti_pkm.capabilities.staging.migrating import Migrating
    from graphiti_pkm.capabilities.staging.snapshots import Snapshots

SNAPSHOTS: ServiceKey["Snapshots"] = ServiceKey("snapshots")
MIGRATING: ServiceKey["Migrating"] = ServiceKey("migrating")
COMPARING: ServiceKey["GroupComparing"] = ServiceKey("group_comparing")

CAPABILITY = Capability(name="staging", assembly="graphiti_pkm.capabilities.staging.assembly")
