"""Named queries that walk: the words behind a fact, ways between entities, what surrounds one. Each is bounded.

Paths are searched hop by hop from both ends (``path_search``), as one query could not be stopped before it reads all
that lies behind a hub.
"""

from collections.abc import Sequence

from graphiti_pkm.core.model.passages import HEADING, UNDERLINED
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import SourceMode
from graphiti_pkm.storage.graph.queries.facts import Matched, fact_conditions, facts_matched, is_current, starts
from graphiti_pkm.storage.graph.queries.parts import (
    FACT_COLUMNS,
    OBSERVED,
    PRESENT,
    RECORDED,
    STARTS,
    cosine,
    fact_columns,
    keys_after,
)
from graphiti_pkm.storage.graph.queries.values import Query

_UNIT: dict[SourceMode, str] = {
    "quote": "CASE WHEN q = 1 THEN -1 ELSE p.start END",
    "paragraph": "p.paragraph",
    "episode": "0",
}
NOT_COMPARED = -2_000_000
COSINE_UNITS = 1_000_000
"""Cosines are sorted and paged as whole millionths: a decimal in a cursor may not come back as it was."""

NEAR = 2
"""A part is behind the fact if its cosine is half of the best or more. Measured by hand with MiniLM: sentences that
tell a fact have 0.3 to 0.9, others of the same note -0.05 to 0.2; only the fact's own words tell what is near."""

_KEYS = "first, score, va, id, place"
_HOLDS_QUOTE = "(e.uuid = $quoted AND p.start < $quote_end AND p.end > $quote_start)"
_IS_UNDERLINED = "(i = 0 OR trim(lines[i - 1]) = '') AND any(one IN $underlined WHERE lines[i] =~ one[0]\
 AND lines[i + 1] =~ one[1] AND size(trim(lines[i + 1])) >= size(trim(lines[i])) * one[2])"
_HEADINGS = f"""CASE WHEN none(mark IN ['#', '===', '---'] WHERE coalesce(e.content, '') CONTAINS mark) THEN [] ELSE
        head([lines IN [split(replace(replace(e.content, '\\r\\n', ' \\n'), '\\r', '\\n'), '\\n')] |
          reduce(seen = {{at: 0, found: []}}, i IN range(0, size(lines) - 1) | {{
            at: seen.at + size(lines[i]) + 1,
            found: CASE WHEN lines[i] =~ $heading OR ({_IS_UNDERLINED})
              THEN seen.found + [[seen.at, seen.at + size(lines[i])]] ELSE seen.found END
          }}).found]) END"""
"""Where its headings stand, as ``[start, end)``: they are behind no fact."""


