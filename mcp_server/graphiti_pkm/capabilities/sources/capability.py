"""Documents, and quotes from them as evidence of entities."""

from graphiti_pkm.capabilities.sources.tools import add_evidence, get_entity_sources
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import READS, WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="sources",
    assembly="graphiti_pkm.capabilities.sources.assembly",
    tools={
        "curation": (
            ToolSpec(
                add_evidence,
                "Add Evidence",
                WRITES_IDEMPOTENT,
                failure="Not added: ",
                shown_by="get_entity_sources",
                hints=Hints(("get_entity_sources",)),
            ),
            ToolSpec(get_entity_sources, "Get Entity Sources", READS, hints=Hints(("add_evidence", "set_confidence"))),
        ),
    },
)
