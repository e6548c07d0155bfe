"""Episodes: pages in time, counts a month, what they mention and support, what stands around them."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from itertools import takewhile

from graphiti_pkm.core.model.places import Place, Steps, Stretch
from graphiti_pkm.core.model.queries import Companion, EntryFilter, EpisodeFilter, EpisodePage, TimelineSummary, Window
from graphiti_pkm.core.model.records import Entity, Episode
from graphiti_pkm.storage.graph.ordering import in_order
from graphiti_pkm.storage.graph.sqlite import lookups, values
from graphiti_pkm.storage.graph.sqlite.facts import OBSERVED
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.schema import DUSK
from graphiti_pkm.storage.graph.sqlite.values import (
    EPISODE_COLUMNS,
    IN_GROUPS,
    as_list,
    instant_key,
    micros,
    moment,
)

_DAY = 86_400_000_000
_QUARTER = 900_000_000
_SECOND = 1_000_000
_SINCE_WHOLE_QUARTERS = 63_072_000_000_000
"""1972: from then on all offsets are whole quarters of an hour; before, local mean times go by seconds."""


def condition(
    wanted: EpisodeFilter,
    *,
    of: str = "e",
    uuid: str = "uuid",
    valid_at: str = "valid_at",
    recorded: str = "created_at",
) -> tuple[str, dict[str, object]]:
    """The filter without ``entity_uuid`` as SQL over a table ``of`` with these columns."""
    parts = [f"{of}.group_id {IN_GROUPS}"]
    parameters: dict[str, object] = {"groups": as_list(wanted.group_ids)}
    for name, instant, part in (
        ("recorded_until", wanted.recorded_until, f"{of}.{recorded} <= :recorded_until"),
        ("valid_after", wanted.valid_after, f"{of}.{valid_at} >= :valid_after"),
        ("valid_before", wanted.valid_before, f"{of}.{valid_at} < :valid_before"),
    ):
        if instant is not None:
            parts.append(part)
            parameters[name] = micros(instant)
    if wanted.entries is not None:
        parts.append(f"EXISTS (SELECT 1 FROM entry y WHERE y.uuid = {of}.{uuid}{_of_entries(wanted.entries)})")
        parameters |= {"project": wanted.entries.project_uuid, "type": wanted.entries.type}
    return " AND ".join(parts), parameters


def _of_entries(wanted: EntryFilter) -> str:
    of_project = "" if wanted.project_uuid is None else " AND y.project_uuid = :project"
    return of_project + ("" if wanted.type is None else " AND y.type = :type")


def matched(wanted: EpisodeFilter) -> tuple[str, dict[str, object]]:
    """The whole filter as SQL over ``episode e``."""
    where, parameters = condition(wanted)
    if wanted.entity_uuid is None:
        return where, parameters
    mentioning = "SELECT m.episode_uuid FROM mention m WHERE m.entity_uuid = :entity"
    return f"{where} AND e.uuid IN ({mentioning})", {**parameters, "entity": wanted.entity_uuid}


def _source(wanted: EpisodeFilter) -> tuple[str, str, str, dict[str, object]]:
    """The table that has the keys of a page: the mentions of an entity, or the episodes."""
    if wanted.entity_uuid is None:
        where, parameters = condition(wanted, of="x")
        return "episode x", "created_at", where, parameters
    where, parameters = condition(wanted, of="x", uuid="episode_uuid", recorded="recorded_at")
    return (
        "mention x",
        "recorded_at",
        f"x.entity_uuid = :entity AND {where}",
        {**parameters, "entity": wanted.entity_uuid},
    )


def page(db: sqlite3.Connection, wanted: EpisodeFilter, window: Window) -> EpisodePage:
    """A page of episodes, newest or oldest first, and the total."""
    table, recorded, where, parameters = _source(wanted)
    uuid = "x.uuid" if wanted.entity_uuid is None else "x.episode_uuid"
    (total,) = db.execute(f"SELECT count(*) FROM {table} WHERE {where}", parameters).fetchone()
    sign, direction = ("<", "DESC") if window.newest else (">", "")
    last, within = ("<", "DESC") if window.newest and window.backwards else (">", "")
    further = ""
    if window.after is not None:
        further = f"""AND x.valid_at {sign}= :c0 AND (x.valid_at <> :c0 OR x.{recorded} {sign} :c1
          OR (x.{recorded} = :c1 AND {uuid} {last} :c2))"""
        va, ca, after_uuid = window.after
        parameters |= {"c0": instant_key(va), "c1": instant_key(ca), "c2": after_uuid}
    order = f"va {direction}, ca {direction}, uuid {within}"
    found = db.execute(
        f"""SELECT k.va, k.ca, {EPISODE_COLUMNS} FROM (
          SELECT x.valid_at AS va, x.{recorded} AS ca, {uuid} AS uuid FROM {table} WHERE {where} {further}
          ORDER BY {order} LIMIT :limit) k
        CROSS JOIN episode e ON e.uuid = k.uuid ORDER BY k.va {direction}, k.ca {direction}, k.uuid {within}""",
        {**parameters, "limit": window.limit},
    ).fetchall()
    return EpisodePage(
        episodes=tuple(map(values.episode, found)),
        keys=tuple((row["va"], row["ca"], row["uuid"]) for row in found),
        total=total,
    )


def timeline_summary(db: sqlite3.Connection, wanted: EpisodeFilter, zone: tzinfo) -> TimelineSummary:
    """Counts by spans that cross no month in the zone: a day in UTC, elsewhere a quarter of an hour or a second."""
    table, _, where, parameters = _source(wanted)
    day = f"x.valid_at - ((x.valid_at % {_DAY}) + {_DAY}) % {_DAY}"
    span = day
    if str(zone) != "UTC":
        quarter = f"x.valid_at - ((x.valid_at % {_QUARTER}) + {_QUARTER}) % {_QUARTER}"
        second = f"x.valid_at - ((x.valid_at % {_SECOND}) + {_SECOND}) % {_SECOND}"
        span = f"CASE WHEN x.valid_at < {_SINCE_WHOLE_QUARTERS} THEN {second} ELSE {quarter} END"
    spans = db.execute(
        f"""SELECT {span} AS span, min(x.valid_at) AS first, max(x.valid_at) AS last, count(*) AS n
        FROM {table} WHERE {where} GROUP BY span ORDER BY span""",
        parameters,
    ).fetchall()
    return TimelineSummary(
        first=moment(spans[0]["first"]) if spans else None,
        last=moment(spans[-1]["last"]) if spans else None,
        total=sum(row["n"] for row in spans),
        counts=tuple((moment(row["first"]), row["n"]) for row in spans),
    )


def mentioned_with(db: sqlite3.Connection, wanted: EpisodeFilter, newest: int, limit: int) -> list[Companion]:
    """Entities in the same episodes, most often first, then by name."""
    table, recorded, where, parameters = _source(wanted)
    found = db.execute(
        f"""SELECT n.uuid, n.name, count(*) AS often FROM (
          SELECT x.episode_uuid AS uuid FROM {table} WHERE {where}
          ORDER BY x.valid_at DESC, x.{recorded} DESC, x.episode_uuid LIMIT :newest) k
        JOIN mention o ON o.episode_uuid = k.uuid AND o.entity_uuid <> :entity
        JOIN entity n ON n.uuid = o.entity_uuid AND n.group_id {IN_GROUPS}
        GROUP BY n.uuid ORDER BY often DESC, n.name, n.uuid LIMIT :limit""",
        {**parameters, "newest": newest, "limit": limit},
    )
    return [Companion(entity_uuid=row["uuid"], name=row["name"], episodes=row["often"]) for row in found]


def by_uuids(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> list[Episode]:
    """These episodes in the order asked."""
    found = db.execute(
        f"""SELECT {EPISODE_COLUMNS} FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value
        WHERE e.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)},
    )
    return in_order(uuids, map(values.episode, found))


