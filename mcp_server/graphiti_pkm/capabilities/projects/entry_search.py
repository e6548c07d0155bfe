"""``search_entries_semantic``: entries by the meaning of their best sentence, or by words without a model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.projects.lookups import ProjectLookups, entry_view
from graphiti_pkm.capabilities.projects.models import EntrySearchResponse, EntryView, NearEntry
from graphiti_pkm.capabilities.projects.requests import SearchEntriesSemantic
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.counted import counted
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.projects import ProjectRow
from graphiti_pkm.core.model.queries import EntryFilter, EpisodeFilter, EpisodeHit, Window
from graphiti_pkm.core.model.records import Entry, Episode
from graphiti_pkm.core.model.relevance import RelevanceFilter
from graphiti_pkm.core.model.times import iso
from graphiti_pkm.core.reading.excerpts import excerpt, matching_sentence, shown_match
from graphiti_pkm.core.reading.paging import ENTRY_HITS, budget, fit
from graphiti_pkm.core.reading.views import clipped, item_sizes

_BELOW = 3
_ENTITIES = 200
"""Entities of all entries of an answer."""
_SHOWN_ENTITIES = 20
_PROJECTS = 3
"""Projects by whose relevance entities are ordered, where none is asked about."""
_NAME = 100


@dataclass(frozen=True)
class _Found:
    """Entries with what is read with them."""

    episodes: Sequence[Episode]
    held: Mapping[str, Entry]
    hits: Mapping[str, EpisodeHit]
    """Empty where only words were searched."""


class EntrySearch(ProjectLookups):
    """Filters are applied in the database, before anything is cut."""

    async def search_entries_semantic(self, caller: Caller, request: SearchEntriesSemantic) -> EntrySearchResponse:
        """The nearest entries that reach the threshold; where they are fewer than asked for, the nearest below it."""
        query = await self._candidates.query(request.query)
        group, project = await self._group(caller, request.project_id, request.group_id)
        after, before = self._period(request.after, request.before)
        wanted = EpisodeFilter(
            group_ids=(group,),
            valid_after=after,
            valid_before=before,
            entries=EntryFilter(project_uuid=project.project.uuid if project else None, type=request.type),
        )
        hits: Mapping[str, EpisodeHit] = {}
        if query.vector is None:
            ranked = list(await self._graph.search.search_episodes(query.terms, wanted, request.limit))
        else:
            hits = await self._graph.search.nearest_episodes(query.vector, wanted, request.limit + _BELOW)
            ranked = [uuid for uuid, hit in hits.items() if hit.cosine >= request.similarity_threshold][: request.limit]
        near = [uuid for uuid in hits if uuid not in ranked] if len(ranked) < request.limit else []
        found = await self._found([*ranked, *near[:_BELOW]], group, hits)
        places = {uuid: place for place, uuid in enumerate(ranked)}
        episodes = [one for one in found.episodes if one.uuid in places]
        episodes.sort(key=lambda one: one.valid_at, reverse=True)
        episodes.sort(key=lambda one: -hits[one.uuid].cosine if hits else places[one.uuid])
        entities = await self._entities_of(episodes, found.held, group, project) if request.include_entities else {}
        over = await self._superseded(found.episodes, group)
        views = [
            _view(one, found, query.terms, entities=entities.get(one.uuid), superseded=over.get(one.uuid))
            for one in episodes
        ]
        kept = fit(item_sizes(views, [group]), budget((ENTRY_HITS, request.limit)))
        below = [_near(one, found, query.terms, over.get(one.uuid)) for one in found.episodes if one.uuid not in places]
        return EntrySearchResponse(
            message=_message(kept, request.similarity_threshold, below, by_words=not query.vector),
            total=None if ranked or below else 0,
            returned=kept,
            truncated=kept < len(views),
            scope=await self._scope(caller, [group], empty=not (ranked or below), note=query.note),
            mode="vector" if query.vector else "text",
            entries=views[:kept],
            below=below or None,
        )

    async def _found(self, uuids: Sequence[str], group: str, hits: Mapping[str, EpisodeHit]) -> _Found:
        episodes = await self._graph.records.get_episodes(uuids, [group])
        held = await self._stored.entries(uuids, [group])
        return _Found([one for one in episodes if one.uuid in held], held, hits)

    async def _entities_of(
        self, episodes: Sequence[Episode], held: Mapping[str, Entry], group: str, project: ProjectRow | None
    ) -> dict[str, list[str]]:
        """Names of the entities of each, those that matter most to the project first; not of values and the person."""
        uuids = [one.uuid for one in episodes]
        found, _ = await self._graph.episodes.episode_entities(uuids, [group], Window(limit=_ENTITIES))
        names = await self._graph.records.get_names([name_key(group, one.name) for one in found])
        unnamed = {name.entity_uuid for name in names.values() if not name.is_linkable}
        found = [one for one in found if one.uuid not in unnamed]
        pairs = await self._graph.records.mentioned([(uuid, one.uuid) for uuid in uuids for one in found])
        asked = [project.project.uuid] if project else [held[uuid].project_uuid for uuid in uuids]
        orders = {one: await self._order(one, group) for one in list(dict.fromkeys(asked))[:_PROJECTS] if one}
        named: dict[str, list[str]] = {}
        for uuid in uuids:
            order = orders.get(project.project.uuid if project else held[uuid].project_uuid or "", {})
            own = sorted((order.get(one.uuid, len(order)), one.name) for one in found if (uuid, one.uuid) in pairs)
            named[uuid] = [clipped(name, _NAME) for _, name in own[:_SHOWN_ENTITIES]]
        return named

    async def _order(self, project_uuid: str, group: str) -> dict[str, int]:
        """Places of the entities that matter most to a project."""
        wanted = RelevanceFilter(project_uuid=project_uuid, group_id=group, now=self._context.now(), threshold=0)
        parts = await self._stored.relevant(wanted, Window(limit=_ENTITIES), None)
        return {one.uuid: place for place, one in enumerate(parts.primary.entities)}


def _view(episode: Episode, found: _Found, terms: Sequence[str], **more: list[str] | None) -> EntryView:
    hit = found.hits.get(episode.uuid)
    span = matching_sentence(episode.content, hit, terms)
    return entry_view(
        episode,
        found.held[episode.uuid],
        excerpt(episode.content, span),
        match=shown_match(episode.content, span),
        similarity=round(hit.cosine, 3) if hit else None,
        **more,
    )


def _near(episode: Episode, found: _Found, terms: Sequence[str], superseded: list[str] | None) -> NearEntry:
    hit = found.hits[episode.uuid]
    span = matching_sentence(episode.content, hit, terms)
    return NearEntry(
        entry_id=episode.uuid,
        similarity=round(hit.cosine, 3),
        timestamp=iso(episode.valid_at),
        match=shown_match(episode.content, span) or "",
        superseded=superseded,
    )


def _message(count: int, threshold: float, below: Iterable[NearEntry], *, by_words: bool) -> str:
    if by_words:
        return f"Found {counted(count, 'entry')} by words, best first"
    found = f"Found {counted(count, 'entry')} of similarity {threshold} or more"
    nearest = next(iter(below), None)
    return found if nearest is None else f"{found}; the nearest below it has {nearest.similarity}"
