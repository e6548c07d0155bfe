"""The composition root: chooses the implementation of each port."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.ports.group_locks import GroupLocks
from graphiti_pkm.core.ports.metrics import DATABASE_RETURNS, UNCOUNTED, Metrics
from graphiti_pkm.core.ports.ports import Embedder
from graphiti_pkm.core.ports.takeover import Lease
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.core.signing import Signer
from graphiti_pkm.core.waiting import Signal
from graphiti_pkm.embedding.api import ApiEmbedder, service_of
from graphiti_pkm.embedding.local.local import LocalEmbedder
from graphiti_pkm.embedding.measured import MeasuredEmbedder
from graphiti_pkm.embedding.recorded import RecordedEmbedder
from graphiti_pkm.embedding.reembedding import Reembedding
from graphiti_pkm.graphiti_adapter.language_model import ModelOnDemand, language_model
from graphiti_pkm.graphiti_adapter.pipeline import GraphitiExtractor
from graphiti_pkm.graphiti_adapter.pipeline_types import read_types
from graphiti_pkm.graphiti_adapter.readable_store import ReadableStore
from graphiti_pkm.graphiti_adapter.summaries import GraphitiSummarizer
from graphiti_pkm.server.tools.registry import CAPABILITIES
from graphiti_pkm.settings.loader import Settings, leave_processors
from graphiti_pkm.storage.commit import Committer
from graphiti_pkm.storage.erasing import Erasing
from graphiti_pkm.storage.former_memory import convert, must_fit
from graphiti_pkm.storage.graph.locks.leases import Fences, LeasedGroupLocks
from graphiti_pkm.storage.graph.locks.locks import FlockGroupLocks
from graphiti_pkm.storage.graph.measured_database import measured
from graphiti_pkm.storage.graph.opening import NEO4J, SQLITE, Kind, opening
from graphiti_pkm.storage.graph.sqlite.store import SqliteGraph
from graphiti_pkm.storage.graph.store import GraphStore
from graphiti_pkm.storage.jobs import Jobs
from graphiti_pkm.storage.journal.opening import journal_file
from graphiti_pkm.storage.journal.server_id import server_id
from graphiti_pkm.storage.journal.signing_key import keep_signing_key, signing_key
from graphiti_pkm.storage.journal.store import SqliteJournal
from graphiti_pkm.storage.preflight import require
from graphiti_pkm.storage.recovery import Recovery
from graphiti_pkm.storage.usage import USAGE, UsageQueue
from graphiti_pkm.toolkit.capability import Running
from graphiti_pkm.toolkit.kernel import Kernel, Model
from graphiti_pkm.toolkit.services import Services

_log = logging.getLogger(__name__)

_FINISH_SECONDS = 6.0
"""Longer than the database may take to write everything to disk."""


@dataclass(frozen=True)
class Memory:
    """The parts of an open data directory."""

    context: Context
    services: Services
    recovery: Recovery
    jobs: Jobs
    reembedding: Reembedding
    database: Kind
    journal: SqliteJournal
    usage: UsageQueue
    running: Running
    """The capabilities, which provide ``services``."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def open_services(settings: Settings, metrics: Metrics = UNCOUNTED) -> AsyncIterator[Services]:
    """The services over the configured data directory, for ``server.run``."""
    async with open_memory(settings, metrics=metrics) as memory:
        yield memory.services


@asynccontextmanager
async def open_memory(
    settings: Settings,
    *,
    replays: bool = True,
    now: Callable[[], datetime] = _utc_now,
    metrics: Metrics = UNCOUNTED,
    lease: Lease | None = None,
) -> AsyncIterator[Memory]:
    """Start or join the database, replay lost writes, and run the background work until the end.

    If ``replays`` is false, journal and graph are left as they are, whatever their vectors, and no background work
    runs. This is for a restore over a damaged journal, and for a change of the embedding model.
    ``now`` is the clock for records; the journal's own marks use the machine's clock. ``lease`` sets how soon other
    servers of the database take over the extraction jobs of this one.

    Raises:
        ConfigurationError: platform, directories, schema or embedding model are unsuitable; the error says what to do.
        Unavailable: the database does not start.
    """
    leave_processors()
    await asyncio.to_thread(require, settings.data_dir)
    if replays:
        await asyncio.to_thread(must_fit, settings)
    stores = await asyncio.to_thread(_stores, settings, metrics)
    graph, journal, server = stores.graph, stores.journal, stores.server
    configured = configured_embedder(settings, metrics)
    embedder = RecordedEmbedder(MeasuredEmbedder(configured, metrics), journal)
    locks: GroupLocks = FlockGroupLocks(settings.data_dir)
    if isinstance(graph, GraphStore) and server is not None:
        locks = LeasedGroupLocks(locks, server, graph.database, stores.fences)
    key = await asyncio.to_thread(signing_key, settings.data_dir)
    elapsed = time.monotonic if now is _utc_now else lambda: now().timestamp()
    usage = UsageQueue(journal.usage, graph.part(USAGE), server or "", records=settings.fitness != "off")
    context = Context(graph, journal, embedder, locks, settings, now, Signer(key), elapsed, usage)
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(configured.close)
        stack.push_async_callback(journal.close)
        stack.push_async_callback(graph.close)
        model = language_model(settings)
        if model is not None:
            stack.push_async_callback(model.close)
        memory = _assemble(
            context, graph, configured, stores.kind, journal, usage, _model(model, graph, embedder, settings), lease
        )

        def back_again() -> None:
            metrics.add(DATABASE_RETURNS, 1)
            memory.recovery.after_restart()

        stack.push_async_callback(memory.running.close)
        stores.when_restarted(back_again)
        if not replays:
            yield memory
            return
        if stores.kind is SQLITE:
            await convert(settings.data_dir, journal, memory.recovery.rebuilding, locks)
        await _brought_together(memory)
        if isinstance(graph, GraphStore) and server is not None:
            agreed = await graph.agree_on_signing_key(key)
            await asyncio.to_thread(keep_signing_key, settings.data_dir, agreed)
            context.signer.use(agreed)
        stop = asyncio.Event()
        work = _background_work(memory, graph, stop)
        stack.push_async_callback(_finish, stop, work)
        yield memory


