"""What a tool function is given besides its arguments."""

from dataclasses import dataclass

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.toolkit.services import Services


@dataclass(frozen=True)
class Call:
    """What a tool needs besides its arguments."""

    services: Services
    caller: Caller
    progress: Progress = no_progress
    """Tells a client that asked for it how far a long call is."""
