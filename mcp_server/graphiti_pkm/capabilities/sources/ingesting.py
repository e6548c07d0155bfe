"""Ingests files: one write for each document, with all its sections, embedded in batches before any lock is taken."""

import hashlib
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Literal
from uuid import uuid4

from graphiti_pkm.capabilities.remember.write_plan import extract_job
from graphiti_pkm.capabilities.sources.decision_facts import LINKS, Telling
from graphiti_pkm.capabilities.sources.decision_writes import DecisionWrites, PlacedSection
from graphiti_pkm.capabilities.sources.decisions import DecisionRecord, number_of, read_decision
from graphiti_pkm.capabilities.sources.files import SourceFile, read_file
from graphiti_pkm.capabilities.sources.layout import MOST_PARTS, Layout, Part, divide, front_of
from graphiti_pkm.capabilities.sources.names import LONGEST_NAME
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.statuses import HAS_STATUS
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import KnownNames, NameBooks
from graphiti_pkm.core.identity.ordered_uuids import ordered_uuids
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.document_records import SECTION_SOURCE, Document, Section
from graphiti_pkm.core.model.job_records import EmbedPassagesJob
from graphiti_pkm.core.model.passages import without_left_out
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Episode, Mention, Passage, Vector, Vectors, WriteIntent, WriteKind
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.request_checks import check_text
from graphiti_pkm.core.model.times import parse_instant
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.errors import InvalidInput, PkmError, Unavailable
from graphiti_pkm.storage.commit import Committer

_BATCH = 1_000
"""Sentences that are embedded together, from as many documents as it takes; so many are held in memory."""
_DOCUMENTS = 100
"""Documents that are held at most, however short."""
_AT_ONCE = 256
"""Sentences that the model is given at a time."""
_CHANGING = frozenset({HAS_STATUS, *LINKS})
"""Relations that a record may state of a later time than its date."""
_EPISODES = 200
"""Episodes that are read at a time."""

Outcome = Literal["new", "changed", "moved", "unchanged", "failed"]


@dataclass(frozen=True)
class Given:
    """A file, and what its document is to be called."""

    path: Path
    name: str


@dataclass(frozen=True)
class Ingested:
    """What came of a file."""

    name: str
    outcome: Outcome
    version: int = 0
    sections: int = 0
    new_sections: int = 0
    sentences: int = 0
    """Of the new sections."""
    reason: str | None = None
    """Why nothing of it was stored."""


@dataclass(frozen=True)
class _Read:
    name: str
    file: SourceFile
    layout: Layout
    digest: str
    day: str | None = None
    """The date in the front matter."""
    record: DecisionRecord | None = None
    """What it states, if it is the record of a decision."""

    def text_of(self, part: Part) -> str:
        return self.file.text[part.start : part.end]


@dataclass(frozen=True)
class _Known:
    """What the memory has of a document."""

    present: Document | None
    is_same: bool
    """Whether the present version has the text that was read."""
    same: Document | None
    """Another document with that text."""
    episodes: Mapping[str, str]
    """Episodes of sections that can be shared, by their text."""
    own: frozenset[str] = frozenset()
    """Texts of the sections of the present version."""

    @property
    def version(self) -> int:
        """0: there is none."""
        return self.present.version if self.present else 0

    def is_unchanged(self, path: str) -> bool:
        """Whether nothing is to be done."""
        return self.is_same and self.present is not None and self.present.path == path


