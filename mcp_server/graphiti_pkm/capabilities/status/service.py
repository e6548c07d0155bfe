"""Reports whether the memory works, and what it contains."""

import contextlib
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from importlib.metadata import version
from typing import Any, Literal

from graphiti_pkm.capabilities.status.models import StatusResponse
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import TIERS, Caller
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.reading.receipts import Receipts, in_words
from graphiti_pkm.core.reading.views import size_in_words
from graphiti_pkm.errors import NotFound, PkmError, Unavailable
from graphiti_pkm.storage.rebuilding import is_unfinished
from graphiti_pkm.storage.recovery import Recovery

_DISTRIBUTION = "graphiti-pkm"
_WRITES = {"intent": "waiting", "written": "written", "applied": "applied", "failed": "failed"}
_JOBS = "jobs_"
_GROUPS = 100
_COMPLETE = 100
_BOTH = "full text and meaning"
_BUILDING = "indexes for meaning are being built ({}): searches are exact and slower until then, writes may wait"
_WAITING = "{} texts still get their vectors, until then words find them"
_WORDS = "full text only"
_ASK_KEEPER = "Whoever runs the server can see why with get_status; try again later."

_AHEAD = timedelta(minutes=1)
_CLOCK = (
    "The newest record is {} ahead of this machine's clock: the clock was set back, or was ahead when that was "
    "recorded. Everything is found. Until the clock has caught up, what is recorded gets times just after the newest; "
    "what happens is dated by the clock. Set the clock right."
)


