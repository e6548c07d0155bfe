"""add_memory: checks, embeds, plans and commits one call as a whole; computations run in threads."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from graphiti_pkm.capabilities.remember.answer import Linked, write_answer
from graphiti_pkm.capabilities.remember.attention import AttentionWriter
from graphiti_pkm.capabilities.remember.corrected_dates import facts_of_same_date
from graphiti_pkm.capabilities.remember.dropped import follow_corrections, report_dependents
from graphiti_pkm.capabilities.remember.former_roles import give_roles, report_former_roles
from graphiti_pkm.capabilities.remember.write_plan import (
    SameNote,
    WriteContext,
    WritePlan,
    embedded_at_once,
    extract_job,
    missing_vectors,
    new_uuid,
    plan_write,
)
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.parsed_facts import ParsedRequest, fact_text, read_request, request_hash
from graphiti_pkm.core.facts.replacement import CURRENT
from graphiti_pkm.core.facts.resolution import names_given
from graphiti_pkm.core.facts.saga_plan import place_in_saga, with_saga
from graphiti_pkm.core.identity.first_back_links import first_back_links, still_linked
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.known_names import NameBooks
from graphiti_pkm.core.identity.persons import Persons, refuse_me
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.passages import Span, split_passages
from graphiti_pkm.core.model.places import Stretch
from graphiti_pkm.core.model.records import Name, SourceType, Vector
from graphiti_pkm.core.model.requests import ME, AddMemory
from graphiti_pkm.core.model.times import shifted
from graphiti_pkm.core.progress import Progress, no_progress
from graphiti_pkm.core.reading.dependents import DependentsReader
from graphiti_pkm.core.reading.receipts import Receipts, in_words
from graphiti_pkm.core.reading.snapshot import (
    LONG_TEXT,
    NO_NAMES,
    ReadNames,
    Snapshot,
    SnapshotReader,
    is_long,
)
from graphiti_pkm.core.waiting import in_thread, in_thread_if
from graphiti_pkm.embedding.write_vectors import embed_by_text, why_no_vectors
from graphiti_pkm.errors import ConflictingContent, PkmError, Unavailable, WriteFailed
from graphiti_pkm.storage.commit import Committer

_UUID_BYTES = 16
_A_MOMENT = timedelta(minutes=10)
_SHORT = 20
"""A model may send a note again within moments to add what it lacked; short texts may simply repeat."""
_MOST_FACTS = 1_000
"""More facts of one note than anyone tells."""
_QUEUED = " A model will read it: get_status with its episode_uuid as receipt shows what it finds."


@dataclass(frozen=True)
class Planned:
    """A call that is planned but not stored."""

    parsed: ParsedRequest
    plan: WritePlan
    snapshot: Snapshot


@dataclass(frozen=True)
class Addition:
    """What another capability adds to the write of an episode, and how that is written."""

    records: Callable[[WritePlan], Awaitable[Mapping[str, object]]]
    """Further fields of the intent. Called under the group's lock; whatever it raises, nothing is stored."""
    links_names: bool = True
    """Whether entities that only the text names are linked."""
    is_read: bool = True
    """Whether a configured model reads the episode."""
    source_type: SourceType = "conversation"
    """Where what is written comes from."""


async def _nothing(_plan: WritePlan) -> Mapping[str, object]:
    return {}


ALONE = Addition(_nothing)
"""Nothing is added."""
DERIVED = Addition(_nothing, source_type="inference")
"""Nothing is added to what was derived."""


