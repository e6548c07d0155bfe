"""Searches episodes by words, meaning, names and dates, in stable pages."""

import asyncio
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TypeAlias

from graphiti_pkm.capabilities.search.episode_candidates import DAY, EpisodeCandidates
from graphiti_pkm.capabilities.search.episode_ranking import steps_in
from graphiti_pkm.capabilities.search.ports import GraphNeighbours
from graphiti_pkm.capabilities.search.requests import SearchEpisodes
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import EpisodeSearchResponse, EpisodeView, NearbyEpisode
from graphiti_pkm.core.model.places import Steps, Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter, EpisodeHit
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.model.times import iso, shifted
from graphiti_pkm.core.reading.candidates import Candidates
from graphiti_pkm.core.reading.excerpts import excerpt, matching_sentence, shown_match
from graphiti_pkm.core.reading.paging import EPISODES, budget, fit
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.slices import Slice, found_message, slice_of
from graphiti_pkm.core.reading.views import clipped, item_sizes

_Nearby: TypeAlias = Mapping[str, tuple[NearbyEpisode | None, NearbyEpisode | None]]

_WEAK = 0.4
"""Below this share of the best score a page ends. Of the first ten hits to 99 questions over a journal none that
answers had less than 0.59; of 96 others, kept aside, one had less than 0.5."""
_NEARBY_CHARS = 300
_REACH = timedelta(days=1)


class EpisodeSearch(Reader):
    """``search_episodes``."""

    def __init__(self, context: Context, groups: Groups, neighbours: GraphNeighbours) -> None:
        super().__init__(context, groups)
        self._neighbours = neighbours
        self._candidates = Candidates(context.graph, context.embedder, self._persons)
        self._episodes = EpisodeCandidates(context, self._candidates, neighbours)

    async def search_episodes(self, caller: Caller, request: SearchEpisodes) -> EpisodeSearchResponse:
        """The best episodes, each with its best sentence and the text around it.

        Dates in the query are relative to ``reference_time``, or to now; ``neighbours`` adds the episodes before and
        after each hit.
        """
        limit = request.max_episodes
        groups = self._groups.searched(caller, request.group_ids)
        after = self._instant("valid_after", request.valid_after)
        before = self._instant("valid_before", request.valid_before)
        reference = self._instant("reference_time", request.reference_time)
        asked = entity_uuid = None
        if request.entity_uuid is not None:
            anchor = await self._anchor(caller, request.entity_uuid, request.group_ids)
            asked, entity_uuid, groups = anchor.asked, anchor.uuid, anchor.group_ids
        start = self._start(
            caller,
            request,
            request.cursor,
            group_ids=groups,
            entity_uuid=asked,
            valid_after=after,
            valid_before=before,
            reference_time=reference,
        )
        words = await self._candidates.query(request.query)
        wanted = EpisodeFilter(
            group_ids=groups,
            recorded_until=start.recorded_until,
            valid_after=after,
            valid_before=before,
            entity_uuid=entity_uuid,
        )
        found = await self._episodes.find(request.query, words, wanted, reference or start.now)
        page = slice_of(found.scores, start, _WEAK)
        episodes = await self._graph.records.get_episodes(page.uuids(limit), groups)
        room = budget((EPISODES, limit))
        nearby = await self._nearby(episodes, wanted) if request.neighbours else {}
        wrong, tellers = await self._corrections(episodes, groups), await self._tellers(caller, episodes)
        superseded = await self._superseded_sections(episodes, groups)
        # In a thread: searching the sentences of a hundred long episodes takes seconds.
        views = await asyncio.to_thread(
            self._shown, episodes, found.hits, nearby, wrong, tellers, superseded, words.terms, page, groups, room
        )
        next_key = page.next_key([view.uuid for view in views], page.uuids(limit))
        next_cursor = await self._next(start, next_key, groups)
        return EpisodeSearchResponse(
            message=found_message("episode", len(views), page.hits, is_cut=found.scores.is_cut),
            total=page.hits,
            returned=len(views),
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            weaker=page.weaker(len(views)),
            scope=await self._scope(caller, groups, empty=not page.total, note=words.note),
            episodes=views,
        )

    async def _nearby(self, episodes: Sequence[Episode], wanted: EpisodeFilter) -> _Nearby:
        """The episodes before and after each: in its saga, or in time, at most a day away."""
        stretches = [
            Stretch(group_id=one.group_id, start=shifted(one.valid_at, -_REACH), end=shifted(one.valid_at, _REACH))
            for one in episodes
        ]
        sagas, orders = await asyncio.gather(
            self._neighbours.saga_steps([one.uuid for one in episodes], wanted.group_ids),
            self._neighbours.uuids_in(stretches, wanted.recorded_until, DAY),
        )
        steps = {
            one.uuid: sagas.get(one.uuid) or steps_in(order, {one.uuid}).get(one.uuid, Steps())
            for one, order in zip(episodes, orders, strict=True)
        }
        asked = {uuid for step in steps.values() for uuid in (step.previous, step.next) if uuid}
        shown = {
            one.uuid: _nearby(one) for one in await self._graph.records.get_episodes(sorted(asked), wanted.group_ids)
        }
        return {uuid: (shown.get(step.previous or ""), shown.get(step.next or "")) for uuid, step in steps.items()}

    def _shown(
        self,
        episodes: Sequence[Episode],
        hits: Mapping[str, EpisodeHit],
        nearby: _Nearby,
        wrong: Mapping[str, list[str]],
        tellers: Mapping[str, str],
        superseded: Collection[str],
        terms: Sequence[str],
        page: Slice,
        groups: Sequence[str],
        room: int,
    ) -> list[EpisodeView]:
        """As many episodes as fit, each with its best sentence; the others are not searched for one."""
        views: list[EpisodeView] = []

        def each() -> Iterator[EpisodeView]:
            for item in episodes:
                span = matching_sentence(item.content, hits.get(item.uuid), terms)
                content = excerpt(item.content, span)
                whole, match = content == item.content, shown_match(item.content, span)
                view = self._views.episode(item, content, complete=whole, match=match)
                previous, following = nearby.get(item.uuid, (None, None))
                more = {
                    **page.shown(item.uuid),
                    "match_at": list(span) if span else None,
                    "previous": previous,
                    "next": following,
                    "corrected_facts": wrong.get(item.uuid),
                    "told_by": tellers.get(item.uuid),
                    "superseded": True if item.uuid in superseded else None,
                }
                views.append(view.model_copy(update=more))
                yield views[-1]

        return views[: fit(item_sizes(each(), groups), room)]


def _nearby(episode: Episode) -> NearbyEpisode:
    return NearbyEpisode(
        uuid=episode.uuid,
        valid_at=iso(episode.valid_at),
        content=clipped(episode.content, _NEARBY_CHARS),
        confidential=True if episode.confidential else None,
    )
