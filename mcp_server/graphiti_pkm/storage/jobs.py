"""Runs durable jobs after a write: linking earlier episodes, embedding what was not embedded at once."""

import asyncio
import logging
from collections import Counter
from uuid import uuid4

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.backlinks import ReadTexts, back_link, find_back_links
from graphiti_pkm.core.identity.mentions import MentionFinder
from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedMissingJob, EmbedPassagesJob, EraseJob, Job
from graphiti_pkm.core.model.passages import embedded_text, without_left_out
from graphiti_pkm.core.model.records import Episode, Mention, Passage, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.waiting import in_thread, wait_for_any
from graphiti_pkm.errors import ModelUnavailable, PkmError, Unavailable, WritePending
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.missing_vectors import MissingVectors

_log = logging.getLogger(__name__)

_PASSAGES = 128
_LEASE_SECONDS = 120.0
"""Longer than any batch, so that a slow holder keeps its lease; losing it would do no harm."""
_POLL_SECONDS = 5.0
"""Seconds until jobs left by other processes are noticed."""
_PATIENCE = 90.0
"""Shorter than the lease."""
_FIRST_DELAY = 2.0
_LONGEST_DELAY = 300.0


class _CannotGoOn(Exception):
    """The job cannot make progress now, although the database is available; the text is shown by status."""


