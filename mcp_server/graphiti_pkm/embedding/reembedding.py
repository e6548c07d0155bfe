"""Changes a memory to the vectors of another model, and checks at the start whether that is needed.

The change itself only removes vectors. Under the locks of all groups, the journal records the new model and no longer
returns vectors; then they are removed from the graph, and finally from the journal's rows. The next server continues an
interrupted change. Afterwards the records lack vectors, as if the model had been unavailable, and receive them in small
writes.
"""

import asyncio
import logging
from collections.abc import Callable
from uuid import uuid4

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.model.job_records import EmbedMissingJob
from graphiti_pkm.core.model.records import WriteIntent, WriteKind
from graphiti_pkm.core.ports.embedding import EmbeddingSize, RecordedEmbedding, mismatch
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import EmbeddingMismatch, PkmError, Unavailable
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.missing_vectors import MissingVectors

_log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Receives the number of finished texts and their total."""

_VECTORS = 5_000
_ROWS = 500
_TRIES = 20
_IDLE_ROUNDS = 3
_PATIENCE = 20.0
_LOOK_AGAIN_SECONDS = 5.0
_PROBE = "a text to see whether the model answers"


class Reembedding:
    """Compares a memory with the configured embedder and changes its vectors."""

    def __init__(self, context: Context, committer: Committer, embedder: Embedder) -> None:
        """``embedder`` is the configured one; the memory's vectors may be of another model."""
        self._graph = context.graph
        self._journal = context.journal
        self._context = context
        self._embedder = embedder
        self._committer = committer
        self._missing = MissingVectors(context, committer)

    async def agree(self) -> None:
        """Record the model if none is recorded. Raises EmbeddingMismatch if another one is."""
        known = await self._known_to_both()
        if (reason := mismatch(known, self._embedder)) is None:
            return
        if known is not None and known.is_changing and (known.model, known.dimension) == self._own:
            return  # an interrupted change to our model, which ``finish_change`` completes
        if not await self._is_empty():
            raise EmbeddingMismatch(reason)
        await self._change()

    async def agree_on_graph(self) -> None:
        """Check the graph; call this after the replay. Raises EmbeddingMismatch if its vectors are of another model."""
        recorded, in_graph = await self._recorded(), await self._graph.embeddings.embedding()
        if recorded is not None and in_graph not in (None, (recorded.model, recorded.dimension)):
            raise EmbeddingMismatch(
                f"The journal tells of vectors of {recorded.describe()}, the graph of {in_graph[0]} "
                f"({in_graph[1]} dimensions): `graphiti-pkm reembed` makes both agree."
            )

    async def is_other(self) -> RecordedEmbedding | None:
        """The model and dimension of the memory's vectors; None if they are those of the configured embedder."""
        recorded, in_graph = await self._recorded(), await self._graph.embeddings.embedding()
        if mismatch(recorded, self._embedder) is not None:
            return recorded
        if in_graph is None or in_graph == self._own:
            return None
        return RecordedEmbedding(model=in_graph[0], dimension=in_graph[1])

    async def size(self) -> EmbeddingSize:
        """The amount of text that has to be embedded."""
        return await self._graph.embeddings.embedding_size(only_missing=await self.is_other() is None)

    async def change(self) -> bool:
        """Remove the vectors of another model; False if there are none. Other processes then write without vectors.

        Raises:
            Unavailable: the new model does not answer and nothing changed, or the database failed during the change.
        """
        await self._known_to_both()
        if await self.is_other() is None:
            return False
        await self._embedder.embed([_PROBE], _PATIENCE)
        await self._change()
        return True

    async def finish_change(self) -> bool:
        """Complete an interrupted change; True if there was one.

        It only removes vectors, so a server with any embedder can do it. Raises the errors of ``change``.
        """
        if not await self._is_left_changing():
            return False
        async with self._context.locks.hold_all():
            recorded = await self._recorded()
            if recorded is None or not recorded.is_changing:
                return False
            await self._remove(recorded.model, recorded.dimension)
        return True

    async def finish_periodically(self, stop: asyncio.Event) -> None:
        """Check periodically for a change that another process left unfinished, and complete it."""
        while not stop.is_set():
            await wait_for_any(stop, seconds=_LOOK_AGAIN_SECONDS)
            try:
                if not stop.is_set():
                    await self.finish_change()
            except PkmError as error:
                _log.debug("the change of the vectors cannot be finished yet: %s", error.code)

    async def fill(self, progress: Progress) -> int:
        """Embed all records that lack vectors; return the number of texts.

        Raises:
            ModelUnavailable: the model does not answer; vectors stored so far are kept.
            Unavailable: the database does not answer; vectors stored so far are kept.
        """
        total = (await self._graph.embeddings.embedding_size(only_missing=True)).texts
        done = 0
        for group_id in await self._graph.records.groups():
            idle = 0
            while (embedded := await self._missing.embed_some(group_id)) is not None:
                idle = 0 if embedded else idle + 1
                if idle > _IDLE_ROUNDS:
                    raise Unavailable("The database does not keep the vectors; see `graphiti-pkm doctor`.")
                done += embedded
                progress(done, max(done, total))
        return done

    @property
    def _own(self) -> tuple[str, int]:
        return self._embedder.model, self._embedder.dimension

    async def _change(self) -> None:
        async with self._context.locks.hold_all():
            if await self.is_other() is None:
                return  # another process has done it
            await self._remove(*self._own)

    async def _remove(self, model: str, dimension: int) -> None:
        """Remove all vectors and record another model. The caller holds the locks of all groups."""
        await self._journal.begin_change(model, dimension)
        await self._graph.embeddings.change_embedding(model, dimension)
        while await self._graph.embeddings.remove_vectors(_VECTORS):
            pass
        # Again, because another process may have built an index with the old dimension.
        await self._graph.embeddings.change_embedding(model, dimension)
        await self._wait_durable()
        after: int | None = 0
        while after is not None:
            after = await self._journal.remove_vectors(after, _ROWS)
        # Other processes execute these jobs if this one ends first.
        for group_id in await self._graph.records.groups():
            await self._committer.commit(await self._to_embed(group_id), {})
        await self._journal.end_change()
        _log.info("the vectors of this memory are now those of %s", model)

    async def _is_left_changing(self) -> bool:
        recorded = await self._recorded()
        return recorded is not None and recorded.is_changing and not self._context.locks.is_closed()

    async def _to_embed(self, group_id: str) -> WriteIntent:
        return WriteIntent(
            uuid=str(uuid4()),
            group_id=group_id,
            kind=WriteKind.JOB,
            recorded_at=await self._committer.time(group_id),
            jobs=(EmbedMissingJob(),),
        )

    async def _wait_durable(self) -> None:
        """Wait until the graph is durable; otherwise a crash could restore the old vectors."""
        for _ in range(_TRIES):
            if await self._graph.writer.wait_durable():
                return
        raise Unavailable("The database could not persist its data to disk. Run `graphiti-pkm reembed` again.")

    async def _is_empty(self) -> bool:
        return not await self._graph.records.groups() and not await self._journal.rows(0, 1)

    async def _known_to_both(self) -> RecordedEmbedding | None:
        """The recorded model, copied to the journal or the graph if one of them lacks it; None without any model."""
        recorded, in_graph = await self._recorded(), await self._graph.embeddings.embedding()
        if recorded is None and in_graph is not None:
            recorded = RecordedEmbedding(model=in_graph[0], dimension=in_graph[1])
            await self._record(*in_graph)
        elif recorded is None and await self._embedder.available():
            await self._record(*self._own)
            await self._graph.embeddings.record_embedding(*self._own)
        elif recorded is not None and in_graph is None:
            await self._graph.embeddings.record_embedding(recorded.model, recorded.dimension)
        return await self._recorded() or recorded

    async def _recorded(self) -> RecordedEmbedding | None:
        try:
            return await self._journal.embedding()
        except PkmError:  # reads continue without the journal, whose damage is reported elsewhere
            return None

    async def _record(self, model: str, dimension: int) -> None:
        try:
            await self._journal.record_embedding(model, dimension)
        except PkmError as error:  # as above
            _log.debug("the journal does not take of which model the vectors are: %s", error.code)
