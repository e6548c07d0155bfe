"""Lists the episodes that mention an entity, in time."""

import asyncio
from collections import Counter
from typing import Literal, TypeAlias
from zoneinfo import ZoneInfo

from graphiti_pkm.capabilities.explore.requests import GetEntityTimeline
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import TimelineResponse
from graphiti_pkm.core.model.queries import EpisodeFilter, TimelineSummary, Window
from graphiti_pkm.core.model.times import iso, month_key
from graphiti_pkm.core.reading.paging import CONTENT, TIMELINE, budget, fit, text_size
from graphiti_pkm.core.reading.reader import Anchor, Reader, Start
from graphiti_pkm.core.reading.views import clipped, item_sizes, read_on

Order: TypeAlias = Literal["newest_window", "oldest_first"]

_NEWEST = 1_000
"""Episodes whose other entities are counted."""
_BESIDE = 10
_NAME = 60
_MONTHS = 120
"""Months counted individually; older ones are counted by year."""
_YEAR = len("2026")


class Timelines(Reader):
    """``get_entity_timeline``."""

    async def get_entity_timeline(self, caller: Caller, request: GetEntityTimeline) -> TimelineResponse:
        """Episodes oldest first: the newest window, whose cursor pages to older windows, or from the start.

        Without ``group_ids`` the entity's own group is read. An unknown entity gives an empty answer that says so.
        """
        limit, chars = request.max_episodes, request.max_content_chars
        after = self._instant("valid_after", request.valid_after)
        before = self._instant("valid_before", request.valid_before)
        anchor = await self._anchor(caller, request.entity_uuid, request.group_ids)
        start = self._start(
            caller,
            request,
            request.cursor,
            entity_uuid=anchor.asked,
            group_ids=anchor.group_ids,
            valid_after=after,
            valid_before=before,
        )
        linking = await self._linking(anchor)  # before the counts: once it is None, they are final
        wanted = EpisodeFilter(
            group_ids=anchor.group_ids, recorded_until=start.recorded_until, valid_after=after, valid_before=before
        )
        newest = request.order == "newest_window"
        page, summary, linking, beside = await asyncio.gather(
            self._graph.episodes.timeline(
                anchor.uuid, wanted, Window(limit=limit + 1, after=start.after, newest=newest, backwards=True)
            ),
            self._graph.episodes.timeline_summary(anchor.uuid, wanted, self._context.settings.zone),
            self._linking(anchor),
            self._beside(anchor, wanted, start),
        )
        months = mentions_per_month(summary, self._context.settings.zone) if start.after is None else None
        room = budget((TIMELINE, limit), (CONTENT, chars)) - text_size([months or {}, beside or {}])
        wrong = await self._corrections(page.episodes[:limit], anchor.group_ids)
        tellers = await self._tellers(caller, page.episodes[:limit])
        views = [
            self._views.episode_start(episode, chars, room // 2).model_copy(
                update={"corrected_facts": wrong.get(episode.uuid), "told_by": tellers.get(episode.uuid)}
            )
            for episode in page.episodes[:limit]
        ]
        kept = fit(item_sizes(views, anchor.group_ids), room)
        more = kept < len(page.episodes)
        shown = views[:kept]
        return TimelineResponse(
            message=await self._timeline_message(anchor, kept, page.total),
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, anchor.group_ids),
            scope=await self._scope(caller, anchor.group_ids, empty=not page.total, note=read_on(shown)),
            episodes=shown[::-1] if newest else shown,
            entity=anchor.entity and clipped(anchor.entity.name, 200),
            first_mention=summary.first and iso(summary.first),
            last_mention=summary.last and iso(summary.last),
            mentions_per_month=months,
            mentioned_with=beside,
            linking=linking,
        )

    async def _beside(self, anchor: Anchor, wanted: EpisodeFilter, start: Start) -> dict[str, int] | None:
        """Other entities of the newest episodes, for page one."""
        if start.after is not None:
            return None
        found = await self._graph.episodes.mentioned_with(anchor.uuid, wanted, _NEWEST, _BESIDE)
        names: dict[str, int] = {}
        for one in found:
            name = clipped(one.name, _NAME)
            names[name] = names.get(name, 0) + one.episodes
        return names

    async def _linking(self, anchor: Anchor) -> str | None:
        if anchor.entity is None or not await self._context.journal.pending_links([anchor.uuid]):
            return None
        return "Earlier episodes that name it are still being linked: total and counts may grow. Ask again shortly."

    async def _timeline_message(self, anchor: Anchor, count: int, total: int) -> str:
        if count or total:
            return f"Found {count} episode(s) mentioning entity"
        none = f"No episodes found mentioning entity {anchor.asked}"
        if anchor.entity is None:
            return f"{none}: {anchor.unknown}."
        mentions, facts = (await self._graph.records.entity_support([anchor.uuid])).get(anchor.uuid, (0, 0))
        name = clipped(anchor.entity.name, 200)
        if mentions:
            return f"{none}: {name} exists and has {mentions} mention(s), none of them under these filters and groups."
        seen = f"; get_entity_connections shows its {facts} fact(s)" if facts else ""
        return f"{none}: {name} exists but no episode mentions it{seen}."


def mentions_per_month(summary: TimelineSummary, zone: ZoneInfo) -> dict[str, int]:
    """Mentions counted by month in ``zone``, oldest first; of more than 120 months, the older ones by year."""
    months: Counter[str] = Counter()
    for instant, count in summary.counts:
        months[month_key(instant, zone)] += count
    ordered = sorted(months)
    counted: Counter[str] = Counter()
    for month in ordered:
        counted[month if month in ordered[-_MONTHS:] else month[:_YEAR]] += months[month]
    return dict(counted)
