"""``add_evidence`` and ``get_entity_sources``."""

import re
from bisect import bisect_right
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from uuid import UUID, uuid4, uuid5

from graphiti_pkm.capabilities.sources.layout import MOST_PARTS
from graphiti_pkm.capabilities.sources.models import EntitySourcesResponse, EvidenceResponse, EvidenceView
from graphiti_pkm.capabilities.sources.requests import AddEvidence, ContextMode, GetEntitySources
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.document_records import SECTION_SOURCE, Document, Instance, Placed, Section
from graphiti_pkm.core.model.documents import InstanceRow
from graphiti_pkm.core.model.passages import MOST_PASSAGES, is_heading
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Entity, Episode, Passage, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.reading.paging import EVIDENCE, budget, fit
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped, item_sizes
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, NotFound
from graphiti_pkm.storage.commit import Committer

_NAME = 200
_LISTED = 10
_NAMED = 5
"""Documents in which facts are told, in a message."""
_MOST_FACTS = 100
"""Facts of an entity by which these are found."""
_AT_ONCE = 50
_MOST_OF_A_SECTION = 1_000
"""Quotes from one section that are evidence of one entity; if there were more, a known one may be called new."""
_CHARS = 2_000
"""Of a context; of a longer one what is around the quote is shown."""
_EVIDENCE = UUID("7d1c1f0e-4b0b-5a5c-9d57-3a7a6f2d8b11")
"""Under it the uuids of quotes are derived, so that the same quote again is the same record."""
_WORD = re.compile(r"\S+")
_LINE_BREAK = re.compile(r"[\r\n]")


class _Found(NamedTuple):
    """Where a quote stands: a paragraph of a section."""

    section: Section
    own: list[Passage]
    """Of the paragraph."""
    episode: Episode
    """Of the section."""
    place: tuple[int, int]

    @property
    def paragraph(self) -> int:
        """Its number in the document."""
        return self.section.paragraph + self.own[0].paragraph

    @property
    def is_heading(self) -> bool:
        return all(is_heading(self.episode.content, at) for at in (self.place[0], self.place[1] - 1))


