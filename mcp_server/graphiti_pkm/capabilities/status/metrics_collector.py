"""Collects metrics when an operator's scraper asks: of the whole server, without names."""

import asyncio

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.ports.extraction import ExtractionQueue
from graphiti_pkm.core.ports.metrics import (
    DATABASE_CONNECTIONS,
    DATABASE_UP,
    EXTRACTIONS,
    FAILED_ATTEMPTS,
    JOBS,
    MODEL_CALLS,
    MODEL_TOKENS,
    OLDEST,
    WRITES,
    JournalBacklog,
    Sample,
)
from graphiti_pkm.errors import PkmError

_PATIENCE = 3.0
"""Timeout for a database that does not answer: scrapers give up after ten seconds."""
_JOBS = "jobs_"


class MetricsCollector:
    """Queries database, journal and queue; one that does not answer is left out and counts as down."""

    def __init__(self, context: Context, backlog: JournalBacklog, queue: ExtractionQueue) -> None:
        self._context = context
        self._backlog = backlog
        self._queue = queue

    async def look(self) -> list[Sample]:
        """All metrics that are available now; never fails."""
        up, journal = await asyncio.gather(self._is_up(), self._of_journal())
        settings = self._context.settings
        is_remote = settings.effective_backend == "neo4j"
        limit = [Sample(DATABASE_CONNECTIONS, settings.database_connections)] if is_remote else []
        return [Sample(DATABASE_UP, up), *limit, *journal]

    async def _is_up(self) -> bool:
        try:
            async with asyncio.timeout(_PATIENCE):
                return await self._context.graph.ready()
        except (PkmError, TimeoutError):
            return False

    async def _of_journal(self) -> list[Sample]:
        try:
            async with asyncio.timeout(_PATIENCE):
                counts = await self._context.journal.counts()
                left = await self._backlog.backlog()
                extractions = await self._queue.sizes(None)
                spent = await self._queue.spent(None)
        except (PkmError, TimeoutError):
            return []
        return [
            *(Sample(WRITES, count, (state,)) for state, count in counts.items() if not state.startswith(_JOBS)),
            *(
                Sample(JOBS, count, (state.removeprefix(_JOBS),))
                for state, count in counts.items()
                if state.startswith(_JOBS)
            ),
            *(Sample(EXTRACTIONS, count, (state,)) for state, count in extractions.items()),
            Sample(OLDEST, left.oldest_write, ("write",)),
            Sample(OLDEST, left.oldest_job, ("job",)),
            Sample(OLDEST, left.oldest_extraction, ("extraction",)),
            Sample(FAILED_ATTEMPTS, left.job_attempts, ("job",)),
            Sample(FAILED_ATTEMPTS, left.extraction_attempts, ("extraction",)),
            Sample(MODEL_CALLS, spent.calls),
            Sample(MODEL_TOKENS, spent.prompt_tokens, ("prompt",)),
            Sample(MODEL_TOKENS, spent.completion_tokens, ("completion",)),
        ]
