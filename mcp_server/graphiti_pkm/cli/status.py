"""``status``: the answer of ``get_status`` for a person."""

import asyncio

from graphiti_pkm.capabilities.status.models import StatusResponse
from graphiti_pkm.capabilities.status.requests import GetStatus
from graphiti_pkm.capabilities.status.tools import STATUS
from graphiti_pkm.cli.directories import holds_memory, no_memory
from graphiti_pkm.cli.opening import open_without_model
from graphiti_pkm.cli.output import say, say_json
from graphiti_pkm.core.identity.groups import is_local
from graphiti_pkm.core.model.access import LOCAL
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.reading.views import size_in_words
from graphiti_pkm.errors import NotFound
from graphiti_pkm.settings.loader import Settings
from graphiti_pkm.storage.former_memory import must_fit


def status(settings: Settings, *, as_json: bool) -> int:
    """Print the state of the memory; returns 0 if it works, 1 if it does not or there is no memory."""
    if not holds_memory(settings):
        must_fit(settings)
        return _report_no_memory(settings, as_json=as_json)
    found, others = asyncio.run(_ask(settings))
    if as_json:
        # The uptime of this command says nothing about the memory.
        shown = found.model_dump(exclude={"uptime_seconds"})
        say_json({**shown, "others": others})
    else:
        _print(found, others)
    return 1 if found.status == "unavailable" else 0


def _report_no_memory(settings: Settings, *, as_json: bool) -> int:
    message = no_memory(settings.data_dir)
    if not as_json:
        raise NotFound(message)
    say_json({"status": "unavailable", "message": message, "data_directory": settings.data_dir})
    return 1


async def _ask(settings: Settings) -> tuple[StatusResponse, str | None]:
    """The status with the total size of the groups of people with tokens, which are not listed one by one."""
    async with open_without_model(settings) as memory:
        found = await memory.services[STATUS].get_status(LOCAL, GetStatus())
        others = await _others(memory.context.graph) if found.status != "unavailable" else None
        shown = found.model_copy(update={"extraction_model": settings.llm_model})
        return shown, others


async def _others(graph: Graph) -> str | None:
    stored = [group for group in await graph.records.groups() if not is_local(group)]
    if not stored:
        return None
    sizes = (await graph.records.group_sizes(stored)).values()
    whole = GroupSize(**{kind: sum(getattr(size, kind) for size in sizes) for kind in GroupSize.model_fields})
    return f"{counted(len(stored), 'group')} of people with tokens: {size_in_words(whole)}"


def _print(found: StatusResponse, others: str | None) -> None:
    say(f"{found.status}: {found.message}")
    say(f"  version   {found.version}")
    say(f"  data      {found.data_directory}")
    say(f"  database  {found.backend}")
    say(f"  search    {found.search}")
    width = max(map(len, found.groups), default=0)
    for position, (group, size) in enumerate(found.groups.items()):
        say(f"  {'' if position else 'groups':<8}  {group:<{width}}  {size}")
    if not found.groups:
        say(f"  groups    {'none of the local user' if others else 'none yet'}")
    if others:
        say(f"  others    {others}")
    say(f"  writes    {_counts(found.writes)}")
    say(f"  jobs      {_counts(found.jobs)}")
    if found.extraction_model or found.extractions:
        say(f"  model     {found.extraction_model or 'none configured'}, episodes: {_counts(found.extractions)}")
    for when, cost in found.spent.items():
        say(f"  cost      {when}: {cost}")
    for failed in found.extraction_failures:
        remedy = f" -> {failed.remedy}" if failed.remedy else ""
        say(f"  ! episode {failed.episode_uuid} was not read: {failed.reason}{remedy}")
    for failure in found.failures:
        say(f"  ! {failure}")


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"
