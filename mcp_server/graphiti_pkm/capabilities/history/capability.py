"""Shows what changed in the record, ends a fact and brings one back, corrects an entity."""

from graphiti_pkm.capabilities.history.tools import restore_fact, retire_fact, update_entity, what_changed
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="history",
    assembly="graphiti_pkm.capabilities.history.assembly",
    tools={
        "memory": (
            ToolSpec(what_changed, "What Changed", hints=Hints(("get_fact_sources", "restore_fact"))),
            ToolSpec(retire_fact, "Retire Fact", WRITES_IDEMPOTENT, hints=Hints(("restore_fact",))),
            ToolSpec(restore_fact, "Restore Fact", WRITES_IDEMPOTENT, hints=Hints(("get_entity_connections",))),
            ToolSpec(update_entity, "Update Entity", WRITES_IDEMPOTENT, hints=Hints(("get_entity_connections",))),
        ),
    },
)
