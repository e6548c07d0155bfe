"""Erases forgotten text from the files of the data directory: database, journal, and temporary copies."""

import asyncio
import logging

from graphiti_pkm.core.context import Context
from graphiti_pkm.errors import PkmError
from graphiti_pkm.storage.snapshots.redacting import SnapshotRedaction

_log = logging.getLogger(__name__)


_PATIENCE = 20.0

ERASED = "Its words are gone from the database's and the journal's files. Backups that you made are not touched."
PENDING = (
    "pending: its words are gone from every answer, but not yet from the files of the data directory; a job goes on "
    "until they are, get_status shows it. Backups that you made are not touched."
)


class Erasing:
    """Rewrites the files: right after a forgetting write, else by its job or at the next start."""

    def __init__(self, context: Context, remainder: str = "") -> None:
        """``remainder``: what cannot be erased from here, a sentence with a leading space; empty if nothing."""
        self._journal = context.journal
        self._graph = context.graph
        self._snapshots = SnapshotRedaction(context.settings.data_dir, context.journal)
        self._remainder = remainder
        self._working = asyncio.Lock()
        self._begun: set[asyncio.Task[bool]] = set()

    def message(self, *, is_erased: bool, but: str | None = None) -> str:
        """A sentence for the answer: erased, or still to be; ``but``: added if remaining texts contain such words."""
        return f"{but or ERASED}{self._remainder}" if is_erased else PENDING

    async def redact_snapshots(self, group_id: str) -> str:
        """Take what was just forgotten out of the snapshots of its group; a sentence on which held it, or nothing.

        If it fails, ``erase`` does it later.
        """
        try:
            return (await self._snapshots.redact(group_id)).describe()
        except PkmError as error:
            _log.warning("forgotten text is still in snapshots; that is retried later: %s", error.code)
            return " Snapshots may still hold it; a job goes on until they do not."

    async def erase_now(self) -> bool:
        """As ``erase``, limited to the time a caller may wait: then False, and it continues."""
        task = asyncio.create_task(self.erase(), name="erase")
        self._begun.add(task)
        task.add_done_callback(self._begun.discard)
        done, _ = await asyncio.wait({task}, timeout=_PATIENCE)
        return bool(done) and task.result()

    async def erase(self) -> bool:
        """True once no file contains anything forgotten; False if that has to wait. Idempotent."""
        async with self._working:
            try:
                done = await self._journal.open_erasures()
                # The log first: a checkpoint must not wait behind a long rewrite, and is repeated at the end.
                await self._snapshots.redact()
                is_erased = await self._graph.erase() and await self._journal.erase()
                if is_erased:
                    await self._journal.close_erasures(done)
            except PkmError as error:
                _log.warning("forgotten text is still in files; erasing is retried later: %s", error.code)
                return False
            return is_erased

    async def finish_erasing(self) -> None:
        """Finish what an earlier process left undone."""
        try:
            is_open = bool(await self._journal.open_erasures())
        except PkmError:
            return
        if is_open:
            await self.erase()
