"""Tries things out beside the memory that is relied on, and goes back."""

from graphiti_pkm.capabilities.staging.tools import promote
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="staging",
    assembly="graphiti_pkm.capabilities.staging.assembly",
    tools={
        "curation": (
            ToolSpec(
                promote,
                "Promote",
                WRITES_IDEMPOTENT,
                failure="Not promoted: ",
                permitted_to="curator",
                shown_by="search_nodes",
                hints=Hints(("search_nodes", "list_flagged")),
            ),
        ),
    },
)
