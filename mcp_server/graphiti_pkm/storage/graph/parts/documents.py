"""The part ``documents``: documents, their sections, and quotes from them."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.document_records import Document, Instance, Placed, Section
from graphiti_pkm.core.model.documents import DocumentCounts, InstancePage, InstanceRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.storage.graph import mapping
from graphiti_pkm.storage.graph.parts.part import Part
from graphiti_pkm.storage.graph.queries import documents as queries_documents
from graphiti_pkm.storage.graph.queries.values import Query


class Documents(Part):
    """The port ``GraphDocuments``."""

    async def present(self, group_id: str, name: str) -> Document | None:
        return await self._one(queries_documents.present(group_id, name))

    async def with_digest(self, group_id: str, digest: str) -> Document | None:
        return await self._one(queries_documents.with_digest(group_id, digest))

    async def at_path(self, group_id: str, path: str) -> Document | None:
        return await self._one(queries_documents.at_path(group_id, path))

    async def counts(self, group_id: str) -> DocumentCounts:
        (found,) = await self._rows(queries_documents.counts(group_id))
        return DocumentCounts(documents=found["documents"], quotes=found["quotes"])

    async def listed(self, group_id: str, window: Window) -> list[Document]:
        found = await self._rows(queries_documents.listed(group_id, window))
        return [mapping.document(row["document"]) for row in found]

    async def documents(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Document]:
        if not uuids:
            return []
        found = await self._rows(queries_documents.documents(uuids, group_ids))
        return [mapping.document(row["document"]) for row in found]

    async def sections(self, document_uuid: str, group_id: str, limit: int) -> list[Section]:
        found = await self._rows(queries_documents.sections(document_uuid, group_id, limit))
        start = found[0]["front_length"] if found else 0
        sections = []
        for row in found:
            given = {field: row[field] for field in ("place", "episode_uuid", "paragraph")}
            sections.append(Section(document_uuid=document_uuid, start=start, **given))
            start += row["length"]
        return sections

    async def placed(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Placed]:
        if not episode_uuids:
            return {}
        found = await self._rows(queries_documents.placed(episode_uuids, group_ids))
        return {row["episode_uuid"]: mapping.placed(row) for row in found}

    async def holding(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Document]:
        if not episode_uuids:
            return []
        found = await self._rows(queries_documents.holding(episode_uuids, group_ids, limit))
        return [mapping.document(row["document"]) for row in found]

    async def instances(
        self, entity_uuid: str, group_ids: Sequence[str], window: Window, recorded_until: datetime | None = None
    ) -> InstancePage:
        asked = queries_documents.instances(entity_uuid, group_ids, window, recorded_until)
        page, total = await self._read(*asked)
        return InstancePage(
            rows=tuple(
                InstanceRow(
                    instance=mapping.instance(row["instance"]),
                    placed=mapping.placed(row),
                    first=mapping.passage(row["first"]),
                    last=mapping.passage(row["last"]),
                    around=(row["around_start"], row["around_end"]),
                )
                for row in page
            ),
            keys=tuple(
                (
                    row["document"]["created_at"],
                    row["document"]["uuid"],
                    row["place"],
                    row["begins"],
                    row["instance"]["uuid"],
                )
                for row in page
            ),
            total=total[0]["total"],
        )

    async def evidence_in(self, entity_uuid: str, episode_uuids: Sequence[str], limit: int) -> list[Instance]:
        found = await self._rows(queries_documents.evidence_in(entity_uuid, episode_uuids, limit))
        return [mapping.instance(row["instance"]) for row in found]

    async def _one(self, query: Query) -> Document | None:
        found = await self._rows(query)
        return mapping.document(found[0]["document"]) if found else None
