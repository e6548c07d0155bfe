"""Reads the part of a group that one call may touch, in few concurrent queries under the group's lock."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from graphiti_pkm.core.facts.goals import outcome_said
from graphiti_pkm.core.facts.history import to_undo
from graphiti_pkm.core.facts.parsed_facts import ParsedFact, ParsedRequest
from graphiti_pkm.core.facts.replacement import as_uuid_prefix
from graphiti_pkm.core.facts.resolution import PERSON_LABEL, names_given, names_in
from graphiti_pkm.core.identity.known_names import KnownNames, NameBooks, NewNames
from graphiti_pkm.core.identity.mentions import word_forms
from graphiti_pkm.core.identity.name_parts import may_refer, may_stand_alone
from graphiti_pkm.core.identity.near_relations import Measures, Relations, near_measure
from graphiti_pkm.core.identity.shared_names import NamesInText, settle
from graphiti_pkm.core.identity.spelling import has_exclusive_target, with_one_only
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.names import measure_key, name_key
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import HAS_GOAL, Entity, Fact, Name, Vector, in_order
from graphiti_pkm.core.model.requests import ME, AddMemory
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.reading.bare_names import bare_names
from graphiti_pkm.core.reading.sentences_told import facts_told_so
from graphiti_pkm.core.waiting import in_thread, in_thread_if

LONG_TEXT = 20_000
"""Texts from this length on are processed off the event loop."""

_BRIEF = 2_000
_FEW = 10
"""Characters, and entities with facts, of a call that is read faster than it is handed to a thread."""
_FEW_RELATIONS = 100
"""Relations of a group with which those of a brief call are compared faster than they are handed to a thread."""
_FEW_FACTS = 500
_RELATIONS = 1_000
_REPLACEABLE_EACH = 200
_CONFLICTING_EACH = 20
"""Facts read per source and relation: the replaced one must be among them, of conflicts a few are enough."""
_BETWEEN_EACH = 50
_RIVALS_EACH = 50
"""Facts read of other sources with the same relation and target; those that the call names are all read."""
_CORRECTABLE = 50
_ENDED_EACH = 20
"""Facts that a correction may refer to, and those that each of them had ended."""
_READINGS = 50
_MEASURES = 200
_MEASURE_NAMES = 20
_ENDS = 50
"""Facts with a known end that a call may give another one."""
_CAUSES = 10
"""Steps from a fact to what it follows from, in which a circle is looked for."""
_NEAREST_EACH = 5
_MOST_NEW_NAMES = 20
_MOST_RELATED = 20
_MOST_PARTLY = 20
_LABELLED = 20
"""Facts of a relation from which the type of its targets is determined."""
_MOST_UNLIKE = 50
"""Relations whose target types are determined."""
_RELATED_EACH = 3
_MOST_APART = 1_000

_ReadPairs: TypeAlias = Callable[[str, Sequence[tuple[str, str]], int], Awaitable[list[list[Fact]]]]


@dataclass(frozen=True)
class ReadNames:
    """Known names that a call uses, by key, as read before its group was locked."""

    names: Mapping[str, Name]
    version: int | None = None
    """Of the cached names of the group before they were read; None: there were none."""


NO_NAMES = ReadNames({})


@dataclass(frozen=True)
class Snapshot:
    """The part of a group that a call can touch."""

    names: Mapping[str, Name]
    known: KnownNames
    mentioned: frozenset[str]
    """Known entities that the text names."""
    shared: Mapping[str, Sequence[Entity]]
    """First names in the text of several known people, of whom it is open which one is meant."""
    taken_as: Mapping[str, Sequence[Entity]]
    """First names that the call gives alone, of several known people; it is taken as the first of them."""
    parts: Mapping[str, str]
    """Words of the text that are part of a known entity's name and not a name themselves, with its uuid."""
    relations: Relations
    entities: Mapping[str, Entity]
    facts: tuple[Fact, ...]
    measures: Mapping[str, Mapping[str, int]]
    measure_names: Mapping[str, Sequence[str]]
    """Other names of the measures that the call gives readings of, by measure."""
    nearest: Mapping[str, Mapping[str, float]]
    """Raw cosines of existing entities, by new name."""
    alike: Mapping[str, Entity]
    """Existing entities with names similar to new ones."""
    newest: Mapping[str, Sequence[Fact]]
    apart: frozenset[tuple[str, str]]
    """Of the entities that the call declares and those that have their names, pairs that are not the same."""
    unlike: frozenset[tuple[str, str]]
    """Pairs of a new and a similar existing relation that lead to different types of targets."""
    ended: Mapping[str, Sequence[str]]
    """Replaced facts, by uuid of the fact that replaced them and that the call may correct or precede."""
    ends_told: Mapping[str, datetime]
    """When the notes were written that told the ends of known facts whose ends the call tells."""
    had_names: bool
    """Whether the group had any names before the call."""

    @property
    def is_brief(self) -> bool:
        """Whether a brief call is planned on it faster than that is handed to a thread."""
        return len(self.facts) <= _FEW_FACTS and len(self.relations) <= _FEW_RELATIONS