def entities(
    db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str], window: Window
) -> tuple[list[Entity], int]:
    """Distinct entities that the episodes mention, by name and uuid, and the total."""
    parameters: dict[str, object] = {"uuids": as_list(episode_uuids), "groups": as_list(group_ids)}
    where = f"""n.group_id {IN_GROUPS} AND n.uuid IN (
      SELECT m.entity_uuid FROM json_each(:uuids) u JOIN mention m ON m.episode_uuid = u.value
      WHERE m.group_id {IN_GROUPS})"""
    return lookups.named_page(db, where, parameters, window)


def openings(
    db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int
) -> dict[str, str]:
    """The first characters of each episode."""
    found = db.execute(
        f"""SELECT e.uuid, substr(e.content, 1, :chars) AS text FROM json_each(:uuids) u
        JOIN episode e ON e.uuid = u.value WHERE e.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(episode_uuids)), "groups": as_list(group_ids), "chars": chars},
    )
    return {row["uuid"]: row["text"] for row in found}


def record_start(db: sqlite3.Connection, group_ids: Sequence[str]) -> datetime | None:
    """When the first episode was recorded."""
    (began,) = db.execute(
        "SELECT min((SELECT min(e.created_at) FROM episode e WHERE e.group_id = g.value)) FROM json_each(?) g",
        (as_list(group_ids),),
    ).fetchone()
    return values.known_moment(began)


def newest_record(db: sqlite3.Connection, group_ids: Sequence[str]) -> datetime | None:
    """The time of the newest write into any of the groups."""
    (newest,) = db.execute(
        "SELECT max(g.recorded_at) FROM json_each(?) x JOIN groups g ON g.group_id = x.value", (as_list(group_ids),)
    ).fetchone()
    return values.known_moment(newest)


def places(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Place]:
    """Where these episodes stand in time."""
    found = db.execute(
        f"""SELECT e.uuid, e.group_id, e.valid_at, e.created_at FROM json_each(:uuids) u
        JOIN episode e ON e.uuid = u.value WHERE e.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)},
    )
    return {row["uuid"]: _place(row) for row in found}


