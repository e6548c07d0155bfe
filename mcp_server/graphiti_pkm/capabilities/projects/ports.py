"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from graphiti_pkm.core.model.projects import ProjectFilter, ProjectPage
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entry
from graphiti_pkm.core.model.relevance import RelevanceFilter, RelevanceParts


class GraphProjects(Protocol):
    """Bounded reads of projects and entries."""

    async def projects(self, wanted: ProjectFilter, window: Window) -> ProjectPage:
        """Projects, newest created first, then by uuid."""
        ...

    async def entries(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Entry]:
        """What these episodes have besides; those that are no entry are left out."""
        ...

    async def relevant(
        self, wanted: RelevanceFilter, primary: Window | None, secondary: Window | None
    ) -> RelevanceParts:
        """Entities of a project by relevance, a page of each part; without a window only its totals.

        A part's key is the score in millionths, the name and the uuid of the last entity seen. Entities that only a
        relation or a measure names are left out, and so are the project and the group's person.
        """
        ...

    async def projects_of(self, entity_uuids: Sequence[str], group_id: str) -> Mapping[str, Sequence[str]]:
        """Names of the projects whose entries mention each entity, at most ten, in alphabetical order."""
        ...
