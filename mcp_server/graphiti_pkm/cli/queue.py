"""``queue``: shows and controls the extraction queue while servers run; it prints no content."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from graphiti_pkm.cli.directories import require_memory
from graphiti_pkm.cli.output import complain, say, say_json
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.ports.extraction import ExtractionRecord, ExtractionState, Usage
from graphiti_pkm.errors import InvalidInput, NotFound
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.journal.opening import journal_of
from graphiti_pkm.storage.journal.queue import SqliteExtractionQueue

_OF_ALL: dict[str, tuple[ExtractionState, ...]] = {"retry": ("failed", "queued"), "cancel": ("queued", "running")}
_LISTED: tuple[ExtractionState, ...] = ("queued", "running", "failed", "cancelled")
_PAGE = 500
_USAGE = 2


@dataclass(frozen=True)
class QueueOptions:
    """The options of the command; ``jobs`` are numbers of jobs or uuids of their episodes."""

    action: str
    jobs: Sequence[str] = ()
    groups: Sequence[str] = ()
    states: Sequence[ExtractionState] = ()
    limit: int = 50
    is_all: bool = False
    as_json: bool = False


def queue_options(parsed: argparse.Namespace) -> QueueOptions:
    """Read the options from the command line."""
    return QueueOptions(
        action=parsed.action,
        jobs=parsed.jobs,
        groups=parsed.group,
        states=parsed.state,
        limit=parsed.limit,
        is_all=parsed.all,
        as_json=parsed.json,
    )


def queue(settings: Settings, options: QueueOptions) -> int:
    """Run one action on the extraction queue."""
    wrong = _wrong_usage(options)
    if wrong:
        complain(wrong)
        return _USAGE
    require_memory(settings)

    async def run() -> int:
        journal = journal_of(settings)
        try:
            return await _DO[options.action](journal.extractions, settings, options)
        finally:
            await journal.close()

    return asyncio.run(run())


def _wrong_usage(options: QueueOptions) -> str:
    names_jobs = options.action in {"show", "retry", "cancel"}
    if options.limit < 1:
        return "--limit must be at least 1."
    if options.jobs and not names_jobs:
        return f"queue {options.action} takes no job. See `graphiti-pkm queue --help`."
    if options.is_all and (options.jobs or options.action not in _OF_ALL):
        return "--all can only be used with queue retry or queue cancel, and without jobs."
    if names_jobs and not options.jobs and not options.is_all:
        more = ", or --all" if options.action in _OF_ALL else ""
        return f"queue {options.action} needs a job: its number or the uuid of its episode{more}."
    return ""


async def _list(jobs: SqliteExtractionQueue, settings: Settings, options: QueueOptions) -> int:
    groups = options.groups or None
    states = options.states or _LISTED
    sizes, is_paused = await jobs.sizes(groups), await jobs.paused()
    today = await jobs.spent(datetime.now(settings.zone).date().isoformat())
    found = await jobs.page(states, groups, options.limit, None)
    if options.as_json:
        listed = [_as_json(job) for job in found]
        say_json({"paused": is_paused, "sizes": sizes, "today": today.model_dump(), "jobs": listed})
        return 0
    counts = ", ".join(f"{count} {state}" for state, count in sizes.items() if count)
    say(f"{counts or 'no jobs'}; today {_cost(today)}")
    if is_paused:
        say("The queue is paused. Resume it with `graphiti-pkm queue resume`.")
    width = max((len(job.group_id) for job in found), default=0)
    for job in found:
        say(f"{job.id:>7}  {job.state:<9}  {job.group_id:<{width}}  {job.episode_uuid}{_task(job)}  {_when(job)}")
        if job.reason:
            say(f"{'':7}  {_why(job)}")
    rest = sum(sizes[state] for state in dict.fromkeys(states)) - len(found)
    if rest > 0:
        say(f"{rest} more; use --limit to list them.")
    return 0


def _task(job: ExtractionRecord) -> str:
    """Of a job that reads no episode."""
    return "" if job.task == "episode" else f" ({job.task})"


async def _show(jobs: SqliteExtractionQueue, _: Settings, options: QueueOptions) -> int:
    found = await _named(jobs, options.jobs)
    if options.as_json:
        say_json({"jobs": [_as_json(job) for job in found]})
        return 0
    for job in found:
        say(f"job {job.id}: {job.state}")
        say(f"  group     {job.group_id}")
        say(f"  episode   {job.episode_uuid}{_task(job)}")
        say(f"  queued    {_time(job.queued_at)}")
        if job.state == "queued" and job.not_before > job.queued_at:
            say(f"  waits     until {_time(job.not_before)}")
        if job.finished_at is not None:
            say(f"  ended     {_time(job.finished_at)}")
        say(f"  attempts  {job.attempts} failed")
        say(f"  cost      {_cost(job.usage)}")
        if job.reason:
            say(f"  reason    {_why(job)}")
        if job.answer:
            stored = ", ".join(f"{count} {name}" for name, count in _stored(job).items())
            say(f"  stored    {stored or 'nothing new'}")
    return 0


async def _retry(jobs: SqliteExtractionQueue, _: Settings, options: QueueOptions) -> int:
    wanted = await _wanted(jobs, options)
    count = await jobs.retry(wanted)
    if count or options.is_all:
        say(f"{counted(count, 'job')} queued again for a server with a model. Answers that were paid for are kept.")
    return _report_skipped(options, len(wanted) - count, "only failed, cancelled and waiting jobs can be retried")


async def _cancel(jobs: SqliteExtractionQueue, _: Settings, options: QueueOptions) -> int:
    wanted = await _wanted(jobs, options)
    count = await jobs.cancel(wanted)
    if count or options.is_all:
        say(f"{counted(count, 'job')} cancelled; the episodes stay.")
    return _report_skipped(
        options, len(wanted) - count, "only queued and running jobs without a result can be cancelled"
    )


async def _pause(jobs: SqliteExtractionQueue, _: Settings, options: QueueOptions) -> int:
    is_paused = options.action == "pause"
    await jobs.pause(paused=is_paused)
    waiting = (await jobs.sizes(None))["queued"]
    if is_paused:
        say(f"Paused with {counted(waiting, 'job')} waiting. Running jobs finish; episodes are still stored and found.")
    else:
        say(f"Resumed with {counted(waiting, 'job')} waiting for a server with a model.")
    return 0


_DO: dict[str, Callable[[SqliteExtractionQueue, Settings, QueueOptions], Awaitable[int]]] = {
    "list": _list,
    "show": _show,
    "retry": _retry,
    "cancel": _cancel,
    "pause": _pause,
    "resume": _pause,
}


async def _wanted(jobs: SqliteExtractionQueue, options: QueueOptions) -> list[int]:
    if not options.is_all:
        return [job.id for job in await _named(jobs, options.jobs)]
    states, groups = options.states or _OF_ALL[options.action], options.groups or None
    wanted: list[int] = []
    while page := await jobs.page(states, groups, _PAGE, wanted[-1] if wanted else None):
        wanted += [job.id for job in page]
    return wanted


async def _named(jobs: SqliteExtractionQueue, names: Sequence[str]) -> list[ExtractionRecord]:
    """The named jobs without duplicates. Raises NotFound, InvalidInput."""
    numbers = [int(name) for name in names if name.isdecimal()]
    uuids = [_uuid(name) for name in names if not name.isdecimal()]
    found = {job.id: job for job in (*await jobs.find(numbers), *await jobs.of_episodes(uuids))}
    known = {str(job_id) for job_id in found} | {job.episode_uuid for job in found.values()}
    missing = [str(name) for name in (*numbers, *uuids) if str(name) not in known]
    if missing:
        raise NotFound(
            f"There is no job {', '.join(missing)}. Nothing was changed. `graphiti-pkm queue list` lists all jobs."
        )
    return list(found.values())


def _uuid(name: str) -> str:
    try:
        return str(UUID(name))
    except ValueError:
        raise InvalidInput(
            f"{name!a} is neither the number of a job nor the full uuid of an episode. Nothing was changed."
        ) from None


def _report_skipped(options: QueueOptions, rest: int, why: str) -> int:
    """A job that was named and is left as it is counts as a failure."""
    if options.is_all or not rest:
        return 0
    complain(f"{counted(rest, 'job')} were not changed: {why}.")
    return 1


def _as_json(job: ExtractionRecord) -> dict[str, object]:
    return {**job.model_dump(exclude={"answer"}), "stored": _stored(job)}


def _stored(job: ExtractionRecord) -> dict[str, int]:
    """Only counts, because the answer contains words of the memory."""
    return {name: len(value) for name, value in job.answer.items() if isinstance(value, list) and value}


def _when(job: ExtractionRecord) -> str:
    if job.finished_at is not None:
        return f"ended {_time(job.finished_at)}"
    if job.state == "queued" and job.not_before > job.queued_at:
        return f"not before {_time(job.not_before)}"
    return f"queued {_time(job.queued_at)}"


def _why(job: ExtractionRecord) -> str:
    return f"{job.reason} -> {job.remedy}" if job.remedy else job.reason


def _cost(usage: Usage) -> str:
    return f"{usage.calls} call(s), {usage.prompt_tokens} + {usage.completion_tokens} tokens"


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
