"""Queries about changes of facts.

Changes of a period are found by ``recorded_day``, an indexed number on every ``Change`` and fact. The time grows with
the period, so a page is first searched in its newest month (``recent``); only the total reads all of it.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

from graphiti_pkm.core.model.changes import ChangeFilter
from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.times import as_utc
from graphiti_pkm.storage.graph.queries.parts import FACT_COLUMNS, RECORDED, Conditions, all_of, cosine, keys_after
from graphiti_pkm.storage.graph.queries.values import Query, day_number

_FIELDS = (
    "uuid",
    "fact_uuid",
    "kind",
    "episode_uuid",
    "replaced_by",
    "recorded_at",
    "invalid_at",
    "reason",
    "caller",
    "previous_valid_at",
    "previous_invalid_at",
    "previous_expired_at",
    "previous_voided",
    "previous_told_at",
    "previous_start_words",
    "previous_end_words",
    "entity_before",
    "entity_after",
    "group_id",
)
CHANGE_COLUMNS = ", ".join(f"c.{field} AS {field}" for field in _FIELDS)
_ADDED_COLUMNS = """e.uuid AS uuid, e.uuid AS fact_uuid, 'added' AS kind, coalesce(e.episodes, [])[0] AS episode_uuid,
  coalesce(e.group_id, '') AS group_id, e.created_at AS recorded_at"""

_IN_DAYS = """{record}.group_id IN $groups AND {record}.recorded_day >= $first_day
  AND {record}.recorded_day <= $last_day"""
_IN_GROUPS = "coalesce({record}.group_id, '') IN $groups"
_NOTE = f"MATCH (n:Episodic {{{{uuid: {{cause}}}}}}) WHERE {_IN_GROUPS.format(record='n')} RETURN n.valid_at"
_REPLACING_NOTE = f"""MATCH ()-[ended:RELATES_TO {{uuid: c.fact_uuid}}]->() WHERE {_IN_GROUPS.format(record="ended")}
  MATCH ()-[r:RELATES_TO {{uuid: c.replaced_by}}]->() WHERE {_IN_GROUPS.format(record="r")}
  {_NOTE.format(cause="coalesce(r.episodes, [])[0]")}"""
_EVENT_TOLD = f"""coalesce(COLLECT {{ {_NOTE.format(cause="c.episode_uuid")} }}[0],
  CASE WHEN c.episode_uuid IS NULL AND c.kind = 'retired' THEN COLLECT {{ {_REPLACING_NOTE} }}[0] END, c.recorded_at)"""
_ADDITION_TOLD = f"coalesce(COLLECT {{ {_NOTE.format(cause='coalesce(e.episodes, [])[0]')} }}[0], {RECORDED})"
"""When a change was told, as ``capabilities.history.changes`` shows it."""
_MONTH = timedelta(days=31)
_EVENT, _ADDITION = 0, 1
"""Within one instant, endings come before additions."""


def retired_by_episode(episode_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return _retired("episode_uuid", episode_uuid, group_ids, limit)


def retired_by_fact(fact_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest created first."""
    return _retired("replaced_by", fact_uuid, group_ids, limit)


