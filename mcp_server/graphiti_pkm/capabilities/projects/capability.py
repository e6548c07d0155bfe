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
from graphiti_pkm.toolkit.hints import Hints, search_first
from graphiti_pkm.toolkit.tool import ADDS, WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="projects",
    assembly="graphiti_pkm.capabilities.projects.assembly",
    tools={
        "projects": (
            ToolSpec(
                create_entry,
                "Create Entry",
                ADDS,
                hints=search_first(
                    "search_nodes",
                    "search_entries_semantic",
                    "get_entry_context",
                    "search_memories",
                    next_actions=("create_relations", "add_evidence"),
                ),
            ),
            ToolSpec(
                search_entries_semantic, "Search Entries Semantic", hints=Hints(("get_entry_context", "create_entry"))
            ),
            ToolSpec(get_entry_context, "Get Entry Context", hints=Hints(("get_entity_connections",))),
            ToolSpec(create_project, "Create Project", WRITES_IDEMPOTENT, hints=Hints(("create_entry",))),
            ToolSpec(update_project, "Update Project", WRITES_IDEMPOTENT, hints=Hints(("get_project_memories",))),
            ToolSpec(list_projects, "List Projects", hints=Hints(("get_project_memories", "create_entry"))),
            ToolSpec(
                get_project_memories,
                "Get Project Memories",
                hints=Hints(("get_entry_context", "search_entries_semantic")),
            ),
        ),
    },
)
