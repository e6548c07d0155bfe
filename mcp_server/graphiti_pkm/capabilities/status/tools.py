"""The tool that says whether the memory works. Its docstring is a prompt."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.status.models import StatusResponse
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.status.metrics_collector import MetricsCollector
    from graphiti_pkm.capabilities.status.service import Status

STATUS: ServiceKey["Status"] = ServiceKey("status")
METRICS_COLLECTOR: ServiceKey["MetricsCollector"] = ServiceKey("figures")


async def get_status(call: Call, request: GetStatus) -> StatusResponse:
    """Get whether the memory works: database, search, groups with their sizes, waiting and failed writes.

    Use when calls fail or to see which groups exist. For what is in a group use search_nodes instead.
    """
    return await call.services[STATUS].get_status(call.caller, request)
