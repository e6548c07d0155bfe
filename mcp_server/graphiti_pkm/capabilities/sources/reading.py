"""``get_entity_sources`` with ``source_id``: the text of a document, from one paragraph to another or all of it."""

import re
from collections.abc import Sequence

from graphiti_pkm.capabilities.sources.layout import MOST_PARTS
from graphiti_pkm.capabilities.sources.models import DocumentText, EntitySourcesResponse
from graphiti_pkm.capabilities.sources.requests import GetEntitySources
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.document_records import Document, Section
from graphiti_pkm.core.model.passages import MOST_PASSAGES
from graphiti_pkm.core.model.records import Passage
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.requests import ME
from graphiti_pkm.core.reading.paging import EVIDENCE, budget, clip_json
from graphiti_pkm.core.reading.reader import Anchor, Reader
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import InvalidCursor, InvalidInput, NotFound

_NAME = 200
_PARAGRAPH = re.compile(r"(?s)(.+)_p(\d{1,7})")
_DEFAULT_MODE = GetEntitySources.model_fields["mode"].default


class DocumentReading(Reader):
    """Reads present versions, which are the texts of their sections, a page at a time."""

    async def read(self, caller: Caller, request: GetEntitySources) -> EntitySourcesResponse:
        """A part of a document beside the entity, with as many characters as the caller takes.

        Raises:
            InvalidInput: the end is before the beginning, or a mode was sent.
            NotFound: the document, or a paragraph of it, is not there.
            InvalidCursor: the document changed since the page before.
        """
        if request.mode != _DEFAULT_MODE:
            raise InvalidInput("mode is for quotes; a document is read from source_id on, to end_paragraph.")
        anchor = await self._anchor(caller, request.entity_uuid, None)
        if anchor.entity is None and anchor.asked != ME:
            raise NotFound(f"Nothing was read: {anchor.unknown}.")
        document, first = await self._asked(request.source_id or "", anchor)
        group = document.group_id
        sections = await self._graph.documents.sections(document.uuid, group, MOST_PARTS)
        whole = first is None and request.end_paragraph is None
        last = request.end_paragraph if first is None or request.end_paragraph is not None else first
        if first is not None and last is not None and last < first:
            raise InvalidInput(f"end_paragraph ({last}) is before paragraph {first}.")
        length = await self._length(document, sections)
        end_of_all = await self._last(sections)
        if last is not None and last > end_of_all:
            raise NotFound(f"The document ends with paragraph {end_of_all}; there is no paragraph {last}.")
        start = 0 if first is None else (await self._place(sections, first))[0]
        end = length if whole or last is None else (await self._place(sections, last))[1]
        page = self._start(caller, request, request.cursor, entity_uuid=anchor.uuid)
        at = start
        if page.after is not None:
            uuid, known, at = str(page.after[0]), page.after[1], int(page.after[2])
            if (uuid, known) != (document.uuid, length):
                raise InvalidCursor("The document changed since the page before: read it again without cursor.")
        content = await self._text(document, sections, at, min(end, at + request.max_chars + 1))
        text = _to_word_end(content, clip_json(content, request.max_chars, budget((EVIDENCE, EVIDENCE.default))))
        begins, ends = await self._paragraphs(sections, at, at + len(text))
        more = at + len(text) < end
        return EntitySourcesResponse(
            message=f"{len(text):,} of {end - start:,} characters, from {at - start:,} on.",
            total=end - start,
            returned=len(text),
            truncated=more,
            next_cursor=await self._next(page, (document.uuid, length, at + len(text)) if more else None, [group]),
            scope=await self._scope(caller, [group], empty=False),
            entity=clipped(anchor.entity.name, _NAME) if anchor.entity else None,
            entity_uuid=anchor.entity.uuid if anchor.entity else None,
            sources=[],
            text=DocumentText(
                document=document.name,
                version=document.version,
                path=document.path,
                paragraph=begins,
                end_paragraph=ends,
                start=at,
                end=at + len(text),
                text=text,
                redacted=True if FORGOTTEN in text else None,
            ),
        )

    async def _asked(self, source_id: str, anchor: Anchor) -> tuple[Document, int | None]:
        """The document and the paragraph that an id names; a name may itself end like an id."""
        found = _PARAGRAPH.fullmatch(source_id)
        for group in anchor.group_ids:
            for name, paragraph in ((found[1], int(found[2])),) if found else ():
                if (document := await self._graph.documents.present(group, name)) is not None:
                    return document, paragraph
            if (document := await self._graph.documents.present(group, source_id)) is not None:
                return document, None
        raise NotFound(
            f"There is no document of the source_id {source_id!a} beside this entity. This tool's answers have ids; "
            "a document's name alone reads all of it."
        )

    async def _place(self, sections: Sequence[Section], paragraph: int) -> tuple[int, int]:
        """Where a paragraph stands in the document, in code points. Raises NotFound."""
        before = [one for one in sections if one.paragraph <= paragraph]
        for section in before[-1:]:
            passages = await self._passages(section)
            own = [one for one in passages if section.paragraph + one.paragraph == paragraph]
            if own:
                return section.start + own[0].start, section.start + own[-1].end
        raise NotFound(f"The document has no paragraph {paragraph}; its sections may have been deleted.")

    async def _paragraphs(self, sections: Sequence[Section], start: int, end: int) -> tuple[int, int]:
        """The first and last paragraph of which ``[start, end)`` has words, else the one before; 0: front matter."""
        before = [one for one in sections if one.start < end]
        last = first = 0
        for section in reversed(before):
            own = [one for one in await self._passages(section) if section.start + one.start < end]
            if own:
                last = section.paragraph + own[-1].paragraph
                break
        for section in before[max(sum(one.start <= start for one in before) - 1, 0) :]:
            own = [one for one in await self._passages(section) if start < section.start + one.end]
            if own:
                first = section.paragraph + own[0].paragraph
                break
        return min(first or last, last), last

    async def _passages(self, section: Section) -> list[Passage]:
        """The sentences of a section, in order."""
        return await self._graph.episodes.passages(section.episode_uuid, without_vector=False, limit=MOST_PASSAGES)

    async def _last(self, sections: Sequence[Section]) -> int:
        """The number of the last paragraph; 0 of an empty document."""
        if not sections:
            return 0
        section = sections[-1]
        passages = await self._passages(section)
        return section.paragraph + max((one.paragraph for one in passages), default=0)

    async def _length(self, document: Document, sections: Sequence[Section]) -> int:
        """Of the whole text, in code points."""
        if not sections:
            return len(document.front)
        (last,) = await self._graph.records.get_episodes([sections[-1].episode_uuid], [document.group_id])
        return sections[-1].start + len(last.content)

    async def _text(self, document: Document, sections: Sequence[Section], start: int, end: int) -> str:
        """``[start, end)`` of the document; only sections in it are read."""
        ends = [*(one.start for one in sections[1:]), end]
        wanted = [one for one, after in zip(sections, ends, strict=True) if one.start < end and start < after]
        episodes = await self._graph.records.get_episodes([one.episode_uuid for one in wanted], [document.group_id])
        contents = {one.uuid: one.content for one in episodes}
        begin = wanted[0].start if wanted else len(document.front)
        text = "".join(contents.get(one.episode_uuid, "") for one in wanted)
        if start < len(document.front):
            text, begin = document.front + text, 0
        return text[start - begin : end - begin]


def _to_word_end(content: str, text: str) -> str:
    """The beginning ``text`` of ``content`` without a word that is cut, unless it is all of it."""
    if not text or len(text) == len(content) or text[-1].isspace() or content[len(text)].isspace():
        return text
    return text[: len(text) - len(text.rsplit(maxsplit=1)[-1])] or text
