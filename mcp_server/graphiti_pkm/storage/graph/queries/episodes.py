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
)
from graphiti_pkm.storage.graph.queries.values import Query


def timeline(entity_uuid: str, wanted: EpisodeFilter, window: Window) -> tuple[Query, Query]:
    """A page of the episodes that mention an entity, and their total."""
    return _episode_page("timeline", wanted.model_copy(update={"entity_uuid": entity_uuid}), window, in_one=True)


def recent_episodes(wanted: EpisodeFilter, window: Window) -> tuple[Query, Query]:
    """A page of episodes, and their total."""
    return _episode_page("recent episodes", wanted, window)


def _episode_page(name: str, wanted: EpisodeFilter, window: Window, *, in_one: bool = False) -> tuple[Query, Query]:
    """``in_one``: each row has the total too, so that the episodes of an entity are looked up once."""
    matched, values = _matching_episodes(wanted)
    sign, order = ("<", "va DESC, ca DESC") if window.newest else (">", "va, ca")
    last, order = ("<", f"{order}, id DESC") if window.newest and window.backwards else (">", f"{order}, id")
    found, kept, total = matched, "e", ""
    if in_one:
        found = f"{matched} WITH collect(e) AS found UNWIND found AS e WITH e, size(found) AS total"
        kept, total = "e, total", "total, "
    after = ""
    if window.after is not None:
        after = f"""WHERE va {sign} $c0 OR (va = $c0 AND (ca {sign} $c1 OR (ca = $c1 AND id {last} $c2)))
        WITH {kept}, va, ca, id"""
    keys = keys_after(window.after, (0, 1))
    return (
        Query(
            name,
            f"""{found} WITH {kept}, coalesce(e.valid_at, e.created_at) AS va, {RECORDED} AS ca, e.uuid AS id {after}
            ORDER BY {order} LIMIT $limit
            OPTIONAL MATCH (e)<-[:OF]-(s:SearchText)
            RETURN va, ca, id, {total}{EPISODE_COLUMNS} ORDER BY {order}""",
            {**values, **keys, "limit": window.limit},
        ),
        Query(f"{name} total", f"{matched} RETURN count(e) AS total", values),
    )


def months_in_utc(entity_uuid: str, wanted: EpisodeFilter) -> Query:
    """First, last and number of mentions per month of UTC, in two thirds of the time that other zones take."""
    return _by_span(entity_uuid, wanted, "left(text, 7)")


def months_in_any_zone(entity_uuid: str, wanted: EpisodeFilter) -> Query:
    """First, last and number of mentions in spans that cross no month in any zone.

    Near the ends of a month a quarter of an hour of UTC (all offsets since 1972 are whole quarters; before that a
    second, as local mean times have seconds); the days between as one span.
    """
    return _by_span(
        entity_uuid,
        wanted,
        """CASE WHEN NOT substring(text, 8, 2) IN ['01', '28', '29', '30', '31'] THEN left(text, 7)
            WHEN text < '1972' THEN left(text, 19)
            ELSE left(text, 14) + ['00', '15', '30', '45'][toInteger(substring(text, 14, 2)) / 15] END""",
    )


def _by_span(entity_uuid: str, wanted: EpisodeFilter, span: str) -> Query:
    matched, values = _matching_episodes(wanted.model_copy(update={"entity_uuid": entity_uuid}))
    return Query(
        "mentions by span",
        f"""{matched} WITH coalesce(e.valid_at, e.created_at) AS va WITH va, toString(va) AS text
        RETURN {span} AS span, min(va) AS first, max(va) AS last, count(va) AS n ORDER BY first""",
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
        f"""{matched} WITH e, coalesce(e.valid_at, e.created_at) AS va, {RECORDED} AS ca
        ORDER BY va DESC, ca DESC, e.uuid LIMIT $newest
        MATCH (e)-[:MENTIONS]->(n) WHERE n.uuid <> $entity AND coalesce(n.group_id, '') IN $groups
        WITH n, count(DISTINCT e) AS often
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
