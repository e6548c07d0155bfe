"""Reads by uuid or by recency: episodes, their entities, one fact, one entity."""

from collections.abc import Sequence

from graphiti_pkm.capabilities.explore.requests import GetEntityEdge, GetEpisodeEntities, GetEpisodes
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import (
    EpisodeEntitiesResponse,
    EpisodeSearchResponse,
    EpisodeView,
    FactResponse,
    NodeView,
)
from graphiti_pkm.core.model.queries import EpisodeFilter, EpisodePage, Window
from graphiti_pkm.core.reading.paging import CONTENT, ENTITIES, EPISODES, budget, fit
from graphiti_pkm.core.reading.reader import Reader, Start
from graphiti_pkm.core.reading.views import LISTED_SUMMARY, Replacement, cut_summaries, item_sizes, read_on
from graphiti_pkm.errors import InvalidInput

_ASKED_EPISODES = 100


class Lookups(Reader):
    """``get_episodes``, ``get_episode_entities``, ``get_entity_edge`` and what resources read."""

    async def get_episodes(self, caller: Caller, request: GetEpisodes) -> EpisodeSearchResponse:
        """The episodes of a period by valid_at, in the order asked; or given ones, to read on in long contents."""
        limit, chars = request.max_episodes, request.max_content_chars
        after = self._instant("valid_after", request.valid_after)
        before = self._instant("valid_before", request.valid_before)
        is_narrowed = after is not None or before is not None or request.order == "oldest"
        if request.episode_uuids and is_narrowed:
            raise InvalidInput(
                "valid_after, valid_before and order choose episodes of a period; leave them out with episode_uuids."
            )
        if request.content_offset and not request.episode_uuids:
            raise InvalidInput("content_offset must be 0 or more and needs episode_uuids: whose content to read on.")
        searched = self._groups.many(caller, request.group_ids)
        asked: list[str] | None = None
        if request.episode_uuids:
            searched = searched or await self._groups.visible(caller)
            asked = await self._resolved(searched, request.episode_uuids)
        searched = searched or (self._groups.one(caller, None),)
        start = self._start(
            caller,
            request,
            request.cursor,
            group_ids=searched,
            episode_uuids=asked,
            valid_after=after,
            valid_before=before,
        )
        if asked is None:
            wanted = EpisodeFilter(
                group_ids=searched, recorded_until=start.recorded_until, valid_after=after, valid_before=before
            )
            window = Window(limit=limit + 1, after=start.after, newest=request.order == "newest")
            page = await self._graph.episodes.recent_episodes(wanted, window)
        else:
            page = await self._asked(searched, asked, start)
        if asked and not page.total:
            raise unknown("episode", asked[0])
        room = budget((EPISODES, limit), (CONTENT, chars))
        wrong = await self._corrections(page.episodes[:limit], searched)
        tellers = await self._tellers(caller, page.episodes[:limit])
        superseded = await self._superseded_sections(page.episodes[:limit], searched)
        views = [
            self._views.episode_start(item, chars, room // 2, request.content_offset).model_copy(
                update={
                    "corrected_facts": wrong.get(item.uuid),
                    "told_by": tellers.get(item.uuid),
                    "superseded": True if item.uuid in superseded else None,
                }
            )
            for item in page.episodes[:limit]
        ]
        kept = fit(item_sizes(views, searched), room)
        more = kept < len(page.episodes)
        shown = views[:kept]
        return EpisodeSearchResponse(
            message=_episodes_message(request, kept, page.total, asked),
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, searched),
            scope=await self._scope(
                caller,
                tuple(dict.fromkeys(item.group_id for item in page.episodes)) if asked else searched,
                empty=not page.total,
                note=read_on(shown, request.content_offset),
            ),
            episodes=shown,
        )

    async def get_episode_entities(self, caller: Caller, request: GetEpisodeEntities) -> EpisodeEntitiesResponse:
        """The distinct entities that these episodes mention, by name."""
        limit = request.max_entities
        if not request.episode_uuids:
            raise InvalidInput("episode_uuids is empty; search_episodes and get_episodes find episode uuids.")
        visible = await self._groups.visible(caller)
        asked = await self._resolved(visible, request.episode_uuids)
        start = self._start(caller, request, request.cursor, episode_uuids=asked)
        known = await self._graph.records.get_episodes(asked, visible)
        window = Window(limit=limit + 1, after=start.after)
        found, total = await self._graph.episodes.episode_entities([item.uuid for item in known], visible, window)
        ended = await self._ended(found[:limit], None, visible, self._context.now())
        views = [
            self._views.node(entity, ended=ended.get(entity.uuid), max_summary=LISTED_SUMMARY)
            for entity in found[:limit]
        ]
        kept = fit(item_sizes(views, visible), budget((ENTITIES, limit)))
        more = kept < len(found)
        last = found[kept - 1] if more else None
        groups = tuple(dict.fromkeys(item.group_id for item in known)) or visible
        return EpisodeEntitiesResponse(
            message=f"Found {kept} entity(ies) mentioned by {len(known)} episode(s)",
            total=total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, (last.name, last.uuid) if last else None, groups),
            scope=await self._scope(caller, groups, empty=not total, note=cut_summaries(found[:kept])),
            entities=views[:kept],
            unknown_episodes=[uuid for uuid in asked if uuid not in {item.uuid for item in known}] or None,
        )

    async def get_entity_edge(self, caller: Caller, request: GetEntityEdge) -> FactResponse:
        """One fact. Raises NotFound."""
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "fact", request.uuid)
        found = await self._graph.records.get_facts([whole], visible)
        if not found:
            raise unknown("fact", whole)
        by = (await self._replacements(found, visible)).get(whole)
        return FactResponse(
            message=self._views.sentence(found[0]),
            fact=self._views.fact(found[0], self._context.now(), replaced_by=by and Replacement(by.uuid)),
            replacement=self._views.sentence(by.fact) if by and by.fact else None,
        )

    async def get_entity(self, caller: Caller, uuid: str) -> NodeView:
        """One entity with its aliases and newest current facts. Raises NotFound."""
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "entity", uuid)
        found = await self._graph.records.get_entities([whole], visible)
        if not found:
            raise unknown("entity", whole)
        (view,) = await self._node_views(found, visible, self._context.now(), whole=[whole])
        return view

    async def get_episode(self, caller: Caller, uuid: str) -> EpisodeView:
        """One episode with up to 20,000 characters of its content. Raises NotFound."""
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "episode", uuid)
        found = await self._graph.records.get_episodes([whole], visible)
        if not found:
            raise unknown("episode", whole)
        view = self._views.episode_start(found[0], CONTENT.maximum, budget((CONTENT, CONTENT.maximum)))
        return view.model_copy(update={"told_by": (await self._tellers(caller, found)).get(whole)})

    async def _resolved(self, group_ids: Sequence[str], texts: Sequence[str]) -> list[str]:
        if len(texts) > _ASKED_EPISODES:
            raise InvalidInput(f"episode_uuids may hold at most {_ASKED_EPISODES} uuids, not {len(texts)}.")
        return list(dict.fromkeys([await resolve_within(self._graph, group_ids, "episode", text) for text in texts]))

    async def _asked(self, group_ids: Sequence[str], uuids: Sequence[str], start: Start) -> EpisodePage:
        """The episodes asked for, in that order, after the last one seen."""
        found = await self._graph.records.get_episodes(uuids, group_ids)
        seen = uuids.index(str(start.after[0])) if start.after and start.after[0] in uuids else -1
        rest = [item for item in found if uuids.index(item.uuid) > seen]
        return EpisodePage(episodes=tuple(rest), keys=tuple((item.uuid,) for item in rest), total=len(found))


def _episodes_message(request: GetEpisodes, count: int, total: int, asked: Sequence[str] | None) -> str:
    if asked is not None:
        missing = f"; {len(asked) - total} of the uuids asked for name no episode" if total < len(asked) else ""
        return f"Found {count} of {len(asked)} episode(s) asked for{missing}"
    if count:
        return f"Found {count} of {total} episode(s), {request.order} first"
    if total:
        return "No more episodes"
    is_period = request.valid_after is not None or request.valid_before is not None
    return f"No episodes found in {'this period and ' if is_period else ''}these groups"
