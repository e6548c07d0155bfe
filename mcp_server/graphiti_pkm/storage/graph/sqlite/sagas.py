"""Sagas and communities."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.model.queries import Window
from graphiti_pkm.core.model.records import Episode
from graphiti_pkm.core.model.saga_records import Community, Saga, SagaMembers
from graphiti_pkm.storage.graph.sqlite import values
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.schema import DAWN
from graphiti_pkm.storage.graph.sqlite.values import EPISODE_COLUMNS, as_list, known_moment, micros, moment

_MOST_OF_A_NAME = 10
_IN_TIME = "e.valid_at {way}, e.created_at {way}, e.uuid {way}"


def find(db: sqlite3.Connection, group_id: str, uuids: Sequence[str], name: str) -> list[Saga]:
    """Sagas with these uuids and those of exactly this name, oldest first."""
    found = db.execute(
        """SELECT * FROM saga WHERE group_id = ? AND (uuid IN (SELECT value FROM json_each(?)) OR name = ?)
        ORDER BY created_at, uuid LIMIT ?""",
        (group_id, values.as_list(uuids), name, _MOST_OF_A_NAME),
    )
    return list(map(_saga, found))


def listed(db: sqlite3.Connection, group_id: str, window: Window) -> list[Saga]:
    """Those of a group by name."""
    found = db.execute(
        "SELECT * FROM saga WHERE group_id = ? AND (name, uuid) > (?, ?) ORDER BY name, uuid LIMIT ?",
        (group_id, *(window.after or ("", "")), window.limit),
    )
    return list(map(_saga, found))


def latest(db: sqlite3.Connection, saga_uuid: str) -> str | None:
    """The latest episode in time; of several at one time the last recorded."""
    found = values.one(
        db,
        f"""SELECT e.uuid FROM saga s JOIN saga_step h ON h.saga_uuid = s.uuid
        JOIN episode e ON e.uuid = h.episode_uuid WHERE s.uuid = ? AND e.group_id = s.group_id
        ORDER BY {_IN_TIME.format(way="DESC")} LIMIT 1""",
        (saga_uuid,),
    )
    return found["uuid"] if found else None


def episodes(db: sqlite3.Connection, saga_uuid: str, recorded_after: datetime | None, limit: int) -> list[Episode]:
    """The episodes of a saga in the order of recording."""
    found = db.execute(
        f"""SELECT {EPISODE_COLUMNS} FROM saga s JOIN saga_step h ON h.saga_uuid = s.uuid
        JOIN episode e ON e.uuid = h.episode_uuid WHERE s.uuid = ? AND e.group_id = s.group_id AND e.created_at > ?
        ORDER BY e.created_at, e.uuid LIMIT ?""",
        (saga_uuid, DAWN if recorded_after is None else micros(recorded_after), limit),
    )
    return list(map(values.episode, found))


def holding(
    db: sqlite3.Connection, episode_uuids: Sequence[str], group_ids: Sequence[str], without: Sequence[str]
) -> list[SagaMembers]:
    """Sagas that hold the episodes, each with the first and last of its other episodes in time."""
    others = f"""(SELECT e.uuid FROM saga_step h JOIN episode e ON e.uuid = h.episode_uuid WHERE h.saga_uuid = s.uuid
      AND e.uuid NOT IN (SELECT value FROM json_each(:without)) ORDER BY {_IN_TIME} LIMIT 1)"""
    found = db.execute(
        f"""SELECT s.*, {others.format(way="")} AS first_remaining,
          {others.format(way="DESC")} AS last_remaining FROM saga s
        WHERE s.group_id IN (SELECT value FROM json_each(:groups)) AND s.uuid IN (
          SELECT h.saga_uuid FROM json_each(:episodes) u JOIN saga_step h ON h.episode_uuid = u.value)
        ORDER BY s.uuid""",
        {"episodes": as_list(episode_uuids), "groups": as_list(group_ids), "without": as_list(without)},
    )
    return [
        SagaMembers(saga=_saga(row), first_remaining=row["first_remaining"], last_remaining=row["last_remaining"])
        for row in found
    ]


def links(db: sqlite3.Connection, episode_uuids: Sequence[str]) -> list[tuple[str, str]]:
    """Links between episodes, as pairs of previous and next, that begin or end at the given ones."""
    found = db.execute(
        """SELECT l.previous_uuid, l.next_uuid FROM json_each(:episodes) u
          JOIN episode_link l ON l.previous_uuid = u.value
        UNION SELECT l.previous_uuid, l.next_uuid FROM json_each(:episodes) u
          JOIN episode_link l ON l.next_uuid = u.value ORDER BY 1, 2""",
        {"episodes": as_list(episode_uuids)},
    )
    return [(row[0], row[1]) for row in found]


def joined(db: sqlite3.Connection, group_id: str, limit: int) -> list[tuple[str, str, int]]:
    """Pairs of entities and the number of facts that join them; each pair once, whichever way its facts point."""
    found = db.execute(
        """SELECT min(source_uuid, target_uuid) AS one, max(source_uuid, target_uuid) AS other, count(*) AS facts
        FROM fact WHERE group_id = ? AND NOT voided AND source_uuid <> target_uuid
        GROUP BY one, other ORDER BY facts DESC, one, other LIMIT ?""",
        (group_id, limit),
    )
    return [(row["one"], row["other"], row["facts"]) for row in found]


def communities(db: sqlite3.Connection, group_ids: Sequence[str], limit: int) -> list[Community]:
    """Communities, those with the most members first, then by uuid."""
    found = db.execute(
        """SELECT c.*, (SELECT json_group_array(x.entity_uuid) FROM (SELECT m.entity_uuid FROM community_member m
            WHERE m.community_uuid = c.uuid ORDER BY m.entity_uuid) x) AS members,
          (SELECT count(*) FROM community_member m WHERE m.community_uuid = c.uuid) AS size
        FROM community c WHERE c.group_id IN (SELECT value FROM json_each(?)) ORDER BY size DESC, c.uuid LIMIT ?""",
        (as_list(group_ids), limit),
    )
    return [
        Community(
            uuid=row["uuid"],
            group_id=row["group_id"],
            name=row["name"],
            summary=row["summary"],
            created_at=moment(row["created_at"]),
            members=tuple(json.loads(row["members"])),
        )
        for row in found
    ]


def _saga(row: Row) -> Saga:
    return Saga(
        uuid=row["uuid"],
        group_id=row["group_id"],
        name=row["name"],
        created_at=moment(row["created_at"]),
        summary=row["summary"],
        first_episode_uuid=row["first_episode_uuid"],
        last_episode_uuid=row["last_episode_uuid"],
        last_summarized_at=known_moment(row["last_summarized_at"]),
        last_summarized_episode_valid_at=known_moment(row["last_summarized_episode_valid_at"]),
    )


class SqliteCommunities(SqlitePart):
    """The port ``GraphCommunities``."""

    async def joined_entities(self, group_id: str, limit: int) -> list[tuple[str, str, int]]:
        return await self._file.read(lambda db: joined(db, group_id, limit))

    async def communities(self, group_ids: Sequence[str], limit: int) -> list[Community]:
        return await self._file.read(lambda db: communities(db, group_ids, limit))