@dataclass(frozen=True)
class _Stores:
    """The stores that the settings configure; nothing is opened yet."""

    graph: GraphStore | SqliteGraph
    journal: SqliteJournal
    kind: Kind
    when_restarted: Callable[[Callable[[], None]], None]
    """Sets the function to call after the database was restarted, because it may have lost writes."""
    server: str | None = None
    """Our id among the servers of a shared database; None if it is not shared."""
    fences: Fences = field(default_factory=Fences)


def _stores(settings: Settings, metrics: Metrics) -> _Stores:
    """Raises ConfigurationError."""
    file = journal_file(settings)
    journal = SqliteJournal(settings.data_dir, file=file)
    if settings.effective_backend == "embedded":
        return _Stores(SqliteGraph(file, metrics), journal, SQLITE, lambda _: None)
    opened = opening(settings)
    server = server_id(settings.data_dir)
    fences = Fences()
    graph = GraphStore(measured(opened.open_database, metrics), settings.vector_index_threshold, server, fences)

    def when_restarted(act: Callable[[], None]) -> None:
        opened.on_restart = act

    return _Stores(graph, journal, NEO4J, when_restarted, server, fences)


def _background_work(memory: Memory, graph: GraphStore | SqliteGraph, stop: asyncio.Event) -> list[asyncio.Task[None]]:
    """Start the background loops, which run until ``stop`` is set."""
    loops = {
        "keep durable": memory.recovery.mark_durable_periodically(stop),
        "comparison": memory.recovery.compare_periodically(stop),
        "change of vectors": memory.reembedding.finish_periodically(stop),
        "jobs": memory.jobs.run(stop),
        "counters": memory.usage.run(stop),
        "search indexes": graph.vectors.maintain_indexes(stop),
    }
    loops |= {name: job(stop) for name, job in memory.running.jobs.items()}
    return [asyncio.create_task(loop, name=name) for name, loop in loops.items()]


async def _brought_together(memory: Memory) -> None:
    """Make journal and graph agree, and complete what a killed process left unfinished. Raises like ``open_memory``."""
    await memory.reembedding.agree()
    await memory.recovery.replay()
    await memory.reembedding.finish_change()
    await memory.reembedding.agree_on_graph()


def _model(model: ModelOnDemand | None, graph: ReadableStore, embedder: Embedder, settings: Settings) -> Model | None:
    """The ports to the model; None without one. Raises ConfigurationError for invalid types."""
    if model is None:
        return None
    types = read_types(settings.entity_types, settings.edge_types, settings.excluded_entity_types)
    extractor = GraphitiExtractor(
        graph,
        embedder,
        model,
        types,
        parallel_calls=settings.extraction_calls,
        part_characters=settings.extraction_part,
    )
    return Model(extractor, GraphitiSummarizer(graph, model, parallel_calls=settings.extraction_calls))


def configured_embedder(settings: Settings, metrics: Metrics = UNCOUNTED) -> LocalEmbedder | ApiEmbedder:
    """The configured embedder. Raises ConfigurationError if the settings contradict each other."""
    if settings.embedding_mode == "api":
        return ApiEmbedder(service_of(settings), metrics)
    return LocalEmbedder(settings, metrics=metrics)


def _assemble(
    context: Context,
    graph: GraphStore | SqliteGraph,
    configured: Embedder,
    database: Kind,
    journal: SqliteJournal,
    usage: UsageQueue,
    model: Model | None,
    lease: Lease | None,
) -> Memory:
    groups = Groups(context.graph, context.settings)
    committer = Committer(context)
    erasing = Erasing(context, database.remainder)
    recovery = Recovery(context, committer, is_shared=database.is_shared)
    shared, changed = graph.shared_extraction_jobs, Signal()
    kernel = Kernel(
        context=context,
        parts=graph,
        groups=groups,
        committer=committer,
        erasing=erasing,
        extractions=journal.extractions,
        backlog=journal,
        saved_graphs=journal.saved_graphs,
        receipts=Receipts(context, groups, journal.extractions, lambda: changed.next, shared),
        model=model,
        extraction_changed=changed,
        shared_extraction_jobs=shared,
        lease=lease,
        wait_until_rebuilt=recovery.wait_until_rebuilt,
        backend=database.name,
        comparison=recovery,
    )
    running = Running.build(CAPABILITIES, kernel)
    jobs = Jobs(context, committer, erasing)
    reembedding = Reembedding(context, committer, configured)
    return Memory(context, running.services, recovery, jobs, reembedding, database, journal, usage, running)


async def _finish(stop: asyncio.Event, work: Sequence[asyncio.Task[None]]) -> None:
    """Wait for the background work to end; work that waits for a blocked database is left to the next start."""
    stop.set()
    _, late = await asyncio.wait(work, timeout=_FINISH_SECONDS)
    for task in late:
        task.cancel()
    for task, outcome in zip(work, await asyncio.gather(*work, return_exceptions=True), strict=True):
        if isinstance(outcome, BaseException):
            _log.error("background work ended early: %s", task.get_name(), exc_info=outcome)
