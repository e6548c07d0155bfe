"""Projects, and the entries that are written into them."""

from graphiti_pkm.capabilities.projects.tools import (
    create_entry,
    create_project,
    get_entry_context,
    list_projects,
    update_project,
)
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ADDS, ENDS, ToolSpec

CAPABILITY = Capability(
    name="projects",
    assembly="graphiti_pkm.capabilities.projects.assembly",
    tools={
        "projects": (
            ToolSpec(create_entry, "Create Entry", ADDS),
            ToolSpec(get_entry_context, "Get Entry Context"),
            ToolSpec(create_project, "Create Project", ENDS),
            ToolSpec(update_project, "Update Project", ENDS),
            ToolSpec(list_projects, "List Projects"),
        ),
    },
)
