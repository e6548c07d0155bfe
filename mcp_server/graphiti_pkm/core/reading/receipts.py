"""Receipts: what became of an episode that a model was to read, by the episode's uuid."""

import asyncio
from collections.abc import Callable, Sequence

from graphiti_pkm.core.call_time import allow_requested_wait
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ExtractionReceipt, FoundFact
from graphiti_pkm.core.model.extraction_answers import ExtractionAnswer
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.ports.extraction import ExtractionQueue, ExtractionRecord, Usage
from graphiti_pkm.core.ports.takeover import SharedExtractionJob, SharedExtractionJobs
from graphiti_pkm.core.progress import Progress
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import NotFound

MOST_FACTS = 50
_MOST_FAILURES = 5
_MOST_WAITING = 50
"""Waiting jobs whose reasons are read."""
_LOOK_SECONDS = 0.5
"""Seconds until the end of a job in another process is noticed."""
_REPORT_SECONDS = 5.0
_BUILD = "Communities are as before; build_communities (toolset graph) builds them again once all facts are stored."
_TASKS = {"saga": "summarize_saga", "communities": "build_communities"}
_ENDED = frozenset({"done", "failed", "cancelled"})
_ELSEWHERE = {
    "queued": "another server of this memory is to read it",
    "running": "another server of this memory reads it",
    "failed": "another server of this memory could not read it",
}
_SEE_THERE = "Ask get_status there for the reason; `graphiti-pkm queue retry` there tries again."
_MILLION = 1_000_000


class Receipts:
    """Looks up jobs, and waits for them."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        queue: ExtractionQueue,
        changed: Callable[[], asyncio.Event] = asyncio.Event,
        shared: SharedExtractionJobs | None = None,
    ) -> None:
        """``changed`` returns an event that is set at the next change of a job in this process.

        ``shared``: the readings of other servers on the same database.
        """
        self._context = context
        self._groups = groups
        self._queue = queue
        self._changed = changed
        self._shared = shared
        self._stopping = asyncio.Event()

    def stop_waiting(self) -> None:
        """Answer all waiting calls now, because the process is about to end. Call it on the event loop."""
        self._stopping.set()

    async def of(self, caller: Caller, receipt: str) -> ExtractionReceipt:
        """The state of the episode's latest job. Raises NotFound, InvalidInput, AmbiguousUuid."""
        visible = await self._groups.visible(caller)
        episode_uuid = await resolve_within(self._context.graph, visible, "episode", receipt)
        records = await self._queue.of_episodes([episode_uuid])
        if (elsewhere := await self._elsewhere(episode_uuid, visible, records)) is not None:
            return elsewhere
        if not records or records[0].group_id not in visible:
            raise NotFound(
                f"No model was asked to read an episode '{episode_uuid}': its receipt is the episode_uuid that "
                "add_memory answered, and there is one only where a model is configured (llm_model)."
            )
        return self._shown(records[0])

    async def wait(self, episode_uuid: str, seconds: float, progress: Progress) -> ExtractionReceipt | None:
        """The receipt once the job has ended, or after ``seconds`` or ``stop_waiting``; None if there is none."""
        allow_requested_wait()
        clock = asyncio.get_running_loop().time
        start = clock()
        next_report = 0.0
        while True:
            changed = self._changed()
            records = await self._queue.of_episodes([episode_uuid])
            waited = clock() - start
            if not records or records[0].state in _ENDED or waited >= seconds or self._stopping.is_set():
                if not records:
                    return None
                return await self._elsewhere(episode_uuid, [records[0].group_id], records) or self._shown(records[0])
            if waited >= next_report:
                await progress(round(waited, 1), seconds, f"extraction {records[0].state}")
                next_report = waited + _REPORT_SECONDS
            await wait_for_any(changed, self._stopping, seconds=min(_LOOK_SECONDS, seconds - waited))

    async def sizes(self, group_ids: Sequence[str]) -> dict[str, int]:
        """Jobs of these groups by state; states without jobs are left out."""
        return {state: count for state, count in (await self._queue.sizes(group_ids)).items() if count}

    async def failures(self, group_ids: Sequence[str]) -> list[ExtractionReceipt]:
        """The newest failed jobs."""
        return [self._shown(one) for one in await self._queue.page(["failed"], group_ids, _MOST_FAILURES, None)]

    async def troubles(self, group_ids: Sequence[str]) -> list[str]:
        """Reasons why episodes of these groups are not read; empty if all goes well."""
        sizes = await self._queue.sizes(group_ids)
        found = []
        if sizes.get("failed"):
            found.append(f"{sizes['failed']} episode(s) could not be read by a model: see extraction_failures.")
        if sizes.get("queued"):
            if await self._queue.paused():
                found.append("Reading by a model is paused; `graphiti-pkm queue resume` goes on.")
            waiting = await self._queue.page(["queued"], group_ids, _MOST_WAITING, None)
            reasons = dict.fromkeys(f"{one.reason} {one.remedy}".strip() for one in waiting if one.reason)
            found += [f"{sizes['queued']} episode(s) wait to be read by a model: {reason}" for reason in reasons]
        return found

    async def spent(self) -> dict[str, str]:
        """Cost of all calls in all groups; empty before the first."""
        settings = self._context.settings
        today = self._context.now().astimezone(settings.zone).date().isoformat()
        found = {"today": await self._queue.spent(today), "in all": await self._queue.spent(None)}
        return {when: self._in_words(usage) for when, usage in found.items()} if found["in all"].calls else {}

    async def _elsewhere(
        self, episode_uuid: str, group_ids: Sequence[str], ours: Sequence[ExtractionRecord]
    ) -> ExtractionReceipt | None:
        """The state of the job on another server, if that server has it."""
        if self._shared is None or (ours and ours[0].state == "done"):
            return None
        reading = await self._shared.of_episode(episode_uuid, group_ids)
        if reading is None or not _is_elsewhere(reading, ours, self._shared.server):
            return None
        return await self._shown_from_graph(reading)

    async def _shown_from_graph(self, reading: SharedExtractionJob) -> ExtractionReceipt:
        """For a job in another server's queue: lists the facts that the episode supports."""
        episode_uuid, is_done = reading.job.episode_uuid, reading.state == "done"
        read = self._context.graph.facts.episode_facts
        facts = await read(episode_uuid, [reading.group_id], MOST_FACTS) if is_done else []
        return ExtractionReceipt(
            episode_uuid=episode_uuid,
            state=reading.state,
            reason=_ELSEWHERE.get(reading.state),
            remedy=_SEE_THERE if reading.state == "failed" else None,
            facts=[
                FoundFact(uuid=one.uuid, outcome="created" if len(one.episodes) == 1 else "known", fact=one.text)
                for one in facts
            ],
        )

    def _in_words(self, usage: Usage) -> str:
        cost = self._cost(usage)
        return f"{usage.calls:,} call(s), {usage.tokens:,} tokens" + ("" if cost is None else f", {cost:.4f}")

    def _cost(self, usage: Usage) -> float | None:
        """None if the settings give no prices."""
        settings = self._context.settings
        if settings.llm_price_input is None or settings.llm_price_output is None:
            return None
        cost = usage.prompt_tokens * settings.llm_price_input + usage.completion_tokens * settings.llm_price_output
        return round(cost / _MILLION, 6)

    def _shown(self, record: ExtractionRecord) -> ExtractionReceipt:
        found = ExtractionAnswer.model_validate(record.answer) if record.answer else None
        is_later = record.state == "queued" and record.not_before > self._context.now()
        facts = found.facts if found else []
        return ExtractionReceipt(
            episode_uuid=record.episode_uuid,
            task=None if record.task == "episode" else record.task,
            state=record.state,
            reason=record.reason or None,
            remedy=record.remedy or (_BUILD if found and found.communities_stay else None),
            attempts=record.attempts or None,
            next_attempt=iso(record.not_before) if is_later else None,
            model=found.model if found else None,
            facts=facts[:MOST_FACTS],
            facts_total=len(facts) if len(facts) > MOST_FACTS else None,
            retired=found.retired[:MOST_FACTS] if found else [],
            proposed=found.proposed[:MOST_FACTS] if found else [],
            not_found=found.not_found[:MOST_FACTS] if found else [],
            entities=found.entities[:MOST_FACTS] if found else [],
            attention=found.attention if found else {},
            left_out=(found.left_out if found else None) or None,
            calls=record.usage.calls or None,
            tokens=record.usage.tokens or None,
            cost=self._cost(record.usage) if record.usage.calls else None,
        )