def is_long(told: AddMemory | ParsedRequest) -> bool:
    """Whether a call is to be read off the event loop."""
    body = told.body if isinstance(told, ParsedRequest) else told.episode_body
    return len(body) > _BRIEF or len(told.entities or ()) + len(told.facts or ()) > _FEW


class SnapshotReader:
    """Reads what one call needs."""

    def __init__(self, graph: Graph, books: NameBooks) -> None:
        self._graph = graph
        self._books = books

    async def known_names(self, group_id: str, parsed: ParsedRequest, person: str) -> ReadNames:
        """Known names that the call uses; with that of the person, who stays known by it."""
        version = self._books.version_of(group_id)
        return ReadNames(await self._names(group_id, parsed, person), version)

    async def _names(self, group_id: str, parsed: ParsedRequest, person: str) -> Mapping[str, Name]:
        named = names_in(parsed, person)
        if not named:
            return {}
        return await self._graph.records.get_names(
            await in_thread_if(is_long(parsed), lambda: [name_key(group_id, one) for one in (*named, ME)])
        )

    async def read(
        self,
        group_id: str,
        parsed: ParsedRequest,
        person: str,
        vectors: Mapping[str, Vector],
        now: datetime,
        before: ReadNames = NO_NAMES,
    ) -> Snapshot:
        """Read everything in three rounds (four for a reading under a new name of its series).

        ``before``: read again unless the names of the group are as they were and the call uses no other. What
        Graphiti writes changes no version, but only adds.
        """
        if before.version is not None and all(
            name_key(group_id, name) in before.names for name in names_in(parsed, person)
        ):
            known, relations = await asyncio.gather(self._books.of(group_id), self._relations(group_id, parsed))
            is_current = before.version == known.version
            names = before.names if is_current else await self._names(group_id, parsed, person)
        else:
            names, known, relations = await asyncio.gather(
                self._names(group_id, parsed, person), self._books.of(group_id), self._relations(group_id, parsed)
            )
        new = await in_thread_if(is_long(parsed), _new_names, group_id, parsed, person, names)
        named = await _named_in(known, parsed, new)
        mentioned, parts = named.mentioned, named.parts
        reading = _Reading(self._graph, group_id, parsed, person, names)
        matched, given = await in_thread_if(is_long(parsed), _given_in, group_id, names_in(parsed, person), names)
        bare = await in_thread_if(is_long(parsed), bare_names, group_id, parsed, person, names, known, named)
        others = mentioned.union(matched)
        parts = {
            word: uuid for word, uuid in parts.items() if uuid not in others and given.isdisjoint(word_forms(word))
        }
        partly = list(dict.fromkeys(parts.values()))[:_MOST_PARTLY]
        around = [*matched, *sorted(mentioned.difference(matched))][:_MOST_RELATED]
        entities, facts, measures, measure_names, nearest, newest = await asyncio.gather(
            self._graph.records.get_entities([*sorted({*matched, *named.sharing, *bare.uuids}), *partly], [group_id]),
            reading.facts(relations, now),
            reading.measures(),
            reading.measure_names(),
            reading.nearest(vectors),
            self._graph.facts.newest_facts(around, [group_id], now, _RELATED_EACH),
        )
        by_uuid = {one.uuid: one for one in entities}
        settled = settle(named, by_uuid, matched, new.first_names)
        mentioned = settled.mentioned
        likely = {one.uuid: one.name for one in entities if one.uuid in partly and may_stand_alone(one)}
        likely_parts = {word: likely[uuid] for word, uuid in parts.items() if uuid in likely}
        meant = await in_thread(_meant, parsed, likely_parts) if likely_parts else set()
        claimed = await in_thread_if(is_long(parsed), _claimed, group_id, parsed, names)
        (series, series_names, ended, causes, ends_told), (unlike, alike, apart) = await asyncio.gather(
            asyncio.gather(
                reading.series(measures, measure_names),
                reading.series_names(measures, measure_names, facts),
                reading.ended_by(facts),
                reading.causes(facts),
                reading.ends_told(facts),
            ),
            asyncio.gather(
                reading.unlike(relations, entities, now),
                reading.alike(known, nearest),
                self._graph.records.apart(claimed),
            ),
        )
        if joined := sorted({name.entity_uuid for name in series_names.values()}.difference(matched)):
            entities = [*entities, *await self._graph.records.get_entities(joined, [group_id])]
        return Snapshot(
            names={**names, **series_names},
            known=known,
            mentioned=mentioned,
            shared=settled.doubtful,
            taken_as=bare.doubtful(by_uuid),
            parts={word: uuid for word, uuid in parts.items() if word in meant},
            relations=relations,
            entities={entity.uuid: entity for entity in entities},
            facts=tuple(
                {
                    fact.uuid: fact
                    for fact in (*causes, *(one for old in ended.values() for one in old), *facts, *series)
                }.values()
            ),
            measures=measures,
            measure_names=measure_names,
            nearest=nearest,
            alike=alike,
            newest={uuid: facts for uuid, facts in newest.items() if uuid in mentioned or uuid in matched},
            apart=frozenset(apart),
            unlike=unlike,
            ended={uuid: [one.uuid for one in old] for uuid, old in ended.items()},
            ends_told=ends_told,
            had_names=len(known) > 0,
        )

    async def _relations(self, group_id: str, parsed: ParsedRequest) -> Relations:
        uses = await self._graph.facts.relations(group_id, _RELATIONS) if parsed.facts else {}
        return await in_thread_if(len(uses) > _FEW_RELATIONS, Relations, uses)