def uuids_in(db: sqlite3.Connection, stretch: Stretch, recorded_until: datetime | None, limit: int) -> list[str]:
    """The episodes of a stretch of time, in order."""
    found = db.execute(
        """SELECT uuid FROM episode WHERE group_id = ? AND valid_at >= ? AND valid_at < ? AND created_at <= ?
        ORDER BY valid_at, created_at, uuid LIMIT ?""",
        (
            stretch.group_id,
            micros(stretch.start),
            micros(stretch.end),
            DUSK if recorded_until is None else micros(recorded_until),
            limit,
        ),
    )
    return [uuid for (uuid,) in found]


def same_text(db: sqlite3.Connection, stretch: Stretch, content: str) -> str | None:
    """The episode of a stretch that was first recorded with exactly this content."""
    found = values.one(
        db,
        """SELECT uuid FROM episode WHERE group_id = ? AND valid_at >= ? AND valid_at < ? AND content = ?
        ORDER BY created_at, uuid LIMIT 1""",
        (stretch.group_id, micros(stretch.start), micros(stretch.end), content),
    )
    return found["uuid"] if found else None


def followers(
    db: sqlite3.Connection, uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int
) -> dict[str, list[str]]:
    """The next messages of each message, by the index on group and time, as long as all are short."""
    found = db.execute(
        f"""SELECT e.uuid, (SELECT json_group_array(CASE WHEN length(x.content) <= :most THEN x.uuid END) FROM (
            SELECT n.uuid, n.content FROM episode n
            WHERE n.group_id = e.group_id AND n.valid_at >= e.valid_at AND n.valid_at <= e.valid_at + :within
              AND (n.valid_at, n.created_at, n.uuid) > (e.valid_at, e.created_at, e.uuid)
              AND n.source = 'message' AND n.created_at <= :recorded_until
            ORDER BY n.valid_at, n.created_at, n.uuid LIMIT :count) x) AS following
        FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value
        WHERE e.group_id {IN_GROUPS} AND e.source = 'message' AND length(e.content) <= :most""",
        {
            "uuids": as_list(dict.fromkeys(uuids)),
            "groups": as_list(wanted.group_ids),
            "most": most,
            "count": count,
            "within": within // timedelta(microseconds=1),
            "recorded_until": DUSK if wanted.recorded_until is None else micros(wanted.recorded_until),
        },
    )
    return {row["uuid"]: list(takewhile(bool, json.loads(row["following"]))) for row in found}