def _is_elsewhere(reading: SharedExtractionJob, ours: Sequence[ExtractionRecord], server: str) -> bool:
    """Whether another server has or did the job, and our own queue has no newer one."""
    if not ours:
        return True
    is_another = reading.owner not in {None, server} or reading.state == "done"
    return is_another and ours[0].job_uuid == reading.job.uuid


def in_words(receipt: ExtractionReceipt) -> str:
    """One sentence about the receipt."""
    if receipt.task is not None:
        return _task_in_words(receipt, _TASKS[receipt.task])
    if receipt.state == "done":
        facts = receipt.facts_total or len(receipt.facts)
        ended = f", {len(receipt.retired)} ended" if receipt.retired else ""
        return f"A model has read it: {facts} fact(s){ended}."
    if receipt.state == "failed":
        why = (receipt.reason or "").rstrip(".")
        return f"Extraction failed: {why}. The text is stored and searchable. {receipt.remedy or ''}".rstrip()
    if receipt.state == "cancelled":
        return "Extraction was cancelled; the text is stored and searchable."
    why = f" ({receipt.reason})" if receipt.reason else ""
    return f"A model reads it: {receipt.state}{why}."


def _task_in_words(receipt: ExtractionReceipt, tool: str) -> str:
    """For a job without an episode: its tool reports the result, at no further cost."""
    why = f": {receipt.reason.rstrip('.')}" if receipt.reason else ""
    rest = " Repeating the call shows the result." if receipt.state == "done" else ""
    return f"{tool} is {receipt.state}{why}.{rest} {receipt.remedy or ''}".rstrip()
