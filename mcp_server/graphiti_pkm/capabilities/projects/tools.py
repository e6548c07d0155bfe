"""Tools of projects and entries. Their docstrings are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.projects.entries import Entries
    from graphiti_pkm.capabilities.projects.entry_search import EntrySearch
    from graphiti_pkm.capabilities.projects.memories import Memories
    from graphiti_pkm.capabilities.projects.models import (
        EntryContextResponse,
        EntryResponse,
        EntrySearchResponse,
        ProjectListResponse,
        ProjectMemoriesResponse,
        ProjectResponse,
    )
    from graphiti_pkm.capabilities.projects.projects import Projects
    from graphiti_pkm.capabilities.projects.requests import (
        CreateEntry,
        CreateProject,
        GetEntryContext,
        GetProjectMemories,
        ListProjects,
        SearchEntriesSemantic,
        UpdateProject,
    )

TYPES = (
    "graphiti_pkm.capabilities.projects.models",
    "graphiti_pkm.capabilities.projects.requests",
)
PROJECTS: ServiceKey[Projects] = ServiceKey("projects")
ENTRIES: ServiceKey[Entries] = ServiceKey("entries")
ENTRY_SEARCH: ServiceKey[EntrySearch] = ServiceKey("entry search")
MEMORIES: ServiceKey[Memories] = ServiceKey("memories")


async def create_project(call: Call, request: CreateProject) -> ProjectResponse:
    """Create a project that entries belong to; one of that name is returned as it is, with created_new false.

    Use for a new piece of work; to change one use update_project instead, to find one list_projects. The project is an
    entity: get_entity_connections and get_entity_timeline take its project_id.
    """
    return await call.services[PROJECTS].create_project(call.caller, request)


async def update_project(call: Call, request: UpdateProject) -> ProjectResponse:
    """Change a project's description, metadata or status, or which entities are pinned to it; the rest stays.

    Use when a project is finished, resumed or described otherwise; for another name use update_entity instead. A status
    is a fact with its time, so former ones stay known.
    """
    return await call.services[PROJECTS].update_project(call.caller, request)


async def list_projects(call: Call, request: ListProjects) -> ProjectListResponse:
    """List projects with project_id, status, number of entries and the last of them, newest created first.

    Use to find a project_id; for what a project is about use get_project_memories instead.
    """
    return await call.services[PROJECTS].list_projects(call.caller, request)


async def create_entry(call: Call, request: CreateEntry) -> EntryResponse:
    """Store a text as an entry, verbatim, in a project or alone, with the entities and facts you found in it.

    Use for journal texts, meetings, tasks and comments that belong to a project; without one add_memory does instead.
    Stored durably and searchable before it answers; known names in the text are linked. Act on needs_attention only.
    """
    return await call.services[ENTRIES].create_entry(call.caller, request, call.progress)


async def get_entry_context(call: Call, request: GetEntryContext) -> EntryContextResponse:
    """Get all entries that mention an entity, by its name, with their texts; pages go back in time.

    Use for what was written about something; without its exact name use search_entries_semantic instead, for episodes
    that are no entries get_entity_timeline. Returns candidates if no one entity has the name.
    """
    return await call.services[ENTRIES].get_entry_context(call.caller, request)


async def search_entries_semantic(call: Call, request: SearchEntriesSemantic) -> EntrySearchResponse:
    """Find entries by meaning, also without shared words, ranked by the similarity of their best sentence.

    Use for what was written on a subject; for everything on one entity use get_entry_context instead. Where fewer than
    limit reach similarity_threshold, below has the nearest that do not: if those answer, ask again with a lower one.
    """
    return await call.services[ENTRY_SEARCH].search_entries_semantic(call.caller, request)


async def get_project_memories(call: Call, request: GetProjectMemories) -> ProjectMemoriesResponse:
    """Get the entities that matter to a project, by relevance with its terms: of its own entries, and of elsewhere.

    Use to learn what a project is about; for the texts behind an entity use get_entry_context instead. below_threshold
    counts what a lower relevance_threshold would add.
    """
    return await call.services[MEMORIES].get_project_memories(call.caller, request)