@dataclass(frozen=True)
class _Wanted:
    """The facts a call may touch, as questions to the graph."""

    rivals: Iterable[tuple[str, tuple[str, ...]]]
    replaceable: Mapping[tuple[str, str], None]
    conflicting: Iterable[tuple[str, str]]
    between: Iterable[tuple[str, str]]
    prefixes: Sequence[str]


@dataclass(frozen=True)
class _Reading:
    """Reads that depend on which names exist."""

    graph: Graph
    group_id: str
    parsed: ParsedRequest
    person: str
    names: Mapping[str, Name]

    async def facts(self, relations: Relations, now: datetime) -> list[Fact]:
        """Facts that the given ones may repeat, contradict or replace."""
        wanted = await in_thread_if(self._takes_long(relations), self._wanted, relations)
        found = await asyncio.gather(
            self._lists(self.graph.facts.facts_with_relation, wanted.replaceable, _REPLACEABLE_EACH),
            self._lists(
                self.graph.facts.facts_with_relation,
                [pair for pair in wanted.conflicting if pair not in wanted.replaceable],
                _CONFLICTING_EACH,
            ),
            self._lists(self.graph.facts.facts_between, wanted.between, _BETWEEN_EACH),
            facts_told_so(self.graph, self.group_id, self.parsed, self._uuid, now),
            *(self._by_prefix(prefix) for prefix in wanted.prefixes),
            *(self._into(target, same, now) for target, same in wanted.rivals),
        )
        return [fact for facts in found for fact in facts]

    def _wanted(self, relations: Relations) -> "_Wanted":
        """The questions for each given fact; compares each given relation with each existing one."""
        rivals: dict[tuple[str, tuple[str, ...]], None] = {}
        replaceable: dict[tuple[str, str], None] = {}
        conflicting: dict[tuple[str, str], None] = {}
        between: dict[tuple[str, str], None] = {}
        for fact in self.parsed.facts:
            source, target = self._uuid(fact.source), self._uuid(fact.target)
            same = relations.same(fact.relation)
            if (
                target is not None
                and fact.has_target
                and same
                and (fact.replaces or has_exclusive_target(fact.relation))
            ):
                rivals[target, tuple(same)] = None
            if target is not None and fact.has_target and (same or has_exclusive_target(fact.relation)):
                between.update({(old, target): None for text in fact.replaces if (old := self._uuid(text))})
            if source is None:
                continue
            if fact.is_status and outcome_said(fact) is not None:
                rivals[source, (HAS_GOAL,)] = None
            near = relations.near(fact.relation, is_plan=False) if fact.replaces else []
            related = replaceable if fact.replaces else conflicting
            related.update(dict.fromkeys((source, relation) for relation in (*same, *near)))
            if fact.replaces and fact.has_target and (inverse := relations.inverse(fact.relation)):
                rivals[source, tuple(inverse)] = None
                between.update({(old, source): None for text in fact.replaces if (old := self._uuid(text))})
            ends = (target, *map(self._uuid, fact.replaces))
            between.update({(source, end): None for end in ends if end is not None})
        named = [text for fact in self.parsed.facts for text in (*fact.replaces, fact.because_of or "")]
        prefixes = {prefix for text in named if (prefix := as_uuid_prefix(text))}
        return _Wanted(rivals, replaceable, conflicting, between, sorted(prefixes))

    async def measures(self) -> dict[str, dict[str, int]]:
        """Series of each source for which the call gives a reading."""
        sources = sorted({uuid for fact in self._readings() if (uuid := self._uuid(fact.source))})
        found = await asyncio.gather(*(self.graph.facts.measures(self.group_id, one, _MEASURES) for one in sources))
        return dict(zip(sources, found, strict=True))

    async def causes(self, facts: Sequence[Fact]) -> list[Fact]:
        """What the causes that the call names by their uuid follow from in turn."""
        named = tuple(prefix for one in self.parsed.facts if (prefix := as_uuid_prefix(one.because_of or "")))
        found: dict[str, Fact] = {}
        last = [fact for fact in facts if named and fact.uuid.startswith(named)]
        for _ in range(_CAUSES):
            uuids = {fact.cause_uuid for fact in last if fact.cause_uuid} - found.keys()
            if not uuids:
                break
            last = await self.graph.records.get_facts(sorted(uuids), [self.group_id])
            found.update((fact.uuid, fact) for fact in last)
        return list(found.values())

    async def ends_told(self, facts: Sequence[Fact]) -> dict[str, datetime]:
        """When the notes were written that told the known ends of facts whose ends the call tells.

        An end that was given by hand was told when that was recorded.
        """
        told = {(self._uuid(one.source), self._uuid(one.target)) for one in self.parsed.facts if one.invalid_at}
        known = {one.uuid: one for one in facts if one.invalid_at and (one.source_uuid, one.target_uuid) in told}
        uuids = list(known)[:_ENDS]
        if not uuids:
            return {}
        events = await self.graph.changes.fact_changes(uuids, [self.group_id], _ENDED_EACH)
        endings = {uuid: ending for uuid in uuids if (ending := to_undo(events[uuid])) is not None}
        notes = {
            uuid: endings[uuid].episode_uuid if uuid in endings else next(iter(known[uuid].episodes), None)
            for uuid in uuids
        }
        wanted = sorted({uuid for uuid in notes.values() if uuid is not None})
        episodes = {one.uuid: one for one in await self.graph.records.get_episodes(wanted, [self.group_id])}
        by_note = {uuid: episodes[note].valid_at for uuid, note in notes.items() if note in episodes}
        by_hand = {uuid: one.recorded_at for uuid, one in endings.items() if one.episode_uuid is None}
        return by_note | by_hand

    async def measure_names(self) -> dict[str, list[str]]:
        """What the measures of the call are called besides, if they were renamed or have aliases."""
        measures = {name_key(self.group_id, one.measure): one.measure for one in self._readings() if one.measure}
        held = await self.graph.records.get_names(list(measures)) if measures else {}
        uuids = sorted({one.entity_uuid for one in held.values()})
        if not uuids:
            return {}
        entities, aliases = await asyncio.gather(
            self.graph.records.get_entities(uuids, [self.group_id]), self.graph.records.aliases(uuids, _MEASURE_NAMES)
        )
        names = {one.uuid: [one.name, *aliases[one.uuid]] for one in entities}
        return {measures[key]: names.get(one.entity_uuid, []) for key, one in held.items()}

    async def series(self, measures: Mapping[str, Mapping[str, int]], names: Mapping[str, Sequence[str]]) -> list[Fact]:
        """The newest readings of the series that the call continues."""
        wanted = await in_thread(self._continued, measures, names) if measures else {}
        found = await asyncio.gather(*(self.graph.facts.readings(self.group_id, *one, _READINGS) for one in wanted))
        return [fact for facts, _ in found for fact in facts]

    async def series_names(
        self,
        measures: Mapping[str, Mapping[str, int]],
        measure_names: Mapping[str, Sequence[str]],
        facts: Sequence[Fact],
    ) -> Mapping[str, Name]:
        """Names of series that the call's readings may join under another name, or without one."""
        wanted = await in_thread(self._joined, measures, measure_names, facts) if measures else []
        return await self.graph.records.get_names(wanted) if wanted else {}

    def _joined(
        self,
        measures: Mapping[str, Mapping[str, int]],
        measure_names: Mapping[str, Sequence[str]],
        facts: Sequence[Fact],
    ) -> list[str]:
        near = self._continued(measures, measure_names).values()
        recorded = (fact.measure for fact in facts if fact.kind == "reading" and fact.measure)
        return sorted({name_key(self.group_id, name) for name in (*near, *recorded)} - self.names.keys())

    def _continued(
        self, measures: Mapping[str, Mapping[str, int]], names: Mapping[str, Sequence[str]]
    ) -> Mapping[tuple[str, str], str]:
        """The series that readings continue, by source and key, with their names."""
        wanted: dict[tuple[str, str], str] = {}
        compared = {source: Measures(names) for source, names in measures.items()}
        for fact in self._readings():
            source = self._uuid(fact.source)
            if source in compared and source is not None and fact.measure is not None:
                measure = near_measure(fact.measure, compared[source], other_names=names.get(fact.measure, ()))
                if measure is not None:
                    wanted[source, measure_key(measure)] = measure
        return wanted

    async def ended_by(self, facts: Sequence[Fact]) -> dict[str, list[Fact]]:
        """Facts ended by those that the call may correct or precede; open ones before ended ones."""
        wanted = await in_thread_if(len(facts) > _FEW_FACTS, self._correctable, facts)
        groups = [self.group_id]
        found = await asyncio.gather(
            *(self.graph.facts.retired_by_fact(fact.uuid, groups, _ENDED_EACH) for fact in wanted)
        )
        return {fact.uuid: old for fact, old in zip(wanted, found, strict=True) if old}

    def _correctable(self, facts: Sequence[Fact]) -> list[Fact]:
        corrected = [fact for fact in self.parsed.facts if fact.is_correction and fact.kind == "state"]
        sources = {self._uuid(fact.source) for fact in corrected}
        prefixes = tuple(prefix for fact in corrected for text in fact.replaces if (prefix := as_uuid_prefix(text)))
        ends = {uuid for fact in corrected for text in fact.replaces if (uuid := self._uuid(text))}
        meant = {
            fact.uuid: fact
            for fact in facts
            if fact.kind == "state"
            and not fact.voided
            and (
                fact.source_uuid in sources | ends
                or (prefixes and fact.uuid.startswith(prefixes))
                or START_WORDS in fact.attributes  # a more precise date may refine it
            )
        }
        meant |= {fact.uuid: fact for fact in self._followers(facts)}
        order = sorted(meant.values(), key=lambda fact: fact.created_at, reverse=True)
        return sorted(order, key=lambda fact: fact.invalid_at is not None)[:_CORRECTABLE]

    async def unlike(
        self, relations: Relations, entities: Sequence[Entity], now: datetime
    ) -> frozenset[tuple[str, str]]:
        """Pairs of a new and an existing relation with targets of other types, or of which only one contains WITH."""
        pairs = await in_thread_if(self._takes_long(relations), self._near, relations, entities)
        held = list(dict.fromkeys(near for _, near in pairs))[:_MOST_UNLIKE]
        found = dict(zip(held, await asyncio.gather(*(self._target_labels(near, now) for near in held)), strict=True))
        return frozenset(
            (new, near)
            for (new, near), label in pairs.items()
            if (label not in found[near] if label and found.get(near) else with_one_only(new, near))
        )

    def _near(self, relations: Relations, entities: Sequence[Entity]) -> dict[tuple[str, str], str | None]:
        """Pairs of a new and a similar existing relation, with the type of the new one's target."""
        labels = {entity.uuid: entity.label for entity in entities}
        typed = {entity.name: entity.label for entity in self.parsed.entities if entity.label}
        return {
            (fact.relation, near): typed.get(fact.target) or labels.get(self._uuid(fact.target) or "")
            for fact in self.parsed.facts
            if fact.has_target and fact.relation not in relations
            for near in relations.near(fact.relation, is_plan=False)
            if near not in relations.spelling_variants(fact.relation)
        }

    async def _target_labels(self, relation: str, now: datetime) -> set[str]:
        wanted = FactFilter(group_ids=(self.group_id,), now=now, relations=(relation,))
        page = await self.graph.facts.group_facts(wanted, Window(limit=_LABELLED))
        targets = sorted({fact.target_uuid for fact in page.facts})
        return {one.label for one in await self.graph.records.get_entities(targets, [self.group_id]) if one.label}

    def _followers(self, facts: Sequence[Fact]) -> list[Fact]:
        """States that follow one that the call may end earlier, because it is recorded late."""
        starts: dict[str | None, datetime] = {}
        for fact in self.parsed.facts:
            if fact.kind == "state" and fact.replaces and not fact.is_correction:
                start, source = fact.valid_at or self.parsed.reference_time, self._uuid(fact.source)
                starts[source] = min(start, starts.get(source, start))
        late = [fact for fact in facts if fact.kind == "state" and not fact.voided and fact.source_uuid in starts]
        ends = {
            (fact.source_uuid, fact.invalid_at)
            for fact in late
            if fact.invalid_at is not None and starts[fact.source_uuid] < fact.invalid_at
        }
        return [fact for fact in late if (fact.source_uuid, fact.valid_at or fact.reference_time) in ends]

    async def nearest(self, vectors: Mapping[str, Vector]) -> dict[str, dict[str, float]]:
        """Existing entities near the new names."""
        wanted = EntityFilter(group_ids=(self.group_id,))
        new = [
            name
            for name in names_given(self.parsed, self.person)
            if name != self.person and name in vectors and self._uuid(name) is None
        ][:_MOST_NEW_NAMES]
        found = await asyncio.gather(
            *(self.graph.search.nearest_entities(vectors[name], wanted, _NEAREST_EACH) for name in new)
        )
        return dict(zip(new, found, strict=True))

    async def alike(self, known: KnownNames, nearest: Mapping[str, Mapping[str, float]]) -> dict[str, Entity]:
        """Existing entities near a new name by spelling or by meaning, some of each."""
        new = [name for name in names_given(self.parsed, self.person) if self._uuid(name) is None][:_MOST_NEW_NAMES]
        spelt = await in_thread_if(len(new) > _FEW, _lookalikes, known, new)
        wanted = list(dict.fromkeys((*spelt, *(uuid for found in nearest.values() for uuid in found))))
        found = await self.graph.records.get_entities(wanted, [self.group_id]) if wanted else []
        return {entity.uuid: entity for entity in found}

    def _takes_long(self, relations: Relations) -> bool:
        """Whether the relations of the call are compared with those of the group in a thread."""
        return len(relations) > _FEW_RELATIONS or is_long(self.parsed)

    def _readings(self) -> list[ParsedFact]:
        return [fact for fact in self.parsed.facts if fact.kind == "reading"]

    def _uuid(self, name: str) -> str | None:
        for text in (ME, self.person) if name == ME else (name,):
            if held := self.names.get(name_key(self.group_id, text)):
                return held.entity_uuid
        return None

    async def _lists(self, read: _ReadPairs, pairs: Iterable[tuple[str, str]], limit_each: int) -> list[Fact]:
        wanted = list(pairs)
        if not wanted:
            return []
        return [fact for facts in await read(self.group_id, wanted, limit_each) for fact in facts]

    async def _into(self, target_uuid: str, relations: tuple[str, ...], now: datetime) -> list[Fact]:
        wanted = FactFilter(group_ids=(self.group_id,), now=now, direction="in", relations=relations)
        page = await self.graph.facts.connections(target_uuid, wanted, Window(limit=_RIVALS_EACH))
        return [fact for fact in page.facts if not fact.voided]

    async def _by_prefix(self, prefix: str) -> list[Fact]:
        uuids = await self.graph.records.find_uuids("fact", prefix, [self.group_id], 2)
        return await self.graph.records.get_facts(uuids, [self.group_id]) if uuids else []


