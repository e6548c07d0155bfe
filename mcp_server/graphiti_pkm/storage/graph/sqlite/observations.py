"""Observations and the relations between entities: what the capability compat asks of the embedded file."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from graphiti_pkm.core.facts.observations import POSITION, TYPE
from graphiti_pkm.core.model.queries import FactFilter
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.storage.graph.sqlite import facts, values
from graphiti_pkm.storage.graph.sqlite.facts import OBSERVED
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.values import IN_GROUPS, as_list

_ORDER = f"f.created_at, json_extract(f.attributes, '$.{POSITION}'), f.uuid"
_AMONG = "(SELECT value FROM json_each(:uuids))"
_ENDS = {
    True: (f"f.source_uuid = u.value AND f.target_uuid IN {_AMONG}",),
    False: ("f.source_uuid = u.value", f"f.target_uuid = u.value AND f.source_uuid NOT IN {_AMONG}"),
}


class SqliteObservations(SqlitePart):
    """The port ``GraphObservations``."""

    async def known_observations(self, group_id: str, wanted: Sequence[tuple[str, str]]) -> list[Fact]:
        return await self._file.read(lambda db: known(db, group_id, wanted))

    async def observations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit_each: int
    ) -> dict[str, tuple[list[str], int]]:
        return await self._file.read(lambda db: observations(db, entity_uuids, _current(group_ids, now), limit_each))

    async def observed(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        found = "SELECT f.uuid, f.source_uuid FROM json_each(:uuids) u CROSS JOIN fact f ON f.uuid = u.value"
        return await self._file.read(
            lambda db: pairs(db, f"{found} WHERE {OBSERVED} AND f.group_id {IN_GROUPS}", fact_uuids, group_ids)
        )

    async def names(self, entity_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        found = "SELECT n.uuid, n.name FROM json_each(:uuids) u CROSS JOIN entity n ON n.uuid = u.value"
        return await self._file.read(
            lambda db: pairs(db, f"{found} WHERE n.group_id {IN_GROUPS}", entity_uuids, group_ids)
        )

    async def relations(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime, limit: int, *, within: bool
    ) -> tuple[list[Fact], int]:
        return await self._file.read(
            lambda db: relations(db, entity_uuids, _current(group_ids, now), limit, within=within)
        )

    async def relation_counts(
        self, entity_uuids: Sequence[str], group_ids: Sequence[str], now: datetime
    ) -> dict[str, int]:
        return await self._file.read(lambda db: relation_counts(db, entity_uuids, _current(group_ids, now)))

    async def of_type(self, words: Sequence[str], group_ids: Sequence[str], limit: int) -> list[str]:
        return await self._file.read(lambda db: of_type(db, words, group_ids, limit))

    async def holding(self, text: str, group_ids: Sequence[str], now: datetime, limit: int) -> tuple[list[str], int]:
        return await self._file.read(lambda db: holding(db, text, _current(group_ids, now), limit))


def _current(group_ids: Sequence[str], now: datetime) -> facts.Condition:
    return facts.condition(FactFilter(group_ids=tuple(group_ids), now=now, only_current=True))


def known(db: sqlite3.Connection, group_id: str, wanted: Sequence[tuple[str, str]]) -> list[Fact]:
    """Each text is compared in the database, among the observations of its entity."""
    found = db.execute(
        f"""SELECT {facts.COLUMNS} FROM json_each(:pairs) u
        CROSS JOIN fact f ON f.source_uuid = json_extract(u.value, '$[0]') {facts.ENDS}
        WHERE {OBSERVED} AND f.text = json_extract(u.value, '$[1]') AND f.group_id = :group
        AND f.expired_at IS NULL AND NOT f.voided ORDER BY {_ORDER}""",
        {"pairs": as_list([list(pair) for pair in dict.fromkeys(wanted)]), "group": group_id},
    )
    return list(map(values.fact, found))


def observations(
    db: sqlite3.Connection, uuids: Sequence[str], current: facts.Condition, limit_each: int
) -> dict[str, tuple[list[str], int]]:
    """Walked by the index of each entity."""
    found: dict[str, tuple[list[str], int]] = {}
    for row in db.execute(
        f"""SELECT uuid, text, total FROM (SELECT f.source_uuid AS uuid, f.text AS text,
            count(*) OVER (PARTITION BY f.source_uuid) AS total,
            row_number() OVER (PARTITION BY f.source_uuid ORDER BY {_ORDER}) AS turn
          FROM json_each(:uuids) u CROSS JOIN fact f ON f.source_uuid = u.value
          WHERE {OBSERVED} AND {current.where})
        WHERE turn <= :limit ORDER BY uuid, turn""",
        {**current.values, "uuids": as_list(dict.fromkeys(uuids)), "limit": limit_each},
    ):
        texts, _ = found.setdefault(row["uuid"], ([], row["total"]))
        texts.append(row["text"])
    return found


def pairs(db: sqlite3.Connection, found: str, uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
    """What a statement gives for each uuid; whole records would take ten times as long."""
    rows = db.execute(found, {"uuids": as_list(dict.fromkeys(uuids)), "groups": as_list(group_ids)})
    return {row[0]: row[1] for row in rows}


def relations(
    db: sqlite3.Connection, uuids: Sequence[str], current: facts.Condition, limit: int, *, within: bool
) -> tuple[list[Fact], int]:
    """The newest created first."""
    parameters = {**current.values, "uuids": as_list(dict.fromkeys(uuids)), "limit": limit}
    each = " UNION ALL ".join(
        f"""SELECT f.rowid AS id, f.created_at AS ca, f.uuid AS uuid FROM json_each(:uuids) u CROSS JOIN fact f
        ON {end} WHERE NOT ({OBSERVED}) AND {current.where}"""
        for end in _ENDS[within]
    )
    (total,) = db.execute(f"SELECT count(*) FROM ({each})", parameters).fetchone()
    found = db.execute(
        f"""SELECT {current.columns} FROM (SELECT * FROM ({each}) ORDER BY ca DESC, uuid LIMIT :limit) k
        CROSS JOIN fact f ON f.rowid = k.id {facts.ENDS} ORDER BY k.ca DESC, k.uuid""",
        parameters,
    )
    return list(map(values.fact, found)), total


def relation_counts(db: sqlite3.Connection, uuids: Sequence[str], current: facts.Condition) -> dict[str, int]:
    """By the indexes of both ends; a relation of an entity to itself counts once."""
    counted = " + ".join(
        f"(SELECT count(*) FROM fact f WHERE {end} AND NOT ({OBSERVED}) AND {current.where})"
        for end in ("f.source_uuid = u.value", "f.target_uuid = u.value AND f.source_uuid <> u.value")
    )
    found = db.execute(
        f"SELECT u.value AS uuid, {counted} AS n FROM json_each(:uuids) u",
        {**current.values, "uuids": as_list(dict.fromkeys(uuids))},
    )
    return {row["uuid"]: row["n"] for row in found if row["n"]}


def of_type(db: sqlite3.Connection, words: Sequence[str], group_ids: Sequence[str], limit: int) -> list[str]:
    """By the index of labels."""
    found = db.execute(
        f"""SELECT n.uuid FROM entity n WHERE n.group_id {IN_GROUPS} AND n.label IS NOT NULL
        AND n.label COLLATE NOCASE IN (SELECT value FROM json_each(:words))
        ORDER BY n.created_at DESC, n.uuid LIMIT :limit""",
        {"groups": as_list(group_ids), "words": as_list(words), "limit": limit},
    )
    return [row["uuid"] for row in found]


def holding(db: sqlite3.Connection, text: str, current: facts.Condition, limit: int) -> tuple[list[str], int]:
    """Looks at every entity of the groups: no index finds a part of a word."""
    kind = f"coalesce(json_extract(n.attributes, '$.{TYPE}'), n.label, 'Entity')"
    found = db.execute(
        f"""SELECT n.uuid, count(*) OVER () AS total FROM entity n WHERE n.group_id {IN_GROUPS}
        AND (instr(lowered(n.name), :text) OR instr(lowered({kind}), :text)
          OR EXISTS (SELECT 1 FROM fact f WHERE f.source_uuid = n.uuid AND {OBSERVED}
            AND instr(lowered(f.text), :text) AND {current.where}))
        ORDER BY n.created_at, n.name, n.uuid LIMIT :limit""",
        {**current.values, "text": text, "limit": limit},
    ).fetchall()
    return [row["uuid"] for row in found], found[0]["total"] if found else 0
