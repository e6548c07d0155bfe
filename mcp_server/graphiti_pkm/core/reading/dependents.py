"""Facts that depend on a dropped entity or an ended fact: they follow from it, or its own episode stated them."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphiti_pkm.core.facts.rules import is_current
from graphiti_pkm.core.facts.statuses import HAS_STATUS
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.queries import EpisodeFilter, FactFilter, Window
from graphiti_pkm.core.model.records import HAS_GOAL, Fact
from graphiti_pkm.core.ports.graph import Graph

MOST_DEPENDENTS = 5
_MOST_DROPPED = 100
_MOST_MOVED = 500
"""Facts whose cause follows a correction."""
_READ = 50
"""Facts read of one entity, and of its first note."""
_DATES = ("HAS_DATE", "DATED", "DECIDED_ON")
_CAME_ABOUT = ("DECIDED", "DECIDED_BY", "PROPOSED", "PROPOSED_BY", "HAS_OPTION", "SUPERSEDES")
_ABOUT_ITSELF = frozenset(map(normalise_name, (HAS_STATUS, *_CAME_ABOUT, *_DATES)))
"""Relations that say how something came about or stands, and hold whatever becomes of it."""

_OF_ITS_SOURCE = frozenset(map(normalise_name, (HAS_STATUS, "DECIDED_BY", "PROPOSED_BY")))
_OF_ITS_TARGET = frozenset(map(normalise_name, ("DECIDED", "PROPOSED")))


@dataclass(frozen=True)
class Dependents:
    """Facts that may not hold any more, and how many there are."""

    facts: tuple[Fact, ...]
    total: int


class DependentsReader:
    """Reads what depends on something that is dropped or ended; the write that does so need not be stored yet."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def on_facts(
        self, group_id: str, dropped: Iterable[str], now: datetime, is_settled: Callable[[str], bool]
    ) -> Dependents:
        """Current facts and open plans that follow from these facts; ``is_settled``: those the same write concerns."""
        uuids = tuple(dict.fromkeys(dropped))[:_MOST_DROPPED]
        return _settled(await self._following(group_id, uuids, now), is_settled) if uuids else Dependents((), 0)

    async def with_cause(self, group_id: str, uuids: Iterable[str], now: datetime) -> tuple[Fact, ...]:
        """Facts of any state that follow from one of these facts."""
        wanted = FactFilter(group_ids=(group_id,), now=now, because_of=tuple(uuids))
        return (await self._graph.facts.group_facts(wanted, Window(limit=_MOST_MOVED))).facts

    async def plans_for(
        self, group_id: str, entity_uuid: str, by: datetime, now: datetime, is_settled: Callable[[str], bool]
    ) -> Dependents:
        """Open plans that have an entity as their target and were told by an instant."""
        wanted = FactFilter(group_ids=(group_id,), now=now, status="planned", direction="in")
        page = await self._graph.facts.connections(entity_uuid, wanted, Window(limit=_READ))
        told = tuple(one for one in page.facts if one.reference_time is None or one.reference_time <= by)
        return _settled(Dependents(told, len(told)), is_settled)

    async def goals_for(self, group_id: str, entity_uuid: str, now: datetime) -> tuple[Fact, ...]:
        """Goals that have an entity as their target, open and ended ones."""
        wanted = FactFilter(group_ids=(group_id,), now=now, direction="in", relations=(HAS_GOAL,))
        return (await self._graph.facts.connections(entity_uuid, wanted, Window(limit=_READ))).facts

    async def on_entity(
        self, group_id: str, entity_uuid: str, now: datetime, is_settled: Callable[[str], bool]
    ) -> Dependents:
        """Facts that follow from an entity, then those that have it as an end, then those of its first note."""
        following, around, told = await asyncio.gather(
            self._following(group_id, (entity_uuid,), now),
            self._about(group_id, entity_uuid, now),
            self._told_with(group_id, entity_uuid, now),
        )
        nearby = [fact for fact in (*around, *told) if normalise_name(fact.relation) not in _ABOUT_ITSELF]
        unsettled = _settled(following, is_settled)
        known = {fact.uuid for fact in following.facts}
        more = {fact.uuid: fact for fact in nearby if fact.uuid not in known and not is_settled(fact.uuid)}
        facts = (*unsettled.facts, *more.values())
        return Dependents(facts[:MOST_DEPENDENTS], unsettled.total + len(more))

    async def _following(self, group_id: str, uuids: tuple[str, ...], now: datetime) -> Dependents:
        wanted = FactFilter(group_ids=(group_id,), now=now, because_of=uuids)
        pages = await asyncio.gather(
            *(self._graph.facts.group_facts(one, Window(limit=_READ)) for one in _open(wanted))
        )
        return Dependents(tuple(fact for page in pages for fact in page.facts), sum(page.total for page in pages))

    async def _about(self, group_id: str, entity_uuid: str, now: datetime) -> list[Fact]:
        wanted = FactFilter(group_ids=(group_id,), now=now)
        pages = await asyncio.gather(
            *(self._graph.facts.connections(entity_uuid, one, Window(limit=_READ)) for one in _open(wanted))
        )
        return [fact for page in pages for fact in page.facts]

    async def _told_with(self, group_id: str, entity_uuid: str, now: datetime) -> list[Fact]:
        """Facts of the entity's first note, if that supersedes or decides nothing else."""
        oldest = EpisodeFilter(group_ids=(group_id,))
        page = await self._graph.episodes.timeline(entity_uuid, oldest, Window(limit=1, newest=False))
        first = [episode.uuid for episode in page.episodes]
        told = await self._graph.facts.facts_of_episodes(first, [group_id], _READ) if first else []
        if not _is_about(told, entity_uuid):
            return []
        return [fact for fact in told if is_current(fact, now) or (fact.kind == "plan" and fact.is_open)]


def _is_about(told: Sequence[Fact], entity_uuid: str) -> bool:
    stands = {fact.source_uuid for fact in told if normalise_name(fact.relation) in _OF_ITS_SOURCE}
    taken = {fact.target_uuid for fact in told if normalise_name(fact.relation) in _OF_ITS_TARGET}
    return stands | taken == {entity_uuid}


def _open(wanted: FactFilter) -> tuple[FactFilter, FactFilter]:
    return wanted.model_copy(update={"only_current": True}), wanted.model_copy(update={"status": "planned"})


def _settled(found: Dependents, is_settled: Callable[[str], bool]) -> Dependents:
    settled = sum(is_settled(fact.uuid) for fact in found.facts)
    facts = [fact for fact in found.facts if not is_settled(fact.uuid)]
    return Dependents(tuple(facts[:MOST_DEPENDENTS]), found.total - settled)
