"""One fact without a text, as the upstream server accepts it: stored as an episode of one sentence."""

from graphiti_pkm.capabilities.remember.requests import AddTriplet
from graphiti_pkm.capabilities.remember.service import Writing
from graphiti_pkm.core.context import Context
from graphiti_pkm.core.identity.groups import Groups
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.core.model.answers import AddMemoryResponse, TripletResponse
from graphiti_pkm.core.model.names import name_key, normalise_name, relation_name
from graphiti_pkm.core.model.records import Entity
from graphiti_pkm.core.model.requests import AddMemory, FactInput
from graphiti_pkm.core.reading.reader import Reader
from graphiti_pkm.core.reading.views import clipped
from graphiti_pkm.errors import InvalidInput, Unavailable

_LONGEST_FACT = 2_000
_NAME = 200


class Triplets(Reader):
    """``add_triplet``."""

    def __init__(self, context: Context, groups: Groups, writing: Writing) -> None:
        super().__init__(context, groups)
        self._writing = writing

    async def add_triplet(self, caller: Caller, request: AddTriplet) -> TripletResponse:
        """Write one fact between two entities, found by uuid or name, or created.

        Raises:
            InvalidInput: a name, the relation or the sentence does not do, or the uuids do not fit; nothing stored.
            NotFound: a uuid names no entity; nothing was stored.
        """
        caller.must_write("Nothing was stored.")
        _check(
            source_node_name=request.source_node_name,
            target_node_name=request.target_node_name,
            edge_name=request.edge_name,
            fact=request.fact,
        )
        ends = [await self._given(caller, uuid) for uuid in (request.source_node_uuid, request.target_node_uuid)]
        group = self._group(caller, request.group_id, ends)
        self._groups.refuse_unnamed(caller, group, request.group_id)
        names = [request.source_node_name, request.target_node_name]
        for place, entity in enumerate(ends):
            if entity is not None:
                await self._check_name_owner(entity)
                names[place] = entity.name
        written = AddMemory(
            episode_body=request.fact,
            group_id=self._groups.name_for(caller, group),
            source="fact_triple",
            facts=[FactInput(source=names[0], relation=request.edge_name, target=names[1], fact=request.fact)],
        )
        return await self._answer(await self._writing.add_memory(caller, written), group)

    async def _given(self, caller: Caller, uuid: str | None) -> Entity | None:
        if uuid is None:
            return None
        visible = await self._groups.visible(caller)
        whole = await resolve_within(self._graph, visible, "entity", uuid)
        found = await self._graph.records.get_entities([whole], visible)
        if not found:
            raise unknown("entity", whole)
        return found[0]

    def _group(self, caller: Caller, group_id: str | None, ends: list[Entity | None]) -> str:
        """The given group; else that of the entities given by uuid, else the default one."""
        own = {entity.group_id for entity in ends if entity is not None}
        wanted = self._groups.one(caller, group_id) if group_id or not own else min(own)
        if own - {wanted}:
            raise InvalidInput("The entities are not all of one group, and no fact joins groups. Nothing was stored.")
        return wanted

    async def _check_name_owner(self, entity: Entity) -> None:
        """Entities are identified by name: refuse a uuid whose name belongs to another entity."""
        key = name_key(entity.group_id, entity.name)
        held = (await self._graph.records.get_names([key])).get(key)
        if held is not None and held.entity_uuid != entity.uuid:
            raise InvalidInput(
                f"The name of entity {entity.uuid} belongs to entity {held.entity_uuid} of the same group; use that "
                "one. Nothing was stored."
            )

    async def _answer(self, stored: AddMemoryResponse, group_id: str) -> TripletResponse:
        outcome = stored.facts[0]
        again = " It was known already and now has one more episode." if outcome.outcome == "duplicate" else ""
        try:
            facts = await self._graph.records.get_facts([outcome.uuid], [group_id])
            ends = [uuid for fact in facts for uuid in (fact.source_uuid, fact.target_uuid)]
            nodes = await self._graph.records.get_entities(list(dict.fromkeys(ends)), [group_id])
        except Unavailable:
            facts, nodes = [], []
            again += " It is stored, but could not be read back; do not send it again."
        written = [
            f"{clipped(fact.source_name, _NAME)} -[{fact.relation}]-> {clipped(fact.target_name, _NAME)}"
            for fact in facts
        ]
        return TripletResponse(
            message=f"Triplet '{(written or [outcome.uuid])[0]}' added.{again}",
            episode_uuid=stored.episode_uuid,
            nodes=[self._views.node(node) for node in nodes],
            edges=[self._views.fact(fact, self._context.now()) for fact in facts],
            needs_attention=stored.needs_attention,
        )


def _check(*, fact: str, edge_name: str, **names: str) -> None:
    """Check what add_memory would refuse, in the words of these parameters."""
    for parameter, name in names.items():
        if not normalise_name(name) or len(name) > _NAME:
            raise InvalidInput(f"{parameter} needs 1 to {_NAME} visible characters. Nothing was stored.")
    if not relation_name(edge_name) or len(edge_name) > _NAME:
        raise InvalidInput(f"edge_name needs 1 to {_NAME} characters, for example WORKS_FOR. Nothing was stored.")
    if not fact.strip() or len(fact) > _LONGEST_FACT:
        raise InvalidInput(f"fact needs a sentence of at most {_LONGEST_FACT:,} characters. Nothing was stored.")
