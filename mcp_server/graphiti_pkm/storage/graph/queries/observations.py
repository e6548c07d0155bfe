"""Named queries about observations and the relations between entities: what the capability compat asks."""

from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.facts.observations import POSITION, TYPE
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.storage.graph.queries.facts import fact_conditions
from graphiti_pkm.storage.graph.queries.parts import FACT_COLUMNS, OBSERVED, RECORDED
from graphiti_pkm.storage.graph.queries.values import Query

_SORTED = f"{RECORDED} AS ca, coalesce(e.{POSITION}, 0) AS place, e.uuid AS id"
_OWN = "UNWIND $uuids AS u MATCH (h:Entity {uuid: u})-[e:RELATES_TO]->(h)"
_JOINED = {
    True: "UNWIND $uuids AS u MATCH (h:Entity {uuid: u})-[e:RELATES_TO]->(o) WHERE o.uuid IN $uuids AND",
    False: "UNWIND $uuids AS u MATCH (h:Entity {uuid: u})-[e:RELATES_TO]-(o) WHERE",
}


def _current(group_ids: Sequence[str], now: datetime) -> tuple[str, dict[str, object]]:
    return fact_conditions(FactFilter(group_ids=tuple(group_ids), now=now, only_current=True))


def known(group_id: str, wanted: Sequence[tuple[str, str]]) -> Query:
    """Oldest first; each text is compared in the database."""
    return Query(
        "known observations",
        f"""UNWIND $pairs AS p MATCH (h:Entity {{uuid: p[0]}})-[e:RELATES_TO]->(h)
        WHERE {OBSERVED} AND e.fact = p[1] AND coalesce(e.group_id, '') = $group
        AND e.expired_at IS NULL AND NOT coalesce(e.voided, false)
        WITH DISTINCT e, {_SORTED} ORDER BY ca, place, id RETURN {FACT_COLUMNS}""",
        {"pairs": [list(pair) for pair in dict.fromkeys(wanted)], "group": group_id},
    )


def observations(uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int) -> Query:
    """The first of each entity, and how many it has."""
    conditions, values = _current(group_ids, now)
    return Query(
        "observations",
        f"""{_OWN} WHERE {OBSERVED} AND {conditions} WITH u, e, {_SORTED} ORDER BY ca, place, id
        WITH u, collect(e.fact) AS texts RETURN u AS uuid, texts[..$limit] AS texts, size(texts) AS total""",
        {**values, "uuids": list(dict.fromkeys(uuids)), "limit": limit_each},
    )


def observed(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Other facts have no row."""
    return Query(
        "entities observed",
        f"""UNWIND $uuids AS u MATCH (h)-[e:RELATES_TO {{uuid: u}}]->()
        WHERE {OBSERVED} AND coalesce(e.group_id, '') IN $groups RETURN u AS uuid, h.uuid AS value""",
        {"uuids": list(dict.fromkeys(uuids)), "groups": list(group_ids)},
    )


def names(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Entities of other groups have no row."""
    return Query(
        "names of entities",
        """UNWIND $uuids AS u MATCH (n:Entity {uuid: u}) WHERE n.group_id IN $groups
        RETURN u AS uuid, coalesce(n.name, '') AS value""",
        {"uuids": list(dict.fromkeys(uuids)), "groups": list(group_ids)},
    )


def relations(
    uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
) -> tuple[Query, Query]:
    """The newest created first, and the total."""
    conditions, values = _current(group_ids, now)
    values["uuids"] = list(dict.fromkeys(uuids))
    matched = f"{_JOINED[within]} NOT ({OBSERVED}) AND {conditions} WITH DISTINCT e"
    return (
        Query(
            "relations of entities",
            f"{matched}, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}",
            {**values, "limit": limit},
        ),
        Query("relations of entities total", f"{matched} RETURN count(e) AS total", values),
    )


def relation_counts(uuids: Sequence[str], group_ids: Sequence[str], now: datetime) -> Query:
    """Entities without any have no row."""
    conditions, values = _current(group_ids, now)
    return Query(
        "relation counts",
        f"{_JOINED[False]} NOT ({OBSERVED}) AND {conditions} RETURN u AS uuid, count(DISTINCT e) AS n",
        {**values, "uuids": list(dict.fromkeys(uuids))},
    )


def of_type(words: Sequence[str], group_ids: Sequence[str], limit: int) -> Query:
    """No entity is looked at unless the database has such a label."""
    return Query(
        "entities of a type",
        """CALL db.labels() YIELD label WITH label WHERE toLower(label) IN $words AND label <> 'Entity'
        WITH collect(label) AS wanted WHERE size(wanted) > 0
        MATCH (n:Entity) WHERE n.group_id IN $groups AND any(l IN labels(n) WHERE l IN wanted)
        WITH n.uuid AS uuid, coalesce(n.created_at, $dawn) AS ca ORDER BY ca DESC, uuid LIMIT $limit RETURN uuid""",
        {"words": words, "groups": group_ids, "limit": limit},
    )


def holding(text: str, group_ids: Sequence[str], now: datetime, limit: int) -> Query:
    """Looks at every entity of the groups: no index finds a part of a word."""
    conditions, values = _current(group_ids, now)
    kind = f"coalesce(n.{TYPE}, head([l IN labels(n) WHERE l <> 'Entity']), 'Entity')"
    return Query(
        "entities holding",
        f"""MATCH (n:Entity) WHERE n.group_id IN $groups AND (toLower(coalesce(n.name, '')) CONTAINS $text
          OR toLower(toString({kind})) CONTAINS $text
          OR EXISTS {{ MATCH (n)-[e:RELATES_TO]->(n) WHERE {OBSERVED} AND toLower(e.fact) CONTAINS $text
            AND {conditions} }})
        WITH n.uuid AS uuid, coalesce(n.created_at, $dawn) AS ca, coalesce(n.name, '') AS name ORDER BY ca, name, uuid
        WITH collect(uuid) AS uuids RETURN uuids[..$limit] AS uuids, size(uuids) AS total""",
        {**values, "text": text, "limit": limit},
    )
