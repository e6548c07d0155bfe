"""Finds entities as callers call them: people by a first name or a role towards the user, anything by a short title."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import TypeAlias

from graphiti_pkm.core.facts.roles import Role, role_of
from graphiti_pkm.core.identity.name_parts import PERSON, first_name, may_stand_alone
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.names import fold, name_key, normalise_name
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.reading.candidates import PERSON_WORDS, Candidates
from graphiti_pkm.core.reading.views import Views, clipped, shown_validity, status_of

Named: TypeAlias = Mapping[str, Sequence[Entity]]

_MOST_NAMES = 10
"""Names of a call that are looked up as first names, and as roles."""
_LOOKED_AT = 50
_ALIASES = 10
_MOST_PEOPLE = 10
"""People shown for one first name or role."""
_ROLE_FACTS = 50
_UUID = 8
_SUMMARY = 120
_SEVERAL = 2
_WHEN = {"current": "now", "future": "later", "ended": "before"}


@dataclass
class FoundPeople:
    """Whom or what the names of a call mean."""

    named: dict[str, list[str]] = field(default_factory=dict)
    """Uuids by name: first by exact name, then by first name or role, else by short title."""
    ambiguous: dict[str, list[str]] = field(default_factory=dict)
    """Names that several have, with what tells them apart."""
    roles: dict[str, list[str]] = field(default_factory=dict)
    """Who holds a role now, and who held it before."""


@dataclass(frozen=True)
class _Me:
    uuid: str
    group_id: str
    name: str


class People:
    """The part of ``search_nodes`` that knows people and titles; every read is bounded."""

    def __init__(self, graph: Graph, candidates: Candidates, persons: Persons, views: Views, zone: tzinfo) -> None:
        self._graph = graph
        self._candidates = candidates
        self._persons = persons
        self._views = views
        self._zone = zone

    async def find(self, exact: Named, wanted: EntityFilter, now: datetime) -> FoundPeople:
        """``exact``: the entities with each name or alias."""
        found = FoundPeople()
        if not exact:
            return found
        first = await self._by_first_name(exact, wanted)
        several = {name: people for name, people in first.items() if len(people) >= _SEVERAL}
        roles = {
            name: role
            for name in exact
            if (role := role_of(name)) and (role.is_mine or not first[name]) and not _is_me(name)
        }
        roles = dict(list(roles.items())[:_MOST_NAMES])
        me = await self._people_of(wanted.group_ids) if several or roles else []
        holders = await asyncio.gather(*(self._holders(role, me, wanted, now) for role in roles.values()))
        held = dict(zip(roles, holders, strict=True))
        for name, people in first.items():
            role_facts = held.get(name, [])
            uuids = [*(one.uuid for one in people), *(uuid for uuid, _ in role_facts)]
            found.named[name] = list(dict.fromkeys(uuids))
            if role_facts:
                found.roles[name] = [self._held(uuid, fact, now) for uuid, fact in role_facts]
            elif name in several:
                found.ambiguous[name] = await self._told_apart(people, me, now)
        missing = [name for name, uuids in found.named.items() if not uuids and not _is_me(name)]
        for name, titled in (await self._candidates.titled(missing, wanted)).items():
            found.named[name] = [one.uuid for one in titled]
            if len(titled) >= _SEVERAL:
                found.ambiguous[name] = await self._told_apart(titled, me, now)
        return found

    async def _by_first_name(self, exact: Named, wanted: EntityFilter) -> dict[str, list[Entity]]:
        """Those with the whole name, then people whose first name it is."""
        asked = [name for name in exact if len(fold(name).split()) == 1 and not _is_me(name)][:_MOST_NAMES]
        hits = await asyncio.gather(
            *(self._graph.search.search_entities([fold(name)], wanted, _LOOKED_AT) for name in asked)
        )
        others = list(dict.fromkeys(uuid for found in hits for uuid in found))
        if not others:
            return {name: list(entities) for name, entities in exact.items()}
        records, aliases = await asyncio.gather(
            self._graph.records.get_entities(others, wanted.group_ids), self._graph.records.aliases(others, _ALIASES)
        )
        first = {one.uuid: _first_names(one, aliases.get(one.uuid, ())) for one in records}
        found = {name: list(entities) for name, entities in exact.items()}
        for name, uuids in zip(asked, hits, strict=True):
            bearers = [one for one in records if one.uuid in uuids and fold(name) in first[one.uuid]]
            found[name] = _joined(found[name], bearers)
        return found

    async def _people_of(self, group_ids: Sequence[str]) -> list[_Me]:
        """The person of each group that has one."""
        keys = {group: [name_key(group, name) for name in self._persons.names(group)] for group in group_ids}
        names = await self._graph.records.get_names([key for each in keys.values() for key in each])
        found = [(group, next((names[key] for key in each if key in names), None)) for group, each in keys.items()]
        return [_Me(name.entity_uuid, group, name.text) for group, name in found if name is not None]

    async def _holders(
        self, role: Role, me: Sequence[_Me], wanted: EntityFilter, now: datetime
    ) -> list[tuple[str, Fact]]:
        """Who holds the role, with the fact that says so: now, then before, the latest first; each once."""
        found: list[tuple[str, Fact]] = []
        for one in me:
            facts = FactFilter(
                group_ids=(one.group_id,), now=now, kinds=("state",), neighbour_uuid=one.uuid,
                recorded_until=wanted.recorded_until,
            )  # fmt: skip
            hits = await self._graph.search.search_facts(role.terms, facts, _ROLE_FACTS)
            read = await self._graph.records.get_facts(list(hits), [one.group_id])
            found += [
                (fact.target_uuid if fact.source_uuid == one.uuid else fact.source_uuid, fact)
                for fact in read
                if role.is_held_by(fact, one.uuid, one.name)
            ]
        found.sort(key=lambda held: _since(held[1]), reverse=True)
        found.sort(key=lambda held: list(_WHEN).index(_when(held[1], now)))
        first: dict[str, Fact] = {}
        for uuid, fact in found:
            first.setdefault(uuid, fact)
        people = await self._graph.records.get_entities(list(first), wanted.group_ids)
        return [(one.uuid, first[one.uuid]) for one in people][:_MOST_PEOPLE]

    def _held(self, uuid: str, fact: Fact, now: datetime) -> str:
        name = fact.source_name if fact.source_uuid == uuid else fact.target_name
        return (
            f"{_WHEN[_when(fact, now)]}: {clipped(name, _SUMMARY)} ({uuid[:_UUID]}), {shown_validity(fact, self._zone)}"
        )

    async def _told_apart(self, people: Sequence[Entity], me: Sequence[_Me], now: datetime) -> list[str]:
        """Each with the type, and a current fact that joins them with the user, else another one, else the summary."""
        shown = people[:_MOST_PEOPLE]
        facts = await self._graph.facts.newest_facts(
            [one.uuid for one in shown], list({one.group_id for one in shown}), now, 1
        )
        known = {one.group_id: one.uuid for one in me}
        for group, uuid in known.items():
            pairs = [pair for one in shown if one.group_id == group for pair in ((uuid, one.uuid), (one.uuid, uuid))]
            between = await self._graph.facts.facts_between(group, pairs, _SEVERAL) if pairs else []
            for pair, found in zip(pairs, between, strict=True):
                current = [one for one in found if one.kind == "state" and status_of(one, now) == "current"]
                if current:
                    facts[pair[0] if pair[1] == uuid else pair[1]] = current
        return [self._apart(one, facts.get(one.uuid, ())) for one in shown]

    def _apart(self, entity: Entity, facts: Sequence[Fact]) -> str:
        said = self._views.sentence(facts[0]) if facts else clipped(entity.summary, _SUMMARY)
        label = f", {entity.label}" if entity.label else ""
        return f"{clipped(entity.name, _SUMMARY)} ({entity.uuid[:_UUID]}){label}{f': {said}' if said else ''}"


def _joined(exact: Sequence[Entity], bearers: Sequence[Entity]) -> list[Entity]:
    """Those with the name, and people with that first name; of untyped ones only beside somebody who is a person."""
    held = {one.uuid for one in exact}
    others = [one for one in bearers if one.uuid not in held and may_stand_alone(one)]
    if not all(map(may_stand_alone, exact)) or not any(one.label == PERSON for one in (*exact, *others)):
        others = [one for one in others if one.label == PERSON]
    return [*exact, *others]


def _first_names(entity: Entity, aliases: Sequence[str]) -> set[str]:
    return {fold(name) for text in (entity.name, *aliases) if (name := first_name(text))}


def _is_me(name: str) -> bool:
    return normalise_name(name) in PERSON_WORDS


def _when(fact: Fact, now: datetime) -> str:
    status = status_of(fact, now)
    return status if status in _WHEN else "ended"


def _since(fact: Fact) -> tuple[datetime, datetime]:
    return (fact.valid_at or fact.reference_time or fact.created_at, fact.created_at)
