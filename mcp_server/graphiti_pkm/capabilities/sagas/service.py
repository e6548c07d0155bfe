"""``summarize_saga`` and ``build_communities``: a model job, awaited for as long as a call may take."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Literal
from uuid import uuid4

from graphiti_pkm.capabilities.history.ports import GraphChangeLists
from graphiti_pkm.capabilities.sagas.label_propagation import MOST_COMMUNITIES, communities_uuid
from graphiti_pkm.capabilities.sagas.models import BuildCommunitiesResponse, CommunityView, SagaSummaryResponse
from graphiti_pkm.capabilities.sagas.ports import GraphCommunities
from graphiti_pkm.capabilities.sagas.requests import BuildCommunities, SummarizeSaga
from graphiti_pkm.core.call_time import allow_requested_wait
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.saga_plan import find_saga
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import ExtractionReceipt
from graphiti_pkm.core.model.change_kinds import OTHER_CHANGES
from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.names import display_name
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.ports.extraction import ExtractionQueue
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.core.reading.receipts import Receipts
from graphiti_pkm.errors import ConfigurationError, InvalidInput, ModelRefused, NotFound

LONGEST_WAIT = 45.0
_FRESH = timedelta(hours=1)
_UNCHANGED = "No fact has changed since they were built:"
_MOST_GROUPS = 20
_NO_MODEL = (
    "No model is configured, and this asks one: set llm_model (and llm_base_url or a key), see DOCS/models.md. Nothing "
    "was changed. "
)


class SummaryService:
    """Summaries on request: enqueues the job, waits, and shows the result."""

    def __init__(
        self,
        context: Context,
        groups: Groups,
        queue: ExtractionQueue,
        receipts: Receipts | None,
        notify: Callable[[], None],
        communities: GraphCommunities,
        changes: GraphChangeLists,
    ) -> None:
        """``receipts`` None: no model is configured. ``notify`` informs this process's worker about a job."""
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._queue = queue
        self._receipts = receipts
        self._notify = notify
        self._communities = communities
        self._changes = changes

    async def summarize_saga(
        self, caller: Caller, request: SummarizeSaga, progress: Progress = no_progress
    ) -> SagaSummaryResponse:
        """The saga's summary, covering every episode since the last one.

        Raises:
            ConfigurationError: there is no model.
            NotFound: no saga of the group has this name.
            ModelRefused: the job failed; what was paid for is kept.
        """
        caller.must_write("Nothing was changed.")
        group = self._groups.one(caller, request.group_id)
        check_text(request.saga_name, "saga_name")
        name = display_name(request.saga_name)
        saga = await find_saga(self._graph, group, name) if name else None
        if saga is None:
            raise NotFound(
                f"No saga of this name in group {self._groups.public(group)}. A saga begins with add_memory's "
                "parameter saga; saga_name is the same name."
            )
        if self._receipts is None:
            raise ConfigurationError(f"{_NO_MODEL}Without one, get_episodes gives you the texts to summarise.")
        receipt = await self._done(group, "saga", saga.uuid, LONGEST_WAIT, progress)
        now = await find_saga(self._graph, group, name) or saga
        return SagaSummaryResponse(
            message=f"Saga '{now.name}' summarized." if receipt.state == "done" else _later(receipt),
            status="done" if receipt.state == "done" else "queued",
            uuid=now.uuid,
            name=now.name,
            summary=now.summary,
        )

    async def build_communities(
        self, caller: Caller, request: BuildCommunities, progress: Progress = no_progress
    ) -> BuildCommunitiesResponse:
        """The groups' communities, all built again. Raises as ``summarize_saga``."""
        caller.must_write("Nothing was changed.")
        if request.group_ids is not None and not request.group_ids:
            raise InvalidInput("group_ids is empty. Name the groups; get_status lists them. Nothing was stored.")
        wanted = self._groups.searched(caller, request.group_ids)
        if len(wanted) > _MOST_GROUPS:
            raise InvalidInput(f"At most {_MOST_GROUPS} groups in one call. Nothing was stored.")
        if self._receipts is None:
            raise ConfigurationError(
                f"{_NO_MODEL}Without one, get_entity_subgraph shows what belongs together around an entity."
            )
        stale = [group for group in wanted if not await self._is_fresh(group)]
        jobs = [self._done(group, "communities", communities_uuid(group), LONGEST_WAIT, progress) for group in stale]
        receipts = await asyncio.gather(*jobs)
        waiting = [receipt for receipt in receipts if receipt.state != "done"]
        found = await self._communities.communities(wanted, MOST_COMMUNITIES * len(wanted))
        return BuildCommunitiesResponse(
            message=_later(waiting[0]) if waiting else f"{'Built' if stale else _UNCHANGED} {len(found)} communities.",
            status="queued" if waiting else "done",
            community_count=len(found),
            edge_count=sum(len(one.members) for one in found),
            communities=[
                CommunityView(
                    uuid=one.uuid,
                    name=one.name,
                    group_id=self._groups.public(one.group_id),
                    summary=one.summary,
                    members=len(one.members),
                )
                for one in found
            ],
        )

    async def _is_fresh(self, group_id: str) -> bool:
        """Whether they were built a moment ago and no fact has changed: a timed-out call is usually repeated."""
        now = self._context.now()
        latest = next(iter(await self._queue.of_episodes([communities_uuid(group_id)])), None)
        if latest is None or latest.finished_at is None or latest.state != "done":
            return False
        if not timedelta() <= now - latest.finished_at <= _FRESH:  # negative: the clock was set back
            return False
        if not await self._communities.communities([group_id], 1):
            return False
        until = max(now, await self._graph.facts.newest_record([group_id]) or now)
        since = ChangeFilter(group_ids=(group_id,), recorded_until=until, since=latest.queued_at, kinds=OTHER_CHANGES)
        return not (await self._changes.changes(since, Window(limit=1))).changes

    async def _done(
        self, group_id: str, task: Literal["saga", "communities"], subject: str, seconds: float, progress: Progress
    ) -> ExtractionReceipt:
        """The job's receipt; a waiting job is awaited, a failed one continues with the answers already paid for."""
        assert self._receipts is not None  # noqa: S101 asked before
        latest = next(iter(await self._queue.of_episodes([subject])), None)
        allow_requested_wait()  # a queued job goes on, so the call must not be reported as undone
        if latest is None or latest.state in {"done", "cancelled"}:
            job = ExtractJob(uuid=str(uuid4()), task=task, episode_uuid=subject)
            await self._queue.enqueue(group_id, [job])
        else:
            await self._queue.retry([latest.id])
        self._notify()
        receipt = await self._receipts.wait(subject, seconds, progress)
        if receipt is None or receipt.state == "cancelled":
            raise NotFound("The job was cancelled, or what it reads has gone. Nothing was changed.")
        if receipt.state == "failed":
            raise ModelRefused(
                f"It failed: {receipt.reason} Nothing was changed, and what was paid for is kept: a further call goes "
                f"on with it. {receipt.remedy or ''}".rstrip()
            )
        return receipt


def _later(receipt: ExtractionReceipt) -> str:
    """The message about a job that has not ended."""
    why = f" ({receipt.reason})" if receipt.reason else ""
    return (
        f"The model is still at it: {receipt.state}{why}. It goes on in the background; get_status with receipt "
        f"{receipt.episode_uuid} shows when it is done; repeating this call shows the result."
    )