class Jobs:
    """Works through the journal's queue, batch by batch; any process can continue any job."""

    def __init__(self, context: Context, committer: Committer, erasing: Erasing | None = None) -> None:
        self._erasing = erasing or Erasing(context)
        self._context = context
        self._graph = context.graph
        self._journal = context.journal
        self._committer = committer
        self._owner = str(uuid4())
        self._missing = MissingVectors(context, committer)
        self._fresh = asyncio.Event()
        committer.on_jobs = self.notify
        self._failures: Counter[int] = Counter()
        self._began_at: dict[int, str] = {}
        """By job: the first passage of its last batch, to detect a job that makes no progress."""
        self._finder: tuple[str, int, MentionFinder] | None = None
        """Group, version of its names, and the finder built from them, for the last group worked on."""

    def notify(self) -> None:
        """Start at once because a job was enqueued. Called by the committer on the event loop."""
        self._fresh.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set; a batch in progress is finished first."""
        await self._erasing.finish_erasing()
        while not stop.is_set():
            self._fresh.clear()
            if not await self._turn():
                await wait_for_any(stop, self._fresh, seconds=_POLL_SECONDS)

    async def run_once(self) -> bool:
        """Run one batch of the oldest waiting job; False if none waits or the database is unavailable."""
        claimed = await self._journal.claim_job(self._owner, _LEASE_SECONDS)
        if claimed is None:
            return False
        job_id, group_id, job = claimed
        try:
            rest = await self._batch(job_id, group_id, job)
        except Unavailable as error:  # not the job's fault, so it keeps all its attempts
            _log.info("job %d waits for the database: %s", job_id, error.code)
            await self._journal.advance_job(job_id, job)
            return False
        except ModelUnavailable as error:  # missing vectors are not its fault either
            # Another process may have a model of this memory.
            has_model = await self._context.embedder.available()
            await self._journal.advance_job(job_id, job, self._delay(job_id) if has_model else _POLL_SECONDS)
            _log.info("job %d waits for the embedding model: %s", job_id, error.code)
            return True
        except Exception as error:  # noqa: BLE001 a boundary: one broken job must not stop the others
            await self._put_back(job_id, error)
            return True
        self._failures.pop(job_id, None)
        if rest is None:
            self._began_at.pop(job_id, None)
            await self._journal.finish_job(job_id)
        else:
            await self._journal.advance_job(job_id, rest)
        return True

    async def _turn(self) -> bool:
        try:
            return await self.run_once()
        except PkmError as error:  # the journal failed; a lease that is not returned expires
            _log.warning("the queue of jobs cannot be used: %s", error.code)
            return False
        except Exception as error:  # noqa: BLE001 a boundary: the loop lives as long as the server
            _log.warning("the queue of jobs cannot be used: %s", type(error).__name__)
            return False

    async def _batch(self, job_id: int, group_id: str, job: Job) -> Job | None:
        """Run one batch; returns the rest of the job. Raises Unavailable if the database is unavailable."""
        if isinstance(job, BackLinkJob):
            return await self._link(group_id, job)
        if isinstance(job, EraseJob):
            await self._erase(group_id)
            return None
        if isinstance(job, EmbedMissingJob):
            return job if await self._missing.embed_some(group_id, _PATIENCE) is not None else None
        return await self._embed(job_id, group_id, job)

    async def _link(self, group_id: str, job: BackLinkJob) -> BackLinkJob | None:
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            entities = await self._graph.records.get_entities([job.entity_uuid], [group_id])
            if not entities:
                return None  # deleted meanwhile, or its write was withdrawn
            (entity,) = entities  # perhaps the one that it was merged into meanwhile
            links = await find_back_links(
                self._graph,
                group_id,
                entity.uuid,
                job.names,
                job.before,
                ReadTexts((await self._names_of(group_id)).find),
                after=job.after,
            )
            now = await self._committer.time(group_id)
            mentions = tuple(back_link(entity.uuid, uuid, now) for uuid in links.episode_uuids)
            if mentions:
                try:
                    await self._commit(group_id, {}, mentions=mentions)
                except WritePending:
                    _log.info("a batch of links waits in the journal")
        return job.model_copy(update={"after": links.next_after}) if links.next_after else None

    async def _erase(self, group_id: str) -> None:
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
        if not await self._erasing.erase():
            raise Unavailable("The files cannot be made anew now.")

    async def _embed(self, job_id: int, group_id: str, job: EmbedPassagesJob) -> EmbedPassagesJob | None:
        passages = await self._graph.episodes.passages(job.episode_uuid, without_vector=True, limit=_PASSAGES)
        episodes = await self._graph.records.get_episodes([job.episode_uuid], [group_id])
        if not passages or not episodes:
            return None
        if self._began_at.get(job_id) == passages[0].uuid:
            raise _CannotGoOn("the database does not keep the vectors of a long text")
        vectors = await self._vectors(episodes[0], passages)
        async with self._context.locks.hold(group_id):
            await self._committer.finish(group_id)
            # Some may have been deleted, or forgotten, while they were embedded.
            left = await self._graph.episodes.passages(job.episode_uuid, without_vector=True, limit=_PASSAGES)
            embedded = tuple(passage for passage in left if passage.uuid in vectors)
            if not embedded:
                return job if left else None
            vectors = {passage.uuid: vectors[passage.uuid] for passage in embedded}
            try:
                await self._commit(group_id, vectors, passages=embedded)
            except WritePending as error:
                raise Unavailable(error.message) from error
        self._began_at[job_id] = passages[0].uuid
        return job

    async def _vectors(self, episode: Episode, passages: list[Passage]) -> Vectors:
        said = without_left_out(episode.content)
        texts = [embedded_text(said, episode.source, one.start, one.end) for one in passages]
        try:
            vectors = await self._context.embedder.embed(texts, _PATIENCE)
        except Unavailable as error:  # jobs of other kinds can continue
            raise ModelUnavailable(error.message) from error
        return {passage.uuid: vector for passage, vector in zip(passages, vectors, strict=True)}

    async def _commit(
        self,
        group_id: str,
        vectors: Vectors,
        mentions: tuple[Mention, ...] = (),
        passages: tuple[Passage, ...] = (),
    ) -> None:
        intent = WriteIntent(
            uuid=str(uuid4()),
            group_id=group_id,
            kind=WriteKind.JOB,
            recorded_at=await self._committer.time(group_id),
            mentions=mentions,
            passages=passages,
        )
        await self._committer.commit(intent, vectors)

    async def _names_of(self, group_id: str) -> MentionFinder:
        """Finds all names of the group in a text: the longest name wins."""
        known = self._finder if self._finder and self._finder[0] == group_id else None
        book = await self._graph.records.name_book(group_id, known[1] if known else None)
        if book is not None:
            known = (group_id, book.version, await in_thread(MentionFinder, book.names))
            self._finder = known
        return known[2] if known else MentionFinder()

    def _delay(self, job_id: int) -> float:
        """Doubles with each attempt."""
        self._failures[job_id] += 1
        return min(_FIRST_DELAY * 2.0 ** (self._failures[job_id] - 1), _LONGEST_DELAY)

    async def _put_back(self, job_id: int, error: Exception) -> None:
        reason = error.message if isinstance(error, PkmError) else type(error).__name__
        if isinstance(error, _CannotGoOn):
            reason = str(error)
        _log.warning("job %d failed: %s", job_id, type(error).__name__)
        await self._journal.retry_job(job_id, reason, self._delay(job_id))
