"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.projects import tools
from graphiti_pkm.capabilities.projects.entries import Entries
from graphiti_pkm.capabilities.projects.entry_search import EntrySearch
from graphiti_pkm.capabilities.projects.memories import Memories
from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.capabilities.projects.projects import Projects
from graphiti_pkm.capabilities.remember.tools import WRITING
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.projects import Projects as CypherProjects
from graphiti_pkm.storage.graph.sqlite.projects import SqliteProjects
from graphiti_pkm.toolkit.capability import Built
from graphiti_pkm.toolkit.kernel import Kernel

PROJECTS = GraphPart[GraphProjects](cypher=CypherProjects, sqlite=SqliteProjects)


def build(kernel: Kernel) -> Built:
    """Build the services under the keys that the tools use."""
    stored, writing = kernel.parts.part(PROJECTS), kernel.services[WRITING]
    return Built(
        {
            tools.PROJECTS: Projects(kernel.context, kernel.groups, stored, writing, kernel.committer),
            tools.ENTRIES: Entries(kernel.context, kernel.groups, stored, writing),
            tools.ENTRY_SEARCH: EntrySearch(kernel.context, kernel.groups, stored),
            tools.MEMORIES: Memories(kernel.context, kernel.groups, stored),
        }
    )