class Evidence(Reader):
    """Places quotes in documents and reads them with what is around them."""

    def __init__(self, context: Context, groups: Groups, committer: Committer) -> None:
        super().__init__(context, groups)
        self._committer = committer

    async def add_evidence(self, caller: Caller, request: AddEvidence) -> EvidenceResponse:
        """Raises InvalidInput, NotFound: nothing was stored."""
        caller.must_write("Nothing was stored.")
        check_text(request.quote, "quote")
        anchor = await self._anchor(caller, request.entity_uuid, None)
        async with self._committer.changing(anchor) as entity:
            group = entity.group_id
            document, (section, own, episode, place) = await self._find(request, group)
            around = (own[0].start, own[-1].end)
            held = [one for one in own if one.start < place[1] and place[0] < one.end]
            new = _instance(entity.uuid, document, held, place)
            kept = await self._kept(new)
            instance = kept or new.model_copy(
                update={"created_at": await self._committer.time(group, self._context.now())}
            )
            if kept is None:
                await self._committer.commit(
                    WriteIntent(
                        uuid=str(uuid4()),
                        group_id=group,
                        kind=WriteKind.ADD_EVIDENCE,
                        recorded_at=instance.created_at,
                        origin=caller.origin(),
                        instances=(instance,),
                    ),
                    {},
                )
        placed = Placed(document=document, is_present=True, paragraph=section.paragraph, start=section.start)
        row = InstanceRow(instance=instance, placed=placed, first=held[0], last=held[-1], around=around)
        view = _view(row, episode, "paragraph")
        name = clipped(entity.name, _NAME)
        return EvidenceResponse(
            message=f"{'Evidence' if kept is None else 'Nothing was added, since this quote was already evidence'} of "
            f"{name!r}: {view.source_id}, sentence {view.sentence}.",
            changed=kept is None,
            entity=name,
            entity_uuid=entity.uuid,
            group_id=self._groups.public(group),
            **dict(view),
        )

    async def _kept(self, new: Instance) -> Instance | None:
        """The same quote, if it is evidence of the entity already: from any version of the document."""
        there = await self._graph.documents.evidence_in(new.entity_uuid, [new.episode_uuid], _MOST_OF_A_SECTION)
        return next((one for one in there if _place(one) == _place(new)), None)

    async def _find(self, request: AddEvidence, group: str) -> tuple[Document, "_Found"]:
        """The present version of a document, and the one place where the quote is meant to stand in it.

        Raises:
            NotFound: there is no such document.
            InvalidInput: the words are not in it, or in other paragraphs than the one given, or in several.
        """
        document = await self._graph.documents.present(group, request.document)
        if document is None:
            raise NotFound(
                f"There is no document {request.document!a} beside this entity. Nothing was stored. The titles of its "
                "sections in search_episodes begin with its name."
            )
        sections = await self._graph.documents.sections(document.uuid, group, MOST_PARTS)
        wanted = request.paragraph
        if wanted is not None:
            before = [one for one in sections if one.paragraph <= wanted]
            own = [one async for one in self._places(before[-1:], group, request.quote)]
            if found := next((one for one in own if one.paragraph == wanted), None):
                return document, _no_heading(found)
        places, headings = list[_Found](), list[_Found]()
        async for place in self._places(sections, group, request.quote):
            (headings if place.is_heading else places).append(place)
            if len(places) > _LISTED:
                break
        if wanted is None and len(places) == 1:
            return document, places[0]
        numbers = ", ".join(str(one.paragraph) for one in places[:_LISTED])
        more = " and more" if len(places) > _LISTED else ""
        where = f"paragraph{'s' if len(places) > 1 else ''} {numbers}{more}"
        if not places and headings:
            _no_heading(headings[0])
        if not places:
            raise InvalidInput(
                f"The quote is not in {request.document!a} word for word; only white space may differ, and a quote "
                "stays within one paragraph. Nothing was stored. search_episodes finds the section that has its words."
            )
        if wanted is None:
            raise InvalidInput(f"The quote stands in {where} of {request.document!a}: send one. Nothing was stored.")
        raise InvalidInput(
            f"The quote is not in paragraph {wanted} of {request.document!a}, but in {where}. Nothing was stored."
        )

    async def _places(self, sections: Sequence[Section], group: str, quote: str) -> AsyncIterator["_Found"]:
        """Paragraphs of these sections in which a quote stands, in order, each with its first place there."""
        for start in range(0, len(sections), _AT_ONCE):
            some = sections[start : start + _AT_ONCE]
            episodes = await self._graph.records.get_episodes([one.episode_uuid for one in some], [group])
            by_uuid = {one.uuid: one for one in episodes}
            said = [(section, by_uuid[section.episode_uuid]) for section in some if section.episode_uuid in by_uuid]
            for section, episode in await in_thread(_with_words, said, quote):
                passages = await self._graph.episodes.passages(
                    section.episode_uuid, without_vector=False, limit=MOST_PASSAGES
                )
                for _, of_paragraph in groupby(passages, key=lambda one: one.paragraph):
                    own = list(of_paragraph)
                    place = await in_thread(located, episode.content, (own[0].start, own[-1].end), quote)
                    if place is not None:
                        yield _Found(section, own, episode, place)

    async def get_entity_sources(self, caller: Caller, request: GetEntitySources) -> EntitySourcesResponse:
        """The newest document first, then by place in it.

        Raises:
            InvalidInput: there is an end without a beginning.
        """
        if request.end_paragraph is not None:
            raise InvalidInput("end_paragraph says how far a document is read, and source_id where from: send both.")
        anchor = await self._anchor(caller, request.entity_uuid, None)
        groups = anchor.group_ids
        start = self._start(caller, request, request.cursor, entity_uuid=anchor.uuid)
        page = await self._graph.documents.instances(
            anchor.uuid, groups, Window(limit=request.limit + 1, after=start.after), start.recorded_until
        )
        rows = page.rows[: request.limit]
        episodes = await self._episodes(rows, groups)
        views = await in_thread(
            lambda: [_view(row, episodes.get(row.instance.episode_uuid), request.mode) for row in rows]
        )
        kept = fit(item_sizes(views, groups), budget((EVIDENCE, request.limit)))
        more = kept < len(page.rows)
        name = clipped(anchor.entity.name, _NAME) if anchor.entity else None
        message = _message(name, kept, page.total, anchor.unknown)
        if anchor.entity is not None and request.cursor is None and not more:
            message += await self._where_facts_are_told(anchor.entity, rows)
        return EntitySourcesResponse(
            message=message,
            total=page.total,
            returned=kept,
            truncated=more,
            next_cursor=await self._next(start, page.keys[kept - 1] if more else None, groups),
            scope=await self._scope(caller, groups, empty=not page.total),
            entity=name,
            entity_uuid=anchor.entity.uuid if anchor.entity else None,
            sources=views[:kept],
        )

    async def _where_facts_are_told(self, entity: Entity, rows: Sequence[InstanceRow]) -> str:
        """Documents that no quote names, though newest facts of the entity come from them: a decision's status does."""
        wanted = FactFilter(group_ids=(entity.group_id,), now=self._context.now())
        page = await self._graph.facts.connections(entity.uuid, wanted, Window(limit=_MOST_FACTS))
        told = list(dict.fromkeys(uuid for fact in page.facts if not fact.voided for uuid in fact.episodes))
        placed = await self._graph.documents.placed(told, wanted.group_ids) if told else {}
        quoted = {row.placed.document.name for row in rows}
        names = list(dict.fromkeys(placed[uuid].document.name for uuid in told if uuid in placed))
        others = [clipped(one, _NAME) for one in names if one not in quoted]
        if not others:
            return ""
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        return (
            f" Its facts are told in {', '.join(others[:_NAMED])}{more}: get_fact_sources shows the words of each, "
            "source_id the document."
        )

    async def _episodes(self, rows: Sequence[InstanceRow], groups: Sequence[str]) -> Mapping[str, Episode]:
        uuids = list(dict.fromkeys(row.instance.episode_uuid for row in rows))
        return {one.uuid: one for one in await self._graph.records.get_episodes(uuids, groups)}


