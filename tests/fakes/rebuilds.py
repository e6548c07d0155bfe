"""The mark of a rebuild in the fake journal."""

from abc import abstractmethod
from collections.abc import Callable
from datetime import datetime

from tests.fakes.usage import FakeUsageCounts

from graphiti_pkm.core.ports.rebuilding import RebuildCommand, RebuildInProgress
from graphiti_pkm.errors import WriteFailed


class Rebuilds:
    """The port ``JournalRebuilding``."""

    now: Callable[[], datetime]
    usage: FakeUsageCounts
    rebuild: RebuildInProgress | None = None
    """The mark."""

    async def rebuild_in_progress(self) -> RebuildInProgress | None:
        self._check()
        return self.rebuild

    async def begin_rebuild(self, command: RebuildCommand, *, drops_unknown: bool = False) -> RebuildInProgress:
        self._check()
        self.rebuild = RebuildInProgress(command=command, began_at=self.now(), drops_unknown=drops_unknown)
        return self.rebuild

    async def rebuild_cleared(self) -> None:
        self._check()
        self.usage.send_again()
        if self.rebuild is not None:
            self.rebuild = self.rebuild.model_copy(update={"is_cleared": True})

    async def end_rebuild(self) -> None:
        self._check()
        self.rebuild = None

    @abstractmethod
    def _check(self) -> None:
        """Raise while the journal cannot be reached."""

    def _refuse_while_rebuilding(self) -> None:
        if self.rebuild is not None:
            raise WriteFailed(f"Nothing was stored. {self.rebuild.describe()}")
