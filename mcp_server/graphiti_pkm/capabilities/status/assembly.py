"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.status.metrics_collector import MetricsCollector
from graphiti_pkm.capabilities.status.service import Status
from graphiti_pkm.capabilities.status.tools import METRICS_COLLECTOR, STATUS
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    status = Status(kernel.context, kernel.groups, kernel.backend, kernel.receipts, kernel.comparison)
    return Built(
        {STATUS: status, METRICS_COLLECTOR: MetricsCollector(kernel.context, kernel.backlog, kernel.extractions)}
    )