def _no_heading(found: _Found) -> _Found:
    """Raises InvalidInput for a heading."""
    if found.is_heading:
        raise InvalidInput(
            f"The quote is the heading in paragraph {found.paragraph}, and a heading alone is no evidence. Nothing was "
            "stored. Quote what is said beneath it."
        )
    return found


def _with_words(sections: Sequence[tuple[Section, Episode]], quote: str) -> list[tuple[Section, Episode]]:
    """Those sections that hold the words of a quote, be it over several paragraphs."""
    return [one for one in sections if located(one[1].content, (0, len(one[1].content)), quote) is not None]


def located(content: str, around: tuple[int, int], quote: str) -> tuple[int, int] | None:
    """Where a quote stands in a paragraph, word for word but for white space; the first place.

    The marks with which lines of a quotation begin are no words.
    """
    wanted = " ".join(word for _, word in _words(quote, 0, len(quote)))
    starts, joined, words, length = list[int](), list[int](), list[str](), 0
    for start, word in _words(content, *around):
        starts.append(start)
        joined.append(length)
        words.append(word)
        length += len(word) + 1
    found = " ".join(words).find(wanted) if wanted else -1
    if found < 0:
        return None

    def at(place: int) -> int:
        word = bisect_right(joined, place) - 1
        return starts[word] + place - joined[word]

    return at(found), at(found + len(wanted) - 1) + 1


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    """The words with their places."""
    before, begins_line = start, True
    for found in _WORD.finditer(text, start, end):
        begins_line = begins_line or _LINE_BREAK.search(text, before, found.start()) is not None
        word = found[0].lstrip(">") if begins_line else found[0]
        if word:
            yield found.end() - len(word), word
            begins_line = False
        before = found.end()


def _instance(entity_uuid: str, document: Document, held: Sequence[Passage], place: tuple[int, int]) -> Instance:
    first, last = max(place[0] - held[0].start, 0), min(place[1], held[-1].end) - held[-1].start
    key = " ".join((entity_uuid, document.uuid, held[0].uuid, str(first), held[-1].uuid, str(last)))
    return Instance(
        uuid=str(uuid5(_EVIDENCE, key)),
        group_id=document.group_id,
        entity_uuid=entity_uuid,
        document_uuid=document.uuid,
        episode_uuid=held[0].episode_uuid,
        passages=tuple(one.uuid for one in held),
        first=first,
        last=last,
        created_at=document.created_at,
    )


def _place(quote: Instance) -> tuple[object, ...]:
    return quote.passages, quote.first, quote.last


def _view(row: InstanceRow, episode: Episode | None, mode: ContextMode) -> EvidenceView:
    """``episode``: None if it was deleted meanwhile."""
    content = episode.content if episode else ""
    placed, document = row.placed, row.placed.document
    start, end = row.first.start + row.instance.first, row.last.start + row.instance.last
    paragraph = placed.paragraph + row.first.paragraph
    around = {"quote": (start, end), "paragraph": row.around, "section": (0, len(content))}[mode]
    shown = _window(around, (start, end))
    has_context = mode != "quote"
    return EvidenceView(
        evidence_uuid=row.instance.uuid,
        quote=content[start:end],
        source_id=f"{document.name}_p{paragraph}",
        document=document.name,
        version=document.version,
        superseded=None if placed.is_present else True,
        path=document.path,
        section=clipped(_headings(episode), _NAME) or None if episode else None,
        paragraph=paragraph,
        sentence=row.first.sentence,
        start=placed.start + start,
        end=placed.start + end,
        context=content[slice(*shown)] if has_context else None,
        context_start=placed.start + shown[0] if has_context else None,
        context_end=placed.start + shown[1] if has_context else None,
        cut=True if has_context and shown != around else None,
        redacted=True if FORGOTTEN in content else None,
        episode_uuid=row.instance.episode_uuid,
    )


def _headings(episode: Episode) -> str:
    """Those that lead to a section: its title without the name of the document."""
    return episode.name.removeprefix(episode.source_description.removeprefix(SECTION_SOURCE)).removeprefix(": ")


def _window(around: tuple[int, int], quote: tuple[int, int]) -> tuple[int, int]:
    """The context, or of a long one a part that holds the beginning of the quote."""
    if around[1] - around[0] <= _CHARS:
        return around
    start = max(around[0], min(quote[0] - _CHARS // 4, around[1] - _CHARS))
    return start, start + _CHARS


def _message(name: str | None, kept: int, total: int, unknown_: str) -> str:
    if name is None:
        return f"No sources: {unknown_}"
    if not total:
        return f"No quote from a document was added as evidence of {name!r}."
    return f"{kept} of {total} quotes that are evidence of {name!r}, the newest document first."
