"""Observations: sentences about one entity, kept as facts from the entity to itself."""

from collections.abc import Iterable

from graphiti_pkm.core.model.labels import as_label
from graphiti_pkm.core.model.records import Entity, Fact

OBSERVATION = "OBSERVATION"
"""The relation of an observation. Between two entities it is an ordinary relation."""
POSITION = "position"
"""The attribute of an observation that holds its place among those of its entity and call, from 0."""
TYPE = "type"
"""The attribute of an entity that holds its type as it was sent, from which the label is made."""


def is_observation(fact: Fact) -> bool:
    """Whether a fact is a sentence about one entity, and joins nothing."""
    return fact.relation == OBSERVATION and fact.source_uuid == fact.target_uuid


def joining(facts: Iterable[Fact]) -> list[Fact]:
    """The facts that are no observations."""
    return [fact for fact in facts if not is_observation(fact)]


def type_of(entity: Entity) -> str:
    """The type as it was sent, unless the label was changed since; "Entity" where nobody gave one."""
    given = entity.attributes.get(TYPE)
    if isinstance(given, str) and given and entity.label in {None, as_label(given)}:
        return given
    return entity.label or "Entity"
