"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry


class GraphProjects(Protocol):
    """Bounded reads of projects and entries."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        """Projects, newest created first, then by uuid."""
        ...

    async def entries(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Entry]:
        """What these episodes have besides; those that are no entry are left out."""
        ...