def fact_sources(fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> tuple[Query, Query]:
    """A page of parts of the supporting episodes, and their total. The vector of the fact stays in the database."""
    parts = f"""MATCH ()-[f:RELATES_TO {{uuid: $fact}}]->()
      WITH f.fact_embedding AS v, coalesce(f.episodes, []) AS uuids UNWIND uuids AS u
      MATCH (e:Episodic {{uuid: u}}) WHERE coalesce(e.group_id, '') IN $groups
      WITH v, e, {_HEADINGS} AS headings
      OPTIONAL MATCH (p:Passage {{episode_uuid: e.uuid}}) WHERE v IS NOT NULL AND p.embedding IS NOT NULL
        AND ({_HOLDS_QUOTE} OR none(h IN headings WHERE h[0] <= p.start AND p.start < h[1]))
      WITH e, p, CASE WHEN p IS NULL THEN {NOT_COMPARED}
          ELSE toInteger(round(({cosine("p.embedding", "v")}) * {COSINE_UNITS})) END AS s,
        CASE WHEN p IS NULL AND e.uuid = $quoted THEN 1 WHEN {_HOLDS_QUOTE} THEN 1 ELSE 0 END AS q
      ORDER BY q DESC, s DESC, p.start
      WITH e.uuid AS id, coalesce(e.valid_at, e.created_at, $dawn) AS va, {_UNIT[mode]} AS unit, max(q) AS first,
        max(s) AS score, min(p.start) AS start, max(p.end) AS end, head(collect(p.start)) AS best
      WITH id, va, max(score) AS own, collect([first, score, start, end, best]) AS units
      WITH collect([id, va, own, units]) AS told, max(own) AS top, sum(size(units)) AS held
      UNWIND told AS t UNWIND t[3] AS u
      WITH t[0] AS id, t[1] AS va, t[2] AS own, u[0] AS first, u[1] AS score, u[2] AS start, u[3] AS end, u[4] AS best,
        top, held
      WHERE first = 1 OR score = own OR score * {NEAR} >= top"""
    values: dict[str, object] = {
        "fact": fact.uuid,
        "groups": group_ids,
        "quoted": fact.quote_episode_uuid or "",
        "quote_start": fact.quote_start or 0,
        "quote_end": fact.quote_end or 0,
        "heading": f"(?s){HEADING}.*",
        "underlined": [[f"(?s){title}", rule, part] for title, rule, part in UNDERLINED],
    }
    after = ""
    if window.after is not None:
        after = """WHERE first < $c0 OR (first = $c0 AND (score < $c1 OR (score = $c1 AND (va < $c2 OR (va = $c2
          AND (id > $c3 OR (id = $c3 AND place > $c4)))))))"""
    keys = keys_after(window.after, (2,))
    return (
        Query(
            "fact sources",
            f"""{parts} WITH *, coalesce(start, -1) AS place {after}
            RETURN {_KEYS}, start, end, best ORDER BY first DESC, score DESC, va DESC, id, place LIMIT $limit""",
            {**values, **keys, "limit": window.limit},
        ),
        Query("fact sources total", f"{parts} RETURN count(*) AS total, max(held) AS held", values),
    )


def is_compared(score: int) -> bool:
    """False for the score of what has no vector."""
    return score > NOT_COMPARED


_DEGREE = "COUNT {{ ({node})-[:RELATES_TO]-() }}"
_JOINS = f"NOT coalesce(e.voided, false) AND NOT ({OBSERVED})"
_FACT_ORDER = "cur DESC, va DESC, ca DESC, id"


def degrees(uuids: Sequence[str]) -> Query:
    """Number of facts of each entity, in any group; unknown entities have no row."""
    return Query(
        "degrees",
        f"UNWIND $uuids AS u MATCH (n:Entity {{uuid: u}}) RETURN n.uuid AS uuid, {_DEGREE.format(node='n')} AS facts",
        {"uuids": uuids},
    )


def steps(frontier: Sequence[str], wanted: FactFilter, most_each: int) -> Query:
    """Entities reached from a frontier: each once, with some of those it was reached from and its own facts."""
    conditions, values = fact_conditions(wanted)
    return Query(
        "steps",
        f"""UNWIND $frontier AS u MATCH (h:Entity {{uuid: u}})-[e:RELATES_TO]-(o)
        WHERE {conditions} AND {_JOINS} WITH o, collect(DISTINCT u)[..$most_each] AS before
        RETURN o.uuid AS uuid, before, {_DEGREE.format(node="o")} AS facts""",
        {**values, "frontier": frontier, "most_each": most_each},
    )


def fact_joining(one_uuid: str, other_uuid: str, wanted: FactFilter) -> Query:
    """Of the facts between two entities, in either direction, the one that connections list first."""
    conditions, values = fact_conditions(wanted)
    return Query(
        "fact joining",
        f"""MATCH (:Entity {{uuid: $one}})-[e:RELATES_TO]-(:Entity {{uuid: $other}})
        WHERE {conditions} AND {_JOINS}
        WITH e, {is_current(wanted)} AS cur, {STARTS} AS va, {RECORDED} AS ca, e.uuid AS id
        ORDER BY {_FACT_ORDER} LIMIT 1 RETURN {FACT_COLUMNS}""",
        {**values, "one": one_uuid, "other": other_uuid},
    )


def _joined(found: str, wanted: FactFilter, kept: str) -> tuple[Matched, str]:
    """Facts ``e`` that connect entities, as they are or were known; ``found`` and ``kept`` as in other lists."""
    matched = facts_matched(found, wanted, (kept,))
    if matched.columns == PRESENT:
        return matched, f"{matched.text} AND {_JOINS}"
    is_right = f"NOT {matched.columns.voided} AND NOT ({OBSERVED})"
    return matched, f"{matched.text} WITH {matched.carried}, {kept} WHERE {is_right}"


def ring(inner: Sequence[str], seen: Sequence[str], wanted: FactFilter, limit: int) -> Query:
    """Entities connected to an inner ring and not seen yet, most facts first, and their number."""
    found = "UNWIND $inner AS u MATCH (h:Entity {uuid: u})-[e:RELATES_TO]-(o) WHERE"
    matched, joined = _joined(found, wanted, "o")
    return Query(
        "ring",
        f"""{joined} AND NOT o.uuid IN $seen AND coalesce(o.group_id, '') IN $groups
        WITH o.uuid AS uuid, coalesce(o.name, '') AS name, count(e) AS facts ORDER BY facts DESC, name, uuid
        WITH collect(uuid) AS uuids RETURN size(uuids) AS total, uuids[..$limit] AS uuids""",
        {**matched.values, "inner": inner, "seen": seen, "limit": limit},
    )


def facts_among(uuids: Sequence[str], wanted: FactFilter, limit: int) -> tuple[Query, Query]:
    """Facts with both ends in a list: the first of each pair of entities before the second of any; and their total."""
    found = "UNWIND $uuids AS u MATCH (h:Entity {uuid: u})-[e:RELATES_TO]->(o) WHERE o.uuid IN $uuids AND"
    matched, joined = _joined(found, wanted, "o")
    carried = matched.carried
    keys = f"{matched.is_current} AS cur, {starts(matched.columns)} AS va, {RECORDED} AS ca, e.uuid AS id"
    again = ", ".join(f"fact[{place}] AS {name}" for place, name in enumerate(carried.split(", ")))
    values = {**matched.values, "uuids": uuids}
    return (
        Query(
            "facts among",
            f"""{joined} WITH {carried}, startNode(e).uuid AS one, o.uuid AS other
            WITH {carried}, CASE WHEN one < other THEN one + other ELSE other + one END AS pair, {keys}
            ORDER BY {_FACT_ORDER}
            WITH pair, collect([{carried}]) AS facts UNWIND range(0, size(facts) - 1) AS turn
            WITH facts[turn] AS fact, turn WITH {again}, turn WITH {carried}, turn, {keys}
            ORDER BY turn, {_FACT_ORDER} LIMIT $limit RETURN {fact_columns(matched.columns)}""",
            {**values, "limit": limit},
        ),
        Query("facts among total", f"{joined} RETURN count(e) AS total", values),
    )
