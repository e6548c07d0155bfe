"""What became of facts."""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.changes import ChangeFilter, ChangePage
from graphiti_pkm.core.model.queries import EpisodeHit, Window
from graphiti_pkm.core.model.records import Fact, RecordedChange
from graphiti_pkm.storage.graph.sqlite import episodes, facts, values, vectors
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.values import CHANGE_COLUMNS, IN_GROUPS, as_list, instant_key, micros
from graphiti_pkm.storage.graph.sqlite.vector_cache import unit_vector

if TYPE_CHECKING:
    import numpy as np

_EVENT, _ADDITION = 0, 1
"""In one instant what ended comes before what was added."""
_FIRST_EPISODE = "(SELECT x.episode_uuid FROM fact_episode x WHERE x.fact_uuid = c.uuid ORDER BY x.place LIMIT 1)"
_ADDED_COLUMNS = (
    f"c.uuid AS uuid, c.uuid AS fact_uuid, 'added' AS kind, {_FIRST_EPISODE} AS episode_uuid, c.group_id, "
    "c.created_at AS recorded_at"
)

_NOTE = f"(SELECT n.valid_at FROM episode n WHERE n.uuid = {{cause}} AND n.group_id {IN_GROUPS})"
_REPLACING_NOTE = f"""(SELECT n.valid_at FROM fact r JOIN fact ended ON ended.uuid = c.fact_uuid
  AND ended.group_id {IN_GROUPS} LEFT JOIN episode n ON n.group_id {IN_GROUPS} AND n.uuid =
  (SELECT x.episode_uuid FROM fact_episode x WHERE x.fact_uuid = r.uuid ORDER BY x.place LIMIT 1)
  WHERE c.episode_uuid IS NULL AND c.kind = 'retired' AND r.uuid = c.replaced_by AND r.group_id {IN_GROUPS})"""
_TOLD = {
    "change": f"coalesce({_NOTE.format(cause='c.episode_uuid')}, {_REPLACING_NOTE}, c.recorded_at)",
    "fact": f"coalesce({_NOTE.format(cause=_FIRST_EPISODE)}, c.created_at)",
}
"""When a change was told, as ``capabilities.history.changes`` shows it."""


def page(db: sqlite3.Connection, wanted: ChangeFilter, window: Window) -> ChangePage:
    """A page of changes, newest recorded or told first; of one instant events before additions, then by uuid."""
    stored = [kind for kind in wanted.kinds if kind != "added"]
    found: list[Row] = []
    total = 0
    if stored or not wanted.kinds:
        more = "AND c.kind IN (SELECT value FROM json_each(:kinds))" if stored else ""
        total += _source(
            db, "change", "recorded_at", _EVENT, CHANGE_COLUMNS, more, {"kinds": as_list(stored)}, wanted, window, found
        )
    if not wanted.kinds or "added" in wanted.kinds:
        total += _source(db, "fact", "created_at", _ADDITION, _ADDED_COLUMNS, "", {}, wanted, window, found)
    found.sort(key=lambda row: (-row["at"], row["rank"], row["uuid"]))
    found = found[: window.limit]
    return ChangePage(
        changes=tuple(map(values.change, found)),
        keys=tuple((row["at"], row["rank"], row["uuid"]) for row in found),
        total=total,
    )


def _source(
    db: sqlite3.Connection,
    table: str,
    at: str,
    rank: int,
    columns: str,
    more: str,
    given: dict[str, object],
    wanted: ChangeFilter,
    window: Window,
    found: list[Row],
) -> int:
    """Adds the next changes of one table to ``found``; returns how many there are in all."""
    parameters: dict[str, object] = {
        **given,
        "groups": as_list(wanted.group_ids),
        "since": micros(wanted.since),
        "recorded_until": micros(wanted.recorded_until),
        "limit": window.limit,
    }
    where = f"c.group_id {IN_GROUPS} AND c.{at} >= :since AND c.{at} <= :recorded_until {more}"
    if wanted.until is not None:
        where += f" AND c.{at} < :until"
        parameters["until"] = micros(wanted.until)
    for name, of_group in wanted.bounds:
        compared = ">" if name == "seen" else "<="
        where += f""" AND c.{at} {compared} json_extract(:{name}, '$."' || c.group_id || '"')"""
        parameters[name] = json.dumps({group: micros(instant) for group, instant in of_group.items()})
    for name, compared, instant in wanted.told:
        where += f" AND {_TOLD[table]} {compared} :{name}"
        parameters[name] = micros(instant)
    if wanted.entity_uuid is not None:
        parameters["entity"] = wanted.entity_uuid
        where += f""" AND c.uuid IN (SELECT uuid FROM {table} WHERE source_uuid = :entity
          UNION ALL SELECT uuid FROM {table} WHERE target_uuid = :entity)"""
    (total,) = db.execute(f"SELECT count(*) FROM {table} c WHERE {where}", parameters).fetchone()
    order = f"c.{at}" if wanted.told_since is None else _TOLD[table]
    further = ""
    if window.after is not None:
        last, *others = window.after
        parameters |= {"c0": instant_key(last), "c1": others[0], "c2": others[1]}
        further = f"""AND {order} <= :c0 AND ({order} < :c0 OR {rank} > :c1 OR ({rank} = :c1 AND c.uuid > :c2))"""
    found += db.execute(
        f"""SELECT {rank} AS rank, {order} AS at, {columns} FROM {table} c WHERE {where} {further}
        ORDER BY {order} DESC, c.uuid LIMIT :limit""",
        parameters,
    ).fetchall()
    return int(total)


