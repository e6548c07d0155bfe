"""``reextract``: a model reads stored episodes again; facts that it no longer finds are not deleted."""

import argparse
import asyncio
from collections.abc import Sequence

from graphiti_pkm.bootstrap import Memory, open_memory
from graphiti_pkm.capabilities.extraction.capability import EXTRACTING
from graphiti_pkm.capabilities.extraction.reextracting import Choice, Reextracting
from graphiti_pkm.cli.directories import require_memory
from graphiti_pkm.cli.opening import local_user, open_without_model
from graphiti_pkm.cli.output import complain, say, say_json
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.core.ports.extraction import ExtractionRecord
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import Settings

_LOOK_SECONDS = 0.5
_MILLION = 1_000_000
_ENDED = frozenset({"done", "failed", "cancelled"})


def reextract(settings: Settings, options: argparse.Namespace) -> int:
    """Queue episodes, or only estimate the cost; with ``wait``, read them."""
    user = local_user(settings, "reextract", "reader" if options.dry_run else "contributor")
    require_memory(settings)
    if options.wait and not options.dry_run and not settings.llm_model:
        raise ConfigurationError(
            "No model is configured: set llm_model, or omit --wait and let a server with a model read them."
        )
    return asyncio.run(_reextract(user, settings, options))


async def _reextract(user: Caller, settings: Settings, options: argparse.Namespace) -> int:
    is_worker = options.wait and not options.dry_run
    async with open_memory(settings) if is_worker else open_without_model(settings) as memory:
        service = Reextracting(memory.context, Groups(memory.context.graph, settings), memory.journal.extractions)
        if options.episode is not None:
            choice = await service.one(user, options.episode)
        else:
            start = parse_instant(options.since, settings.zone, "--since")
            choice = await service.since(user, start, options.group)
        if options.dry_run:
            _print_estimate(choice, settings, as_json=options.json)
            return 0
        jobs = await service.enqueue(choice)
        if options.wait:
            if (extracting := memory.services.get(EXTRACTING)) is not None:
                extracting.notify()
            return await _see_through(memory, jobs, as_json=options.json)
    if options.json:
        say_json({"jobs": jobs, "already_queued": choice.already_queued})
    else:
        say(f"Queued {len(jobs)} episode(s){_left_out(choice)}. A running server with a model reads them;")
        say("`graphiti-pkm queue list` shows the progress.")
    return 0


def _print_estimate(choice: Choice, settings: Settings, *, as_json: bool) -> None:
    fewest, likely = choice.calls
    price = settings.llm_price_input
    cost = None if price is None else round(choice.tokens * price / _MILLION, 4)
    if as_json:
        say_json(
            {
                "episodes": len(choice.episodes),
                "already_queued": choice.already_queued,
                "characters": choice.characters,
                "calls": {"fewest": fewest, "likely": likely},
                "tokens": choice.tokens,
                "cost": cost,
            }
        )
        return
    say(f"{len(choice.episodes)} episode(s), {choice.characters:,} characters{_left_out(choice)}.")
    costs = "" if cost is None else f", about {cost} for them at llm_price_input"
    say(f"{fewest:,} to about {likely:,} model calls, roughly {choice.tokens:,} tokens{costs}. Nothing was queued.")


def _left_out(choice: Choice) -> str:
    return f" ({choice.already_queued} more are already queued)" if choice.already_queued else ""


async def _see_through(memory: Memory, jobs: Sequence[int], *, as_json: bool) -> int:
    """Read the episodes, or wait for a server to do it; returns 1 if any was not read."""
    queue = memory.journal.extractions
    if jobs and await queue.paused():
        complain(
            f"The queue is paused, and {len(jobs)} episode(s) are waiting. Resume it with `graphiti-pkm queue resume`."
        )
        return 1
    ended: dict[int, ExtractionRecord] = {}
    reported: dict[int, str] = {}
    while len(ended) < len(jobs):
        extracting = memory.services.get(EXTRACTING)
        changed = extracting.changed.next if extracting else asyncio.Event()
        for job in await queue.find([one for one in jobs if one not in ended]):
            if job.state in _ENDED:
                ended[job.id] = job
                if not as_json:
                    say(f"{job.episode_uuid}  {_outcome(job)}")
            elif job.reason and reported.get(job.id) != job.reason:
                reported[job.id] = job.reason
                complain(f"{job.episode_uuid} is waiting: {job.reason}")
        if len(ended) < len(jobs):
            await wait_for_any(changed, seconds=_LOOK_SECONDS)
    if as_json:
        say_json({"jobs": [{"episode_uuid": job.episode_uuid, **_result(job)} for job in ended.values()]})
    return 0 if all(job.state == "done" for job in ended.values()) else 1


def _result(job: ExtractionRecord) -> dict[str, object]:
    """State and uuids, but no words of the memory."""
    if job.state != "done":
        return {"state": job.state, "reason": job.reason, "remedy": job.remedy}
    return {"state": job.state, **{name: _uuids(job, name) for name in ("facts", "retired", "proposed", "not_found")}}


def _uuids(job: ExtractionRecord, name: str) -> list[str]:
    listed = job.answer.get(name)
    return [str(one["uuid"]) for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []


def _outcome(job: ExtractionRecord) -> str:
    if job.state != "done":
        return f"{job.state}: {job.reason}{f' -> {job.remedy}' if job.remedy else ''}"
    facts = job.answer.get("facts")
    outcomes = [one.get("outcome") for one in facts if isinstance(one, dict)] if isinstance(facts, list) else []
    counts = {
        "new": outcomes.count("created"),
        "known": outcomes.count("known"),
        "ended": len(_uuids(job, "retired")),
        "endings proposed": len(_uuids(job, "proposed")),
        "no longer found, kept": len(_uuids(job, "not_found")),
    }
    return "done: facts " + (", ".join(f"{count} {what}" for what, count in counts.items() if count) or "none")