def _retired(by: Literal["episode_uuid", "replaced_by"], uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """The property is indexed: a group has many changes, but one cause has few."""
    return Query(
        f"facts retired, by {by}",
        f"""MATCH (c:Change {{{by}: $uuid}}) WHERE c.group_id IN $groups AND c.kind IN ['retired', 'voided']
        WITH DISTINCT c.fact_uuid AS u
        MATCH ()-[e:RELATES_TO {{uuid: u}}]->() WHERE coalesce(e.group_id, '') IN $groups
        WITH e, {RECORDED} AS ca, e.uuid AS id ORDER BY ca DESC, id LIMIT $limit RETURN {FACT_COLUMNS}""",
        {"uuid": uuid, "groups": group_ids, "limit": limit},
    )


def fact_changes(fact_uuid: str, group_ids: Sequence[str], limit: int) -> Query:
    """Newest first, those of one write in the opposite of its order."""
    return Query(
        "changes of a fact",
        f"""MATCH (c:Change {{fact_uuid: $fact}}) WHERE c.group_id IN $groups
        WITH c, c.recorded_at AS at, coalesce(c.place, 0) AS place, c.uuid AS id
        ORDER BY at DESC, place DESC, id LIMIT $limit RETURN {CHANGE_COLUMNS}""",
        {"fact": fact_uuid, "groups": group_ids, "limit": limit},
    )


def updates(entity_uuids: Sequence[str]) -> Query:
    """All updates of entities."""
    return Query(
        "updates",
        f"""UNWIND $uuids AS u MATCH (c:Change {{fact_uuid: u}}) WHERE c.entity_after IS NOT NULL
        RETURN {CHANGE_COLUMNS}""",
        {"uuids": entity_uuids},
    )


def replacements(fact_uuids: Sequence[str], group_ids: Sequence[str]) -> Query:
    """One row per fact whose newest ending names the replacement."""
    return Query(
        "replacements",
        """UNWIND $facts AS u MATCH (c:Change {fact_uuid: u}) WHERE c.group_id IN $groups
          AND c.kind IN ['retired', 'voided']
        WITH u, c.replaced_by AS by, c.recorded_at AS at, coalesce(c.place, 0) AS place ORDER BY at DESC, place DESC
        WITH u, collect([by])[0][0] AS by WHERE by IS NOT NULL RETURN u AS fact, by""",
        {"facts": fact_uuids, "groups": group_ids},
    )


def reasons(group_id: str, limit: int) -> Query:
    """Newest recorded first."""
    return Query(
        "reasons",
        """MATCH (c:Change {group_id: $group}) WHERE c.reason IS NOT NULL
        WITH c.uuid AS uuid, c.reason AS reason, c.recorded_at AS at
        ORDER BY at DESC, uuid LIMIT $limit RETURN uuid, reason""",
        {"group": group_id, "limit": limit},
    )


def last_writes(group_ids: Sequence[str]) -> Query:
    """One row for each group that has one."""
    return Query(
        "last writes",
        """UNWIND $groups AS u MATCH (g:Group {id: u}) WHERE g.recorded_at IS NOT NULL
        RETURN DISTINCT g.id AS group_id, g.recorded_at AS at""",
        {"groups": group_ids},
    )


def openings(episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> Query:
    """In any order."""
    return Query(
        "openings",
        """UNWIND $uuids AS u MATCH (e:Episodic {uuid: u}) WHERE coalesce(e.group_id, '') IN $groups
        RETURN e.uuid AS uuid, left(coalesce(e.content, ''), $chars) AS text""",
        {"uuids": episode_uuids, "groups": group_ids, "chars": chars},
    )


def nearest_sentences(pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int) -> Query:
    """One row per comparable pair of fact and episode."""
    return Query(
        "nearest sentences",
        f"""UNWIND $pairs AS pair WITH pair[0] AS fact, pair[1] AS episode
        MATCH ()-[f:RELATES_TO {{uuid: fact}}]->() WHERE coalesce(f.group_id, '') IN $groups
          AND f.fact_embedding IS NOT NULL
        WITH fact, episode, f.fact_embedding AS v
        MATCH (p:Passage {{episode_uuid: episode}}) WHERE p.group_id IN $groups AND p.start < $chars
          AND p.embedding IS NOT NULL
        WITH fact, episode, p.start AS start, p.end AS end, {cosine("p.embedding", "v")} AS cosine
        ORDER BY cosine DESC, start
        WITH fact, episode, collect([cosine, start, end])[0] AS best
        RETURN fact, episode, best[0] AS cosine, best[1] AS start, best[2] AS end""",
        {"pairs": [list(pair) for pair in pairs], "groups": group_ids, "chars": chars},
    )


def changes(wanted: ChangeFilter, window: Window) -> list[tuple[Query, Query]]:
    """A page and the total of each source (events, additions); unrequested ones are left out."""
    stored = [kind for kind in wanted.kinds if kind != "added"]
    sources = []
    if stored or not wanted.kinds:
        sources.append(_events(wanted, window, stored))
    if not wanted.kinds or "added" in wanted.kinds:
        sources.append(_additions(wanted, window))
    return sources


def recent(wanted: ChangeFilter, window: Window) -> ChangeFilter:
    """The same for the newest month that the page can reach, whose changes are newer than all others."""
    if wanted.told_since is not None:
        return wanted  # what was told last may have been recorded at any time
    bounds = (wanted.recorded_until, wanted.until, _last_seen(window.after) if window.after else None)
    first = min(bound for bound in bounds if bound is not None)
    is_far = first - wanted.since > _MONTH
    return wanted.model_copy(update={"since": first - _MONTH}) if is_far else wanted


def _last_seen(after: Sequence[object]) -> datetime:
    """The instant of the last change before the page."""
    return as_utc(datetime.fromisoformat(str(after[0])))


def _events(wanted: ChangeFilter, window: Window, kinds: Sequence[str]) -> tuple[Query, Query]:
    conditions, values = _recorded(wanted, "c", "c.recorded_at", _EVENT_TOLD)
    found = _IN_DAYS.format(record="c")
    if wanted.entity_uuid is not None:
        found = "(c.source_uuid = $entity OR c.target_uuid = $entity)"
    if kinds:
        conditions += " AND c.kind IN $kinds"
        values["kinds"] = kinds
    matched = f"MATCH (c:Change) WHERE {found} AND {conditions}"
    at = "c.recorded_at" if wanted.told_since is None else _EVENT_TOLD
    return _page("changes", matched, values, ("c", at, _EVENT, CHANGE_COLUMNS), wanted, window)


def _additions(wanted: ChangeFilter, window: Window) -> tuple[Query, Query]:
    conditions, values = _recorded(wanted, "e", RECORDED, _ADDITION_TOLD)
    matched = f"MATCH ()-[e:RELATES_TO]->() WHERE {_IN_DAYS.format(record='e')} AND {conditions}"
    if wanted.entity_uuid is not None:
        matched = f"MATCH (h:Entity {{uuid: $entity}})-[e:RELATES_TO]-(o) WHERE {conditions}"
    at = RECORDED if wanted.told_since is None else _ADDITION_TOLD
    return _page("additions", matched, values, ("e", at, _ADDITION, _ADDED_COLUMNS), wanted, window)


def _recorded(wanted: ChangeFilter, record: str, at: str, told: str) -> Conditions:
    """Conditions on groups and period, by when it was recorded and told."""
    parts = [f"coalesce({record}.group_id, '') IN $groups"] if wanted.entity_uuid is not None else []
    parts += [f"{at} >= $since", f"{at} <= $recorded_until"]
    values: dict[str, object] = {
        "groups": wanted.group_ids,
        "since": wanted.since,
        "recorded_until": wanted.recorded_until,
        "first_day": day_number(wanted.since),
        "last_day": day_number(wanted.recorded_until),
        "entity": wanted.entity_uuid,
    }
    for name, of_group in wanted.bounds:
        parts.append(f"{at} {'>' if name == 'seen' else '<='} ${name}[coalesce({record}.group_id, '')]")
        values[name] = of_group
    if wanted.until is not None:
        parts.append(f"{at} < $until")
        values |= {"until": wanted.until, "last_day": day_number(min(wanted.until, wanted.recorded_until))}
    for name, compared, instant in wanted.told:
        parts.append(f"{told} {compared} ${name}")
        values[name] = instant
    return all_of(parts), values


def _page(
    name: str,
    matched: str,
    values: dict[str, object],
    record: tuple[str, str, int, str],
    wanted: ChangeFilter,
    window: Window,
) -> tuple[Query, Query]:
    """``record``: its variable, the instant that it is sorted by, its rank in one instant, its columns."""
    variable, at, rank, columns = record
    after, keys = "", keys_after(window.after, (0,))
    if window.after is not None:
        after = f"""WHERE at < $c0 OR (at = $c0 AND ({rank} > $c1 OR ({rank} = $c1 AND id > $c2)))
        WITH {variable}, at, id"""
        if wanted.told_since is None:
            keys["last_day"] = day_number(_last_seen(window.after))
    return (
        Query(
            name,
            f"""{matched} WITH {variable}, {at} AS at, {variable}.uuid AS id {after}
            ORDER BY at DESC, id LIMIT $limit RETURN at, {rank} AS rank, id, {columns}""",
            {**values, **keys, "limit": window.limit},
        ),
        Query(f"{name} total", f"{matched} RETURN count({variable}) AS total", values),
    )
