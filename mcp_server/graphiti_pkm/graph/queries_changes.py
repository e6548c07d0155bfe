"""Named queries about what became of facts."""

from collections.abc import Sequence

from graphiti_pkm.graph.queries import FACT_COLUMNS, RECORDED
from graphiti_pkm.graph.queries_values import Query


def retired_by_episode(episode_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return Query(
        "facts retired by an episode",
        f"""MATCH (c:Change {{episode_uuid: $episode}}) WHERE c.group_id IN $groups WITH DISTINCT c.fact_uuid AS u
        MATCH ()-[e:RELATES_TO {{uuid: u}}]->() WHERE coalesce(e.group_id, '') IN $groups
        WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}""",
        {"episode": episode_uuid, "groups": group_ids, "limit": limit},
    )
