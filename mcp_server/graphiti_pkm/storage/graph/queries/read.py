"""Named queries by uuid, name and entity. Each is bounded by ``$limit`` or by the list it is given."""

from collections.abc import Sequence
from typing import get_args

from graphiti_pkm.core.model.choices import Direction
from graphiti_pkm.core.model.date_phrases import START_WORDS
from graphiti_pkm.core.model.queries import COMPARED_QUOTE, EntityFilter, FactFilter, Window
from graphiti_pkm.core.model.records import CONFIDENTIAL, FactKind
from graphiti_pkm.storage.graph.queries.facts import DUE_AT, OF_OWN_MEASURES, Matched, facts_matched, known_from, starts
from graphiti_pkm.storage.graph.queries.parts import (
    ENTITY_COLUMNS,
    EPISODE_COLUMNS,
    FACT_COLUMNS,
    KNOWN_FROM,
    OBSERVED,
    RECORDED,
    VALUE_KIND,
    VALUE_NUMBER,
    entity_conditions,
    fact_columns,
    keys_after,
    normalised,
    plain_forms,
    status_conditions,
    within_reach,
)
from graphiti_pkm.storage.graph.queries.values import Query, Row, digest

NAME_COLUMNS = """
  k.key AS key, k.group_id AS group_id, k.text AS text, k.spellings AS spellings, k.entity_uuid AS entity_uuid,
  k.is_alias AS is_alias, k.is_linkable AS is_linkable"""

_IN_GROUPS = "coalesce(e.group_id, '') IN $groups"
_NOT_VOIDED = "NOT coalesce(e.voided, false)"
_NEWEST_CREATED = f"WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit"
_EPISODE_ROW = f"OPTIONAL MATCH (e)<-[:OF]-(s:SearchText) RETURN {EPISODE_COLUMNS}"
_NORMALISED = normalised("n.name")

_PATTERNS: dict[Direction, str] = {
    "both": "MATCH (h:Entity {uuid: $entity})-[e:RELATES_TO]-(o)",
    "out": "MATCH (h:Entity {uuid: $entity})-[e:RELATES_TO]->(o)",
    "in": "MATCH (h:Entity {uuid: $entity})<-[e:RELATES_TO]-(o)",
}

GROUPS = Query("groups", "MATCH (g:Group) WHERE g.holds = true RETURN g.id AS id ORDER BY id", {})

_UUID_PATTERNS = {"entity": "(r:Entity)", "episode": "(r:Episodic)", "fact": "()-[r:RELATES_TO]->()"}


def uuids(kind: str, prefix: str, group_ids: Sequence[str], limit: int) -> Query:
    """Uuids that start with ``prefix``."""
    return Query(
        "uuids by prefix",
        f"MATCH {_UUID_PATTERNS[kind]} WHERE r.group_id IN $groups AND r.uuid STARTS WITH $prefix "
        "RETURN DISTINCT r.uuid AS uuid ORDER BY uuid LIMIT $limit",
        {"prefix": prefix, "groups": group_ids, "limit": limit},
    )


def whole_uuid(kind: str, uuid: str, group_ids: Sequence[str]) -> Query:
    """One uuid, by index."""
    return Query(
        "uuid",
        f"MATCH {_UUID_PATTERNS[kind]} WHERE r.uuid = $uuid AND coalesce(r.group_id, '') IN $groups "
        "RETURN DISTINCT r.uuid AS uuid",
        {"uuid": uuid, "groups": group_ids},
    )


_WANTED = {
    "entity": "(r:Entity {uuid: u})",
    "episode": "(r:Episodic {uuid: u})",
    "fact": "()-[r:RELATES_TO {uuid: u}]->()",
}


