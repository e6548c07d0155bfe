"""Search over what was said: episodes by words and meaning, in stable pages."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from graphiti_pkm.domain.access import Caller
from graphiti_pkm.domain.answers import EpisodeSearchResponse, EpisodeView
from graphiti_pkm.domain.queries import EpisodeFilter, EpisodeHit
from graphiti_pkm.domain.records import Episode
from graphiti_pkm.services.candidates import Candidates
from graphiti_pkm.services.context import Context
from graphiti_pkm.services.excerpts import excerpt, matching_sentence, shown_match
from graphiti_pkm.services.groups import Groups
from graphiti_pkm.services.paging import EPISODES, budget, fit
from graphiti_pkm.services.reading import GroupIds, Reader
from graphiti_pkm.services.slices import filters_of, slice_of, told
from graphiti_pkm.services.views import item_sizes


class EpisodeSearch(Reader):
    """``search_episodes``."""

    def __init__(self, context: Context, groups: Groups) -> None:
        super().__init__(context, groups)
        self._candidates = Candidates(context.graph, context.embedder, context.settings.person)

    async def search_episodes(
        self,
        caller: Caller,
        query: str,
        group_ids: GroupIds = None,
        max_episodes: int = EPISODES.default,
        entity_uuid: str | None = None,
        valid_after: str | None = None,
        valid_before: str | None = None,
        cursor: str | None = None,
    ) -> EpisodeSearchResponse:
        """Episodes that fit the query best, each with its best sentence and the text around that."""
        limit = EPISODES.check(max_episodes)
        groups = self._searched(caller, group_ids)
        after, before = self._instant("valid_after", valid_after), self._instant("valid_before", valid_before)
        if entity_uuid is not None:
            anchor = await self._anchor(caller, entity_uuid, group_ids)
            entity_uuid, groups = anchor.uuid, anchor.group_ids
        filters = filters_of("search_episodes", caller, groups, query, entity_uuid, after, before)
        start = self._start(cursor, filters)
        words = await self._candidates.query(query)
        wanted = EpisodeFilter(
            group_ids=groups,
            recorded_until=start.now,
            valid_after=after,
            valid_before=before,
            entity_uuid=entity_uuid,
        )
        found = await self._candidates.episodes(words, wanted)
        page = slice_of(found.by_uuid, start)
        episodes = await self._graph.get_episodes(page.uuids(limit), groups)
        room = budget((EPISODES, limit))
        # In a thread: the sentences of a hundred long episodes take seconds to look through.
        views = await asyncio.to_thread(self._shown, episodes, found.hits, words.terms, page.scores(), groups, room)
        next_cursor = page.cursor([view.uuid for view in views], page.uuids(limit), filters)
        return EpisodeSearchResponse(
            message=told("episode", len(views), page.total, is_cut=found.is_cut),
            total=page.total,
            returned=len(views),
            truncated=next_cursor is not None,
            next_cursor=next_cursor,
            scope=await self._scope(caller, groups, empty=not page.total, note=words.note),
            episodes=views,
        )

    def _shown(
        self,
        episodes: Sequence[Episode],
        hits: Mapping[str, EpisodeHit],
        terms: Sequence[str],
        scores: Mapping[str, float],
        groups: Sequence[str],
        room: int,
    ) -> list[EpisodeView]:
        """As many episodes as fit, each with its best sentence; what does not fit is not looked through."""
        views: list[EpisodeView] = []

        def each() -> Iterator[EpisodeView]:
            for item in episodes:
                span = matching_sentence(item.content, hits.get(item.uuid), terms)
                content = excerpt(item.content, span)
                whole, match = content == item.content, shown_match(item.content, span)
                views.append(self._views.episode(item, content, complete=whole, match=match, score=scores[item.uuid]))
                yield views[-1]

        return views[: fit(item_sizes(each(), groups), room)]