def saga_steps(db: sqlite3.Connection, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
    """The episodes reached along the links of a saga; where several follow, the first by uuid."""
    found = db.execute(
        f"""SELECT e.uuid,
          (SELECT min(p.uuid) FROM episode_link l CROSS JOIN episode p ON p.uuid = l.previous_uuid
            WHERE l.next_uuid = e.uuid AND p.group_id = e.group_id) AS previous,
          (SELECT min(p.uuid) FROM episode_link l CROSS JOIN episode p ON p.uuid = l.next_uuid
            WHERE l.previous_uuid = e.uuid AND p.group_id = e.group_id) AS following
        FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value WHERE e.group_id {IN_GROUPS}""",
        {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)},
    )
    return {
        row["uuid"]: Steps(previous=row["previous"], next=row["following"])
        for row in found
        if row["previous"] or row["following"]
    }


def mentions_among(db: sqlite3.Connection, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
    """How many of the entities each episode mentions."""
    found = db.execute(
        """SELECT m.episode_uuid AS uuid, count(*) AS n FROM json_each(?) u JOIN mention m ON m.episode_uuid = u.value
        WHERE m.entity_uuid IN (SELECT value FROM json_each(?)) GROUP BY m.episode_uuid""",
        (as_list(dict.fromkeys(episode_uuids)), as_list(entity_uuids)),
    )
    return {row["uuid"]: row["n"] for row in found}


def own_mentions(db: sqlite3.Connection, entity_uuid: str, limit: int) -> list[str]:
    """Episodes that mention the entity, without back links, which are younger and have a uuid of version 5."""
    found = db.execute(
        """SELECT episode_uuid FROM mention WHERE entity_uuid = ?
        AND (created_at <= recorded_at OR substr(uuid, 15, 1) <> '5') LIMIT ?""",
        (entity_uuid, limit),
    )
    return [row[0] for row in found]


def _place(row: Row) -> Place:
    return Place(
        uuid=row["uuid"],
        group_id=row["group_id"],
        valid_at=moment(row["valid_at"]),
        created_at=moment(row["created_at"]),
    )


class SqliteNeighbours(SqlitePart):
    """The port ``GraphNeighbours``."""

    async def uuids_in(
        self, stretches: Sequence[Stretch], recorded_until: datetime | None, limit_each: int
    ) -> list[list[str]]:
        return await self._file.read(
            lambda db: [uuids_in(db, stretch, recorded_until, limit_each) for stretch in stretches]
        )

    async def saga_steps(self, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, Steps]:
        return await self._file.read(lambda db: saga_steps(db, uuids, group_ids))

    async def followers(
        self, uuids: Sequence[str], wanted: EpisodeFilter, most: int, within: timedelta, count: int
    ) -> dict[str, list[str]]:
        return await self._file.read(lambda db: followers(db, uuids, wanted, most, within, count))

    async def mentions_among(self, episode_uuids: Sequence[str], entity_uuids: Sequence[str]) -> dict[str, int]:
        return await self._file.read(lambda db: mentions_among(db, episode_uuids, entity_uuids))

    async def has_observations(self, group_ids: Sequence[str]) -> bool:
        text = f"SELECT 1 FROM fact f WHERE f.group_id {IN_GROUPS} AND {OBSERVED} LIMIT 1"
        return await self._file.read(lambda db: db.execute(text, {"groups": as_list(group_ids)}).fetchone() is not None)

    async def fact_distances(self, center_uuid: str, entity_uuids: Sequence[str]) -> dict[str, int]:
        return await self._file.read(lambda db: lookups.distances(db, center_uuid, entity_uuids))
