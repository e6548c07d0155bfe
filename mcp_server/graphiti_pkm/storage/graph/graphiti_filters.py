"""Graphiti's search filters as conditions.

Graphiti's own texts give dates of several alternatives the same parameter, and pass property filters over.
"""

from collections.abc import Sequence

from graphiti_core.search.search_filters import ComparisonOperator, DateFilter, PropertyFilter, SearchFilters

from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.queries.parts import Conditions, all_of

_UNKNOWN = {
    ComparisonOperator.less_than: "$dusk",
    ComparisonOperator.less_than_equal: "$dusk",
    ComparisonOperator.greater_than: "$dawn",
    ComparisonOperator.greater_than_equal: "$dawn",
    ComparisonOperator.equals: "$dawn",
}
"""The value used for a missing date, so that no comparison with it is true; not needed for <>."""
_DATES = ("valid_at", "invalid_at", "created_at", "expired_at")


def of_facts(wanted: SearchFilters, group_ids: Sequence[str] | None) -> Conditions:
    """Over an edge ``e``."""
    parts, values = _common(wanted, "e", group_ids)
    for name, asked, part in (
        ("edge_types", wanted.edge_types, "coalesce(e.name, '') IN $edge_types"),
        ("edge_uuids", wanted.edge_uuids, "coalesce(e.uuid, '') IN $edge_uuids"),
        ("source_uuids", wanted.edge_source_node_uuids, "startNode(e).uuid IN $source_uuids"),
        ("target_uuids", wanted.edge_target_node_uuids, "endNode(e).uuid IN $target_uuids"),
        (
            "labels",
            wanted.node_labels,
            "any(l IN labels(startNode(e)) WHERE l IN $labels) AND any(l IN labels(endNode(e)) WHERE l IN $labels)",
        ),
    ):
        if asked is not None:
            parts.append(part)
            values[name] = asked
    for name in _DATES:
        alternatives: list[list[DateFilter]] | None = getattr(wanted, name)
        if alternatives is not None:
            parts.append(_dates(name, alternatives, values))
    return all_of(parts), values


def of_entities(wanted: SearchFilters, group_ids: Sequence[str] | None) -> Conditions:
    """Over a node ``n``; what concerns facts only says nothing about entities."""
    parts, values = _common(wanted, "n", group_ids)
    if wanted.node_labels is not None:
        parts.append("any(l IN labels(n) WHERE l IN $labels)")
        values["labels"] = wanted.node_labels
    return all_of(parts), values


def _common(wanted: SearchFilters, one: str, group_ids: Sequence[str] | None) -> tuple[list[str], dict[str, object]]:
    parts: list[str] = ["true"]
    values: dict[str, object] = {}
    if group_ids is not None:
        parts.append(f"coalesce({one}.group_id, '') IN $groups")
        values["groups"] = group_ids
    for i, asked in enumerate(wanted.property_filters or ()):
        parts.append(_property(one, f"property_{i}", asked, values))
    return parts, values


def _dates(name: str, alternatives: Sequence[Sequence[DateFilter]], values: dict[str, object]) -> str:
    """Any of the alternatives, each of which is a conjunction of its comparisons."""
    each = [
        all_of([_date(name, f"{name}_{i}_{j}", asked, values) for j, asked in enumerate(group)])
        for i, group in enumerate(alternatives)
    ]
    return f"({' OR '.join(f'({one})' for one in each if one) or 'true'})"


def _date(name: str, parameter: str, asked: DateFilter, values: dict[str, object]) -> str:
    operator = asked.comparison_operator
    if operator is ComparisonOperator.is_null:
        return f"coalesce(e.{name}, $dawn) = $dawn"
    if operator is ComparisonOperator.is_not_null:
        return f"coalesce(e.{name}, $dawn) <> $dawn"
    if asked.date is None:
        raise InvalidInput(f"A filter by {name} needs a date to compare with.")
    values[parameter] = asked.date
    return f"coalesce(e.{name}, {_UNKNOWN.get(operator, f'${parameter}')}) {operator.value} ${parameter}"


def _property(one: str, parameter: str, asked: PropertyFilter, values: dict[str, object]) -> str:
    """A condition on a property whose name is a parameter; no index supports it."""
    name = f"{parameter}_name"
    values[name] = asked.property_name
    if asked.comparison_operator in {ComparisonOperator.is_null, ComparisonOperator.is_not_null}:
        return f"{one}[${name}] {asked.comparison_operator.value}"
    values[parameter] = asked.property_value
    return f"{one}[${name}] {asked.comparison_operator.value} ${parameter}"