class Ingesting:
    """Reads files one by one, so that as much is in memory as one batch needs."""

    def __init__(self, context: Context, groups: Groups, committer: Committer) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._committer = committer
        self._persons = Persons(context.graph, context.settings)
        self._books = NameBooks(context.graph)
        self._decisions = DecisionWrites(context, self._persons, self._books)

    async def ingest(
        self, caller: Caller, files: Sequence[Given], root: Path, group_id: str | None, *, is_read: bool = False
    ) -> AsyncIterator[Ingested]:
        """What came of each file, in an order of its own; a file that cannot be read does not stop the others.

        ``is_read``: whether a model is to read the new sections.

        Raises:
            InvalidInput: a name is blank, too long or given twice; nothing was read.
        """
        caller.must_write("Nothing was stored.")
        group = self._groups.one(caller, group_id)
        _check_names(files)
        if len(files) == 1:
            files = [await self._in_its_set(files[0], group)]
            _check_names(files)
        batch: list[tuple[_Read, list[str]]] = []
        for given in files:
            try:
                read = await in_thread(_read, given, root)
                known = await self._known(read, group)
                refusal = _other_file(read, known) or await self._refusal(read, known, group)
            except PkmError as error:
                yield Ingested(given.name, "failed", reason=error.message)
                continue
            if refusal is not None:
                yield Ingested(given.name, "failed", reason=refusal)
                continue
            if known.is_unchanged(read.file.path):
                yield Ingested(read.name, "unchanged", known.version)
                continue
            batch.append((read, [] if known.is_same else _sentences(read, known)))
            if len(batch) >= _DOCUMENTS or sum(len(sentences) for _, sentences in batch) >= _BATCH:
                async for done in self._store(caller, batch, group, is_read=is_read):
                    yield done
                batch = []
        async for done in self._store(caller, batch, group, is_read=is_read):
            yield done

    async def _in_its_set(self, given: Given, group: str) -> Given:
        """A file that comes alone with the name of a set is one of the set, unless that is the name of a document."""
        documents, prefix = self._graph.documents, f"{given.name}/"
        if await documents.present(group, given.name) is not None:
            return given
        name = f"{prefix}{given.path.stem}"
        if given.name == given.path.stem:  # perhaps it was given no name, then another set is none of its business
            is_one = await documents.present(group, name) is not None
        else:
            others = await documents.listed(group, Window(limit=1, after=(prefix,)))
            is_one = any(other.name.startswith(prefix) for other in others)
        return replace(given, name=name) if is_one else given

    async def _refusal(self, read: _Read, known: _Known, group: str) -> str | None:
        """Why another text of a decision is not stored under another name: the decision would stand there twice."""
        if read.record is None or known.present is not None or known.same is not None:
            return None
        other = await self._graph.documents.at_path(group, read.file.path)
        if other is None:
            return None
        return (
            f"{read.file.path} is the document {other.name!r}, of which this would be a version, with its decision "
            f"again. Nothing of it was stored. Ingest it with --name {other.name!r}; if it is another file, set "
            "document_root to a directory that holds both."
        )

    async def _store(
        self, caller: Caller, batch: Sequence[tuple[_Read, list[str]]], group: str, *, is_read: bool
    ) -> AsyncIterator[Ingested]:
        texts = dict.fromkeys(one for _, sentences in batch for one in sentences)
        for read, _ in batch:
            telling = await self._telling(read, await self._known(read, group), group)
            texts |= dict.fromkeys(telling.texts if telling else ())
        vectors = await self._embedded(texts)
        for read in _superseding_first([read for read, _ in batch]):
            try:
                yield await self._commit(caller, read, group, vectors, is_read=is_read)
            except PkmError as error:
                yield Ingested(read.name, "failed", reason=error.message)

    async def _embedded(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Vectors by text; none if no model answers, and then a job makes them later."""
        listed = sorted(texts, key=len)  # texts of one length are the fastest together
        vectors: dict[str, Vector] = {}
        try:
            for place in range(0, len(listed), _AT_ONCE):
                part = listed[place : place + _AT_ONCE]
                vectors.update(zip(part, await self._context.embedder.embed(part), strict=True))
        except Unavailable:
            return {}
        return vectors

    async def _known(self, read: _Read, group: str) -> _Known:
        present = await self._graph.documents.present(group, read.name)
        is_same = present is not None and present.digest == read.digest
        same = None if is_same else await self._graph.documents.with_digest(group, read.digest)
        own = await self._texts(present) if present is not None and not is_same else {}
        others = await self._texts(same) if same is not None else {}
        return _Known(present, is_same, same, own | others, frozenset(own))

    async def _telling(self, read: _Read, known: _Known, group: str) -> Telling | None:
        """What is to be written of a decision, if it is the record of one."""
        if read.record is None or known.is_same:
            return None
        former = read.record if known.same else None
        if known.present is not None:
            text = await self._text(known.present)
            former = await in_thread(lambda: read_decision(text, front_of(text)))
        return await self._decisions.telling(read.record, former, (group, read.name, read.file.path), known.same)

    async def _text(self, document: Document) -> str:
        """The text of a version as the memory has it."""
        uuids, episodes = await self._sections(document)
        found = {one.uuid: one.content for one in episodes}
        return document.front + "".join(found.get(uuid, "") for uuid in uuids)

    async def _texts(self, document: Document) -> dict[str, str]:
        """The sections of a document by their texts; only the newest bears a text that occurs twice."""
        _, episodes = await self._sections(document)
        return {one.content: one.uuid for one in episodes}

    async def _sections(self, document: Document) -> tuple[list[str], list[Episode]]:
        """The uuids of a document's sections in their order, and their episodes."""
        sections = await self._graph.documents.sections(document.uuid, document.group_id, MOST_PARTS)
        uuids, episodes = [section.episode_uuid for section in sections], list[Episode]()
        for place in range(0, len(uuids), _EPISODES):
            part = uuids[place : place + _EPISODES]
            episodes += await self._graph.records.get_episodes(part, [document.group_id])
        return uuids, episodes

    async def _commit(
        self, caller: Caller, read: _Read, group: str, vectors: Mapping[str, Vector], *, is_read: bool
    ) -> Ingested:
        """Raises as ``Committer.commit``."""
        async with self._committer.writing(group):
            known = await self._known(read, group)
            if (refusal := _other_file(read, known)) is not None:
                return Ingested(read.name, "failed", reason=refusal)
            present, path = known.present, read.file.path
            if known.is_unchanged(path):
                return Ingested(read.name, "unchanged", known.version)
            at = await self._committer.time(group, self._context.now())
            intent = WriteIntent(
                uuid=str(uuid4()),
                group_id=group,
                kind=WriteKind.INGEST,
                recorded_at=at,
                origin=caller.origin("document"),
            )
            if present is not None and known.is_same:
                moved = present.model_copy(update={"path": path})
                await self._committer.commit(intent.model_copy(update={"documents": (moved,)}), {}, read.digest)
                return Ingested(read.name, "moved", present.version)
            document = Document(
                uuid=str(uuid4()),
                group_id=group,
                name=read.name,
                path=path,
                version=known.version + 1,
                digest=read.digest,
                front=read.layout.front,
                created_at=at,
            )
            told_at = _told_at(read.day, self._context) or at
            telling = await self._telling(read, known, group)
            times = _times(read, telling, document, told_at, self._context)
            names = await self._books.of(group)
            plan = await in_thread(_plan, read, document, dict(known.episodes), times, names, vectors)
            job_for = self._persons.account_name(caller)
            intent = plan.added_to(intent)
            with self._books.writing(group):
                if telling is not None:
                    intent, own = await self._with_decision(intent, telling, caller, read, plan, times, vectors)
                    plan.vectors.update(own)
                if is_read:
                    jobs = tuple(extract_job({}, one.uuid, job_for) for one in intent.episodes)
                    intent = intent.model_copy(update={"extractions": jobs})
                await self._committer.commit(intent, plan.vectors, read.digest)
        return Ingested(
            read.name,
            "changed" if present else "new",
            document.version,
            sections=len(plan.sections),
            new_sections=len(plan.episodes),
            sentences=len(plan.passages),
        )

    async def _with_decision(
        self,
        intent: WriteIntent,
        telling: Telling,
        caller: Caller,
        read: _Read,
        plan: "_Plan",
        times: Sequence[datetime],
        vectors: Mapping[str, Vector],
    ) -> tuple[WriteIntent, Vectors]:
        new = {one.uuid for one in plan.episodes}
        sections = [
            PlacedSection(section.episode_uuid, part.start, part.end, at, section.episode_uuid in new)
            for section, part, at in zip(plan.sections, read.layout.parts, times, strict=True)
        ]
        return await self._decisions.added_to(intent, telling, caller, sections, read.file.text, vectors)


@dataclass(frozen=True)
class _Plan:
    document: Document
    sections: Sequence[Section]
    episodes: Sequence[Episode]
    passages: Sequence[Passage]
    mentions: Sequence[Mention]
    vectors: Vectors

    def added_to(self, intent: WriteIntent) -> WriteIntent:
        """The write with all of it; a job embeds what has no vector although there is a model."""
        without = {one.episode_uuid for one in self.passages if one.uuid not in self.vectors}
        jobs = [EmbedPassagesJob(episode_uuid=uuid) for uuid in sorted(without)] if self.vectors else []
        return intent.model_copy(
            update={
                "episodes": tuple(self.episodes),
                "mentions": tuple(self.mentions),
                "passages": tuple(self.passages),
                "documents": (self.document,),
                "sections": tuple(self.sections),
                "jobs": tuple(jobs),
            }
        )


def _plan(
    read: _Read,
    document: Document,
    shared: dict[str, str],
    times: Sequence[datetime],
    names: KnownNames,
    vectors: Mapping[str, Vector],
) -> _Plan:
    """Pure but for uuids. ``shared`` loses what is used: an episode is one section of a document."""
    plan = _Plan(document, [], [], [], [], {})
    sections, episodes, passages, mentions = [], [], [], []
    new_uuids = ordered_uuids(len(read.layout.parts))
    for place, part in enumerate(read.layout.parts):
        text = read.text_of(part)
        uuid = shared.pop(text, None)
        if uuid is None:
            uuid = new_uuids[place]
            episodes.append(_episode(uuid, document, part, text, times[place]))
            own = [Passage(uuid=str(uuid4()), episode_uuid=uuid, **span.model_dump()) for span in part.spans]
            passages += own
            embedded = without_left_out(text)
            plan.vectors.update(
                (one.uuid, vectors[sentence]) for one in own if (sentence := embedded[one.start : one.end]) in vectors
            )
            mentions += [
                Mention(uuid=str(uuid4()), episode_uuid=uuid, entity_uuid=entity, created_at=document.created_at)
                for entity in sorted(names.mentioned(text))
            ]
        sections.append(Section(document_uuid=document.uuid, place=place, episode_uuid=uuid, paragraph=part.paragraph))
    return replace(plan, sections=sections, episodes=episodes, passages=passages, mentions=mentions)


def _episode(uuid: str, document: Document, part: Part, text: str, told_at: datetime) -> Episode:
    return Episode(
        uuid=uuid,
        group_id=document.group_id,
        name=f"{document.name}: {part.title}" if part.title else document.name,
        content=text,
        source_description=f"{SECTION_SOURCE}{document.name}",
        valid_at=told_at,
        created_at=document.created_at,
    )


def _read(given: Given, root: Path) -> _Read:
    """Raises InvalidInput, NotFound: nothing of the file was stored."""
    file = read_file(given.path, root)
    try:
        layout = divide(file.text, file.kind)
    except InvalidInput as error:
        raise InvalidInput(f"{given.path}: {error.message}") from None
    if not any(part.spans for part in layout.parts):
        raise InvalidInput(f"{given.path} contains no text. Nothing of it was stored.")
    record = read_decision(file.text, layout.front) if file.kind == "markdown" else None
    day = layout.fields.get("date")
    if record is not None:
        layout = layout.with_front_told().cut_at(file.text, record.apart)
    return _Read(given.name, file, layout, hashlib.sha256(file.text.encode()).hexdigest(), day, record)


def _sentences(read: _Read, known: _Known) -> list[str]:
    """What has to be embedded: the sentences of sections that the memory does not have."""
    new = ((part, read.text_of(part)) for part in read.layout.parts)
    return [
        embedded[span.start : span.end]
        for part, text in new
        if text not in known.episodes
        for embedded in [without_left_out(text)]
        for span in part.spans
    ]


def _superseding_first(batch: Sequence[_Read]) -> list[_Read]:
    """Records that supersede others of the batch come before these, whose statuses then get their dates."""
    ending = {(link.number, link.stem) for one in batch if one.record for link in one.record.links if link.is_passive}

    def is_first(read: _Read) -> bool:
        stem = PurePosixPath(read.file.path).stem
        return read.record is not None and any(
            stem == wanted or (wanted is None and number_of(stem) == number) for number, wanted in ending
        )

    return sorted(batch, key=lambda read: not is_first(read))


def _times(
    read: _Read, telling: Telling | None, document: Document, told_at: datetime, context: Context
) -> list[datetime]:
    """When the words of each section were written.

    Those of a record are of its date, but not what an edited one has new, nor what it states without a date.
    """
    parts = read.layout.parts
    if read.record is None or telling is None:
        return [told_at] * len(parts)
    at = document.created_at
    day = _told_at(read.record.day.text if read.record.day else None, context)
    if document.version > 1 or day is None:
        return [at] * len(parts)
    undated = [
        one.said.start
        for one in telling.statements
        if one.said and one.fact.valid_at is None and one.fact.relation in _CHANGING
    ]
    return [at if any(part.start <= place < part.end for place in undated) else day for part in parts]


def _told_at(text: str | None, context: Context) -> datetime | None:
    """The date in the front matter, if there is one that can be read."""
    try:
        return None if text is None else parse_instant(text, context.settings.zone)
    except InvalidInput:
        return None


def _other_file(read: _Read, known: _Known) -> str | None:
    """Why a file is no version of the document of its name: that is of a file with another name, and shares no section.

    Sections of a record in which it states its status or date are alike in many, so they do not count.
    """
    present, path = known.present, PurePosixPath(read.file.path)
    if present is None or known.is_same or FORGOTTEN in present.path or PurePosixPath(present.path).stem == path.stem:
        return None
    if known.same is not None and known.same.name == read.name:
        return None
    stated = [one.start for one in read.record.stated] if read.record else []
    texts = {read.text_of(one) for one in read.layout.parts if not any(one.start <= at < one.end for at in stated)}
    if texts & known.own:
        return None
    return (
        f"{path} shares no section with the document {read.name!r}, which is of {present.path}, so it is no version of "
        f"it. Nothing of it was stored. Ingest it with --name {f'{read.name}/{path.stem}'!r} or, if it is a file of a "
        "set, give all files of the set together; if the file was renamed, ingest it before it is changed."
    )


def _check_names(files: Sequence[Given]) -> None:
    """Raises InvalidInput."""
    names = [one.name for one in files]
    for name in names:
        check_text(name, "name")
        if name != " ".join(name.split()) or not 0 < len(name) <= LONGEST_NAME:
            raise InvalidInput(f"A document's name needs 1 to {LONGEST_NAME} characters on one line: {name!a}.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InvalidInput(f"Two files would be the document {twice[0]!a}; ingest them with different names.")
