"""Finds the words behind a fact: the parts of its episodes that support it, verbatim with offsets."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.capabilities.explore.requests import GetFactSources
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.history import MOST_EVENTS, is_later_end
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import DocumentPart, FactSourcesResponse, SourceView
from graphiti_pkm.core.model.date_phrases import words_at
from graphiti_pkm.core.model.document_records import Placed
from graphiti_pkm.core.model.names import search_terms
from graphiti_pkm.core.model.passages import MOST_PASSAGES, Span, is_heading, split_passages
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Episode, Fact, Passage
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.times import iso, show_time
from graphiti_pkm.core.model.walks import FactSource, SourceMode, SourcePage
from graphiti_pkm.core.reading.excerpts import matching_sentence
from graphiti_pkm.core.reading.fact_lists import joined
from graphiti_pkm.core.reading.paging import SOURCES, budget, fit
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped, item_sizes

_CHARS = 2_000
"""Maximum length of one part; of a longer one, the text around its best sentence is shown."""
_NAME = 200
_MOST_EARLIER = 5
"""Corrected versions of a fact whose words are shown with it."""
_TERMS = 32


@dataclass(frozen=True)
class _Place:
    """The position of a part in its episode, and an offset that must be visible."""

    start: int
    end: int
    best: int


class Sources(Reader):
    """``get_fact_sources``."""

    def __init__(self, context: Context, groups: Groups, walks: GraphWalks) -> None:
        super().__init__(context, groups)
        self._walks = walks

    async def get_fact_sources(self, caller: Caller, request: GetFactSources) -> FactSourcesResponse:
        """The stored quote first, then the nearest in meaning; one part for an episode without passages.

        Raises:
            NotFound: there is no such fact.
        """
        limit = request.limit
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "fact", request.fact_uuid)
        start = self._start(caller, request, request.cursor, fact_uuid=whole)
        found = await self._graph.records.get_facts([whole], visible)
        if not found:
            raise unknown("fact", whole)
        fact = found[0]
        versions = await self._versions(fact, visible)
        page, told_by = await self._page(versions, visible, request.mode, Window(limit=limit + 1, after=start.after))
        shown = page.sources[:limit]
        episodes = await self._graph.records.get_episodes(
            list(dict.fromkeys(one.episode_uuid for one in shown)), visible
        )
        views = await asyncio.to_thread(
            self._source_views, list(zip(told_by, shown, strict=False)), fact, episodes, request.mode
        )
        tellers = await self._tellers(caller, episodes)
        views = [one.model_copy(update={"told_by": tellers.get(one.episode_uuid)}) for one in views]
        views = await self._placed(views, visible)
        kept = fit(item_sizes(views, (fact.group_id,)), budget((SOURCES, limit)))
        more = kept < len(page.sources)
        note = joined(self._note(shown), await self._moved(fact, visible))
        return FactSourcesResponse(
            message=_told(kept, page, request.mode),
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, visible),
            scope=await self._scope(caller, (fact.group_id,), empty=False, note=note),
            fact=self._views.sentence(fact),
            sources=views[:kept],
        )

    async def _versions(self, fact: Fact, visible: Sequence[str]) -> list[Fact]:
        """The fact and the versions of it that were corrected, newest first."""
        versions = [fact]
        for version in versions:  # grows while it is read
            if len(versions) > _MOST_EARLIER:
                break
            found = await self._graph.facts.retired_by_fact(version.uuid, visible, _MOST_EARLIER)
            known = {one.uuid for one in versions}
            versions += [one for one in found if one.voided and one.uuid not in known]
        return versions[: _MOST_EARLIER + 1]

    async def _page(
        self, versions: Sequence[Fact], visible: Sequence[str], mode: SourceMode, window: Window
    ) -> tuple[SourcePage, list[Fact]]:
        """The parts behind the fact, then those behind each earlier version, and which version each is behind."""
        first, *key = window.after or (0,)
        pages = await asyncio.gather(
            *(
                self._walks.fact_sources(
                    version,
                    visible,
                    mode,
                    Window(limit=window.limit, after=tuple(key) if number == first and key else None),
                )
                for number, version in enumerate(versions)
            )
        )
        parts = [
            (version, part, (number, *place))
            for number, (version, page) in enumerate(zip(versions, pages, strict=True))
            if number >= int(first)
            for part, place in zip(page.sources, page.keys, strict=True)
        ][: window.limit]
        whole = SourcePage(
            sources=tuple(part for _, part, _ in parts),
            keys=tuple(place for _, _, place in parts),
            total=sum(page.total for page in pages),
            held=sum(page.held for page in pages),
        )
        return whole, [version for version, _, _ in parts]

    def _source_views(
        self, parts: Sequence[tuple[Fact, FactSource]], fact: Fact, episodes: Sequence[Episode], mode: SourceMode
    ) -> list[SourceView]:
        by_uuid = {one.uuid: one for one in episodes}
        return [
            _view(version, part, by_uuid.get(part.episode_uuid), mode).model_copy(
                update={"corrected_version": None if version is fact else self._views.sentence(version)}
            )
            for version, part in parts
        ]

    async def _placed(self, views: list[SourceView], visible: Sequence[str]) -> list[SourceView]:
        """The parts, those of a document with their place in it."""
        placed = await self._graph.documents.placed([one.episode_uuid for one in views], visible)
        passages = {
            uuid: await self._graph.episodes.passages(uuid, without_vector=False, limit=MOST_PASSAGES)
            for uuid in placed
        }
        return [
            view.model_copy(update={"document": _part(view, placed[uuid], passages[uuid])}) if uuid in placed else view
            for view in views
            for uuid in [view.episode_uuid]
        ]

    async def _moved(self, fact: Fact, visible: Sequence[str]) -> str | None:
        """If the end of a fact took the place of an earlier one, which its own words may name: which, and by what."""
        if fact.invalid_at is None:
            return None
        events = (await self._graph.changes.fact_changes([fact.uuid], visible, MOST_EVENTS))[fact.uuid]
        moves = (one for one in events if one.invalid_at == fact.invalid_at and is_later_end(one, fact))
        if (moved := next(moves, None)) is None or moved.previous_invalid_at is None:
            return None
        zone, former = self._context.settings.zone, moved.previous_invalid_at
        told = words_at(former, moved.previous_end_words, zone, is_end=True) or show_time(former, zone)
        by_hand = f"retire_fact on {show_time(moved.recorded_at, zone)}"
        by = f"episode {moved.episode_uuid}" if moved.episode_uuid else by_hand
        return f"The fact was told as until {told}; {by} moved the end, and the sentence of the fact is the older one."

    @staticmethod
    def _note(shown: Sequence[FactSource]) -> str | None:
        if not any(one.cosine is None and not one.holds_quote for one in shown):
            return None
        return "Parts without a score were found by words alone: their text or the fact has no vector (see get_status)."


def _part(view: SourceView, placed: Placed, passages: Sequence[Passage]) -> DocumentPart:
    before = [one.paragraph for one in passages if one.start <= view.start]
    return DocumentPart(
        document=placed.document.name,
        version=placed.document.version,
        superseded=None if placed.is_present else True,
        path=placed.document.path,
        paragraph=placed.paragraph + (before[-1] if before else 0),
        start=placed.start + view.start,
        end=placed.start + view.end,
    )


def _told(count: int, page: SourcePage, mode: SourceMode) -> str:
    if count:
        parts = f"{mode if mode != 'quote' else 'sentence'}(s)"
        others = f"; its episodes hold {page.held}" if page.held > page.total else ""
        return f"Found {count} of {page.total} {parts} behind the fact, nearest first{others}"
    if page.total:
        return "No more sources"
    return "No episode supports this fact, or those that did were deleted"


def _view(fact: Fact, part: FactSource, episode: Episode | None, mode: SourceMode) -> SourceView:
    """One part; an episode deleted meanwhile keeps its uuid without text."""
    if episode is None:
        return SourceView(episode_uuid=part.episode_uuid, episode="deleted", text="", start=0, end=0)
    place = _place(fact, part, episode.content, mode, search_terms(fact.text, _TERMS))
    start, end = _window(place, episode.content)
    return SourceView(
        text=episode.content[start:end],
        start=start,
        end=end,
        is_quote=True if part.holds_quote else None,
        cut=True if (start, end) != (place.start, place.end) else None,
        episode_uuid=episode.uuid,
        episode=clipped(episode.name, _NAME),
        valid_at=iso(episode.valid_at),
        confidential=True if episode.confidential else None,
        corrected=True if fact.voided else None,
        redacted=True if FORGOTTEN in episode.content else None,
        score=part.cosine,
    )


def _place(fact: Fact, part: FactSource, content: str, mode: SourceMode, terms: Sequence[str]) -> _Place:
    """The position of the part: given by the graph, else where the words of the fact are."""
    length = len(content)
    quote = (fact.quote_start, fact.quote_end) if part.holds_quote else (None, None)
    if quote[0] is not None and quote[1] is not None and quote[1] <= length:
        sentence = (quote[0], quote[1])
    elif part.start is not None and part.end is not None and part.best is not None:
        sentence = (part.best, part.end) if mode != "quote" else (part.start, part.end)
    else:
        sentence = _beneath(content, matching_sentence(content, None, terms) or _first(content))
    if mode == "quote":
        return _Place(min(sentence[0], length), min(sentence[1], length), sentence[0])
    if mode == "episode":
        return _Place(0, length, sentence[0])
    if part.start is not None and part.end is not None:
        return _Place(min(part.start, length), min(part.end, length), sentence[0])
    return _paragraph(content, sentence[0])


def _paragraph(content: str, at: int) -> _Place:
    """The paragraph around an offset."""
    spans = split_passages(content)
    inside = next((span.paragraph for span in spans if at < span.end), spans[-1].paragraph if spans else 0)
    own = [span for span in spans if span.paragraph == inside]
    return _Place(own[0].start, own[-1].end, at) if own else _Place(0, len(content), at)


def _first(content: str) -> tuple[int, int]:
    first: Span | None = next(iter(split_passages(content[: _CHARS * 2])), None)
    return (first.start, first.end) if first else (0, len(content))


def _beneath(content: str, sentence: tuple[int, int]) -> tuple[int, int]:
    """What is said under a heading, if the sentence is one and anything is."""
    if not is_heading(content, sentence[0]):
        return sentence
    after = sentence[1]
    said = ((after + one.start, after + one.end) for one in split_passages(content[after : after + _CHARS * 2]))
    return next((one for one in said if not is_heading(content, one[0])), sentence)


def _window(place: _Place, content: str) -> tuple[int, int]:
    """The part; for a long one a section that begins shortly before its best sentence, cut between words."""
    if place.end - place.start <= _CHARS:
        return place.start, place.end
    start = max(place.start, min(place.best - _CHARS // 4, place.end - _CHARS))
    if start > place.start:
        space = content.find(" ", start, place.best)
        start = space + 1 if space >= 0 else start
    end = min(start + _CHARS, place.end)
    if end < place.end:
        end = max(content.rfind(" ", start, end), start + _CHARS // 2)
    return start, end
