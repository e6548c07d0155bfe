"""Plans the facts of a record of a decision as those of a note, and places each in the section that states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath
from uuid import uuid4

from graphiti_pkm.capabilities.remember.write_plan import WriteContext, new_uuid, plan_write
from graphiti_pkm.capabilities.sources.decision_facts import (
    DECIDED_BY,
    HAS_DATE,
    LINKS,
    TYPE,
    Other,
    Statement,
    Telling,
    Undated,
    dated_status,
    others_of,
    tell,
)
from graphiti_pkm.capabilities.sources.decisions import (
    DecisionRecord,
    Said,
    day_in,
    is_begun,
    number_of,
    relation_of_end,
)
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.parsed_facts import ParsedRequest, read_request
from graphiti_pkm.core.facts.rules import is_current
from graphiti_pkm.core.facts.statuses import HAS_STATUS, OPEN, class_of_status, same_meaning, word_of
from graphiti_pkm.core.identity.first_back_links import first_back_links
from graphiti_pkm.core.identity.known_names import NameBooks
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.document_records import SECTION_SOURCE, Document
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact, Mention, Name, Vector, Vectors, WriteIntent
from graphiti_pkm.core.model.requests import AddMemory, FactInput
from graphiti_pkm.core.model.times import iso, parse_instant
from graphiti_pkm.core.reading.snapshot import SnapshotReader
from graphiti_pkm.core.waiting import in_thread
from graphiti_pkm.settings.loader import Settings

_PART = LINKS[1]
_EACH = 50
"""Facts of one relation, and names of one entity, that are read."""


@dataclass(frozen=True)
class PlacedSection:
    """A section of the version that is written: ``[start, end)`` in the document."""

    episode_uuid: str
    start: int
    end: int
    told_at: datetime
    is_new: bool


class DecisionWrites:
    """Finds what the memory knows of the decisions that a record names, and plans its facts by the rules of notes."""

    def __init__(self, context: Context, persons: Persons, books: NameBooks) -> None:
        self._context = context
        self._graph = context.graph
        self._persons = persons
        self._reader = SnapshotReader(context.graph, books)

    async def telling(
        self,
        record: DecisionRecord,
        former: DecisionRecord | None,
        document: tuple[str, str, str],
        same: Document | None,
    ) -> Telling:
        """What is to be written of a record; ``document``: group, name and path; ``same``: another with its text."""
        group, name, path = document
        stem = PurePosixPath(path).stem
        prefix = name[: name.rfind("/") + 1]
        number = next((one for one in map(number_of, (name[len(prefix) :], stem)) if one is not None), record.number)
        own = await self._own_name(group, name, prefix, (number, stem), same)
        prefix = _place_of(own, prefix)
        found = await self._others(record, former, group, prefix)
        held = await self._held(group, [own])
        uuid = next(iter(held.values())).entity_uuid if held else None
        if former is not None and uuid is None:
            former = None
        undated = await self._undated(group, uuid) if uuid else Undated()
        alias = name if number is not None else None
        is_named = bool(await self._held(group, [alias or own]))
        now = iso(self._context.now())
        told = tell(record, former, own, alias, others_of(found), undated, now, is_named=is_named)
        told = await self._with_days_of_parts(await self._as_known(told, group), record, group, uuid)
        if former is None:
            return told
        freed = [status for one in told.statements for status in await self._freed(group, prefix, own, one)]
        return await self._with_returns(replace(told, statements=(*told.statements, *freed)), record, group)

    async def _freed(self, group: str, prefix: str, own: str, gone: Statement) -> list[Statement]:
        """The status of what is no longer superseded: the one before, if none but such links said the other."""
        fact, now = gone.fact, self._context.now()
        if gone.said is not None or (fact.relation, fact.source) != (LINKS[0], own) or fact.target is None:
            return []
        held = await self._held(group, [own, fact.target])
        source, target = held.get(name_key(group, own)), held.get(name_key(group, fact.target))
        if source is None or target is None:
            return []
        uuid = target.entity_uuid
        (statuses,) = await self._graph.facts.facts_with_relation(group, [(uuid, HAS_STATUS)], _EACH)
        links = await self._graph.facts.connections(
            uuid,
            FactFilter(group_ids=(group,), now=now, direction="in", relations=LINKS[:1], kinds=("state",)),
            Window(limit=_EACH),
        )
        is_superseded_still = any(is_current(one, now) and one.source_uuid != source.entity_uuid for one in links.facts)
        standing = [one for one in statuses if is_current(one, now)]
        causes = {one.uuid for one in links.facts}
        if is_superseded_still or len(standing) != 1 or standing[0].cause_uuid not in causes:
            return []
        names = {
            prefix + fact.target[len(prefix) :].removeprefix("ADR "),
            *(await self._graph.records.aliases([uuid], _EACH)).get(uuid, []),
        }
        told_by = await self._graph.records.get_episodes(standing[0].episodes, [group])
        sources = {one.source_description for one in told_by}
        if sources & {f"{SECTION_SOURCE}{one}" for one in names}:
            return []
        if not all(one.startswith(SECTION_SOURCE) for one in sources):
            return []
        before = [one for one in statuses if one.invalid_at and not same_meaning(word_of(one), "superseded")]
        status = max(before, key=lambda one: one.invalid_at or now, default=None) or standing[0]
        end = {"invalid_at": iso(now)} if status is standing[0] else {"valid_at": iso(now)}
        again = FactInput(
            source=fact.target, relation=HAS_STATUS, value=status.value or word_of(status), fact=status.text
        )
        return [Statement(again.model_copy(update=end), None)]

    async def _with_returns(self, told: Telling, record: DecisionRecord, group: str) -> Telling:
        """What had ended and is stated again begins now: with its former start it would be the ended fact."""
        now, statements = self._context.now(), list[Statement]()
        held = await self._held(
            group, [name for one in told.statements for name in (one.fact.source, one.fact.target) if name]
        )
        for one in told.statements:
            start = one.fact.valid_at or ""
            may_return = one.fact.relation in (DECIDED_BY, *LINKS) and one.fact.kind == "state"
            is_status = one.fact.relation == HAS_STATUS and one.said is record.status and one.said.day is None
            known = await self._same(group, one, held) if one.said and (may_return or is_status) else []
            ends = [iso(fact.invalid_at) for fact in known if fact.invalid_at and fact.invalid_at <= now]
            returns = bool(ends) and len(ends) == len(known) and start < max(ends)
            again = one.fact.model_copy(update={"valid_at": iso(now)})
            statements.append(replace(one, fact=again) if returns else one)
        return replace(told, statements=tuple(statements))

    async def _as_known(self, told: Telling, group: str) -> Telling:
        """What both records state of an end is one fact; a day beside the words of one wins over the other's date."""
        now, zone, statements = self._context.now(), self._context.settings.zone, list[Statement]()
        held = await self._held(
            group, [name for one in told.statements for name in (one.fact.source, one.fact.target) if name]
        )
        for one in told.statements:
            is_end = one.fact.relation == HAS_STATUS and relation_of_end(str(one.fact.value)) is not None
            is_link = one.fact.relation in LINKS and one.fact.kind == "state"
            same = await self._same(group, one, held) if one.said and (is_end or is_link) else []
            known = [fact for fact in same if is_current(fact, now)]
            if one.said is None or len(known) != 1:
                statements.append(one)
                continue
            (fact,) = known
            changes: dict[str, object] = {"fact": fact.text, "value": fact.value}
            day = parse_instant(one.said.day, zone) if one.said.day else None
            if day is not None and fact.valid_at not in (None, day) and await self._is_from_documents(fact, group):
                changes |= {"replaces": [fact.uuid], "change": "corrected"}
            statements.append(replace(one, fact=one.fact.model_copy(update=changes)))
        return replace(told, statements=tuple(statements))

    async def _with_days_of_parts(self, told: Telling, record: DecisionRecord, group: str, own: str | None) -> Telling:
        """A decision is partly superseded from the day on which another began to supersede a part of it."""
        statements, now = list[Statement](), self._context.now()
        days: list[datetime] = []
        if own is not None and relation_of_end(record.status.text) == _PART:
            wanted = FactFilter(group_ids=(group,), now=now, direction="in", relations=(_PART,), kinds=("state",))
            links = (await self._graph.facts.connections(own, wanted, Window(limit=_EACH))).facts
            days = [link.valid_at for link in links if is_current(link, now) and link.valid_at]
        for one in told.statements:
            is_own = one.fact.relation == HAS_STATUS and one.said is record.status
            dated = {"valid_at": iso(min(days))} if days and is_own and one.fact.valid_at is None else {}
            statements.append(replace(one, fact=one.fact.model_copy(update=dated)))
            day, target = one.fact.valid_at, one.fact.target
            if one.said and one.fact.relation == _PART and one.fact.source == told.name and day and target:
                held = await self._held(group, [target])
                statements += [
                    Statement(dated_status(status, day), one.said)
                    for name in held.values()
                    for status in await self._undated_statuses(group, name.entity_uuid, _PART)
                ]
        return replace(told, statements=tuple(statements))

    async def _undated_statuses(self, group: str, uuid: str, relation: str) -> list[Fact]:
        """Present statuses without a start that say that something supersedes a decision, or a part of it."""
        now = self._context.now()
        (found,) = await self._graph.facts.facts_with_relation(group, [(uuid, HAS_STATUS)], _EACH)
        return [
            one
            for one in found
            if is_current(one, now) and one.valid_at is None and relation_of_end(word_of(one)) == relation
        ]

    async def _is_from_documents(self, fact: Fact, group: str) -> bool:
        told_by = await self._graph.records.get_episodes(fact.episodes, [group])
        return all(one.source_description.startswith(SECTION_SOURCE) for one in told_by)

    async def _same(self, group: str, one: Statement, held: Mapping[str, Name]) -> list[Fact]:
        """Known facts that say what a statement says, whenever they held."""
        source = held.get(name_key(group, one.fact.source))
        if source is None:
            return []
        (found,) = await self._graph.facts.facts_with_relation(group, [(source.entity_uuid, one.fact.relation)], _EACH)
        if one.fact.target is None:
            return [fact for fact in found if same_meaning(word_of(fact), str(one.fact.value))]
        target = held.get(name_key(group, one.fact.target))
        return [fact for fact in found if target and (fact.target_uuid, fact.kind) == (target.entity_uuid, "state")]

    async def _own_name(
        self, group: str, name: str, prefix: str, own: tuple[int | None, str], same: Document | None
    ) -> str:
        """The name under which the decision is known, or is to be.

        It has the number of the file, unless a decision of another file has it already.
        """
        number, stem = own
        plain = f"{prefix}ADR {stem if number is None else number}"
        for text in (name, same.name if same else None):
            known = await self._decision(group, text) if text else None
            if known is not None:
                return known
        held = (await self._held(group, [plain])).get(name_key(group, plain))
        if number is None or held is None:
            return plain
        aliases = (await self._graph.records.aliases([held.entity_uuid], _EACH)).get(held.entity_uuid, [])
        others = [one for one in aliases if one != name and number_of(one[len(prefix) :]) == number]
        is_taken = [one for one in others if await self._graph.documents.present(group, one) is not None]
        return f"{prefix}ADR {stem}" if is_taken else plain

    async def _decision(self, group: str, text: str) -> str | None:
        """The name of the decision that has a name."""
        held = (await self._held(group, [text])).get(name_key(group, text))
        found = await self._graph.records.get_entities([held.entity_uuid], [group]) if held else []
        return found[0].name if found and found[0].label == TYPE else None

    async def _held(self, group: str, names: Sequence[str]) -> dict[str, Name]:
        return await self._graph.records.get_names([name_key(group, one) for one in names])

    async def _others(
        self, record: DecisionRecord, former: DecisionRecord | None, group: str, prefix: str
    ) -> dict[tuple[int | None, str | None], Other]:
        """The decisions that a record refers to, by number and name of the file."""
        found: dict[tuple[int | None, str | None], Other] = {}
        for link in (*record.links, *(former.links if former else ())):
            key = (link.number, link.stem)
            if key in found:
                continue
            plain = f"{prefix}ADR {link.stem if link.number is None else link.number}"
            alias = f"{prefix}{link.stem}" if link.stem and link.number is not None else None
            held = await self._held(group, [plain, *([alias] if alias else [])])
            name = plain
            if alias and (one := held.get(name_key(group, alias))):
                known = await self._graph.records.get_entities([one.entity_uuid], [group])
                name = known[0].name if known else plain
            one = held.get(name_key(group, alias or plain)) or held.get(name_key(group, plain))
            day = await self._day(group, one.entity_uuid) if one else None
            found[key] = Other(name, alias, day)
        return found

    async def _day(self, group: str, uuid: str) -> str | None:
        """The date of a decision that is, or was, in force."""
        dates, statuses = await self._graph.facts.facts_with_relation(
            group, [(uuid, HAS_DATE), (uuid, HAS_STATUS)], _EACH
        )
        now = self._context.now()
        words = [word_of(one) for one in statuses if is_current(one, now)]
        if any(class_of_status(word) == OPEN or same_meaning(word, "rejected") for word in words):
            return None
        days = [day_in(one.quote) for one in statuses if not one.voided and is_begun(word_of(one))]
        dated = (one.value for one in dates if is_current(one, now))
        return next(dated, None) or min(filter(None, days), default=None)

    async def _undated(self, group: str, uuid: str) -> Undated:
        now = self._context.now()
        found = await self._graph.facts.facts_with_relation(group, [(uuid, one) for one in LINKS], _EACH)
        links = [one for some in found for one in some if is_current(one, now) and one.valid_at is None]
        statuses = [
            status
            for one in links
            if one.relation in LINKS[:2]
            for status in await self._undated_statuses(group, one.target_uuid, one.relation)
        ]
        return Undated(links, statuses)

    async def added_to(
        self,
        intent: WriteIntent,
        telling: Telling,
        caller: Caller,
        sections: Sequence[PlacedSection],
        text: str,
        vectors: Mapping[str, Vector],
    ) -> tuple[WriteIntent, Vectors]:
        """The write of a document with the facts of its record; ``text``: of the document. Under the group's lock."""
        if not telling.entities:
            return intent, {}
        group, settings, now = intent.group_id, self._context.settings, self._context.now()
        person = self._persons.called(caller, group)
        parsed = await in_thread(_parsed, telling, person, now, settings)
        snapshot = await self._reader.read(group, parsed, person, vectors, now)
        snapshot = replace(snapshot, mentioned=frozenset(), shared={}, parts={})
        at = WriteContext(
            group, None, person, now, intent.recorded_at, settings.zone, caller.principal, settings.retirement
        )
        plan = await in_thread(plan_write, parsed, (), at, snapshot, vectors)
        mentions, jobs = await first_back_links(
            self._graph, group, plan.new_names, snapshot.known, now, [one.entity for one in plan.resolved]
        )
        own = plan.intent(parsed, mentions, jobs, new_uuid)
        said: dict[str, Said] = {}
        undated: set[str] = set()
        for fact, result in zip(parsed.facts, plan.facts.results, strict=False):
            number = fact.number if fact.follows is None else fact.follows
            one = telling.statements[number] if number < len(telling.statements) else None
            if one is None or one.said is None:
                continue
            said.setdefault(result.uuid, one.said)
            if one.fact.valid_at is None and one.fact.relation == HAS_STATUS and relation_of_end(str(one.fact.value)):
                undated.add(result.uuid)
        decision = next(one.entity.uuid for one in plan.resolved)
        placed = _placed(intent, own, said, sections, text, decision)
        facts = tuple(_without_start(one) if one.uuid in undated else one for one in placed.facts)
        return placed.model_copy(update={"facts": facts}), plan.vectors


