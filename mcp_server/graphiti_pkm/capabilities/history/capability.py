"""Shows what changed in the record, ends a fact and brings one back, corrects an entity."""

from graphiti_pkm.capabilities.history.tools import restore_fact, retire_fact, update_entity, what_changed
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="history",
    assembly="graphiti_pkm.capabilities.history.assembly",
    tools={
        "memory": (
            ToolSpec(what_changed, "What Changed"),
            ToolSpec(retire_fact, "Retire Fact", WRITES_IDEMPOTENT),
            ToolSpec(restore_fact, "Restore Fact", WRITES_IDEMPOTENT),
            ToolSpec(update_entity, "Update Entity", WRITES_IDEMPOTENT),
        ),
    },
)
