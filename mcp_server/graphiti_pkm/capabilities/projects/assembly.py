"""The services of this capability, built from the shared parts of a process."""

from graphiti_pkm.capabilities.projects.ports import GraphProjects
from graphiti_pkm.storage.graph.graph_part import GraphPart
from graphiti_pkm.storage.graph.parts.projects import Projects
from graphiti_pkm.storage.graph.sqlite.projects import SqliteProjects

PROJECTS = GraphPart[GraphProjects](cypher=Projects, sqlite=SqliteProjects)
