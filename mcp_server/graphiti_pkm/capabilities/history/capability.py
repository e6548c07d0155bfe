"""Shows what changed in the record, ends a fact and brings one back, corrects an entity."""

from graphiti_pkm.capabilities.history.tools import restore_fact, retire_fact, update_entity, what_changed
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ENDS, ToolSpec

CAPABILITY = Capability(
    name="history",
    assembly="graphiti_pkm.capabilities.history.assembly",
    tools={
        "memory": (
            ToolSpec(what_changed, "What Changed"),
            ToolSpec(retire_fact, "Retire Fact", ENDS),
            ToolSpec(restore_fact, "Restore Fact", ENDS),
            ToolSpec(update_entity, "Update Entity", ENDS),
        ),
    },
)
