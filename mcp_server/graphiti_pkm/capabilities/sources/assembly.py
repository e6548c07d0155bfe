"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.sources import tools
from graphiti_pkm.capabilities.sources.evidence import Evidence
from graphiti_pkm.capabilities.sources.ingesting import Ingesting
from graphiti_pkm.capabilities.sources.reading import DocumentReading
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that tools and commands use."""
    return Built(
        {
            tools.EVIDENCE: Evidence(kernel.context, kernel.groups, kernel.committer),
            tools.READING: DocumentReading(kernel.context, kernel.groups),
            tools.INGESTING: Ingesting(kernel.context, kernel.groups, kernel.committer),
        }
    )
