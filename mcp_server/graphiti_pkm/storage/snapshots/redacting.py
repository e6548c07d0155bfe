"""Takes what was forgotten out of snapshots: each is made anew without it, or removed where that cannot be decided."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from graphiti_pkm.core.model.group_tally import GroupTally
from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.model.snapshots import Forgettings, remaining_deletion
from graphiti_pkm.core.ports.ports import Journal
from graphiti_pkm.errors import PkmError, Unavailable
from graphiti_pkm.storage.journal.partial import sweep_all
from graphiti_pkm.storage.snapshots.files import (
    header_of,
    mark_redacted,
    redacted_until,
    rows_after,
    snapshot_directories,
    snapshots_in,
    texts_after,
    verified,
    writing,
)

_ROWS = 20
"""Few: one write may have thousands of vectors."""
_TOKEN = re.compile(r"[\w-]+")


@dataclass(frozen=True)
class Redacted:
    """Tags of the snapshots of a group that held something forgotten."""

    remade: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def describe(self) -> str:
        """A sentence with a leading space; empty if there were none."""
        parts = [
            f"{what}: {', '.join(tags)}"
            for what, tags in (("made anew without it", self.remade), ("removed", self.removed))
            if tags
        ]
        return f" Snapshots that held it were {'; '.join(parts)}." if parts else ""


class SnapshotRedaction:
    """Applies the forgettings of the journal to the snapshots in the data directory."""

    def __init__(self, data_dir: Path, journal: Journal) -> None:
        self._data_dir = data_dir
        self._journal = journal

    async def redact(self, group_id: str = "*") -> Redacted:
        """Redact the snapshots of a group, or of all; idempotent. Raises Unavailable if a file cannot be made."""
        remade, removed = [], []
        forgetting: dict[str, Sequence[WriteIntent]] = {}
        for path in await asyncio.to_thread(snapshots_in, self._data_dir, group_id):
            outcome = await self._redact(path, forgetting)
            tag = path.stem
            if outcome == "remade":
                remade.append(tag)
            elif outcome == "removed":
                removed.append(tag)
        for directory in await asyncio.to_thread(snapshot_directories, self._data_dir, group_id):
            await asyncio.to_thread(sweep_all, directory)
        return Redacted(tuple(remade), tuple(removed))

    async def _redact(self, path: Path, known: dict[str, Sequence[WriteIntent]]) -> str:
        """What became of it: "remade", "removed", or "" if it holds nothing forgotten.

        ``known``: the forgetting writes of groups that were read already.
        """
        group = path.parent.name
        try:
            group = (await asyncio.to_thread(header_of, path)).group_id
            until = await asyncio.to_thread(redacted_until, path)
            if group not in known:
                known[group] = await self._journal.forgetting_writes(group)
            writes = [one for one in known[group] if one.recorded_at > until]
            if not writes:
                return ""
            await asyncio.to_thread(verified, path)
        except Unavailable:
            raise
        except PkmError:
            # Nobody can say what it holds, and this version cannot restore it.
            return await self._remove(path) if await self._journal.forgetting_writes(group) else ""
        if any(group in one.deletions.groups for one in writes) or await self._has_unknown(path):
            return await self._remove(path)
        forgettings = Forgettings(writes)
        if await asyncio.to_thread(_holds, path, forgettings.concerned):
            await asyncio.to_thread(_remake, path, forgettings, writes)
            return "remade"
        await asyncio.to_thread(mark_redacted, path, _newest(writes))
        return ""

    async def _has_unknown(self, path: Path) -> bool:
        """Whether it holds a write that the journal does not: forgetting looks for words in what the journal knows."""
        place = 0
        while texts := await asyncio.to_thread(texts_after, path, place, _ROWS):
            uuids = [WriteIntent.model_validate_json(text).uuid for _, text in texts]
            if len(await self._journal.known_writes(uuids)) < len(uuids):
                return True
            place = texts[-1][0]
        return False

    @staticmethod
    async def _remove(path: Path) -> str:
        """Says nothing if another process was first."""
        if not await asyncio.to_thread(path.exists):
            return ""
        await asyncio.to_thread(path.unlink, missing_ok=True)
        return "removed"


def _holds(path: Path, concerned: frozenset[str]) -> bool:
    place = 0
    while texts := texts_after(path, place, _ROWS):
        if any(not concerned.isdisjoint(_TOKEN.findall(text)) for _, text in texts):
            return True
        place = texts[-1][0]
    return False


def _remake(path: Path, forgettings: Forgettings, writes: Sequence[WriteIntent]) -> None:
    """Write it anew without what is forgotten; what then remains of deleted records is removed by a last write each."""
    header, place = header_of(path), 0
    tally = GroupTally(header.group_id)
    with writing(path, replaces=True) as writer:

        def add(intent: WriteIntent, vectors: Vectors) -> None:
            writer.add(intent, vectors)
            tally.add(intent)

        while rows := rows_after(path, place, _ROWS):
            for row in rows:
                add(*forgettings.redacted(row.intent, row.vectors))
            place = rows[-1].seq
        for write in writes:
            add(remaining_deletion(write), {})
        tally.lose_untold()  # as whoever restores it does
        writer.finish(header.model_copy(update={"size": tally.size}), _newest(writes))


def _newest(writes: Sequence[WriteIntent]) -> datetime:
    return max(write.recorded_at for write in writes)
