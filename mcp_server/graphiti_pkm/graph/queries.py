"""What all Cypher here is made of: columns, filters and orders. Only constants, never input.

Written against wrong answers of FalkorDB 4.16 (``tests/integration/test_falkordb_wrong_answers.py``):

- A predicate on an indexed edge property loses incoming edges in an undirected match, and ``<`` or ``<=`` on an indexed
  string matches everything. ``coalesce`` keeps both away from the index. It also spells "unknown": an unknown
  start sorts before every instant (``''``), an unknown end after (``'~'``).
- ``OPTIONAL MATCH … WHERE x IS NULL`` filters before it matches: count instead.
- ``MATCH`` by property after ``YIELD`` runs once a hit: go along an edge (``OF``), or use startNode and endNode.
- Labels at both ends of an edge found by its index scan the label: leave them out.
"""

from collections.abc import Iterable

from graphiti_pkm.domain.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.domain.times import iso

FACT_KEYS = (
    "uuid",
    "group_id",
    "name",
    "fact",
    "episodes",
    "created_at",
    "expired_at",
    "valid_at",
    "invalid_at",
    "reference_time",
    "source_uuid",
    "target_uuid",
    "source_node_uuid",
    "target_node_uuid",
    "search_scope",
    "search_text",
    "recorded_day",
)
"""Edge properties that are no attributes."""

ENTITY_KEYS = ("uuid", "group_id", "name", "summary", "created_at", "labels")
"""Entity properties that are no attributes."""

FACT_COLUMNS = f"""
  e.uuid AS uuid, coalesce(e.group_id, '') AS group_id, coalesce(e.name, '') AS name, coalesce(e.fact, '') AS fact,
  startNode(e).uuid AS source_node_uuid, startNode(e).name AS source_name,
  endNode(e).uuid AS target_node_uuid, endNode(e).name AS target_name,
  coalesce(e.episodes, []) AS episodes, coalesce(e.created_at, e.valid_at, '1970-01-01T00:00:00+00:00') AS created_at,
  e.expired_at AS expired_at, e.valid_at AS valid_at, e.invalid_at AS invalid_at, e.reference_time AS reference_time,
  [k IN keys(e) WHERE NOT k IN {list(FACT_KEYS)} AND NOT k ENDS WITH '_embedding' AND typeOf(e[k]) <> 'Vectorf32'
    | [k, e[k]]] AS attributes"""

ENTITY_COLUMNS = f"""
  n.uuid AS uuid, coalesce(n.name, '') AS name, coalesce(n.group_id, '') AS group_id, labels(n) AS labels,
  coalesce(n.created_at, '1970-01-01T00:00:00+00:00') AS created_at, coalesce(n.summary, '') AS summary,
  [k IN keys(n) WHERE NOT k IN {list(ENTITY_KEYS)} AND NOT k ENDS WITH '_embedding' AND typeOf(n[k]) <> 'Vectorf32'
    | [k, n[k]]] AS attributes"""

EPISODE_COLUMNS = """
  e.uuid AS uuid, coalesce(e.name, '') AS name, coalesce(e.group_id, '') AS group_id,
  coalesce(e.content, '') AS content,
  coalesce(e.source, 'text') AS source, coalesce(e.source_description, '') AS source_description,
  coalesce(e.created_at, e.valid_at) AS created_at, coalesce(e.valid_at, e.created_at) AS valid_at,
  [] AS entity_edges, coalesce(s.corrected, false) AS corrected"""

STARTS = "coalesce(e.valid_at, '')"
KNOWN_FROM = "coalesce(e.valid_at, e.reference_time)"
RECORDED = "coalesce(e.created_at, '')"
IS_STATE = "NOT coalesce(e.kind, 'state') IN ['event', 'plan', 'reading']"

IS_CURRENT = """CASE WHEN coalesce(e.expired_at, e.invalid_at) <= $now THEN 0 WHEN e.valid_at > $now THEN 0
  WHEN e.kind IN ['event', 'plan', 'reading'] THEN 0
  WHEN e.voided THEN CASE WHEN e.expired_at > $now THEN 1 ELSE 0 END ELSE 1 END"""
"""1 or 0. What was ended or voided after ``$now`` still held then: pages of one cursor agree.

Each comparison costs a millisecond at 10,000 facts, so what is unknown (null, which no WHEN takes) falls through.
Only in CASE: in a WHERE of their own these comparisons would go to the index.
"""

Conditions = tuple[str, dict[str, object]]
"""A WHERE expression with its parameters."""


def fact_conditions(wanted: FactFilter) -> Conditions:
    """Everything in the filter but ``direction``, over an edge ``e``."""
    parts = ["coalesce(e.group_id, '') IN $groups", f"{RECORDED} <= $now"]
    values: dict[str, object] = {"groups": wanted.group_ids, "now": iso(wanted.now)}
    if wanted.as_of is not None:
        parts += [
            IS_STATE,
            "NOT coalesce(e.voided, false)",
            "(e.expired_at IS NULL OR e.invalid_at IS NOT NULL)",
            f"{STARTS} <= $as_of",
            "coalesce(e.invalid_at, '~') > $as_of",
        ]
        values["as_of"] = iso(wanted.as_of)
    for name, instant, part in (
        ("valid_after", wanted.valid_after, f"{KNOWN_FROM} >= $valid_after"),
        ("valid_before", wanted.valid_before, f"{KNOWN_FROM} < $valid_before"),
        ("invalid_after", wanted.invalid_after, "coalesce(e.invalid_at, '') >= $invalid_after"),
        ("invalid_before", wanted.invalid_before, "coalesce(e.invalid_at, '~') < $invalid_before"),
    ):
        if instant is not None:
            parts.append(part)
            values[name] = iso(instant)
    if wanted.only_current:
        parts.append(f"{IS_CURRENT} = 1")
    if wanted.relations:
        parts.append("coalesce(e.name, '') IN $relations")
        values["relations"] = wanted.relations
    if wanted.neighbour_uuid is not None:
        parts.append("(startNode(e).uuid = $neighbour OR endNode(e).uuid = $neighbour)")
        values["neighbour"] = wanted.neighbour_uuid
    return _all(parts), values


def episode_conditions(wanted: EpisodeFilter) -> Conditions:
    """Everything in the filter but ``entity_uuid``, over a node ``e``; groups as in ``$groups``."""
    parts = ["coalesce(e.group_id, '') IN $groups"]
    values: dict[str, object] = {"groups": wanted.group_ids}
    for name, instant, part in (
        ("recorded_until", wanted.recorded_until, f"{RECORDED} <= $recorded_until"),
        ("valid_after", wanted.valid_after, "coalesce(e.valid_at, e.created_at) >= $valid_after"),
        ("valid_before", wanted.valid_before, "coalesce(e.valid_at, e.created_at) < $valid_before"),
    ):
        if instant is not None:
            parts.append(part)
            values[name] = iso(instant)
    return _all(parts), values


def entity_conditions(wanted: EntityFilter) -> Conditions:
    """The whole filter, over a node ``n``."""
    parts = ["coalesce(n.group_id, '') IN $groups"]
    values: dict[str, object] = {"groups": wanted.group_ids}
    if wanted.labels:
        parts.append("any(l IN labels(n) WHERE l IN $labels)")
        values["labels"] = wanted.labels
    if wanted.recorded_until is not None:
        parts.append("coalesce(n.created_at, '') <= $recorded_until")
        values["recorded_until"] = iso(wanted.recorded_until)
    return _all(parts), values


def _all(parts: Iterable[str]) -> str:
    return " AND ".join(parts)
