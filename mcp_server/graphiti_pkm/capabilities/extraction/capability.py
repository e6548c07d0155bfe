"""Reads stored episodes with a configured model, in the background."""

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.extraction.service import Extracting

EXTRACTING: ServiceKey["Extracting"] = ServiceKey("extraction")
"""Built only where a model is configured."""

CAPABILITY = Capability(name="extraction", assembly="graphiti_pkm.capabilities.extraction.assembly")
