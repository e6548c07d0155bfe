"""Projects, and the entries that are written into them."""

from graphiti_pkm.capabilities.projects.tools import (
    create_entry,
    create_project,
    get_entry_context,
    get_project_memories,
    list_projects,
    search_entries_semantic,
    update_project,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ADDS, WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="projects",
    assembly="graphiti_pkm.capabilities.projects.assembly",
    tools={
        "projects": (
            ToolSpec(create_entry, "Create Entry", ADDS),
            ToolSpec(search_entries_semantic, "Search Entries Semantic"),
            ToolSpec(get_entry_context, "Get Entry Context"),
            ToolSpec(create_project, "Create Project", WRITES_IDEMPOTENT),
            ToolSpec(update_project, "Update Project", WRITES_IDEMPOTENT),
            ToolSpec(list_projects, "List Projects"),
            ToolSpec(get_project_memories, "Get Project Memories"),
        ),
    },
)
