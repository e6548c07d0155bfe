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
from graphiti_pkm.toolkit.tool import ADDS, DELETES, ToolSpec

CAPABILITY = Capability(
    name="compat",
    assembly="graphiti_pkm.capabilities.compat.assembly",
    tools={
        "compat": (
            ToolSpec(create_entities, "Create Entities", ADDS),
            ToolSpec(create_relations, "Create Relations", ADDS),
            ToolSpec(add_observations, "Add Observations", ADDS),
            ToolSpec(search_memories, "Search Memories"),
            ToolSpec(find_memories_by_name, "Find Memories by Name"),
            ToolSpec(delete_entities, "Delete Entities", DELETES),
            ToolSpec(delete_relations, "Delete Relations", DELETES),
            ToolSpec(delete_observations, "Delete Observations", DELETES),
        ),
        "reference": (
            ToolSpec(reference_tools.create_entities, "Create Entities", ADDS),
            ToolSpec(reference_tools.create_relations, "Create Relations", ADDS),
            ToolSpec(reference_tools.add_observations, "Add Observations", ADDS),
            ToolSpec(reference_tools.search_nodes, "Search Nodes"),
            ToolSpec(reference_tools.open_nodes, "Open Nodes"),
            ToolSpec(reference_tools.delete_entities, "Delete Entities", DELETES),
            ToolSpec(reference_tools.delete_observations, "Delete Observations", DELETES),
            ToolSpec(reference_tools.delete_relations, "Delete Relations", DELETES),
        ),
    },
)