def _lookalikes(known: KnownNames, names: Iterable[str]) -> list[str]:
    return [uuid for name in names for uuid in known.lookalikes(name)[:_NEAREST_EACH]]


def _given_in(group_id: str, given: Iterable[str], names: Mapping[str, Name]) -> tuple[list[str], set[str]]:
    """Known entities that a call names, in its order, and the compared forms of all words of the names."""
    matched, forms = dict[str, None](), set[str]()
    for name in given:
        if (known := names.get(name_key(group_id, name))) is not None:
            matched[known.entity_uuid] = None
        forms |= word_forms(name)
    return list(matched), forms


def _new_names(group_id: str, parsed: ParsedRequest, person: str, names: Mapping[str, Name]) -> NewNames:
    """Names that the call gives and that are not known; all declared people count whose type the call says."""

    def is_new(name: str) -> bool:
        held = names.get(name_key(group_id, name))
        return name != person and (held is None or not (held.is_linkable or held.is_alias))

    declared = [(one, name) for one in parsed.entities for name in (one.name, *one.aliases) if one.name != ME]
    given = dict.fromkeys((*names_given(parsed, person), *(name for _, name in declared)))
    people = [name for one, name in declared if one.label == PERSON_LABEL and is_new(name)]
    return NewNames.of([name for name in given if name != ME and is_new(name)], people)


