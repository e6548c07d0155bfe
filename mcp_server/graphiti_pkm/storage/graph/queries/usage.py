"""Counters of fitness in side nodes: one for each record and server, each with the totals of that server."""

from collections.abc import Sequence

from graphiti_pkm.core.model.fitness import Usage
from graphiti_pkm.core.ports.usage import Searched
from graphiti_pkm.storage.graph.queries.parts import cosine
from graphiti_pkm.storage.graph.queries.values import Query

_COUNTERS = ("hits", "relevance", "useful")
_NOT_LESS = ", ".join(
    f"m.{name} = CASE WHEN coalesce(m.{name}, 0) < r.{name} THEN r.{name} ELSE coalesce(m.{name}, 0) END"
    for name in _COUNTERS
)
"""Totals only grow: of two processes of a server the one that sends late must not bring back less."""


def cosines(searches: Sequence[Searched]) -> Query:
    """The raw cosine of each entity with the query that returned it, with the place of the search."""
    return Query(
        "cosines",
        f"""UNWIND $searches AS s UNWIND s.uuids AS u MATCH (n:Entity {{uuid: u}})
        WHERE n.name_embedding IS NOT NULL AND size(n.name_embedding) = size(s.vector)
        RETURN s.place AS place, u AS uuid, {cosine("n.name_embedding", "s.vector")} AS cosine""",
        {
            "searches": [
                {"place": place, "vector": one.vector, "uuids": [uuid for uuid, _ in one.returned]}
                for place, one in enumerate(searches)
            ]
        },
    )


def send(totals: Sequence[Usage], server: str) -> Query:
    """Set the totals of a server; returns the records that exist."""
    return Query(
        "counters",
        f"""UNWIND $rows AS r WITH r WHERE EXISTS {{ MATCH (n:Entity {{uuid: r.uuid}}) WHERE n.group_id = r.group_id }}
          OR EXISTS {{ MATCH ()-[e:RELATES_TO {{uuid: r.uuid}}]->() WHERE e.group_id = r.group_id }}
          OR EXISTS {{ MATCH (f:FormerUuid {{uuid: r.uuid}}) WHERE f.group_id = r.group_id }}
        MERGE (m:MetricsRecord {{id: r.id}})
        SET m.uuid = r.uuid, m.server = $server, m.group_id = r.group_id, {_NOT_LESS}
        RETURN r.uuid AS uuid""",
        {"rows": [{**one._asdict(), "id": f"{server} {one.uuid}"} for one in totals], "server": server},
    )


def fitness(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """The totals of all servers, and the biases; what was merged into an entity counts with it."""
    return Query(
        "fitness",
        f"""UNWIND $uuids AS u OPTIONAL MATCH (f:FormerUuid {{entity_uuid: u}}) WITH u, collect(f.uuid) + u AS counted
        OPTIONAL MATCH (m:MetricsRecord) WHERE m.uuid IN counted AND m.group_id IN $groups
        WITH u, {", ".join(f"sum(m.{name}) AS {name}" for name in _COUNTERS)}
        OPTIONAL MATCH (q:QualityRecord {{uuid: u}}) WHERE q.group_id IN $groups
        WITH u, {", ".join(_COUNTERS)}, q.bias AS bias WHERE hits > 0 OR useful > 0 OR bias IS NOT NULL
        RETURN u AS uuid, {", ".join(_COUNTERS)}, coalesce(bias, 0.0) AS bias""",
        {"uuids": list(dict.fromkeys(uuids)), "groups": list(group_ids)},
    )