class Writing:
    """Adds to the memory; nothing slow happens while a group's lock is held."""

    def __init__(
        self, context: Context, groups: Groups, committer: Committer, receipts: Receipts | None = None
    ) -> None:
        """With ``receipts`` each episode is queued for a model to read."""
        self._receipts = receipts
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._committer = committer
        self._books = NameBooks(context.graph)
        self._reader = SnapshotReader(context.graph, self._books)
        self._previewed = SnapshotReader(context.graph, NameBooks(context.graph))
        """A separate cache of names, which previews read outside the group's lock, one preview at a time."""
        self._previewing = asyncio.Lock()

    @property
    def has_model(self) -> bool:
        """Whether a configured model reads episodes."""
        return self._receipts is not None

    async def add_memory(
        self,
        caller: Caller,
        request: AddMemory,
        progress: Progress = no_progress,
        addition: Addition = ALONE,
    ) -> AddMemoryResponse:
        """Store an episode with its entities and facts; durable and searchable when it returns.

        It waits up to ``wait_seconds`` longer for a model's findings and reports to ``progress``; 0 returns at once.

        Raises InvalidInput: nothing was stored. ConflictingContent: the uuid was used for other content. WriteFailed:
        nothing was stored; it may be sent again. WritePending: it is journalled and must not be sent again.
        """
        caller.must_write("Nothing was stored.")
        group_id = self._groups.one(caller, request.group_id)
        person = self._persons.called(caller, group_id)
        now, zone = self._context.now(), self._context.settings.zone
        takes_long = is_long(request)
        parsed = await in_thread_if(takes_long, read_request, request, person, now, zone)
        refuse_me(caller, group_id, names_given(parsed, ME))
        digest = await in_thread_if(takes_long, request_hash, request, group_id)
        try:
            parsed = await self._with_own_uuid(parsed, group_id, caller)
            public = self._groups.name_for(caller, group_id)
            answer = await self._earlier(parsed, digest, public) or await self._store(
                parsed, group_id, person, caller, digest, addition
            )
        except Unavailable as error:
            raise WriteFailed(f"Nothing was stored; send it again later. {error.message}") from error
        if not addition.is_read:
            return answer
        return await self._with_extraction(answer, request.wait_seconds, progress)

    async def preview(self, caller: Caller, request: AddMemory) -> Planned:
        """What ``add_memory`` would do with a request now; only reads.

        Raises:
            InvalidInput: ``add_memory`` would refuse it.
            Unavailable: the database or an embedding service does not answer.
        """
        group_id = self._groups.one(caller, request.group_id)
        person = self._persons.called(caller, group_id)
        parsed = await in_thread(read_request, request, person, self._context.now(), self._context.settings.zone)
        refuse_me(caller, group_id, names_given(parsed, ME))
        spans = await _split(parsed.body)
        known = await self._previewed.known_names(group_id, parsed, person)
        texts = await in_thread(_texts, parsed, spans, person, group_id, known.names)
        vectors = await embed_by_text(self._context.embedder, texts)
        async with self._previewing:
            return await self._planned(self._previewed, parsed, spans, group_id, person, caller, vectors, known)

    async def _with_extraction(
        self, answer: AddMemoryResponse, wait_seconds: float, progress: Progress
    ) -> AddMemoryResponse:
        """The answer with the state of the extraction, which can no longer make the call fail."""
        if self._receipts is None:
            return answer
        if wait_seconds <= 0:
            queued = _QUEUED if answer.status == "stored" else ""
            return answer.model_copy(update={"message": answer.message + queued})
        try:
            receipt = await self._receipts.wait(answer.episode_uuid, wait_seconds, progress)
        except PkmError:
            return answer.model_copy(update={"message": answer.message + _QUEUED})
        if receipt is None:
            return answer
        return answer.model_copy(update={"message": f"{answer.message} {in_words(receipt)}", "extraction": receipt})

    async def _earlier(self, parsed: ParsedRequest, digest: str, public: str) -> AddMemoryResponse | None:
        """The first answer, if this uuid was sent before with the same content."""
        if parsed.uuid is None:
            return None
        receipt = await self._context.journal.stored_answer(parsed.uuid)
        if receipt is None:
            return None
        if receipt[0] != digest:
            raise ConflictingContent(
                f"Episode {parsed.uuid} was stored before with other content, which stands. Nothing was stored now; "
                "leave uuid out to store this as a new episode."
            )
        return AddMemoryResponse.model_validate({**receipt[1], "status": "already_stored", "group_id": public})

    async def _store(
        self, parsed: ParsedRequest, group_id: str, person: str, caller: Caller, digest: str, addition: Addition
    ) -> AddMemoryResponse:
        spans = await _split(parsed.body)
        known = await self._reader.known_names(group_id, parsed, person)
        while True:
            texts = await in_thread_if(is_long(parsed), _texts, parsed, spans, person, group_id, known.names)
            vectors = await embed_by_text(self._context.embedder, texts)
            answer = await self._store_embedded(
                parsed, spans, group_id, person, caller, digest, vectors, addition, known
            )
            if answer is not None:
                return answer
            known = NO_NAMES  # a name was deleted meanwhile: embed all of them

    async def _store_embedded(
        self,
        parsed: ParsedRequest,
        spans: list[Span],
        group_id: str,
        person: str,
        caller: Caller,
        digest: str,
        vectors: Mapping[str, Vector] | None,
        addition: Addition,
        known: ReadNames,
    ) -> AddMemoryResponse | None:
        """Read, plan and commit under the group's lock; None if a vector is missing that can still be made."""
        public, settings = self._groups.name_for(caller, group_id), self._context.settings
        takes_long = is_long(parsed)
        async with self._committer.writing(group_id):
            if earlier := await self._earlier(parsed, digest, public):
                return earlier
            await self._refuse_foreign(parsed)
            place = await place_in_saga(self._graph, group_id, parsed)
            planned = await self._planned(
                self._reader,
                parsed,
                spans,
                group_id,
                person,
                caller,
                vectors,
                known,
                links_names=addition.links_names,
            )
            parsed, plan, snapshot = planned.parsed, planned.plan, planned.snapshot
            now = plan.episode.created_at
            if vectors is not None and known.names and missing_vectors(plan, vectors):
                return None
            with self._books.writing(group_id):
                added = await addition.records(plan)
                entities = [one.entity for one in plan.resolved]
                mentions, jobs = await first_back_links(
                    self._graph, group_id, plan.new_names, snapshot.known, now, entities
                )
                linked = Linked(len(mentions), len(jobs))
                others = await still_linked(self._graph, group_id, plan.new_names, snapshot.known, mentions)
                plan.attention += plan.writer.still_linked(others, snapshot.known)
                note = None if vectors is not None else await why_no_vectors(self._context.embedder)
                has_model = self.has_model and addition.is_read
                answer = await in_thread_if(
                    takes_long,
                    write_answer,
                    parsed,
                    plan,
                    snapshot,
                    linked,
                    public,
                    settings.zone,
                    note,
                    has_model=has_model,
                )
                intent = await in_thread_if(takes_long, plan.intent, parsed, mentions, jobs, new_uuid)
                intent = intent.model_copy(update={**added, "origin": caller.origin(addition.source_type)})
                if place is not None:
                    intent = with_saga(intent, place, plan.episode, new_uuid)
                if has_model:
                    teller = self._persons.account_name(caller)
                    job = extract_job(parsed.steering, plan.episode.uuid, teller, new_uuid)
                    intent = intent.model_copy(update={"extractions": (job,)})
                shown = await in_thread_if(takes_long, answer.model_dump, mode="json")
                await self._committer.commit(intent, plan.vectors, digest, shown)
                if plan.moved:
                    self._books.forget(group_id)  # the cache adds names only
        return answer

    async def _planned(
        self,
        reader: SnapshotReader,
        parsed: ParsedRequest,
        spans: list[Span],
        group_id: str,
        person: str,
        caller: Caller,
        vectors: Mapping[str, Vector] | None,
        known: ReadNames,
        *,
        links_names: bool = True,
    ) -> Planned:
        public = self._groups.name_for(caller, group_id)
        settings, now = self._context.settings, self._context.now()
        if not parsed.is_dated:
            parsed = replace(parsed, reference_time=now)
        snapshot, same_text, recorded_at = await asyncio.gather(
            reader.read(group_id, parsed, person, vectors or {}, now, known),
            self._same_text(parsed, group_id),
            self._committer.time(group_id, now),
        )
        named = None if public == settings.default_group else public
        at = WriteContext(
            group_id,
            named,
            person,
            now,
            recorded_at,
            settings.zone,
            caller.principal,
            settings.retirement,
            may_delete=self._groups.may(caller, group_id, "curator"),
            may_split=settings.offers("split_entity", "curation") and self._groups.may(caller, group_id, "librarian"),
        )
        if not links_names:
            snapshot = replace(snapshot, mentioned=frozenset(), shared={}, parts={})
        takes_long = is_long(parsed) or not snapshot.is_brief
        plan = await in_thread_if(
            takes_long, plan_write, parsed, spans, at, snapshot, vectors or {}, same_text=same_text
        )
        plan.attention += await facts_of_same_date(self._graph, plan)
        writer = AttentionWriter(named, settings.zone, now, plan.episode)
        await give_roles(self._graph, plan, snapshot.names, person, now)
        plan.attention += await report_former_roles(self._graph, plan, writer, person)
        dependents = DependentsReader(self._graph)
        plan.attention += await report_dependents(dependents, plan, writer, now)
        await follow_corrections(dependents, plan, now)
        return Planned(parsed, plan, snapshot)

    async def _same_text(self, parsed: ParsedRequest, group_id: str) -> SameNote | None:
        """The episode with the same text and time; for one without a time, with the same text a moment ago."""
        if parsed.uuid is not None or len(parsed.body) < _SHORT:
            return None
        start = parsed.reference_time if parsed.is_dated else shifted(parsed.reference_time, -_A_MOMENT)
        end = shifted(parsed.reference_time, timedelta(microseconds=1))
        stretch = Stretch(group_id=group_id, start=start, end=end)
        uuid = await self._graph.episodes.same_text(stretch, parsed.body)
        if uuid is None:
            return None
        return SameNote(uuid, await self._graph.facts.episode_facts(uuid, [group_id], _MOST_FACTS))

    async def _with_own_uuid(self, parsed: ParsedRequest, group_id: str, caller: Caller) -> ParsedRequest:
        """The uuid sent by one of many callers: an existing episode of theirs, or one derived from it for the group.

        So it never matches another caller's episode, whose existence the answer would reveal. The local user without a
        token owns the machine and gets the uuid unchanged.
        """
        if parsed.uuid is None or (caller.is_local and caller.token is None):
            return parsed
        if await self._graph.records.find_uuids("episode", parsed.uuid, await self._groups.visible(caller), 1):
            return parsed
        derived = hashlib.sha256(f"{group_id}\0{parsed.uuid}".encode()).digest()[:_UUID_BYTES]
        return replace(parsed, uuid=str(UUID(bytes=derived, version=5)))

    async def _refuse_foreign(self, parsed: ParsedRequest) -> None:
        """Refuse to overwrite an episode that did not come through the journal, in any group."""
        if parsed.uuid is None:
            return
        if await self._graph.records.find_uuids("episode", parsed.uuid, await self._graph.records.groups(), 1):
            raise ConflictingContent(
                f"Episode {parsed.uuid} is there already and stays as it is. Nothing was stored now; leave uuid out to "
                "store this as a new episode."
            )


