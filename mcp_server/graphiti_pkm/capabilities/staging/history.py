"""The writes of a group by which its state, now or at an earlier instant, is made again."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime

from graphiti_pkm.core.model.group_tally import GroupTally
from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedMissingJob, EmbedPassagesJob, Job
from graphiti_pkm.core.model.records import Vectors, WriteIntent
from graphiti_pkm.core.model.snapshots import remaining_deletion
from graphiti_pkm.core.ports.ports import Journal, JournalRow

_ROWS = 5
"""Few: one write may have thousands of vectors."""


@dataclass(frozen=True)
class GroupHistory:
    """What the journal says of a group at an instant, and now."""

    group_id: str
    then: GroupTally
    now: GroupTally
    after: int
    """The number of the last write before those that make the state: the one that emptied the group, or 0."""
    until: int
    """The number of the last write that belongs to the state."""
    forgotten: tuple[WriteIntent, ...]
    """Later writes that forgot something, which no going back undoes."""
    newest: datetime | None
    """When the last write came."""


async def rows_of(journal: Journal, group_id: str) -> AsyncIterator[JournalRow]:
    """All writes of a group, in their order."""
    seq = 0
    while rows := await journal.group_rows(group_id, seq, _ROWS):
        for row in rows:
            yield row
        seq = rows[-1].seq


async def read_history(journal: Journal, group_id: str, before: datetime | None = None) -> GroupHistory:
    """Read the writes of a group; its state is that just before an instant, or that of now."""
    now = GroupTally(group_id)
    then = now if before is None else GroupTally(group_id)  # a tally is as large as the group
    after = until = 0
    forgotten: list[WriteIntent] = []
    newest = None
    async for row in rows_of(journal, group_id):
        intent = row.intent
        now.add(intent)
        newest = intent.came_at if newest is None else max(newest, intent.came_at)
        if before is None or intent.came_at < before:
            if then is not now:
                then.add(intent)
            until = row.seq
            if group_id in intent.deletions.groups:
                after = row.seq
        elif intent.forgets is not None:
            forgotten.append(intent)
    for intent in forgotten:
        then.add(remaining_deletion(intent))
    if forgotten:
        then.lose_untold()
    return GroupHistory(group_id, then, now, after, until, tuple(forgotten), newest)


async def kept_writes(journal: Journal, history: GroupHistory) -> AsyncIterator[tuple[WriteIntent, Vectors]]:
    """The writes that make the state again, with their vectors."""
    seq = history.after
    while seq < history.until and (rows := await journal.group_rows(history.group_id, seq, _ROWS, with_vectors=True)):
        links = [job.entity_uuid for row in rows for job in row.intent.jobs if isinstance(job, BackLinkJob)]
        pending = await journal.pending_links(links)
        for row in rows:
            if row.seq <= history.until and row.intent.restores is None:
                yield _kept(row.intent, pending), row.vectors
        seq = rows[-1].seq
    for intent in history.forgotten:
        yield remaining_deletion(intent), {}


def _kept(intent: WriteIntent, pending: set[str]) -> WriteIntent:
    """The write without what was done once: redacting earlier writes, jobs that have ended, asking a model.

    What had to be embedded later is looked for again: nobody knows whether it had been, at an earlier instant.
    """
    jobs: list[Job] = [job for job in intent.jobs if isinstance(job, BackLinkJob) and job.entity_uuid in pending]
    if any(isinstance(job, EmbedMissingJob | EmbedPassagesJob) for job in intent.jobs):
        jobs.append(EmbedMissingJob())
    return intent.model_copy(update={"jobs": tuple(jobs), "extractions": (), "forgets": None})
