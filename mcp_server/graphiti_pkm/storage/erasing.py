"""Erases forgotten text from the files of the data directory: database, journal, and temporary copies."""

import asyncio
import logging

from graphiti_pkm.core.context import Context
from graphiti_pkm.errors import PkmError

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
        self._remainder = remainder
        self._working = asyncio.Lock()
        self._begun: set[asyncio.Task[bool]] = set()

    def message(self, *, is_erased: bool, but: str | None = None) -> str:
        """A sentence for the answer: erased, or still to be; ``but``: added if remaining texts contain such words."""
        return f"{but or ERASED}{self._remainder}" if is_erased else PENDING

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
