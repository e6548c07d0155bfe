"""Reads entities with their observations and the relations between them, bounded in number and in characters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.capabilities.compat.models import (
    KnowledgeGraph,
    MemoryEntity,
    MemoryRelation,
    ReferenceEntity,
    ReferenceGraph,
    ReferenceRelation,
)
from graphiti_pkm.capabilities.compat.plan import RELATION_TYPE, Held
from graphiti_pkm.capabilities.compat.ports import GraphObservations
from graphiti_pkm.capabilities.compat.reference_requests import OpenReferenceNodes, SearchReferenceNodes
from graphiti_pkm.capabilities.compat.requests import FindMemoriesByName, SearchMemories
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.facts.observations import OBSERVATION, TYPE, type_of
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.persons import Persons
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.names import beginning_term, display_name, name_key, search_terms
from graphiti_pkm.core.model.queries import EntityFilter, FactFilter
from graphiti_pkm.core.model.records import Entity, Fact
from graphiti_pkm.core.reading.candidates import POOL, checked_text
from graphiti_pkm.errors import InvalidInput

DEFAULT_SEARCH = 10
DEFAULT_NAMES = 20
MOST_ENTITIES = 50
MOST_RELATIONS = 200
_OBSERVATIONS_EACH = 100
_OBSERVATION_CHARS = 16_000
"""Characters of all observations in an answer."""
_RELATION_CHARS = 12_000
_OBSERVED_POOL = 500
"""Observations with words of the query that are looked at."""
_OF_TYPE = 0.69
"""What the type adds to a score: as much as the most common word in a name."""
_UNIT = 1_000_000
"""Full text weighs in millionths."""
_MOST_TERMS = 64
_QUERY_CHARS = 4_000


@dataclass(frozen=True)
class Gathered:
    """Entities with what an answer shows of them."""

    entities: Sequence[Entity]
    observations: Mapping[str, Sequence[str]] = field(default_factory=dict)
    observation_counts: Mapping[str, int] = field(default_factory=dict)
    relations: Sequence[Fact] = ()
    relations_total: int = 0
    relation_counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_more_relations(self) -> bool:
        """Whether any entity has a relation that is not listed."""
        listed = [uuid for fact in self.relations for uuid in {fact.source_uuid, fact.target_uuid}]
        return any(self.relation_counts.get(one.uuid, 0) > listed.count(one.uuid) for one in self.entities)

    def more_observations(self, entity: Entity) -> int | None:
        """How many are not listed."""
        more = self.observation_counts.get(entity.uuid, 0) - len(self.observations.get(entity.uuid, ()))
        return more or None


class ClassicReading:
    """The reads of ``compat`` and ``reference``."""

    def __init__(self, context: Context, groups: Groups, stored: GraphObservations) -> None:
        self._context = context
        self._graph = context.graph
        self._groups = groups
        self._persons = Persons(context.graph, context.settings)
        self._stored = stored

    async def search_memories(self, caller: Caller, request: SearchMemories) -> KnowledgeGraph:
        """The entities that fit best, and the relations among them. Raises InvalidInput for a blank query."""
        groups = self._groups.searched(caller, request.group_id)
        ranked = await self.ranked(request.query, groups)
        chosen = ranked[: request.limit]
        entities = await self._graph.records.get_entities([uuid for uuid, _ in chosen], groups)
        found = await self.gathered(entities, groups, within=True)
        return self._graph_of(found, groups, dict(chosen), is_cut=len(ranked) > len(chosen))

    async def ranked(self, query: str, group_ids: Sequence[str]) -> list[tuple[str, float]]:
        """Uuids and scores, best first, then by name; names, types and observations count alike."""
        if not query.strip():
            raise InvalidInput("query is blank: say which words to look for.")
        checked_text("query", query)
        terms = search_terms(query[:_QUERY_CHARS], _MOST_TERMS)
        begun = [
            beginning_term(word)
            for part in query[:_QUERY_CHARS].split()
            if part.endswith("*")
            for word in search_terms(part, 1)
        ]
        if not terms:
            return []
        now = self._context.now()
        wanted = FactFilter(group_ids=tuple(group_ids), now=now, only_current=True, relations=(OBSERVATION,))
        entities = EntityFilter(group_ids=tuple(group_ids))
        scores = {
            uuid: score / _UNIT
            for uuid, score in (await self._graph.search.search_entities([*terms, *begun], entities, POOL)).items()
        }
        observed = await self._graph.search.search_facts(terms, wanted, _OBSERVED_POOL)
        entity_of = await self._stored.observed(list(observed), group_ids)
        for fact_uuid, score in observed.items():
            if (uuid := entity_of.get(fact_uuid)) is not None:
                scores[uuid] = scores.get(uuid, 0.0) + score / _UNIT
        typed = await self._stored.of_type([*terms, "".join(terms)], group_ids, MOST_ENTITIES + 1)
        for one in await self._graph.records.get_entities(typed, group_ids):
            if TYPE not in one.attributes:  # else its words were found already
                scores[one.uuid] = scores.get(one.uuid, 0.0) + _OF_TYPE
        names = await self._stored.names(list(scores), group_ids)
        ranked = [(uuid, round(scores[uuid], 6)) for uuid in scores if uuid in names]
        return sorted(ranked, key=lambda one: (-one[1], names[one[0]], one[0]))

    async def find_memories_by_name(self, caller: Caller, request: FindMemoriesByName) -> KnowledgeGraph:
        """The entities of exactly these names in the order asked, and the relations among them."""
        groups = self._groups.searched(caller, request.group_id)
        asked = _exact(request.names)
        if not asked:
            raise InvalidInput("names is empty: give the exact names of the entities.")
        named = await self.named(caller, asked, groups)
        known = [name for name in asked if named[name]]
        entities: dict[str, Entity] = {}
        cut: list[str] = []
        for name in known:
            new = [one for one in named[name] if one.uuid not in entities]
            room = request.limit - len(entities)
            entities |= {one.uuid: one for one in new[:room]}
            if len(new) > room:
                cut.append(name)
        found = await self.gathered(list(entities.values()), groups, within=True)
        answer = self._graph_of(found, groups, {}, is_cut=bool(cut))
        missing = [name for name in asked if not named[name]]
        return answer.model_copy(update={"not_found": missing or None, "cut": cut or None})

    async def search_nodes(self, caller: Caller, request: SearchReferenceNodes) -> ReferenceGraph:
        """The entities with this text anywhere, and the relations that touch them."""
        groups = self._groups.searched(caller, None)
        text = checked_text("query", request.query).lower()
        uuids, total = await self._stored.holding(text, groups, self._context.now(), MOST_ENTITIES)
        entities = await self._graph.records.get_entities(uuids, groups)
        return _reference_graph(await self.gathered(entities, groups, within=False), total)

    async def open_nodes(self, caller: Caller, request: OpenReferenceNodes) -> ReferenceGraph:
        """The entities of exactly these names, and the relations that touch them."""
        groups = self._groups.searched(caller, None)
        named = await self.named(caller, _exact(request.names), groups)
        entities = {one.uuid: one for found in named.values() for one in found}
        listed = list(entities.values())[:MOST_ENTITIES]
        return _reference_graph(await self.gathered(listed, groups, within=False), len(entities))

    async def named(self, caller: Caller, names: Sequence[str], group_ids: Sequence[str]) -> dict[str, list[Entity]]:
        """The entities of exactly each name, alias or spelling, in the order of the groups."""
        called = {group: self._persons.called(caller, group) for group in group_ids}
        keys = {(group, name): name_key(group, name) for group in group_ids for name in (*names, called[group])}
        found = await self._graph.records.get_names(list(dict.fromkeys(keys.values())))
        uuids = sorted({one.entity_uuid for one in found.values()})
        held = Held(found, {one.uuid: one for one in await self._graph.records.get_entities(uuids, group_ids)})
        each = {name: [held.exactly(group, name, called[group]) for group in group_ids] for name in names}
        return {name: [one for one in entities if one is not None] for name, entities in each.items()}

    async def gathered(self, entities: Sequence[Entity], group_ids: Sequence[str], *, within: bool) -> Gathered:
        """The entities with their observations and relations, within the characters of an answer."""
        uuids = [one.uuid for one in entities]
        if not uuids:
            return Gathered(())
        now = self._context.now()
        texts = await self._stored.observations(uuids, group_ids, now, _OBSERVATIONS_EACH)
        relations, total = await self._relations(uuids, group_ids, now, within=within)
        return Gathered(
            entities,
            _fitting({uuid: texts[uuid][0] for uuid in uuids if uuid in texts}),
            {uuid: count for uuid, (_, count) in texts.items()},
            relations,
            total,
            await self._stored.relation_counts(uuids, group_ids, now),
        )

    async def _relations(
        self, uuids: Sequence[str], group_ids: Sequence[str], now: datetime, *, within: bool
    ) -> tuple[list[Fact], int]:
        found, total = await self._stored.relations(uuids, group_ids, now, MOST_RELATIONS, within=within)
        kept, room = [], _RELATION_CHARS
        for fact in found:
            room -= len(fact.source_name) + len(fact.target_name) + len(relation_type(fact))
            if room < 0:
                break
            kept.append(fact)
        return kept, total

    def memory_entities(
        self, found: Gathered, group_ids: Sequence[str], scores: Mapping[str, float]
    ) -> list[MemoryEntity]:
        """As ``compat`` shows them."""
        return [
            MemoryEntity(
                name=one.name,
                type=type_of(one),
                observations=list(found.observations.get(one.uuid, ())),
                score=scores.get(one.uuid),
                uuid=one.uuid,
                relation_count=found.relation_counts.get(one.uuid, 0),
                more_observations=found.more_observations(one),
                group_id=self._groups.public(one.group_id) if len(group_ids) > 1 else None,
            )
            for one in found.entities
        ]

    def _graph_of(
        self, found: Gathered, group_ids: Sequence[str], scores: Mapping[str, float], *, is_cut: bool
    ) -> KnowledgeGraph:
        is_listed_whole = len(found.relations) == found.relations_total
        return KnowledgeGraph(
            entities=self.memory_entities(found, group_ids, scores),
            relations=[memory_relation(fact) for fact in found.relations],
            truncated=is_cut,
            relations_total=None if is_listed_whole else found.relations_total,
            hint=self._hint() if found.has_more_relations else None,
        )

    def _hint(self) -> str:
        more = "Entities with a greater relation_count have relations to entities that are not listed"
        if offers(self._context, "get_entity_connections"):
            return f"{more}; get_entity_connections with the uuid lists all of an entity."
        return f"{more}; ask for those by name as well."


def offers(context: Context, tool: str) -> bool:
    """Whether a tool of the toolset ``memory`` is offered beside these."""
    return context.settings.offers(tool, "memory")


def relation_type(fact: Fact) -> str:
    """The type of a relation as it was sent, else the stored one."""
    sent = fact.attributes.get(RELATION_TYPE)
    return sent if isinstance(sent, str) and sent else fact.relation


def memory_relation(fact: Fact) -> MemoryRelation:
    """As ``compat`` shows it."""
    return MemoryRelation(source=fact.source_name, target=fact.target_name, relationType=relation_type(fact))


def reference_relation(fact: Fact) -> ReferenceRelation:
    """As ``reference`` shows it."""
    return ReferenceRelation(source=fact.source_name, target=fact.target_name, relationType=relation_type(fact))


def reference_entities(found: Gathered) -> list[ReferenceEntity]:
    """As ``reference`` shows them."""
    return [
        ReferenceEntity(
            name=one.name,
            entityType=type_of(one),
            observations=list(found.observations.get(one.uuid, ())),
            more_observations=found.more_observations(one),
        )
        for one in found.entities
    ]


def _reference_graph(found: Gathered, total: int) -> ReferenceGraph:
    cut = {}
    if total > len(found.entities):
        cut["entities"] = total
    if found.relations_total > len(found.relations):
        cut["relations"] = found.relations_total
    return ReferenceGraph(
        entities=reference_entities(found),
        relations=[reference_relation(fact) for fact in found.relations],
        cut=cut or None,
    )


def _exact(names: Sequence[str]) -> list[str]:
    asked = dict.fromkeys(display_name(checked_text(f"names[{n}]", name)) for n, name in enumerate(names))
    return [name for name in asked if name]


def _fitting(texts: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The first observations of each entity: as many as fit, in turns, so that none has all the room."""
    kept: dict[str, list[str]] = {uuid: [] for uuid in texts}
    room = _OBSERVATION_CHARS
    for place in range(max(map(len, texts.values()), default=0)):
        for uuid, own in texts.items():
            if place == len(kept[uuid]) and place < len(own) and len(own[place]) <= room:
                kept[uuid].append(own[place])
                room -= len(own[place])
    return kept
