"""The service of this capability and its jobs; none without a model."""

from graphiti_pkm.capabilities.extraction.capability import EXTRACTING
from graphiti_pkm.capabilities.extraction.service import Extracting
from graphiti_pkm.capabilities.extraction.takeover import Takeover
from graphiti_pkm.capabilities.extraction.writing import ExtractionWriting
from graphiti_pkm.toolkit.capability import Built, Job
from graphiti_pkm.toolkit.kernel import Kernel


def build(kernel: Kernel) -> Built:
    """Build the worker that reads episodes and, if servers share the database, the takeover of their jobs."""
    if kernel.model is None:
        return Built()
    shared = kernel.shared_extraction_jobs
    extracting = Extracting(
        kernel.context,
        kernel.extractions,
        kernel.model.extractor,
        ExtractionWriting(kernel.context, kernel.groups, kernel.committer),
        shared=shared,
        changed=kernel.extraction_changed,
    )
    kernel.committer.on_extractions = extracting.notify
    jobs: dict[str, Job] = {"extractions": extracting.run}
    if shared is not None:
        jobs["takeover"] = Takeover(shared, kernel.extractions, extracting.notify, kernel.lease).run
    return Built({EXTRACTING: extracting}, jobs)
