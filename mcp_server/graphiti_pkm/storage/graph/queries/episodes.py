"""Named queries over episodes: pages in time, counts per month, and what an episode holds. Each is bounded."""

from collections.abc import Sequence

from graphiti_pkm.core.model.queries import EpisodeFilter, Window
from graphiti_pkm.storage.graph.queries.parts import (
    ENTITY_COLUMNS,
    EPISODE_COLUMNS,
    FACT_COLUMNS,
    RECORDED,
    episode_conditions,
    keys_after,
    within_reach,
)
from graphiti_pkm.storage.graph.queries.values import Query

_AT = "coalesce(e.valid_at, e.created_at)"


def timeline(entity_uuid: str, wanted: EpisodeFilter, window: Window) -> tuple[Query, Query]:
    """A page of the episodes that mention an entity, and their total."""
    return _episode_page("timeline", wanted.model_copy(update={"entity_uuid": entity_uuid}), window, in_one=True)


def recent_episodes(wanted: EpisodeFilter, window: Window) -> tuple[Query, Query]:
    """A page of episodes, and their total."""
    return _episode_page("recent episodes", wanted, window)


def _episode_page(name: str, wanted: EpisodeFilter, window: Window, *, in_one: bool = False) -> tuple[Query, Query]:
    """``in_one``: each row has the total too, so that the episodes of an entity are looked at once."""
    matched, values = _matching_episodes(wanted)
    sign, order = ("<", "va DESC, ca DESC") if window.newest else (">", "va, ca")
    last, order = ("<", f"{order}, id DESC") if window.newest and window.backwards else (">", f"{order}, id")
    found, kept, va, total = matched, "e", f"{_AT} AS va", ""
    if in_one:
        found = within_reach(matched, _AT, f"WHERE va {sign} $c0" if window.after else "", newest=window.newest)
        kept, va, total = "e, total", "va", "total, "
    after = ""
    if window.after is not None:
        after = f"""WHERE va {sign} $c0 OR (va = $c0 AND (ca {sign} $c1 OR (ca = $c1 AND id {last} $c2)))
        WITH {kept}, va, ca, id"""
    keys = keys_after(window.after, (0, 1))
    return (
        Query(
            name,
            f"""{found} WITH {kept}, {va}, {RECORDED} AS ca, e.uuid AS id {after}
            ORDER BY {order} LIMIT $limit
            OPTIONAL MATCH (e)<-[:OF]-(s:SearchText)
            RETURN va, ca, id, {total}{EPISODE_COLUMNS} ORDER BY {order}""",
            {**values, **keys, "limit": window.limit},
        ),
        Query(f"{name} total", f"{matched} RETURN count(e) AS total", values),
    )


def months_in_utc(entity_uuid: str, wanted: EpisodeFilter) -> Query:
    """First, last and number of mentions per month of UTC, in two thirds of the time that other zones take."""
    return _by_span(entity_uuid, wanted, "va.year * 12 + va.month AS month, 0 AS span")


def months_in_any_zone(entity_uuid: str, wanted: EpisodeFilter) -> Query:
    """First, last and number of mentions in spans that cross no month in any zone.

    Near the ends of a month a quarter of an hour of UTC (all offsets since 1972 are whole quarters; before that a
    second, as local mean times have seconds); the days between as one span.
    """
    return _by_span(
        entity_uuid,
        wanted,
        """CASE WHEN 1 < va.day < 28 THEN va.year * 12 + va.month WHEN va.year < 1972 THEN -1 ELSE 0 END AS month,
          CASE WHEN 1 < va.day < 28 THEN 0 WHEN va.year < 1972 THEN va.epochSeconds ELSE va.epochSeconds / 900 END
          AS span""",
    )


