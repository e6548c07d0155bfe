"""Named queries about what became of facts."""

from collections.abc import Sequence
from typing import Literal

from graphiti_pkm.graph.queries import FACT_COLUMNS, RECORDED
from graphiti_pkm.graph.queries_values import Query


def retired_by_episode(episode_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return _retired("episode_uuid", episode_uuid, group_ids, limit)


def retired_by_fact(fact_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return _retired("replaced_by", fact_uuid, group_ids, limit)


def _retired(by: Literal["episode_uuid", "replaced_by"], uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """The property is indexed: the changes of a group are many, those of one cause are few."""
    return Query(
        f"facts retired, by {by}",
        f"""MATCH (c:Change {{{by}: $uuid}}) WHERE c.group_id IN $groups WITH DISTINCT c.fact_uuid AS u
        MATCH ()-[e:RELATES_TO {{uuid: u}}]->() WHERE coalesce(e.group_id, '') IN $groups
        WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}""",
        {"uuid": uuid, "groups": group_ids, "limit": limit},
    )