def origins(kind: str, uuids_: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Who made the write that made each record: that of its group with its time."""
    return Query(
        "origins",
        f"""UNWIND $uuids AS u MATCH {_WANTED[kind]} WHERE r.group_id IN $groups
        MATCH (o:WriteOrigin {{group_id: r.group_id, recorded_at: r.created_at}})
        RETURN DISTINCT u AS uuid, o.created_by AS created_by, o.token AS token, o.source_type AS source_type""",
        {"uuids": list(dict.fromkeys(uuids_)), "groups": list(group_ids)},
    )


def entities(uuids_: Sequence[str], group_ids: Sequence[str]) -> Query:
    """In any order."""
    return Query(
        "entities",
        f"UNWIND $uuids AS u MATCH (n:Entity {{uuid: u}}) WHERE coalesce(n.group_id, '') IN $groups "
        f"RETURN {ENTITY_COLUMNS}",
        {"uuids": uuids_, "groups": group_ids},
    )


def episodes(uuids_: Sequence[str], group_ids: Sequence[str]) -> Query:
    """In any order."""
    return Query(
        "episodes",
        f"UNWIND $uuids AS u MATCH (e:Episodic {{uuid: u}}) WHERE {_IN_GROUPS} {_EPISODE_ROW}",
        {"uuids": uuids_, "groups": group_ids},
    )


def facts(uuids_: Sequence[str], group_ids: Sequence[str]) -> Query:
    """In any order."""
    return Query(
        "facts",
        f"UNWIND $uuids AS u MATCH ()-[e:RELATES_TO {{uuid: u}}]->() WHERE {_IN_GROUPS} RETURN {FACT_COLUMNS}",
        {"uuids": uuids_, "groups": group_ids},
    )


def fact_texts(uuids_: Sequence[str], group_ids: Sequence[str]) -> Query:
    """In any order."""
    return Query(
        "fact texts",
        f"""UNWIND $uuids AS u MATCH (s)-[e:RELATES_TO {{uuid: u}}]->(o) WHERE {_IN_GROUPS}
        RETURN e.uuid AS uuid, coalesce(e.fact, '') + ' ' + replace(coalesce(e.name, ''), '_', ' ')
          + ' ' + coalesce(s.name, '') + ' ' + coalesce(o.name, '')
          + CASE WHEN e.quote <> e.fact THEN ' ' + left(e.quote, $most) ELSE '' END AS text""",
        {"uuids": uuids_, "groups": group_ids, "most": COMPARED_QUOTE},
    )


def names(keys: Sequence[str], group_ids: Sequence[str]) -> Query:
    """By key; and how many entities each of these groups has, and how many of them have a ``Name``."""
    return Query(
        "names",
        f"""CALL () {{ UNWIND $ids AS id MATCH (k:Name {{id: id}}) WITH {NAME_COLUMNS}
          RETURN collect({{key: key, group_id: group_id, text: text, spellings: spellings, entity_uuid: entity_uuid,
            is_alias: is_alias, is_linkable: is_linkable}}) AS names }}
        UNWIND $groups AS group
        RETURN names, group, COUNT {{ (:Entity {{group_id: group}}) }} AS entities,
          COUNT {{ MATCH (k:Name {{group_id: group}}) WHERE k.is_alias = false }} AS named""",
        {"ids": [*map(digest, keys)], "groups": list(group_ids)},
    )


def entity_count(group_id: str) -> Query:
    """All entities of a group."""
    return Query("entity count", "MATCH (n:Entity {group_id: $group}) RETURN count(n) AS n", {"group": group_id})


def unnamed(group_id: str, normalised: Sequence[str]) -> Query:
    """Entities without a ``Name`` whose name may have one of these normalised forms."""
    return Query(
        "entities without a name node",
        f"""MATCH (n:Entity {{group_id: $group}}) WHERE {_NORMALISED} IN $normalised
        WITH n.uuid AS uuid, n.name AS name WHERE NOT EXISTS {{ MATCH (:Name {{entity_uuid: uuid}}) }}
        RETURN uuid, name ORDER BY uuid""",
        {"group": group_id, "normalised": plain_forms(normalised)},
    )


def aliases(entity_uuids: Sequence[str], limit_each: int) -> Query:
    """Those of each entity in alphabetical order."""
    return Query(
        "aliases",
        """UNWIND $entities AS uuid
        CALL (uuid) { MATCH (k:Name {entity_uuid: uuid})
          UNWIND CASE WHEN k.is_alias THEN [k.text] ELSE [] END
            + [s IN coalesce(k.spellings, []) WHERE s <> k.text] AS text
          WITH DISTINCT text ORDER BY text LIMIT $limit RETURN collect(text) AS texts }
        RETURN uuid, texts""",
        {"entities": list(dict.fromkeys(entity_uuids)), "limit": limit_each},
    )


def mentioned(pairs: Sequence[tuple[str, str]]) -> Query:
    """Those of an episode and an entity that it mentions."""
    return Query(
        "mentioned",
        """UNWIND $pairs AS p MATCH (:Episodic {uuid: p[0]})-[:MENTIONS]->(:Entity {uuid: p[1]})
        RETURN DISTINCT p[0] AS one, p[1] AS other""",
        {"pairs": list(map(list, pairs))},
    )


def apart(pairs: Sequence[tuple[str, str]]) -> Query:
    """Those that are kept apart."""
    return Query(
        "apart",
        "UNWIND $ids AS id MATCH (a:Apart {id: id}) RETURN a.one AS one, a.other AS other",
        {"ids": list(map(" ".join, pairs))},
    )


def names_version(group_id: str) -> Query:
    """No row for a group without writes."""
    return Query(
        "names version",
        "MATCH (g:Group {id: $group}) RETURN coalesce(g.names_version, 0) AS version",
        {"group": group_id},
    )


def linkable_names(group_id: str) -> Query:
    """Version and names in one query, so that they match."""
    return Query(
        "linkable names",
        f"""MATCH (g:Group {{id: $group}}) WITH coalesce(g.names_version, 0) AS version
        OPTIONAL MATCH (k:Name {{group_id: $group, is_linkable: true}}) RETURN version, {NAME_COLUMNS}""",
        {"group": group_id},
    )


def facts_with_relation(group_id: str, source_uuid: str, relation: str, limit: int) -> Query:
    """Not voided, newest created first."""
    return Query(
        "facts with relation",
        f"""MATCH (h:Entity {{uuid: $source}})-[e:RELATES_TO]->(o)
        WHERE {_IN_GROUPS} AND coalesce(e.name, '') = $relation AND {_NOT_VOIDED}
        {_NEWEST_CREATED} RETURN {FACT_COLUMNS}""",
        {"source": source_uuid, "relation": relation, "groups": [group_id], "limit": limit},
    )


def facts_between(group_id: str, source_uuid: str, target_uuid: str, limit: int) -> Query:
    """In this direction, not voided, newest created first."""
    return Query(
        "facts between",
        f"""MATCH (:Entity {{uuid: $source}})-[e:RELATES_TO]->(:Entity {{uuid: $target}})
        WHERE {_IN_GROUPS} AND {_NOT_VOIDED} {_NEWEST_CREATED} RETURN {FACT_COLUMNS}""",
        {"source": source_uuid, "target": target_uuid, "groups": [group_id], "limit": limit},
    )


def relations(group_id: str, limit: int) -> Query:
    """Most used first."""
    return Query(
        "relations",
        """MATCH ()-[e:RELATES_TO]->() WHERE e.group_id = $group
        WITH coalesce(e.name, '') AS word, count(e) AS uses RETURN word, uses ORDER BY uses DESC, word LIMIT $limit""",
        {"group": group_id, "limit": limit},
    )


_IS_READING = f"e.kind = 'reading' AND e.measure IS NOT NULL AND {_NOT_VOIDED}"
_READINGS = f"MATCH (h:Entity {{uuid: $entity}})-[e:RELATES_TO]->(o) WHERE {_IN_GROUPS} AND {_IS_READING}"
_READINGS_OF_GROUP = f"MATCH ()-[e:RELATES_TO]->() WHERE e.group_id = $group AND {_IS_READING}"


def measures(group_id: str, source_uuid: str | None, limit: int) -> Query:
    """Most used first."""
    readings = _READINGS_OF_GROUP if source_uuid is None else _READINGS
    return Query(
        "measures",
        f"{readings} WITH e.measure AS word, count(e) AS uses RETURN word, uses ORDER BY uses DESC, word LIMIT $limit",
        {"groups": [group_id], "group": group_id, "entity": source_uuid, "limit": limit},
    )


def readings(group_id: str, source_uuid: str, spellings: Sequence[str], limit: int) -> tuple[Query, Query]:
    """The newest of a series, newest first, and how many there are."""
    values = {"groups": [group_id], "entity": source_uuid, "spellings": spellings}
    matched = f"{_READINGS} AND e.measure IN $spellings"
    return (
        Query(
            "readings",
            f"""{matched} WITH e, coalesce({KNOWN_FROM}, $dawn) AS va, {RECORDED} AS ca, e.uuid AS id
            ORDER BY va DESC, ca DESC, id DESC LIMIT $limit RETURN {FACT_COLUMNS}""",
            {**values, "limit": limit},
        ),
        Query("readings total", f"{matched} RETURN count(e) AS total", values),
    )


def connections(
    entity_uuid: str, wanted: FactFilter, window: Window, changed: Sequence[Row] | None = None
) -> tuple[Query, Query]:
    """A page of one entity's facts with its sort keys, and the total."""
    matched = _connected(entity_uuid, wanted, changed)
    if wanted.own_measures and wanted.direction != "out":
        matched = facts_matched(_or_measured(wanted.direction), wanted, changed=changed)
        matched = matched._replace(values={**matched.values, "entity": entity_uuid})
    return _fact_page("connections", matched, wanted, window, in_one=wanted.known_at is None)


def reading_series(
    entity_uuid: str | None,
    wanted: FactFilter,
    zone: str,
    limit: int,
    months: int,
    changed: Sequence[Row] | None = None,
) -> tuple[Query, Query]:
    """What is shown of each series of the readings, and the means of their months."""
    if entity_uuid is None:
        found = "MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND"
    elif wanted.own_measures and wanted.direction != "out":
        found = _or_measured(wanted.direction)
    else:
        found = f"{_PATTERNS[wanted.direction]} WHERE"
    matched = facts_matched(found, wanted, changed=changed)
    columns = matched.columns
    values = {**matched.values, "entity": entity_uuid, "zone": zone, "limit": limit, "months": months}
    readings = f"""{matched.text}
      WITH e, coalesce({columns.valid_at}, {columns.reference_time}, e.created_at) AS at, {columns.voided} AS wrong
      WHERE e.kind = 'reading' AND e.measure IS NOT NULL AND NOT coalesce(wrong, false)
      WITH e, at, toLower(e.measure) AS measure, coalesce(e.{VALUE_KIND}, '') AS kind, e.{VALUE_NUMBER} AS number,
        startNode(e).uuid AS source"""
    number = "[x IN r WHERE x.number IS NOT NULL]"
    return (
        Query(
            "series of readings",
            f"""{readings} ORDER BY at, e.created_at, e.uuid
            WITH source, startNode(e).name AS name, measure, kind, number, {{told: e.measure, value: e.value,
              unit: e.unit, at: toString(at), words: e.{START_WORDS}, number: number,
              confidential: e.{CONFIDENTIAL}}} AS point
            WITH source, name, measure, kind, collect(point) AS r
            WITH source, name, measure, kind, r, {number} AS n
            RETURN source, name, measure, kind, size(r) AS readings, size(n) AS numbers, r[0] AS first, r[-1] AS last,
              reduce(b = n[0], x IN n | CASE WHEN x.number < b.number THEN x ELSE b END) AS least,
              reduce(b = n[0], x IN n | CASE WHEN x.number > b.number THEN x ELSE b END) AS most
            ORDER BY readings DESC, source, measure, kind LIMIT $limit""",
            values,
        ),
        Query(
            "means of readings",
            f"""{readings} WHERE number IS NOT NULL
            WITH source, measure, kind, number,
              substring(toString(datetime({{datetime: at, timezone: $zone}})), 0, 7) AS month
            WITH source, measure, kind, month, avg(number) AS mean
            RETURN source, measure, kind, month, mean ORDER BY month DESC, source, measure, kind LIMIT $months""",
            values,
        ),
    )


def _or_measured(direction: Direction) -> str:
    """The facts of an entity, and the readings whose measure it is."""
    return f"""CALL () {{ {_PATTERNS[direction]} RETURN e
      UNION MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND {OF_OWN_MEASURES} RETURN e }} WITH e WHERE"""


def group_facts(wanted: FactFilter, window: Window, changed: Sequence[Row] | None = None) -> tuple[Query, Query]:
    """A page of all facts with its sort keys, and the total."""
    found = "MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND"
    matched = facts_matched(found, wanted, changed=changed)
    return _fact_page("facts of groups", matched, wanted, window)


def facts_under(uuids_: Sequence[str], wanted: FactFilter) -> Query:
    """In any order."""
    matched = facts_matched("UNWIND $uuids AS u MATCH ()-[e:RELATES_TO {uuid: u}]->() WHERE", wanted)
    return Query(
        "facts under a filter",
        f"{matched.text} RETURN {fact_columns(matched.columns)}",
        {**matched.values, "uuids": uuids_},
    )


def entity_page(wanted: EntityFilter, window: Window) -> tuple[Query, Query]:
    """A page by name, and the total. A status is found by the index of relations, not by looking at every entity."""
    conditions, values = entity_conditions(wanted)
    matched = f"MATCH (n:Entity) WHERE n.group_id IN $groups AND {conditions}"
    if wanted.status is not None:
        is_so, more = status_conditions(wanted.status, wanted.recorded_until)
        matched = f"""MATCH (n)-[e:RELATES_TO]->(w) WHERE e.name = 'HAS_STATUS' AND {is_so}
        WITH DISTINCT n WHERE n:Entity AND {conditions}"""
        values |= more
    after = "WHERE name > $c0 OR (name = $c0 AND id > $c1) WITH n, name, id" if window.after else ""
    keys = keys_after(window.after)
    return (
        Query(
            "entities by name",
            f"""{matched} WITH n, coalesce(n.name, '') AS name, n.uuid AS id {after}
            ORDER BY name, id LIMIT $limit RETURN {ENTITY_COLUMNS}""",
            {**values, **keys, "limit": window.limit},
        ),
        Query("entities by name total", f"{matched} RETURN count(n) AS total", values),
    )


def first_fact(entity_uuid: str | None, group_ids: Sequence[str], relations_: Sequence[str]) -> Query:
    """The date of the earliest fact that never turned out wrong; not of those of which only the end is known."""
    found = "MATCH (h:Entity {uuid: $entity})-[e:RELATES_TO]-() WHERE"
    if entity_uuid is None:
        found = "MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND"
    named = "AND coalesce(e.name, '') IN $relations" if relations_ else ""
    return Query(
        "first fact",
        f"""{found} {_IN_GROUPS} AND {_NOT_VOIDED} {named}
        AND (e.valid_at IS NOT NULL OR coalesce(e.invalid_at, $dusk) > coalesce(e.reference_time, $dawn))
        RETURN min(coalesce({KNOWN_FROM}, e.created_at)) AS first""",
        {"entity": entity_uuid, "groups": group_ids, "relations": relations_},
    )


def record_start(group_ids: Sequence[str]) -> Query:
    """When the first episode was recorded."""
    return Query(
        "record began",
        "MATCH (e:Episodic) WHERE e.group_id IN $groups RETURN min(e.created_at) AS began",
        {"groups": group_ids},
    )


def newest_record(group_ids: Sequence[str]) -> Query:
    """The time of the newest write into any of them."""
    return Query(
        "newest record",
        "UNWIND $groups AS u MATCH (g:Group {id: u}) RETURN max(g.recorded_at) AS newest",
        {"groups": group_ids},
    )


def fact_counts(
    entity_uuid: str, wanted: FactFilter, neighbours: int, kinds: int, changed: Sequence[Row] | None = None
) -> Query:
    """Facts by neighbour and by kind and name, most facts first; what Graphiti wrote has no kind: it is a state.

    Each fact is looked at once: those of one neighbour, kind and name are counted before the two lists are made.
    """
    matched = _connected(entity_uuid, wanted, changed)
    return Query(
        "neighbours and kinds",
        f"""{matched.text} WITH o, coalesce(e.kind, 'state') AS kind, e
        WITH o, kind, e, CASE kind WHEN 'reading' THEN coalesce(e.measure, e.name) ELSE e.name END AS name
        WITH o, CASE WHEN kind IN $known_kinds THEN kind ELSE 'state' END AS kind, name, e,
          CASE WHEN startNode(e) = endNode(e) THEN {OBSERVED} ELSE false END AS observed
        WITH o, kind, name, observed, count(e) AS facts
        WITH collect({{o: o, kind: kind, name: name, observed: observed, facts: facts}}) AS counts
        CALL (counts) {{
          UNWIND counts AS c WITH c WHERE NOT c.observed WITH c.o AS o, sum(c.facts) AS facts
          WITH o.uuid AS uuid, coalesce(o.name, '') AS name, facts ORDER BY facts DESC, name, uuid LIMIT $neighbours
          RETURN collect({{uuid: uuid, name: name, facts: facts}}) AS neighbours }}
        CALL (counts) {{
          UNWIND counts AS c WITH c.kind AS kind, c.name AS name, sum(c.facts) AS facts
          ORDER BY facts DESC, kind, name LIMIT $kinds_limit
          RETURN collect({{kind: kind, name: name, facts: facts}}) AS kinds }}
        RETURN neighbours, kinds""",
        {**matched.values, "known_kinds": get_args(FactKind), "neighbours": neighbours, "kinds_limit": kinds},
    )


def newest_facts(entity_uuids: Sequence[str], wanted: FactFilter, limit_each: int) -> Query:
    """The first page of the connections of each entity ``asked``, without their total."""
    found = "MATCH (h:Entity {uuid: asked})-[e:RELATES_TO]-(o) WHERE"
    page, _ = _fact_page("newest facts", facts_matched(found, wanted), wanted, Window(limit=limit_each))
    return page._replace(
        text=f"UNWIND $entities AS asked CALL (asked) {{ {page.text} }} RETURN *",
        parameters={**page.parameters, "entities": list(dict.fromkeys(entity_uuids))},
    )


def voided(fact_uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Those of these facts that turned out wrong, in any order."""
    return Query(
        "voided",
        f"UNWIND $uuids AS u MATCH ()-[e:RELATES_TO {{uuid: u}}]->() WHERE {_IN_GROUPS} AND e.voided RETURN u AS uuid",
        {"uuids": fact_uuids, "groups": group_ids},
    )


def _connected(entity_uuid: str, wanted: FactFilter, changed: Sequence[Row] | None) -> Matched:
    matched = facts_matched(f"{_PATTERNS[wanted.direction]} WHERE", wanted, ("o",), changed)
    return matched._replace(values={**matched.values, "entity": entity_uuid})


_NEXT_NEWEST = "cur < $c0 OR (cur = $c0 AND (va < $c1 OR (va = $c1 AND (ca < $c2 OR (ca = $c2 AND id > $c3)))))"
_NEXT_OLDEST = "va > $c0 OR (va = $c0 AND (ca > $c1 OR (ca = $c1 AND id > $c2)))"


def _fact_page(
    name: str, matched: Matched, wanted: FactFilter, window: Window, *, in_one: bool = False
) -> tuple[Query, Query]:
    """Current ones first, then the newest; or the oldest first.

    ``in_one``: each row has the total too, so that the facts of an entity are looked at once; of present facts only.
    """
    current = "1" if wanted.only_current and wanted.as_of is None else matched.is_current
    oldest = DUE_AT if wanted.asks_open else f"coalesce({known_from(matched.columns)}, $dawn)"
    since = starts(matched.columns) if window.newest else oldest
    keys, order = ("cur, va, ca, id", "cur DESC, va DESC, ca DESC, id") if window.newest else ("va, ca, id",) * 2
    found, carried, shown, va = matched.text, matched.carried, keys, f"{since} AS va"
    if in_one:
        found = within_reach(found, since, _filling(current, window), newest=window.newest)
        carried, shown, va = "e, total", f"{keys}, total", "va"
    after = ""
    if window.after is not None:
        after = f"WHERE {_NEXT_NEWEST if window.newest else _NEXT_OLDEST} WITH {carried}, {keys}"
    values = {**matched.values, **keys_after(window.after, (1, 2) if window.newest else (0, 1))}
    sorted_by = f"{va}, {RECORDED} AS ca, e.uuid AS id"
    if window.newest:
        sorted_by = f"{current} AS cur, {sorted_by}"
    return (
        Query(
            name,
            f"""{found} WITH {carried}, {sorted_by} {after}
            ORDER BY {order} LIMIT $limit RETURN {shown}, {fact_columns(matched.columns)}""",
            {**values, "limit": window.limit},
        ),
        Query(f"{name} total", f"{matched.text} RETURN count(e) AS total", matched.values),
    )


def _filling(current: str, window: Window) -> str:
    """What fills a page before anything else: current facts, or those that are not once the pages have reached them."""
    if not window.newest:
        return "WHERE va > $c0" if window.after else ""
    return f"WHERE va < $c1 AND {current} = $c0" if window.after else f"WHERE {current} = 1"


def entity_support(entity_uuids: Sequence[str]) -> Query:
    """Mentions and facts of each; unknown entities have no row."""
    return Query(
        "entity support",
        """UNWIND $uuids AS u MATCH (n:Entity {uuid: u})
        RETURN n.uuid AS uuid, COUNT { MATCH (n)<-[:MENTIONS]-(e) RETURN DISTINCT e } AS mentions,
          COUNT { (n)-[:RELATES_TO]-() } AS facts""",
        {"uuids": entity_uuids},
    )


def distances(center_uuid: str, entity_uuids: Sequence[str]) -> tuple[Query, Query, Query]:
    """The centre itself, its neighbours, and theirs, among those asked for."""
    values = {"center": center_uuid, "uuids": entity_uuids}
    return (
        Query("hops 0", "MATCH (c:Entity {uuid: $center}) WHERE c.uuid IN $uuids RETURN c.uuid AS uuid", values),
        Query(
            "hops 1",
            """UNWIND $uuids AS u MATCH (:Entity {uuid: $center})-[:RELATES_TO]-(o:Entity {uuid: u})
            RETURN DISTINCT o.uuid AS uuid""",
            values,
        ),
        Query(
            "hops 2",
            """UNWIND $uuids AS u MATCH (:Entity {uuid: $center})-[:RELATES_TO]-()-[:RELATES_TO]-(o:Entity {uuid: u})
            RETURN DISTINCT o.uuid AS uuid""",
            values,
        ),
    )


def group_size(group_id: str) -> tuple[Query, Query, Query]:
    """Episodes, entities, facts."""
    values = {"group": group_id}
    return (
        Query("episode count", "MATCH (e:Episodic {group_id: $group}) RETURN count(e) AS n", values),
        entity_count(group_id),
        Query("fact count", "MATCH ()-[e:RELATES_TO {group_id: $group}]->() RETURN count(e) AS n", values),
    )