class Status:
    """``get_status``; it answers also when the database or the journal does not."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        backend: str = "SQLite",
        receipts: Receipts | None = None,
        recovery: Recovery | None = None,
        *,
        elapsed: Callable[[], float] = time.monotonic,
    ) -> None:
        self._recovery = recovery
        self._receipts = receipts
        self._context = context
        self._groups = groups
        self._backend = backend
        self._elapsed, self._started = elapsed, elapsed()

    async def unready(self) -> Literal["unavailable", "not_writable"] | None:
        """Why the memory is not ready; costs one short query, and occasionally a small write."""
        if not await self._context.graph.ready():
            return "unavailable"
        return None if await self._refusal() is None else "not_writable"

    async def _refusal(self) -> str | None:
        """Why nothing can be written now, unless the server is read-only."""
        if self._context.settings.read_only:
            return None
        return await self._context.journal.refusal() or await self._context.graph.writer.refusal()

    async def get_status(self, caller: Caller, request: GetStatus) -> StatusResponse:
        """State of database, search, writes and jobs, and the sizes of the caller's groups.

        With a receipt: how far a model has read that episode, and what it found. Raises NotFound, InvalidInput.
        """
        if request.receipt is not None:
            return await self._of_receipt(caller, request.receipt)
        failures: list[str] = []
        sizes = await self._sizes(caller, failures)
        # With many users, each sees only what is theirs; details of the whole server are for its operator.
        counts = await self._counts(failures) if caller.is_local else {}
        writes = {shown: counts.get(state, 0) for state, shown in _WRITES.items()} if caller.is_local else {}
        jobs = {key.removeprefix(_JOBS): count for key, count in counts.items() if key.startswith(_JOBS)}
        if counts.get("failed"):
            failures.append(f"{counts['failed']} write(s) were refused by the database and set aside; see the log.")
        if jobs.get("failed"):
            failures.append(f"{jobs['failed']} job(s) failed repeatedly and were given up; see the log.")
        rebuild = await is_unfinished(self._context)
        if rebuild is not None:
            failures.append(rebuild.describe())
        elif caller.is_local:
            await self._compare(failures)
        refusal = None if sizes is None else await self._refusal()
        if refusal is not None:
            # The reason contains directories of the machine.
            failures.insert(0, f"Nothing can be written now. {refusal if caller.is_local else _ASK_KEEPER}")
        if sizes:
            await self._compare_clocks(list(sizes), failures)
        embedder = self._context.embedder
        has_model, problem = await embedder.available(), await embedder.problem()
        extractions = await self._extractions(caller, list(sizes or {}), failures)
        if not caller.is_local:
            failures = list(map(self._context.settings.without_directory, failures))
        state = "unavailable" if sizes is None else "ok" if not (problem or failures) else "degraded"
        return StatusResponse(
            status=state,
            message=_message(failures, is_there=sizes is not None, is_writable=refusal is None, has_model=not problem),
            version=version(_DISTRIBUTION),
            backend=self._backend,
            search=f"{_WORDS}: {problem}"
            if problem
            else await self._search(jobs.get("queued", 0) + jobs.get("running", 0))
            if caller.is_local
            else _BOTH,  # indexes are built for the data of all users together
            model=embedder.model if has_model else None,
            dimension=embedder.dimension if has_model else None,
            groups={self._groups.public(group): size_in_words(size) for group, size in (sizes or {}).items()},
            shared=_shared(caller),
            writes=writes,
            jobs=jobs,
            **extractions,
            failures=failures,
            data_directory=str(self._context.settings.data_dir) if caller.is_local else "",
            uptime_seconds=int(self._elapsed() - self._started),
        )

    async def _of_receipt(self, caller: Caller, receipt: str) -> StatusResponse:
        if self._receipts is None:
            raise NotFound("Nothing was given to a model to read.")
        found = await self._receipts.of(caller, receipt)
        return StatusResponse(
            status="degraded" if found.state == "failed" else "ok", message=in_words(found), extraction=found
        )

    async def _extractions(self, caller: Caller, group_ids: Sequence[str], failures: list[str]) -> dict[str, Any]:
        """Jobs of models, failures and costs; empty if there were none."""
        found: dict[str, Any] = {"extraction_model": self._context.settings.llm_model}
        if self._receipts is None:
            return found
        try:
            found["extractions"] = await self._receipts.sizes(group_ids)
            found["extraction_failures"] = await self._receipts.failures(group_ids)
            failures.extend(await self._receipts.troubles(group_ids))
            if caller.is_local:
                found["spent"] = await self._receipts.spent()
        except PkmError as error:
            if error.message not in failures:
                failures.append(error.message)
        return found

    async def _sizes(self, caller: Caller, failures: list[str]) -> dict[str, GroupSize] | None:
        """Contents of each of the caller's groups; None if the database does not answer."""
        try:
            if not await self._context.graph.ready():
                failures.append("The database does not answer yet.")
                return None
            visible = (await self._groups.visible(caller))[:_GROUPS]
            sizes = await self._context.graph.records.group_sizes(visible)
        except Unavailable as error:
            failures.append(error.message)
            return None
        return {group: sizes[group] for group in visible if group in sizes}

    async def _search(self, jobs: int) -> str:
        """How searches work now; complete indexes are not mentioned."""
        waiting = 0
        try:
            indexes = await self._context.graph.vectors.vector_indexes()
            if jobs:
                waiting = (await self._context.graph.embeddings.embedding_size(only_missing=True)).texts
        except Unavailable:
            indexes = ()
        building = [f"{index.name} {index.percent}%" for index in indexes if index.percent < _COMPLETE]
        notes = [_WAITING.format(waiting)] if waiting else []
        notes += [_BUILDING.format(", ".join(building))] if building else []
        return "; ".join((_BOTH, *notes))

    async def _counts(self, failures: list[str]) -> dict[str, int]:
        try:
            return await self._context.journal.counts()
        except PkmError as error:
            failures.append(error.message)
            return {}

    async def _compare(self, failures: list[str]) -> None:
        """Whether the journal is sound, and journal and graph hold as many writes; with the last full comparison."""
        try:
            damage = await self._context.journal.damage()
        except PkmError as error:
            damage = error.message
        if damage:
            if damage not in failures:
                failures.append(damage)
        elif self._recovery is not None:
            with contextlib.suppress(PkmError):
                found = await self._recovery.comparing.counts_differ() or self._recovery.differences
                if found:
                    failures.append(found)

    async def _compare_clocks(self, group_ids: Sequence[str], failures: list[str]) -> None:
        """Whether the record is ahead of the clock: it was set back, or was wrong when something was recorded."""
        with contextlib.suppress(Unavailable):
            newest = await self._context.graph.facts.newest_record(group_ids)
            ahead = timedelta() if newest is None else newest - self._context.now()
            if ahead > _AHEAD:
                failures.append(_CLOCK.format(_span(ahead)))


def _shared(caller: Caller) -> dict[str, str] | None:
    """What of others is open to the caller, whether or not anything is in it."""
    open_to: dict[str, str] = {
        f"{one.memory}/{group}": min(one.tier, caller.tier, key=TIERS.index)
        for one in sorted(caller.shared, key=lambda one: TIERS.index(one.tier))
        for group in one.groups or ("*",)
    }
    return open_to or None


def _span(length: timedelta) -> str:
    """A duration in its two largest units."""
    minutes = int(length.total_seconds()) // 60
    days, hours = divmod(minutes // 60, 24)
    return f"{days} days {hours} h" if days else f"{hours} h {minutes % 60} min" if hours else f"{minutes} min"


def _message(failures: Sequence[str], *, is_there: bool, is_writable: bool, has_model: bool) -> str:
    if not is_there:
        return "The memory is not available: the database does not answer. Try again shortly."
    if not is_writable:
        return "The memory can be read, but nothing can be written now: see failures."
    if failures:
        return "The memory works, with something to look at: see failures."
    return "The memory works." if has_model else "The memory works; search is by full text only."