def _by_span(entity_uuid: str, wanted: EpisodeFilter, spans: str) -> Query:
    matched, values = _matching_episodes(wanted.model_copy(update={"entity_uuid": entity_uuid}))
    return Query(
        "mentions by span",
        f"""{matched} WITH {_AT} AS va WITH {spans}, min(va) AS first, max(va) AS last, count(va) AS n
        RETURN first, last, n ORDER BY first""",
        values,
    )


def _matching_episodes(wanted: EpisodeFilter) -> tuple[str, dict[str, object]]:
    conditions, values = episode_conditions(wanted)
    if wanted.entity_uuid is None:
        return f"MATCH (e:Episodic) WHERE e.group_id IN $groups AND {conditions}", values
    mentioning = f"MATCH (:Entity {{uuid: $entity}})<-[:MENTIONS]-(e) WITH DISTINCT e WHERE {conditions}"
    return mentioning, {**values, "entity": wanted.entity_uuid}


def mentioned_with(entity_uuid: str, wanted: EpisodeFilter, newest: int, limit: int) -> Query:
    """Other entities of the newest episodes, most often first, then by name."""
    matched, values = _matching_episodes(wanted.model_copy(update={"entity_uuid": entity_uuid}))
    return Query(
        "mentioned with",
        f"""{matched} WITH e, {_AT} AS va, {RECORDED} AS ca ORDER BY va DESC, ca DESC, e.uuid LIMIT $newest
        MATCH (e)-[:MENTIONS]->(n) WITH n, count(DISTINCT e) AS often
        WHERE n.uuid <> $entity AND coalesce(n.group_id, '') IN $groups
        RETURN n.uuid AS uuid, coalesce(n.name, '') AS name, often ORDER BY often DESC, name, uuid LIMIT $limit""",
        {**values, "groups": wanted.group_ids, "newest": newest, "limit": limit},
    )


def episode_entities(episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window) -> tuple[Query, Query]:
    """A page by name and uuid, and the total."""
    matched = """UNWIND $uuids AS u MATCH (e:Episodic {uuid: u})-[:MENTIONS]->(n)
      WHERE coalesce(e.group_id, '') IN $groups AND coalesce(n.group_id, '') IN $groups WITH DISTINCT n"""
    values: dict[str, object] = {"uuids": episode_uuids, "groups": group_ids}
    after = ""
    if window.after is not None:
        after = "WHERE sort > $c0 OR (sort = $c0 AND id > $c1) WITH n, sort, id"
    keys = keys_after(window.after)
    return (
        Query(
            "episode entities",
            f"""{matched} WITH n, coalesce(n.name, '') AS sort, n.uuid AS id {after}
            ORDER BY sort, id LIMIT $limit RETURN {ENTITY_COLUMNS}""",
            {**values, **keys, "limit": window.limit},
        ),
        Query("episode entities total", f"{matched} RETURN count(n) AS total", values),
    )


def episode_facts(episode_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return Query(
        "episode facts",
        f"""MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND $episode IN e.episodes
        WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}""",
        {"episode": episode_uuid, "groups": group_ids, "limit": limit},
    )


def facts_of_episodes(episode_uuids: Sequence[str], group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return Query(
        "facts of episodes",
        f"""MATCH ()-[e:RELATES_TO]->() WHERE e.group_id IN $groups AND any(u IN e.episodes WHERE u IN $episodes)
        WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}""",
        {"episodes": list(episode_uuids), "groups": group_ids, "limit": limit},
    )


def passages(episode_uuid: str, limit: int, *, without_vector: bool) -> Query:
    """By offset."""
    only = "WHERE p.embedding IS NULL" if without_vector else ""
    return Query(
        "passages",
        f"""MATCH (p:Passage {{episode_uuid: $episode}}) {only}
        RETURN p.uuid AS uuid, p.episode_uuid AS episode_uuid, p.paragraph AS paragraph, p.sentence AS sentence,
        p.start AS start, p.end AS end ORDER BY start, uuid LIMIT $limit""",
        {"episode": episode_uuid, "limit": limit},
    )
