"""What surrounds an entity, without what only has a value in common with it."""

from collections.abc import Sequence

from graphiti_pkm.capabilities.explore.ports import GraphWalks
from graphiti_pkm.core.facts.parsed_facts import is_of_value
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.walks import Neighbourhood


async def surroundings(
    walks: GraphWalks, starts: Sequence[str], wanted: FactFilter, hops: int, max_entities: int, max_facts: int
) -> tuple[Neighbourhood, list[str]]:
    """The neighbourhood, and the uuids of values that are part of it and lead no further.

    Every decision has a status and a date, so two steps would lead from one over its status to all others.
    """
    values: list[str] = []
    for near in range(1, hops):
        found = await walks.neighbourhood(starts, wanted, near, max_entities, max_facts, values)
        things = {fact.source_uuid for fact in found.facts}
        things |= {fact.target_uuid for fact in found.facts if not is_of_value(fact)}
        values += [one.uuid for one, _ in found.entities if one.uuid not in things and one.uuid not in values]
    return await walks.neighbourhood(starts, wanted, hops, max_entities, max_facts, values), values
