"""The tools of two other memory servers, for the prompts that were written for them."""

from graphiti_pkm.capabilities.compat import reference_tools
from graphiti_pkm.capabilities.compat.tools import (
    add_observations,
    create_entities,
    create_relations,
    delete_entities,
    delete_observations,
    delete_relations,
    find_memories_by_name,
    search_memories,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints, look_first, search_first
from graphiti_pkm.toolkit.tool import ADDS, DELETES, ToolSpec

_CREATED = ("create_relations", "add_evidence")
_FOUND = ("create_entities", "create_relations", "get_entity_connections")
_LOOKS = ("find_memories_by_name", "search_memories", "search_nodes")
_OPENS = ("open_nodes", "search_nodes")

CAPABILITY = Capability(
    name="compat",
    assembly="graphiti_pkm.capabilities.compat.assembly",
    tools={
        "compat": (
            ToolSpec(
                create_entities,
                "Create Entities",
                ADDS,
                hints=search_first("search_nodes", "search_memories", "find_memories_by_name", next_actions=_CREATED),
            ),
            ToolSpec(
                create_relations, "Create Relations", ADDS, hints=Hints(("add_evidence", "find_memories_by_name"))
            ),
            ToolSpec(add_observations, "Add Observations", ADDS, hints=Hints(("find_memories_by_name",))),
            ToolSpec(search_memories, "Search Memories", hints=Hints(_FOUND)),
            ToolSpec(find_memories_by_name, "Find Memories by Name", hints=Hints(_FOUND)),
            ToolSpec(delete_entities, "Delete Entities", DELETES, hints=look_first(*_LOOKS)),
            ToolSpec(delete_relations, "Delete Relations", DELETES, hints=look_first(*_LOOKS)),
            ToolSpec(delete_observations, "Delete Observations", DELETES, hints=look_first(*_LOOKS)),
        ),
        "reference": (
            ToolSpec(
                reference_tools.create_entities,
                "Create Entities",
                ADDS,
                hints=search_first("search_nodes", "open_nodes", next_actions=_CREATED),
            ),
            ToolSpec(reference_tools.create_relations, "Create Relations", ADDS, hints=Hints(("open_nodes",))),
            ToolSpec(reference_tools.add_observations, "Add Observations", ADDS, hints=Hints(("open_nodes",))),
            ToolSpec(reference_tools.search_nodes, "Search Nodes", hints=Hints(("open_nodes", "create_relations"))),
            ToolSpec(reference_tools.open_nodes, "Open Nodes", hints=Hints(("add_observations", "create_relations"))),
            ToolSpec(reference_tools.delete_entities, "Delete Entities", DELETES, hints=look_first(*_OPENS)),
            ToolSpec(reference_tools.delete_observations, "Delete Observations", DELETES, hints=look_first(*_OPENS)),
            ToolSpec(reference_tools.delete_relations, "Delete Relations", DELETES, hints=look_first(*_OPENS)),
        ),
    },
)
