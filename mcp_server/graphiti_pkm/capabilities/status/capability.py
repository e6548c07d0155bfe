"""Says whether the memory works and what it holds."""

from graphiti_pkm.capabilities.status.tools import get_status
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ToolSpec

CAPABILITY = Capability(
    name="status",
    assembly="graphiti_pkm.capabilities.status.assembly",
    tools={
        "memory": (ToolSpec(get_status, "Get Status"),),
    },
)
