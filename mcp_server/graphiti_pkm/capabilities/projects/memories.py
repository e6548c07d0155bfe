"""``get_project_memories``: what matters to a project, from its own entries and from elsewhere."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from graphiti_pkm.capabilities.projects.lookups import ProjectLookups, status_shown
from graphiti_pkm.capabilities.projects.models import MemoryView, ProjectMemoriesResponse, RelevanceTerms
from graphiti_pkm.capabilities.projects.requests import GetProjectMemories
from graphiti_pkm.core.facts.statuses import keys_of_meaning
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.projects import ProjectFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.relevance import SCALE, RelevanceFilter, Relevant, RelevantPart, terms_of
from graphiti_pkm.core.model.times import iso, show_time
from graphiti_pkm.core.reading.paging import MEMORIES, Key, budget, fit
from graphiti_pkm.core.reading.views import clipped, item_sizes

_NAME = 200
_ARCHIVED = 200
_OVER = -1
"""In the place of a score in a cursor: nothing of the part is left."""
_DAY = 86_400
_DAY_CHARS = len("2026-03-14")
_NEAREST = 5
"""Entities that are named where none reaches the threshold."""
_HUNDREDTH = SCALE // 100


class Memories(ProjectLookups):
    """Relevance is computed for the instant of page one."""

    async def get_project_memories(self, caller: Caller, request: GetProjectMemories) -> ProjectMemoriesResponse:
        """Both parts by relevance, then name; one cursor pages through both. Raises NotFound."""
        row = await self._project(caller, request.project_id, request.group_id)
        project, groups = row.project, (row.project.group_id,)
        start = self._start(caller, request, request.cursor, project_id=project.uuid, group_id=groups)
        wanted = RelevanceFilter(
            project_uuid=project.uuid,
            group_id=project.group_id,
            now=start.now,
            recorded_until=start.recorded_until,
            threshold=round(request.relevance_threshold * SCALE),
            pins=project.pins,
            archived=await self._archived(groups, start.now),
        )
        keys = _keys(start.after)
        primary, secondary = (
            None if key is not None and key[0] == _OVER else Window(limit=request.limit + 1, after=key) for key in keys
        )
        parts = await self._stored.relevant(wanted, primary, secondary if request.include_cross_project else None)
        room = budget((MEMORIES, request.limit))
        shown, ends = [], list[Key]()
        for part, key in zip((parts.primary, parts.secondary), keys, strict=True):
            views = await self._memories(part, request.limit, parts.most_mentions, start.now, project.group_id)
            sizes = list(item_sizes(views, groups))
            kept = fit(sizes, room)
            room -= sum(sizes[:kept])
            shown.append(views[:kept])
            ends.append(_end(part, kept, key))
        more = any(end[0] != _OVER for end in ends)
        totals = (parts.primary.total, parts.secondary.total if request.include_cross_project else 0)
        below = parts.primary.below + (parts.secondary.below if request.include_cross_project else 0)
        key = (*ends[0], *ends[1]) if more else None
        nearest = await self._nearest(wanted, request) if below and not sum(totals) and request.cursor is None else []
        return ProjectMemoriesResponse(
            message=_message(clipped(row.name, _NAME), totals, below)
            + self._why_none(nearest, request.relevance_threshold, row.last_entry),
            total=sum(totals),
            returned=len(shown[0]) + len(shown[1]),
            truncated=more,
            next_cursor=await self._next(start, key, groups),
            scope=await self._scope(caller, groups, empty=not sum(totals)),
            project_id=project.uuid,
            project=clipped(row.name, _NAME),
            status=status_shown(row.status),
            primary=shown[0],
            primary_total=totals[0],
            secondary=shown[1],
            secondary_total=totals[1],
            below_threshold=below,
            nearest=[f"{clipped(one.name, _NAME)} {_rounded(one)}" for one in nearest] or None,
        )

    async def _nearest(self, wanted: RelevanceFilter, request: GetProjectMemories) -> list[Relevant]:
        """The most relevant of what does not reach the threshold."""
        window = Window(limit=_NEAREST)
        every = wanted.model_copy(update={"threshold": 0})
        parts = await self._stored.relevant(every, window, window if request.include_cross_project else None)
        found = sorted((*parts.primary.entities, *parts.secondary.entities), key=lambda one: -one.score)
        return found[:_NEAREST]

    def _why_none(self, nearest: Sequence[Relevant], threshold: float, last: datetime | None) -> str:
        """What to do where nothing reaches the threshold: nothing does in a project that has been idle for months."""
        if not nearest:
            return ""
        since = f" (last entry {show_time(last, self._context.settings.zone)[:_DAY_CHARS]})" if last else ""
        return (
            f": nothing reaches {threshold}{since}. relevance_threshold={_rounded(nearest[-1])} lists those in nearest"
        )

    async def _archived(self, groups: tuple[str, ...], now: datetime) -> tuple[str, ...]:
        wanted = ProjectFilter(group_ids=groups, now=now, statuses=keys_of_meaning("archived"))
        page = await self._stored.projects(wanted, Window(limit=_ARCHIVED))
        return tuple(one.project.uuid for one in page.projects)

    async def _memories(self, part: RelevantPart, limit: int, most: int, now: datetime, group: str) -> list[MemoryView]:
        entities = part.entities[:limit]
        projects = await self._stored.projects_of([one.uuid for one in entities], group)
        return [_view(one, most, now, projects) for one in entities]


def _view(one: Relevant, most: int, now: datetime, projects: Mapping[str, Sequence[str]]) -> MemoryView:
    days = None if one.last_active is None else (now - one.last_active).total_seconds() / _DAY
    terms = terms_of(one.mentions, most, one.connections, days, is_pinned=one.is_pinned)
    return MemoryView(
        uuid=one.uuid,
        name=clipped(one.name, _NAME),
        type=one.label,
        relevance=round(one.score / SCALE, 3),
        terms=RelevanceTerms(**{name: round(value, 3) for name, value in terms._asdict().items()}),
        mentions=one.mentions,
        last_seen=iso(one.last_active) if one.last_active else None,
        projects=[clipped(name, _NAME) for name in projects.get(one.uuid, ())] or None,
    )


def _keys(after: Key | None) -> tuple[Key | None, Key | None]:
    """Where each part goes on; None: from its start."""
    if after is None:
        return None, None
    return after[:3], after[3:]


def _end(part: RelevantPart, kept: int, key: Key | None) -> Key:
    """The key after what is shown of a part."""
    if kept == len(part.entities):
        return (_OVER, "", "")
    if not kept:
        return key or (_OVER, "", "")
    last = part.entities[kept - 1]
    return (last.score, last.name, last.uuid)


def _rounded(one: Relevant) -> float:
    """Relevance in hundredths, rounded down, so that it is a threshold that the entity reaches."""
    return one.score // _HUNDREDTH / 100


def _message(name: str, totals: tuple[int, int], below: int) -> str:
    found = f"{name}: {totals[0]} memories of its own entries, {totals[1]} of elsewhere"
    return f"{found}; {below} more are below the threshold" if below else found
