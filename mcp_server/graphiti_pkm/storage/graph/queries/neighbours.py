"""Queries about the surroundings of an episode. Each is bounded."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from graphiti_pkm.core.facts.observations import OBSERVATION
from graphiti_pkm.core.model.places import Stretch
from graphiti_pkm.core.model.queries import EpisodeFilter
from graphiti_pkm.storage.graph.queries.parts import LATEST, RECORDED
from graphiti_pkm.storage.graph.queries.values import Query

_PLACE = "e.uuid AS uuid, coalesce(e.group_id, '') AS group_id, coalesce(e.valid_at, e.created_at) AS va, "
_COLUMNS = f"{_PLACE} coalesce(e.created_at, e.valid_at) AS ca"
_IN_STRETCH = (
    "MATCH (e:Episodic) WHERE e.valid_at >= $start AND e.valid_at < $end AND coalesce(e.group_id, '') = $group"
)
"""By the index on ``valid_at``."""


def places(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """In any order."""
    return Query(
        "episode places",
        f"""UNWIND $uuids AS u MATCH (e:Episodic {{uuid: u}}) WHERE coalesce(e.group_id, '') IN $groups
        RETURN DISTINCT {_COLUMNS}""",
        {"uuids": uuids, "groups": group_ids},
    )


def uuids_in(stretch: Stretch, recorded_until: datetime | None, limit: int) -> Query:
    """Oldest first."""
    return Query(
        "episodes in a stretch of time",
        f"""{_IN_STRETCH} AND {RECORDED} <= $recorded_until
        RETURN e.uuid AS uuid ORDER BY e.valid_at, e.created_at, e.uuid LIMIT $limit""",
        {
            "group": stretch.group_id,
            "start": stretch.start,
            "end": stretch.end,
            "recorded_until": recorded_until or LATEST,
            "limit": limit,
        },
    )


def same_text(stretch: Stretch, content: str) -> Query:
    """The first recorded; the texts of the stretch are compared, not read."""
    return Query(
        "same text in a stretch of time",
        f"{_IN_STRETCH} AND e.content = $content RETURN e.uuid AS uuid ORDER BY e.created_at, uuid LIMIT 1",
        {"group": stretch.group_id, "start": stretch.start, "end": stretch.end, "content": content},
    )


def saga_steps(uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """Along the edges that Graphiti makes between the episodes of a saga; of several the first by uuid."""
    return Query(
        "saga steps",
        """UNWIND $uuids AS u MATCH (e:Episodic {uuid: u}) WHERE coalesce(e.group_id, '') IN $groups
        OPTIONAL MATCH (before:Episodic)-[:NEXT_EPISODE]->(e)
        WITH e, min(CASE WHEN before.group_id = e.group_id THEN before.uuid END) AS previous
        OPTIONAL MATCH (e)-[:NEXT_EPISODE]->(after:Episodic)
        WITH e.uuid AS uuid, previous, min(CASE WHEN after.group_id = e.group_id THEN after.uuid END) AS following
        WHERE coalesce(previous, following) IS NOT NULL RETURN uuid, previous, following""",
        {"uuids": uuids, "groups": group_ids},
    )


def followers(uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int) -> Query:
    """The next messages, by the index on ``valid_at``, with nothing in place of one that is long."""
    return Query(
        "followers",
        f"""UNWIND $uuids AS u MATCH (m:Episodic {{uuid: u}})
        WHERE coalesce(m.group_id, '') IN $groups AND m.source = 'message' AND size(m.content) <= $most
        WITH DISTINCT m
        CALL {{ WITH m MATCH (e:Episodic)
          WHERE e.valid_at >= m.valid_at AND e.valid_at <= m.valid_at + duration({{seconds: $seconds}})
            AND CASE WHEN e.valid_at > m.valid_at THEN true WHEN e.created_at = m.created_at THEN e.uuid > m.uuid
              ELSE e.created_at > m.created_at END
            AND e.source = 'message'
            AND coalesce(e.group_id, '') = coalesce(m.group_id, '') AND {RECORDED} <= $recorded_until
          WITH e ORDER BY e.valid_at, e.created_at, e.uuid LIMIT $count
          RETURN collect(CASE WHEN size(e.content) <= $most THEN e.uuid ELSE '' END) AS following }}
        RETURN m.uuid AS uuid, following""",
        {
            "uuids": uuids,
            "count": count,
            "groups": wanted.group_ids,
            "most": most,
            "seconds": within // timedelta(seconds=1),
            "recorded_until": wanted.recorded_until or LATEST,
        },
    )


def mentions_among(episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> Query:
    """From the episodes, which are few: an entity may have any number of mentions."""
    return Query(
        "mentions among episodes",
        """UNWIND $episodes AS u MATCH (e:Episodic {uuid: u})-[:MENTIONS]->(h) WHERE h.uuid IN $entities
        RETURN e.uuid AS uuid, count(DISTINCT h.uuid) AS n""",
        {"episodes": episode_uuids, "entities": entity_uuids},
    )


def an_observation(group_ids: Sequence[str]) -> Query:
    """By the index of relations."""
    return Query(
        "an observation",
        f"""MATCH (n)-[e:RELATES_TO]->(n) WHERE e.name = '{OBSERVATION}' AND e.group_id IN $groups
        RETURN e.uuid AS uuid LIMIT 1""",
        {"groups": group_ids},
    )


def own_mentions(entity_uuids: Sequence[str], limit_each: int) -> Query:
    """All but back links: those are younger than their episode and have a uuid of version 5 (its 15th character)."""
    return Query(
        "own mentions",
        """UNWIND $uuids AS u MATCH (n:Entity {uuid: u})<-[m:MENTIONS]-(e:Episodic)
        WHERE coalesce(m.created_at, $dawn) <= coalesce(e.created_at, $dusk)
          OR substring(coalesce(m.uuid, ''), 14, 1) <> '5'
        RETURN n.uuid AS uuid, collect(DISTINCT e.uuid)[..$limit] AS episodes""",
        {"uuids": entity_uuids, "limit": limit_each},
    )
