"""What a tool function receives besides its request."""

from dataclasses import dataclass

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.toolkit.services import Services


@dataclass(frozen=True)
class Call:
    """The services, the caller and the progress of one tool call."""

    services: Services
    caller: Caller
    progress: Progress = no_progress
    """Reports the progress of a long call to a client that asked for it."""
