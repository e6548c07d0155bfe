"""The services of this capability, built from the shared parts of a process."""

from collections.abc import Mapping
from typing import Any

from graphiti_pkm.capabilities.status.metrics_collector import MetricsCollector
from graphiti_pkm.capabilities.status.service import Status
from graphiti_pkm.capabilities.status.tools import METRICS_COLLECTOR, STATUS
from graphiti_pkm.toolkit.kernel import Kernel
from graphiti_pkm.toolkit.services import ServiceKey


def build(kernel: Kernel) -> Mapping[ServiceKey[Any], object]:
    """The services by the keys that the tools use."""
    status = Status(
        kernel.context,
        kernel.groups,
        kernel.attention,
        kernel.backend,
        kernel.receipts,
        kernel.comparison,
        is_shared=kernel.is_shared,
    )
    return {STATUS: status, METRICS_COLLECTOR: MetricsCollector(kernel.context, kernel.backlog, kernel.extractions)}
