"""The documents of the fake graph."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from tests.fakes.part import FakePart
from tests.fakes.tables import Tables, falling, iso

from graphiti_pkm.core.model.document_records import Document, Instance, Placed, Section
from graphiti_pkm.core.model.documents import DocumentCounts, InstancePage, InstanceRow
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Deletions, Forgetting, WriteIntent


def add_documents(db: Tables, intent: WriteIntent) -> None:
    db.documents.update((one.uuid, one) for one in intent.documents)
    for section in intent.sections:
        document, episode = db.documents.get(section.document_uuid), db.episodes.get(section.episode_uuid)
        if document is not None and episode is not None and document.group_id == episode.group_id:
            db.sections.setdefault((section.document_uuid, section.place), section)
    held = {(one.document_uuid, one.episode_uuid) for one in db.sections.values()}
    for instance in intent.instances:
        is_placed = (instance.document_uuid, instance.episode_uuid) in held
        if instance.entity_uuid in db.entities and is_placed and db.passages.keys() >= set(instance.passages):
            group = db.entities[instance.entity_uuid].group_id
            db.instances.setdefault(instance.uuid, instance.model_copy(update={"group_id": group}))


def forget_documents(db: Tables, told: Forgetting) -> None:
    for left in told.documents:
        if left.uuid in db.documents:
            db.documents[left.uuid] = db.documents[left.uuid].model_copy(update=dict(left))
    db.instances = {uuid: one for uuid, one in db.instances.items() if set(told.passages).isdisjoint(one.passages)}


def delete_documents(db: Tables, gone: Deletions) -> None:
    """Sections without their episode, documents without sections, and what stands in them as evidence."""
    db.documents = {uuid: one for uuid, one in db.documents.items() if one.group_id not in gone.groups}
    db.sections = {
        key: one for key, one in db.sections.items() if one.episode_uuid in db.episodes and key[0] in db.documents
    }
    if gone.episodes:
        held = {document for document, _ in db.sections}
        db.documents = {uuid: one for uuid, one in db.documents.items() if uuid in held}
    placed = {(one.document_uuid, one.episode_uuid) for one in db.sections.values()}
    db.instances = {
        uuid: one
        for uuid, one in db.instances.items()
        if one.entity_uuid in db.entities and (one.document_uuid, one.episode_uuid) in placed
    }


def _newest(documents: Iterable[Document]) -> list[Document]:
    return sorted(documents, key=lambda one: (falling(iso(one.created_at)), one.uuid))


def _sections_of(db: Tables, document_uuid: str) -> list[Section]:
    """With their starts."""
    found, start = [], len(db.documents[document_uuid].front)
    for (uuid, _), section in sorted(db.sections.items()):
        if uuid == document_uuid:
            found.append(section.model_copy(update={"start": start}))
            start += len(db.episodes[section.episode_uuid].content)
    return found


def _placed(db: Tables, section: Section) -> Placed:
    document = db.documents[section.document_uuid]
    versions = [one for one in db.documents.values() if (one.group_id, one.name) == (document.group_id, document.name)]
    highest = max(one.version for one in versions)
    present = {one.uuid for one in versions if one.version == highest}
    holding = {one.document_uuid for one in db.sections.values() if one.episode_uuid == section.episode_uuid}
    return Placed(
        document=document,
        is_present=not present.isdisjoint(holding),
        paragraph=section.paragraph,
        start=section.start,
    )


class FakeDocuments(FakePart):
    """The port ``GraphDocuments``."""

    async def present(self, group_id: str, name: str) -> Document | None:
        db = await self._db()
        found = [one for one in db.documents.values() if (one.group_id, one.name) == (group_id, name)]
        return max(found, key=lambda one: one.version, default=None)

    async def with_digest(self, group_id: str, digest: str) -> Document | None:
        db = await self._db()
        found = [one for one in db.documents.values() if (one.group_id, one.digest) == (group_id, digest)]
        return next(iter(_newest(found)), None)

    async def at_path(self, group_id: str, path: str) -> Document | None:
        db = await self._db()
        found = [one for one in db.documents.values() if (one.group_id, one.path) == (group_id, path)]
        return next(iter(_newest(found)), None)

    async def counts(self, group_id: str) -> DocumentCounts:
        db = await self._db()
        names = {one.name for one in db.documents.values() if one.group_id == group_id}
        quotes = sum(one.group_id == group_id for one in db.instances.values())
        return DocumentCounts(documents=len(names), quotes=quotes)

    async def listed(self, group_id: str, window: Window) -> list[Document]:
        names = {one.name for one in (await self._db()).documents.values() if one.group_id == group_id}
        wanted = sorted(name for name in names if (name,) > (window.after or ()))[: window.limit]
        return [one for name in wanted if (one := await self.present(group_id, name))]

    async def documents(self, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Document]:
        db = await self._db()
        found = [one for uuid, one in sorted(db.documents.items()) if uuid in uuids]
        return [one for one in found if one.group_id in group_ids]

    async def sections(self, document_uuid: str, group_id: str, limit: int) -> list[Section]:
        db = await self._db()
        document = db.documents.get(document_uuid)
        return [] if document is None or document.group_id != group_id else _sections_of(db, document_uuid)[:limit]

    async def placed(self, episode_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Placed]:
        db = await self._db()
        found: dict[str, Placed] = {}
        for document in _newest(one for one in db.documents.values() if one.group_id in group_ids):
            for section in _sections_of(db, document.uuid):
                if section.episode_uuid in episode_uuids:
                    placed = _placed(db, section)
                    before = found.get(section.episode_uuid)
                    if before is None or (placed.is_present and not before.is_present):
                        found[section.episode_uuid] = placed
        return found

    async def holding(self, episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> list[Document]:
        db = await self._db()
        held = {one.document_uuid for one in db.sections.values() if one.episode_uuid in episode_uuids}
        found = [db.documents[uuid] for uuid in sorted(held)]
        return [one for one in found if one.group_id in group_ids][:limit]

    async def instances(
        self, entity_uuid: str, group_ids: Sequence[str], window: Window, recorded_until: datetime | None = None
    ) -> InstancePage:
        db = await self._db()
        keyed = []
        for one in db.instances.values():
            is_late = recorded_until is not None and one.created_at > recorded_until
            if one.entity_uuid != entity_uuid or one.group_id not in group_ids or is_late:
                continue
            (section,) = (each for each in _sections_of(db, one.document_uuid) if each.episode_uuid == one.episode_uuid)
            first, last = db.passages[one.passages[0]], db.passages[one.passages[-1]]
            own = [
                each
                for each in db.passages.values()
                if (each.episode_uuid, each.paragraph) == (one.episode_uuid, first.paragraph)
            ]
            around = (min(each.start for each in own), max(each.end for each in own))
            row = InstanceRow(instance=one, placed=_placed(db, section), first=first, last=last, around=around)
            at = iso(row.placed.document.created_at)
            keyed.append(((at, one.document_uuid, section.place, first.start + one.first, one.uuid), row))
        keyed.sort(key=lambda pair: (falling(pair[0][0]), pair[0][1:]))
        after = window.after
        shown = [
            (key, row)
            for key, row in keyed
            if after is None or (falling(key[0]), key[1:]) > (falling(str(after[0])), after[1:])
        ][: window.limit]
        return InstancePage(rows=tuple(row for _, row in shown), keys=tuple(key for key, _ in shown), total=len(keyed))

    async def evidence_in(self, entity_uuid: str, episode_uuids: Sequence[str], limit: int) -> list[Instance]:
        held = sorted((await self._db()).instances.items())
        found = [one for _, one in held if one.entity_uuid == entity_uuid and one.episode_uuid in episode_uuids]
        return found[:limit]