async def _named_in(known: KnownNames, parsed: ParsedRequest, new: NewNames) -> NamesInText:
    """What the text names, of what is known."""
    text = _text(parsed)
    if len(text) < LONG_TEXT:
        return known.read(text, new)
    return await in_thread(known.read, text, new)


def _meant(parsed: ParsedRequest, parts: Mapping[str, str]) -> set[str]:
    """The words that may refer to the entity whose name they are part of (``parts``: that name)."""
    text = _text(parsed)
    return {word for word, name in parts.items() if may_refer(text, word, name)}


def _text(parsed: ParsedRequest) -> str:
    return f"{parsed.name}\n\n{parsed.body}" if parsed.has_name else parsed.body


def _claimed(group_id: str, parsed: ParsedRequest, names: Mapping[str, Name]) -> list[tuple[str, str]]:
    """Pairs of an entity that the call declares and another one that has one of its aliases."""
    pairs = set[tuple[str, str]]()
    for entity in parsed.entities:
        own = names.get(name_key(group_id, entity.name))
        for alias in entity.aliases:
            other = names.get(name_key(group_id, alias))
            if own is not None and other is not None and own.entity_uuid != other.entity_uuid:
                pairs.add(in_order(own.entity_uuid, other.entity_uuid))
    return sorted(pairs)[:_MOST_APART]
