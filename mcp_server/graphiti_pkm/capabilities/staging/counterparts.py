"""Which record of the target a record of the source is, or will be."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from graphiti_pkm.capabilities.staging.forgotten import Forgotten
from graphiti_pkm.capabilities.staging.history import rows_of
from graphiti_pkm.capabilities.staging.renaming import Renaming
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import Copied, WriteIntent, WriteKind

_PAGE = 500
_COPYING = (WriteKind.MIGRATE, WriteKind.RESTORE_SNAPSHOT)


class _Coming(NamedTuple):
    """How a record came into the source."""

    origins: tuple[str, ...]
    """What it was copied from, and what that was copied from, in whatever groups; the nearest first."""
    at: datetime
    is_copy: bool
    """It was made of the nearest, not joined to it."""


class Counterparts:
    """Of one copy from a stored group, "there", into another, "here"."""

    def __init__(self, context: Context, source: str, target: str) -> None:
        self._context = context
        self._source, self._target = source, target
        self._renaming = Renaming(target)
        self._joined: dict[str, str] = {}
        """Records there that are here under a uuid that is not made from theirs. Copies need no entry: there may be
        more facts than fit into memory."""
        self._coming: dict[str, _Coming] = {}
        """By the uuids there. They need memory, since no uuid tells that of its original."""
        self._originals: dict[str, str] = {}
        """By the uuids there: what they came from here, or what here came from the same as they."""
        self.gone = Forgotten()

    async def read(self) -> None:
        """Read what earlier runs copied, in either direction, and what was forgotten since."""
        journal = self._context.journal
        if any([await journal.last_write(self._source, kind) is not None for kind in _COPYING]):
            await self._read_coming()
        origins = {uuid for one in self._coming.values() for uuid in one.origins}
        own = dict[str, str]()
        copied = set[str]()
        async for row in rows_of(journal, self._target):
            self.keep(row.intent.copies)
            self.gone.add(row.intent)
            if origins:
                own |= {uuid: uuid for uuid in origins.intersection(_uuids(row.intent))}
                own |= {one.origin_uuid: one.uuid for one in row.intent.copies if one.origin_uuid in origins}
            copied |= {one.origin_uuid for one in row.intent.copies if one.origin_uuid in self._coming}
        own |= {uuid: uuid for uuid in origins if self.gone.has(uuid)}  # no write names them any more
        for uuid, one in self._coming.items():
            if original := next((own[origin] for origin in one.origins if origin in own), None):
                self._originals[uuid] = original
        await self._prefer_copies([uuid for uuid in copied if uuid in self._originals and uuid not in self._joined])

    async def _read_coming(self) -> None:
        renaming = Renaming(self._source)
        async for row in rows_of(self._context.journal, self._source):
            for one in row.intent.copies:
                before = self._coming.get(one.uuid)
                is_copy = one.uuid == renaming.uuid(one.origin_uuid) or (before is not None and before.is_copy)
                known = before.origins if before else ()
                if one.origin_uuid not in known:
                    self._coming[one.uuid] = _Coming((*known, one.origin_uuid), row.intent.came_at, is_copy)

    async def _prefer_copies(self, uuids: Sequence[str]) -> None:
        """Of what an earlier version copied back beside its original, the copy is what it is here."""
        for start in range(0, len(uuids), _PAGE):
            some = uuids[start : start + _PAGE]
            present = await self._present([self.new(one) for one in some])
            for uuid in some:
                if self.new(uuid) in present:
                    del self._originals[uuid]

    async def _present(self, uuids: Sequence[str]) -> set[str]:
        records, groups = self._context.graph.records, [self._target]
        reads = (records.get_facts, records.get_episodes, records.get_entities)
        return {one.uuid for read in reads for one in await read(uuids, groups)}

    def keep(self, copies: Iterable[Copied]) -> None:
        """Remember those that the uuid there does not tell."""
        for one in copies:
            if one.uuid == self.new(one.origin_uuid):
                self._joined.pop(one.origin_uuid, None)
                self._originals.pop(one.origin_uuid, None)
            else:
                self._joined[one.origin_uuid] = one.uuid

    def with_origins(self, copies: Sequence[Copied]) -> list[Copied]:
        """What is made here is also a copy of all that its original was a copy of, so that a third group knows it."""
        found = list(copies)
        for one in copies:
            coming = self._coming.get(one.origin_uuid)
            if coming and one.uuid in {self.new(one.origin_uuid), *coming.origins}:
                further = (origin for origin in coming.origins if origin != one.uuid)
                found += [Copied(uuid=one.uuid, origin_uuid=origin) for origin in further]
        return found

    def of(self, uuid: str) -> str:
        """What a record there is here, or would be."""
        return self._joined.get(uuid) or self._originals.get(uuid) or self.new(uuid)

    def new(self, uuid: str) -> str:
        """The uuid of a copy, always the same one."""
        return self._renaming.uuid(uuid)

    def is_made(self, here: str, there: str) -> bool:
        """Whether a record here was made of one there, instead of being joined to it."""
        return here == self.new(there)

    def is_original(self, here: str, there: str) -> bool:
        """Whether a record there came from one here, or both from one elsewhere."""
        return self._originals.get(there) == here

    def copied_at(self, here: str, there: str) -> datetime | None:
        """When the record there was made of the one here; None if it was not."""
        if not self.is_original(here, there) or not self._coming[there].is_copy:
            return None
        return self._coming[there].at


def _uuids(write: WriteIntent) -> set[str]:
    """Of the records that a write makes."""
    kinds = (write.entities, write.episodes, write.facts, write.documents, write.instances)
    return {one.uuid for kind in kinds for one in kind}
