"""Which record of the target a record of the source is, or will be."""

from collections.abc import Iterable, Sequence

from graphiti_pkm.capabilities.staging.forgotten import Forgotten
from graphiti_pkm.capabilities.staging.renaming import Renaming
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.records import Copied, WriteKind

_ROWS = 5
"""Few: one write of the journal may have thousands of records."""
_PAGE = 500
_COPYING = (WriteKind.MIGRATE, WriteKind.RESTORE_SNAPSHOT)


class Counterparts:
    """Of one copy from a stored group, "there", into another, "here"."""

    def __init__(self, context: Context, source: str, target: str) -> None:
        self._context = context
        self._source, self._target = source, target
        self._renaming = Renaming(target)
        self._joined: dict[str, str] = {}
        """Records there that are here under a uuid that is not made from theirs. Copies need no entry: there may be
        more facts than fit into memory."""
        self._originals: dict[str, str] = {}
        """Records there that are copies of records here. They need memory, since no uuid tells that of its original."""
        self.gone = Forgotten()

    async def read(self) -> None:
        """Read what earlier runs copied, in either direction, and what was forgotten since."""
        journal, seq = self._context.journal, 0
        while rows := await journal.group_rows(self._target, seq, _ROWS):
            for row in rows:
                self.keep(row.intent.copies)
                self.gone.add(row.intent)
            seq = rows[-1].seq
        if all([await journal.last_write(self._source, kind) is None for kind in _COPYING]):
            return
        seq = 0
        while rows := await journal.group_rows(self._source, seq, _ROWS):
            copies = [one for row in rows for one in row.intent.copies]
            for start in range(0, len(copies), _PAGE):
                await self._keep_originals(copies[start : start + _PAGE])
            seq = rows[-1].seq

    def keep(self, copies: Iterable[Copied]) -> None:
        """Remember those that the uuid there does not tell."""
        for one in copies:
            if one.uuid == self.new(one.origin_uuid):
                self._joined.pop(one.origin_uuid, None)
            else:
                self._joined[one.origin_uuid] = one.uuid

    async def _keep_originals(self, copies: Sequence[Copied]) -> None:
        """Remember those whose original is here, or was forgotten here, and that were not copied back already."""
        present = await self._present([uuid for one in copies for uuid in (one.origin_uuid, self.new(one.uuid))])
        self._originals |= {
            one.uuid: one.origin_uuid
            for one in copies
            if (one.origin_uuid in present or self.gone.has(one.origin_uuid)) and self.new(one.uuid) not in present
        }

    async def _present(self, uuids: Sequence[str]) -> set[str]:
        graph, groups = self._context.graph, [self._target]
        reads = (
            graph.records.get_facts,
            graph.records.get_episodes,
            graph.records.get_entities,
            graph.documents.documents,
        )
        return {one.uuid for read in reads for one in await read(uuids, groups)}

    def of(self, uuid: str) -> str:
        """What a record there is here, or would be."""
        return self._joined.get(uuid) or self._originals.get(uuid) or self.new(uuid)

    def new(self, uuid: str) -> str:
        """The uuid of a copy, always the same one."""
        return self._renaming.uuid(uuid)

    def is_copy(self, here: str, there: str) -> bool:
        """Whether a record here was made of one there, instead of being joined to it."""
        return here == self.new(there)

    def is_original(self, here: str, there: str) -> bool:
        """Whether a record there is a copy of one here."""
        return self._originals.get(there) == here