async def _split(body: str) -> list[Span]:
    return split_passages(body) if len(body) < LONG_TEXT else await in_thread(split_passages, body)


def _texts(
    parsed: ParsedRequest, spans: list[Span], person: str, group_id: str, known: Mapping[str, Name]
) -> list[str]:
    """All texts that a write may need vectors of: sentences, fact texts, and new names."""
    held = {name: known.get(name_key(group_id, name)) for name in names_given(parsed, person)}
    new = [name for name, one in held.items() if one is None or not (one.is_linkable or name == person)]
    measures = [fact.target for fact in parsed.facts if fact.is_named and not fact.has_target]
    new += [name for name in measures if name_key(group_id, name) not in known]
    sentences = embedded_at_once(parsed.body, parsed.source, spans)
    return list(dict.fromkeys((*sentences, *new, *_fact_texts(parsed, person))))


def _fact_texts(parsed: ParsedRequest, person: str) -> Collection[str]:
    texts: dict[str, None] = {}
    for fact in parsed.facts:
        texts[fact.text] = None
        source = person if fact.source == ME else fact.source
        for old in fact.replaces:
            if old.lower() != CURRENT and not fact.is_correction:
                target, value = (old, None) if fact.has_target else (None, old)
                texts[fact_text(source, fact.relation, target, value, None)] = None
    return texts
