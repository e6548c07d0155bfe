"""A memory with projects, over fakes."""

from typing import Any

from tests.fakes import FakeJournal
from tests.worlds.writing_world import WritingWorld

from graphiti_pkm.capabilities.projects.assembly import PROJECTS
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
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import LOCAL, Caller
from graphiti_pkm.core.model.records import WriteIntent
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.storage.commit import Committer


class ProjectsWorld(WritingWorld):
    """One server over fakes; ``has_model``: a model is configured, and never comes to read."""

    def __init__(self, *, has_model: bool = False, **settings: Any) -> None:
        super().__init__(**settings)
        groups, committer, stored = (
            Groups(self.graph, self.context.settings),
            Committer(self.context),
            self.graph.part(PROJECTS),
        )
        if has_model:
            journal = self.context.journal
            assert isinstance(journal, FakeJournal)
            receipts = Receipts(self.context, groups, journal.extractions)
            self.writing = Writing(self.context, groups, committer, receipts)
        self.projects = Projects(self.context, groups, stored, self.writing, committer)
        self.entries = Entries(self.context, groups, stored, self.writing)
        self.searching = EntrySearch(self.context, groups, stored)
        self.memories = Memories(self.context, groups, stored)

    async def create(self, name: str = "Momento", caller: Caller = LOCAL, **fields: Any) -> ProjectResponse:
        return await self.projects.create_project(caller, CreateProject(name=name, **fields))

    async def update(self, project: str = "Momento", caller: Caller = LOCAL, **fields: Any) -> ProjectResponse:
        self.clock.advance(seconds=1)
        return await self.projects.update_project(caller, UpdateProject(project=project, **fields))

    async def listed(self, caller: Caller = LOCAL, **fields: Any) -> ProjectListResponse:
        return await self.projects.list_projects(caller, ListProjects(**fields))

    async def enter(self, content: str = "A note.", caller: Caller = LOCAL, **fields: Any) -> EntryResponse:
        self.clock.advance(seconds=1)
        return await self.entries.create_entry(caller, CreateEntry(content=content, **fields))

    async def context_of(self, entity: str, caller: Caller = LOCAL, **fields: Any) -> EntryContextResponse:
        return await self.entries.get_entry_context(caller, GetEntryContext(entity_name=entity, **fields))

    async def search(self, query: str, caller: Caller = LOCAL, **fields: Any) -> EntrySearchResponse:
        return await self.searching.search_entries_semantic(caller, SearchEntriesSemantic(query=query, **fields))

    async def memories_of(
        self, project: str = "Momento", caller: Caller = LOCAL, **fields: Any
    ) -> ProjectMemoriesResponse:
        return await self.memories.get_project_memories(caller, GetProjectMemories(project_id=project, **fields))

    @property
    def written(self) -> list[WriteIntent]:
        """What the journal holds, in order."""
        return [row.intent for row in self.journal.table.values()]
