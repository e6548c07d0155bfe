"""Facts near a given one, under a condition that Graphiti built from its filters; each part of its text is known.

What is asked of an edge ``e`` from ``n`` to ``m`` in Cypher is asked of ``fact f`` here.
"""

import re
import sqlite3
from array import array
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from graphiti_core.edges import EntityEdge

from graphiti_pkm.core.model.labels import BASE
from graphiti_pkm.errors import InvalidInput
from graphiti_pkm.storage.graph.sqlite.graphiti_graph_search import SqliteGraphSearch
from graphiti_pkm.storage.graph.sqlite.graphiti_reading import HAS_LABEL, by_uuids
from graphiti_pkm.storage.graph.sqlite.graphiti_records import FACTS
from graphiti_pkm.storage.graph.sqlite.schema import FACT
from graphiti_pkm.storage.graph.sqlite.values import as_list, micros

BETWEEN = "((n.uuid = :source AND m.uuid = :target) OR (n.uuid = :target AND m.uuid = :source))"
"""The condition that a fact joins the same two entities."""
TOUCHING = "(n.uuid IN (:source, :target) OR m.uuid IN (:source, :target))"
"""The condition that a fact begins or ends at one of them."""

_TOKEN = re.compile(
    r"""(?P<plain>\(|\)|AND\b|OR\b)
    |(?P<column>e\.name|e\.uuid|n\.uuid|m\.uuid)\ in\ \$(?P<listed>\w+)
    |(?P<labels>[nm]:\w+(?:\|\w+)*)
    |e\.(?P<instant>valid_at|invalid_at|created_at|expired_at)\ (?:(?P<unknown>IS\ (?:NOT\ )?NULL)
      |(?P<operator><>|<=|>=|=|<|>)\ \$(?P<at>\w+))""",
    re.VERBOSE | re.IGNORECASE,
)
_COLUMNS = {"e.name": "f.relation", "e.uuid": "f.uuid", "n.uuid": "n.uuid", "m.uuid": "m.uuid"}


def near(
    db: sqlite3.Connection,
    search: SqliteGraphSearch,
    edge: Mapping[str, Any],
    ends: str,
    condition: str,
    given: Mapping[str, Any],
) -> list[EntityEdge]:
    """Nearest facts in the edge's group; none if it has no embedding. ``given``: ``limit``, ``min_score``, parameters.

    Raises:
        InvalidInput: the condition holds what Graphiti's filters do not hold.
    """
    where, parameters = translated(condition, given)
    if edge["fact_embedding"] is None:
        return []
    passing = f"""SELECT f.uuid FROM json_each(:uuids) u JOIN fact f ON f.uuid = u.value
      JOIN entity n ON n.uuid = f.source_uuid JOIN entity m ON m.uuid = f.target_uuid
      WHERE {ends} AND ({where})"""
    parameters |= {"source": edge["source_node_uuid"], "target": edge["target_node_uuid"]}
    vector = array("f", edge["fact_embedding"])
    groups = [edge["group_id"]]
    found = search.near(db, FACT, vector, groups, passing, parameters, given["limit"], given["min_score"])
    return by_uuids(db, FACTS, found)


def translated(condition: str, given: Mapping[str, Any]) -> tuple[str, dict[str, object]]:
    """The condition over ``fact f`` and its parameters. Raises InvalidInput."""
    parts: list[str] = []
    parameters: dict[str, object] = {}
    place = 0
    while place < len(condition):
        found = _TOKEN.match(condition, place)
        if found is None:
            raise InvalidInput("A condition of Graphiti's is not known.")
        parts.append(_part(found, given, parameters))
        place = found.end() + (condition[found.end() : found.end() + 1] == " ")
    return " ".join(parts) or "true", parameters


def _part(found: re.Match[str], given: Mapping[str, Any], parameters: dict[str, object]) -> str:
    if found["plain"]:
        return found["plain"]
    if found["labels"]:
        alias, labels = found["labels"].split(":")
        if BASE in labels.split("|"):
            return "true"
        name = f"labels_{len(parameters)}"
        parameters[name] = as_list(labels.split("|"))
        return HAS_LABEL.format(of=alias).replace(":labels", f":{name}")
    if found["column"]:
        parameters[found["listed"]] = as_list(given[found["listed"]])
        return f"{_COLUMNS[found['column']]} IN (SELECT value FROM json_each(:{found['listed']}))"
    column = f"f.{found['instant']}"
    if found["unknown"]:
        return f"{column} {found['unknown']}"
    at: datetime = given[found["at"]]
    parameters[found["at"]] = micros(at)
    return f"{column} {'IS NOT' if found['operator'] == '<>' else found['operator']} :{found['at']}"
