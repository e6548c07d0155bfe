"""What only this capability asks of the storage."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.curation import FlaggedFilter, FlaggedPage, QualityCounts, QualityFilter
from graphiti_pkm.core.model.merges import MergeHead, MergeSizes
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Entity, Fact, Mention, Merge, Name, Project, Quality


class GraphCuration(Protocol):
    """Bounded reads of what librarians said of entities."""

    async def qualities(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> Mapping[str, Quality]:
        """What is said of these entities; those of which nothing is said are left out."""
        ...

    async def flagged(self, wanted: FlaggedFilter, window: Window) -> FlaggedPage:
        """Flagged entities, the last flagged first, then by uuid."""
        ...

    async def quality_counts(self, wanted: QualityFilter) -> QualityCounts:
        """Counts over whole groups."""
        ...

    async def orphans(self, group_id: str, window: Window, among: Sequence[str] | None = None) -> list[Entity]:
        """Entities that no episode mentions, no fact names and no quote stands for, by uuid.

        The person, values, measures and projects are none.
        """
        ...

    async def rated_below(self, group_id: str, confidence: float, window: Window) -> list[Quality]:
        """What is said of entities with a lower confidence, by uuid."""
        ...

    async def made_since(self, group_id: str, since: datetime, window: Window) -> list[Entity]:
        """Entities that were recorded then or later, by uuid."""
        ...


class GraphMerging(Protocol):
    """Bounded reads of what hangs on an entity that is merged, and of merges that were made."""

    async def sizes(self, kept_uuid: str, removed_uuid: str) -> MergeSizes:
        """How much hangs on both."""
        ...

    async def facts(self, entity_uuid: str, limit: int, after: str = "") -> list[Fact]:
        """Facts in either direction, whatever became of them, by uuid, and only greater ones than ``after``."""
        ...

    async def facts_like(self, entity_uuid: str, facts: Sequence[Fact], limit: int) -> list[Fact]:
        """Its facts with a relation, a start and an other end that some of these have, by uuid."""
        ...

    async def open_facts(
        self, entity_uuid: str, others: Sequence[str], relations: Sequence[str], limit: int
    ) -> list[Fact]:
        """Its facts in the record with these other ends, and those that start at it with these relations, by uuid."""
        ...

    async def mentions(self, entity_uuid: str, limit: int, after: str = "") -> list[Mention]:
        """By the uuid of the episode, and only greater ones than ``after``."""
        ...

    async def mentions_in(self, entity_uuid: str, episode_uuids: Sequence[str]) -> list[Mention]:
        """Those of these episodes, by episode."""
        ...

    async def entries(self, project_uuid: str, limit: int) -> list[str]:
        """Episodes that are entries of a project, by uuid."""
        ...

    async def evidence(self, entity_uuid: str, limit: int) -> list[str]:
        """Quotes from documents that are evidence of it, by uuid."""
        ...

    async def project(self, uuid: str) -> Project | None:
        """What it has as a project, if it is one."""
        ...

    async def pinning(self, entity_uuid: str, group_id: str, limit: int) -> list[Project]:
        """Projects that it is pinned to, by uuid."""
        ...

    async def caused(self, entity_uuid: str, group_id: str, limit: int) -> list[str]:
        """Facts that follow from it, by uuid."""
        ...

    async def change_ends(self, entity_uuid: str, limit: int) -> tuple[list[str], list[str]]:
        """Changes that start at it, and those that lead to it, each at most ``limit``."""
        ...

    async def names(self, entity_uuid: str) -> list[Name]:
        """All its names, by key."""
        ...

    async def apart(self, entity_uuid: str) -> list[tuple[str, str]]:
        """All pairs with it that are kept apart."""
        ...

    async def heads(self, entity_uuid: str | None, group_ids: Sequence[str] | None, limit: int) -> list[MergeHead]:
        """Merges of an entity, the newest first; None: those that were not finished, of all groups if that is None."""
        ...

    async def part(self, merge_uuid: str, place: int) -> Merge | None:
        """A part of a merge that was not undone."""
        ...
