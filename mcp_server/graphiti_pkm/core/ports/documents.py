"""What is asked of documents: bounded reads, narrowed to stored groups."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.document_records import Document, Instance, Placed, Section
from graphiti_pkm.core.model.documents import DocumentCounts, InstancePage
from graphiti_pkm.core.model.queries import Window


class GraphDocuments(Protocol):
    """Documents, their sections, and what stands in them as evidence."""

    async def present(self, group_id: str, name: str) -> Document | None:
        """The highest version of a name."""
        ...

    async def with_digest(self, group_id: str, digest: str) -> Document | None:
        """The newest document whose text was the same when it was read."""
        ...

    async def at_path(self, group_id: str, path: str) -> Document | None:
        """The newest document that was read from a path, under whatever name."""
        ...

    async def counts(self, group_id: str) -> DocumentCounts:
        """How many documents and quotes a group has."""
        ...

    async def listed(self, group_id: str, window: Window) -> list[Document]:
        """The present version of each document of a group, by name; the key is the name."""
        ...

    async def documents(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Document]:
        """By uuid; unknown ones are left out."""
        ...

    async def sections(self, document_uuid: str, group_id: str, limit: int) -> list[Section]:
        """In order, each with its start. A section whose episode was deleted is left out."""
        ...

    async def placed(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Placed]:
        """Where these episodes stand in the newest document that has each, present versions first.

        Those in none are left out.
        """
        ...

    async def holding(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Document]:
        """Documents with a section of one of these episodes, by uuid."""
        ...

    async def instances(
        self, entity_uuid: str, group_ids: Sequence[str], window: Window, recorded_until: datetime | None = None
    ) -> InstancePage:
        """What is evidence of an entity: the newest document first, then by place in it, then by uuid.

        ``recorded_until``: only what was added until then.

        A key is the time and uuid of the document, the place of the section, the start in it, and the uuid.
        """
        ...

    async def evidence_in(self, entity_uuid: str, episode_uuids: Sequence[str], limit: int) -> list[Instance]:
        """Quotes from these sections that are evidence of an entity, by uuid."""
        ...