def _place_of(decision: str, prefix: str) -> str:
    """The beginning of the names of a decision and of those beside it; ``prefix``: that of the document's name."""
    before, mark, _ = decision.rpartition("ADR ")
    return before if mark and (not before or before.endswith("/")) else prefix


def _without_start(status: Fact) -> Fact:
    """That something superseded a decision, where no record tells the day: known from now on, and begun before."""
    if status.valid_at is None:
        return status
    return status.model_copy(update={"valid_at": None, "reference_time": status.valid_at})


def _parsed(telling: Telling, person: str, now: datetime, settings: Settings) -> ParsedRequest:
    request = AddMemory(
        episode_body=telling.name,
        reference_time=iso(now),
        entities=list(telling.entities),
        facts=[one.fact for one in telling.statements],
    )
    return read_request(request, person, now, settings.zone)


def _placed(
    intent: WriteIntent,
    own: WriteIntent,
    said: Mapping[str, Said],
    sections: Sequence[PlacedSection],
    text: str,
    decision: str,
) -> WriteIntent:
    """The planned facts in the write of the document: told by the sections that state them, with their words."""
    note = own.episodes[0].uuid
    last = max(said.values(), key=lambda one: one.start, default=None)

    def section_of(fact_uuid: str | None) -> PlacedSection:
        words = said.get(fact_uuid or "") or last
        start = words.start if words else 0
        return next((one for one in sections if one.start <= start < one.end), sections[0])

    def told_by(episodes: Sequence[str], fact_uuid: str) -> tuple[str, ...]:
        place = section_of(fact_uuid).episode_uuid
        return tuple(dict.fromkeys(place if one == note else one for one in episodes))

    def fact_in_place(fact: Fact) -> Fact:
        section, words = section_of(fact.uuid), said.get(fact.uuid)
        quote = {} if words is None else _quote(section, words, text)
        told_at = {"reference_time": section.told_at} if section.is_new and words else {}
        return fact.model_copy(update={"episodes": told_by(fact.episodes, fact.uuid), **quote, **told_at})

    facts = tuple(map(fact_in_place, own.facts))
    updates = tuple(one.model_copy(update={"episodes": told_by(one.episodes, one.uuid)}) for one in own.fact_updates)
    changes = tuple(
        one.model_copy(update={"episode_uuid": section_of(one.replaced_by or one.fact_uuid).episode_uuid})
        if one.episode_uuid == note
        else one
        for one in own.changes
    )
    pairs = {(one.episode_uuid, one.entity_uuid) for one in intent.mentions}
    wanted = [(one.episode_uuid, decision) for one in sections if one.is_new]
    wanted += [(one.episodes[-1], end) for one in facts for end in (one.source_uuid, one.target_uuid)]
    mentions = [
        Mention(uuid=str(uuid4()), episode_uuid=episode, entity_uuid=entity, created_at=intent.recorded_at)
        for episode, entity in dict.fromkeys(wanted)
        if (episode, entity) not in pairs
    ]
    return intent.model_copy(
        update={
            "entities": own.entities,
            "names": own.names,
            "facts": facts,
            "fact_updates": updates,
            "mentions": (*intent.mentions, *mentions, *(one for one in own.mentions if one.episode_uuid != note)),
            "changes": changes,
            "corrected_episodes": tuple(one for one in own.corrected_episodes if one != note),
            "jobs": (*intent.jobs, *own.jobs),
        }
    )


def _quote(section: PlacedSection, words: Said, text: str) -> dict[str, object]:
    start, end = words.start - section.start, words.end - section.start
    return {
        "quote": text[words.start : words.end],
        "quote_start": start,
        "quote_end": end,
        "quote_episode_uuid": section.episode_uuid,
    }
