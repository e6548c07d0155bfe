"""Reads stored episodes again with a model: chosen, estimated, queued. Nothing is ever deleted."""

from dataclasses import dataclass
from datetime import datetime

from graphiti_pkm.capabilities.remember.write_plan import extract_job
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.extraction_cost import estimated_calls
from graphiti_pkm.core.model.job_records import ExtractJob
from graphiti_pkm.core.model.queries import EpisodeFilter, Window
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.ports.extraction import ExtractionQueue
from graphiti_pkm.errors import NotFound

_PAGE = 200
_TOKENS_A_CALL = 1_500
"""Tokens of Graphiti's own prompt texts, and of an answer."""
_CHARACTERS_A_TOKEN = 4


@dataclass(frozen=True)
class ChosenEpisode:
    """An episode that is to be read again, without its text."""

    uuid: str
    group_id: str
    characters: int


@dataclass(frozen=True)
class Choice:
    """The episodes to read, oldest first, and the expected effort."""

    episodes: tuple[ChosenEpisode, ...]
    part: int
    """Maximum characters that one call reads."""
    already_queued: int = 0
    """Episodes left out because they are queued already."""

    @property
    def characters(self) -> int:
        return sum(one.characters for one in self.episodes)

    @property
    def calls(self) -> tuple[int, int]:
        """The fewest calls, and the likely number."""
        each = [estimated_calls(one.characters, self.part) for one in self.episodes]
        return sum(fewest for fewest, _ in each), sum(likely for _, likely in each)

    @property
    def tokens(self) -> int:
        """Approximate tokens: a text is part of most of its calls."""
        return sum(
            estimated_calls(one.characters, self.part)[1]
            * (_TOKENS_A_CALL + min(one.characters, self.part) // _CHARACTERS_A_TOKEN)
            for one in self.episodes
        )


class Reextracting:
    """``graphiti-pkm reextract``."""

    def __init__(self, context: Context, groups: Groups, queue: ExtractionQueue) -> None:
        self._graph = context.graph
        self._journal = context.journal
        self._groups = groups
        self._queue = queue
        self._part = context.settings.extraction_part

    async def one(self, caller: Caller, uuid: str) -> Choice:
        """One episode, by its uuid or the beginning of it. Raises NotFound, InvalidInput, AmbiguousUuid."""
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "episode", uuid)
        found = await self._graph.records.get_episodes([whole], visible)
        if not found:
            raise unknown("episode", whole)
        return await self._without_queued([_chosen(found[0])])

    async def since(self, caller: Caller, start: datetime, group: str | None) -> Choice:
        """All episodes of a group, or of all but staging and archives, at or after an instant. Raises NotFound."""
        visible = await self._groups.visible(caller)
        unasked = await self._groups.visible_unasked(caller)
        wanted = (self._groups.one(caller, group),) if group is not None else unasked
        if not set(wanted) <= set(visible):
            raise NotFound(f"There is no group '{group}' that holds anything.")
        chosen: list[ChosenEpisode] = []
        after = None
        while wanted:
            page = await self._graph.episodes.recent_episodes(
                EpisodeFilter(group_ids=wanted, valid_after=start), Window(limit=_PAGE, after=after, newest=False)
            )
            chosen += map(_chosen, page.episodes)
            if len(page.episodes) < _PAGE:
                break
            after = page.keys[-1]
        return await self._without_queued(chosen)

    async def enqueue(self, choice: Choice) -> list[int]:
        """Queue them with the instructions of their add_memory; returns the numbers of the jobs."""
        by_group: dict[str, list[ExtractJob]] = {}
        for one in choice.episodes:
            job = extract_job(await self._journal.steering(one.uuid), one.uuid)
            by_group.setdefault(one.group_id, []).append(job)
        return [job for group, jobs in by_group.items() for job in await self._queue.enqueue(group, jobs)]

    async def _without_queued(self, chosen: list[ChosenEpisode]) -> Choice:
        open_jobs: set[str] = set()
        for start in range(0, len(chosen), _PAGE):
            jobs = await self._queue.of_episodes([one.uuid for one in chosen[start : start + _PAGE]])
            open_jobs |= {job.episode_uuid for job in jobs if job.state in {"queued", "running"}}
        left = tuple(one for one in chosen if one.uuid not in open_jobs)
        return Choice(left, self._part, len(chosen) - len(left))


def _chosen(episode: Episode) -> ChosenEpisode:
    return ChosenEpisode(episode.uuid, episode.group_id, len(episode.content))