def of_fact(db: sqlite3.Connection, fact_uuid: str, group_ids: Sequence[str], limit: int) -> list[RecordedChange]:
    """The changes of a fact, newest first; those of one write in the opposite of its order."""
    found = db.execute(
        f"""SELECT {CHANGE_COLUMNS} FROM change c WHERE c.fact_uuid = :fact AND c.group_id {IN_GROUPS}
        ORDER BY c.recorded_at DESC, c.place DESC, c.uuid LIMIT :limit""",
        {"fact": fact_uuid, "groups": as_list(group_ids), "limit": limit},
    )
    return list(map(values.change, found))


def retired_by(db: sqlite3.Connection, cause: str, uuid: str, group_ids: Sequence[str], limit: int) -> list[Fact]:
    """Facts that an episode (``episode_uuid``) or another fact (``replaced_by``) ended or voided."""
    return facts.newest_created(
        db,
        f"""change c JOIN fact f ON f.uuid = c.fact_uuid WHERE c.{cause} = :uuid AND c.group_id {IN_GROUPS}
        AND c.kind IN ('retired', 'voided') AND f.group_id {IN_GROUPS}""",
        {"uuid": uuid, "groups": as_list(group_ids)},
        limit,
    )


def replacements(db: sqlite3.Connection, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
    """What took the place of each fact whose newest ending names it."""
    found = db.execute(
        f"""SELECT u.value AS fact, (SELECT c.replaced_by FROM change c
          WHERE c.fact_uuid = u.value AND c.group_id {IN_GROUPS} AND c.kind IN ('retired', 'voided')
          ORDER BY c.recorded_at DESC, c.place DESC LIMIT 1) AS successor
        FROM json_each(:facts) u""",
        {"facts": as_list(dict.fromkeys(fact_uuids)), "groups": as_list(group_ids)},
    )
    return {row["fact"]: row["successor"] for row in found if row["successor"] is not None}


def reasons(db: sqlite3.Connection, group_id: str, limit: int) -> dict[str, str]:
    """The reasons of changes by the uuid of the change, newest recorded first."""
    found = db.execute(
        """SELECT uuid, reason FROM change WHERE group_id = ? AND reason IS NOT NULL
        ORDER BY recorded_at DESC, uuid LIMIT ?""",
        (group_id, limit),
    )
    return {row["uuid"]: row["reason"] for row in found}


def nearest_sentences(
    db: sqlite3.Connection, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
) -> dict[tuple[str, str], EpisodeHit]:
    """For each pair of a fact and an episode, the passage nearest to the fact that begins before ``chars``."""
    wanted = {
        row[0]
        for row in db.execute(
            f"SELECT f.uuid FROM json_each(:facts) u JOIN fact f ON f.uuid = u.value WHERE f.group_id {IN_GROUPS}",
            {"facts": as_list(dict.fromkeys(fact for fact, _ in pairs)), "groups": as_list(group_ids)},
        )
    }
    of_facts = vectors.of_records(db, sorted(wanted))
    compared = [(fact, episode) for fact, episode in pairs if fact in of_facts]
    sentences = defaultdict[str, list["tuple[np.ndarray, int, int]"]](list)
    for row in db.execute(
        f"""SELECT p.episode_uuid, p.start, p."end", v.data FROM json_each(:episodes) u
        CROSS JOIN episode e ON e.uuid = u.value JOIN passage p ON p.episode_uuid = e.uuid
        JOIN vector v ON v.uuid = p.uuid WHERE p.start < :chars AND e.group_id {IN_GROUPS}""",
        {
            "episodes": as_list(dict.fromkeys(episode for _, episode in compared)),
            "chars": chars,
            "groups": as_list(group_ids),
        },
    ):
        sentences[row["episode_uuid"]].append((unit_vector(row["data"]), row["start"], row["end"]))
    hits: dict[tuple[str, str], EpisodeHit] = {}
    for fact, episode in compared:
        near = [(float(vector @ of_facts[fact]), start, end) for vector, start, end in sentences[episode]]
        if near:
            cosine, start, end = min(near, key=lambda one: (-one[0], one[1]))
            hits[fact, episode] = EpisodeHit(cosine=cosine, start=start, end=end)
    return hits


class SqliteChangeLists(SqlitePart):
    """The port ``GraphChangeLists``."""

    async def changes(self, wanted: ChangeFilter, window: Window) -> ChangePage:
        return await self._file.read(lambda db: page(db, wanted, window))

    async def last_writes(self, group_ids: Sequence[str]) -> dict[str, datetime]:
        found = await self._file.read(
            lambda db: db.execute(
                f"SELECT group_id, recorded_at FROM groups WHERE group_id {IN_GROUPS} AND recorded_at IS NOT NULL",
                {"groups": as_list(group_ids)},
            ).fetchall()
        )
        return {row["group_id"]: values.moment(row["recorded_at"]) for row in found}

    async def openings(self, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> dict[str, str]:
        return await self._file.read(lambda db: episodes.openings(db, episode_uuids, group_ids, chars))

    async def nearest_sentences(
        self, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
    ) -> dict[tuple[str, str], EpisodeHit]:
        return await self._file.read(lambda db: nearest_sentences(db, pairs, group_ids, chars))
