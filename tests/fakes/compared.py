"""What the fake journal holds to be compared with a graph."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.ports.comparing import WrittenRow


@dataclass(frozen=True)
class FakeRow:
    """One write; ``state`` is intent, written, applied or failed."""

    seq: int
    intent: WriteIntent
    vectors: Vectors
    request_hash: str
    answer: dict[str, object]
    state: Literal["intent", "written", "applied", "failed"] = "intent"
    reason: str = ""
    attempts: int = 0


class Compared:
    """The port ``JournalComparing``."""

    table: dict[str, FakeRow]

    async def written_rows(self, after_seq: int, limit: int) -> list[WrittenRow]:
        found = [row for row in self._in("written", "applied") if row.seq > after_seq][:limit]
        return [WrittenRow(row.seq, row.intent.uuid, row.intent.group_id) for row in found]

    async def known_writes(self, uuids: Sequence[str]) -> set[str]:
        return set(uuids) & self.table.keys()

    async def written_episodes(self, after_uuid: str, limit: int) -> list[str]:
        added = {one.uuid for row in self._in("written", "applied") for one in row.intent.episodes}
        return sorted(uuid for uuid in added if uuid > after_uuid and self._receipt(uuid) is not None)[:limit]

    async def known_episodes(self, uuids: Sequence[str]) -> set[str]:
        return set(uuids) & {one.uuid for row in self.table.values() for one in row.intent.episodes}

    @abstractmethod
    def _in(self, *states: str) -> list[FakeRow]:
        """Rows in these states."""

    @abstractmethod
    def _receipt(self, episode_uuid: str) -> FakeRow | None:
        """The write in force for an episode."""
