"""Leases in the database: which host may write into a group, by the database's own clock.

A lock is a ``Meta`` node that is never deleted; ``until``: how long it is held, ``fence``: increases with each holder.
Each query sets ``asked_at`` before it reads: Neo4j then locks the node to the end of the transaction, so that of two
hosts only one sees it free.
"""

from graphiti_pkm.storage.graph.queries.values import Query

_PREFIX = "lock of group "
ALL = "lock of all"

_TURN, _INTEREST, _LONGEST = 250, 2_000, 60_000
"""Milliseconds. What is to last longer than the longest lease was written before the database's clock was set back: its
holder renews it soon, if it is alive."""

_TAKE = """MERGE (l:Meta {id: $lock}) SET l.asked_at = timestamp()
WITH l OPTIONAL MATCH (a:Meta {id: $all})
WITH l, timestamp() AS now, coalesce(a.until, 0) AS closed
WITH l, now, coalesce(l.until, 0) AS until, closed, coalesce(l.wanted_until, 0) AS wanted_until
WITH l, now, (until <= now OR until > now + $longest OR l.holder = $holder)
    AND ($lock = $all OR closed <= now OR closed > now + $longest) AS is_free,
  wanted_until > now AND wanted_until <= now + $longest AS is_wanted, coalesce(l.wanted, '') = $holder AS by_us
WITH l, now, is_wanted, by_us, is_free AND (NOT is_wanted OR by_us OR l.wanted_at + $turn > now) AS is_ours
WITH l, now, is_ours,
  CASE WHEN is_wanted AND NOT by_us THEN l.wanted WHEN is_ours THEN '' ELSE $holder END AS wanted,
  CASE WHEN is_wanted THEN l.wanted_at ELSE now END AS wanted_at,
  CASE WHEN is_wanted AND NOT by_us THEN l.wanted_until WHEN is_ours THEN 0 ELSE now + $interest END AS wanted_until,
  CASE WHEN coalesce(l.fence, 0) >= now THEN l.fence + 1 ELSE now END AS fence
SET l.wanted = wanted, l.wanted_at = wanted_at, l.wanted_until = wanted_until
WITH l, now, is_ours, fence WHERE is_ours
SET l.fence = fence, l.holder = $holder, l.until = now + $milliseconds
RETURN fence"""
"""A fence is at least the time of day: it grows on although a rebuild takes the nodes away.

Who meets a lock that is held leaves word, and is next when ``turn`` milliseconds have passed: a busy host, which takes
it again at once, would keep the others waiting for ever. Word that is not repeated within ``interest`` counts no more.
"""

_RENEW = """MATCH (l:Meta {id: $lock}) SET l.asked_at = timestamp()
WITH l WHERE l.fence = $fence SET l.until = timestamp() + $milliseconds RETURN l.fence AS fence"""

_RESTORE = """MERGE (l:Meta {id: $lock}) SET l.asked_at = timestamp()
WITH l WHERE coalesce(l.fence, 0) < $fence
SET l.fence = $fence, l.until = timestamp() + $milliseconds"""

_RELEASE = "MATCH (l:Meta {id: $lock}) WHERE l.fence = $fence SET l.until = 0"

_HELD = """MATCH (l:Meta) WHERE l.id STARTS WITH $prefix SET l.asked_at = timestamp()
WITH l WHERE coalesce(l.until, 0) > timestamp() AND l.until <= timestamp() + $longest RETURN count(l) AS held"""

FENCED = """MERGE (l:Meta {id: $lock}) SET l.asked_at = timestamp()
WITH l OPTIONAL MATCH (a:Meta {id: $all})
WITH l, a WHERE l.fence = $fence
  AND (a IS NULL OR $lock = $all OR coalesce(a.until, 0) <= timestamp() OR a.until > timestamp() + $longest)"""
"""Precedes a write: no row once another host has held the lock, or all groups are locked."""


def lock_of(group_id: str) -> str:
    """The id of a group's lock."""
    return f"{_PREFIX}{group_id}"


def fence_values(lock: str, fence: int) -> dict[str, object]:
    """The parameters of ``FENCED``."""
    return {"lock": lock, "fence": fence, "all": ALL, "longest": _LONGEST}


def take(lock: str, holder: str, milliseconds: int) -> Query:
    """Take the lock: one row with the fence, if it was free or held by the same holder."""
    values = {"lock": lock, "all": ALL, "holder": holder, "milliseconds": milliseconds}
    return Query("take lock", _TAKE, {**values, "turn": _TURN, "interest": _INTEREST, "longest": _LONGEST})


def renew(lock: str, fence: int, milliseconds: int) -> Query:
    """Renew it: one row if it is still ours."""
    return Query("renew lock", _RENEW, {"lock": lock, "fence": fence, "milliseconds": milliseconds})


def restore(lock: str, fence: int, milliseconds: int) -> Query:
    """Restore a lock that was cleared with the whole graph while it was held."""
    return Query("restore lock", _RESTORE, {"lock": lock, "fence": fence, "milliseconds": milliseconds})


def release(lock: str, fence: int) -> Query:
    """Release it, if it is still ours."""
    return Query("release lock", _RELEASE, {"lock": lock, "fence": fence})


def held() -> Query:
    """Number of groups locked now."""
    return Query("held locks", _HELD, {"prefix": _PREFIX, "longest": _LONGEST})
