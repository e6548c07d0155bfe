"""Reads that go further than one edge: the words behind a fact, ways between entities, what surrounds one."""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Container, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.passages import is_heading
from graphiti_pkm.core.model.queries import FactFilter, Window
from graphiti_pkm.core.model.records import Fact
from graphiti_pkm.core.model.walks import FactSource, Neighbourhood, SourceMode, SourcePage
from graphiti_pkm.storage.graph.path_search import End, PathSearch
from graphiti_pkm.storage.graph.queries.paths import COSINE_UNITS, NEAR, NOT_COMPARED
from graphiti_pkm.storage.graph.sqlite import facts, lookups, values, vectors
from graphiti_pkm.storage.graph.sqlite.facts import OBSERVED
from graphiti_pkm.storage.graph.sqlite.file import Row
from graphiti_pkm.storage.graph.sqlite.part import SqlitePart
from graphiti_pkm.storage.graph.sqlite.values import as_list, instant_key
from graphiti_pkm.storage.graph.sqlite.vector_cache import unit_vector

if TYPE_CHECKING:
    import numpy as np

_Key = tuple[int, int, int, str, int]


def fact_sources(
    db: sqlite3.Connection, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window
) -> SourcePage:
    """A page of parts of the supporting episodes: the one with the quote, then the nearest in meaning; no headings."""
    supporting = db.execute(
        """SELECT DISTINCT e.uuid, e.valid_at, e.content FROM fact_episode x JOIN episode e ON e.uuid = x.episode_uuid
        WHERE x.fact_uuid = ? AND e.group_id IN (SELECT value FROM json_each(?))""",
        (fact.uuid, as_list(group_ids)),
    ).fetchall()
    own = vectors.of_records(db, [fact.uuid]).get(fact.uuid)
    parts: dict[_Key, FactSource] = {}
    for episode in supporting:
        compared = [] if own is None else _compared(db, fact, episode, own)
        units: dict[int, list[_Passage]] = defaultdict(list)
        for passage in compared:
            sentence = -1 if passage.holds_quote else passage.start
            units[{"quote": sentence, "paragraph": passage.paragraph, "episode": 0}[mode]].append(passage)
        for unit in units.values() or [[]]:
            key, part = _part(fact, episode, unit)
            parts[key] = part
    near = _near(parts)
    after = None if window.after is None else _order(window.after)
    keys = sorted((key for key in near if after is None or _order(key) > after), key=_order)[: window.limit]
    return SourcePage(sources=tuple(near[key] for key in keys), keys=tuple(keys), total=len(near), held=len(parts))


class _Passage:
    """A passage as it is compared with a fact."""

    def __init__(self, row: Row, score: int, *, holds_quote: bool) -> None:
        self.start: int = row["start"]
        self.end: int = row["end"]
        self.paragraph: int = row["paragraph"]
        self.score = score
        self.holds_quote = holds_quote


def _compared(db: sqlite3.Connection, fact: Fact, episode: Row, own: "np.ndarray") -> list[_Passage]:
    found = db.execute(
        """SELECT p.start, p."end", p.paragraph, v.data FROM passage p JOIN vector v ON v.uuid = p.uuid
        WHERE p.episode_uuid = ? ORDER BY p.start""",
        (episode["uuid"],),
    )
    is_quoted = fact.quote_episode_uuid == episode["uuid"]
    passages = [
        _Passage(
            row,
            round(float(unit_vector(row["data"]) @ own) * COSINE_UNITS),
            holds_quote=is_quoted and row["start"] < (fact.quote_end or 0) and row["end"] > (fact.quote_start or 0),
        )
        for row in found
    ]
    return [one for one in passages if one.holds_quote or not is_heading(episode["content"], one.start)]


def _part(fact: Fact, episode: Row, passages: Sequence[_Passage]) -> tuple[_Key, FactSource]:
    if not passages:
        holds = fact.quote_episode_uuid == episode["uuid"]
        source = FactSource(
            episode_uuid=episode["uuid"], holds_quote=holds, start=None, end=None, best=None, cosine=None
        )
        return (int(holds), NOT_COMPARED, episode["valid_at"], episode["uuid"], -1), source
    best = min(passages, key=lambda one: (not one.holds_quote, -one.score, one.start))
    score = max(one.score for one in passages)
    start = min(one.start for one in passages)
    holds = any(one.holds_quote for one in passages)
    source = FactSource(
        episode_uuid=episode["uuid"],
        holds_quote=holds,
        start=start,
        end=max(one.end for one in passages),
        best=best.start,
        cosine=score / COSINE_UNITS,
    )
    return (int(holds), score, episode["valid_at"], episode["uuid"], start), source


def _near(parts: dict[_Key, FactSource]) -> dict[_Key, FactSource]:
    """The passages without those less than half as near as the best, but with the best of each episode."""
    best: dict[str, int] = {}
    for _, score, _, uuid, _ in parts:
        best[uuid] = max(score, best.get(uuid, NOT_COMPARED))
    top = max(best.values(), default=0)
    return {key: part for key, part in parts.items() if key[0] or key[1] == best[key[3]] or key[1] * NEAR >= top}


def _order(key: Sequence[object]) -> tuple[object, ...]:
    first, score, valid_at, uuid, place = key
    return -int(str(first)), -int(str(score)), -int(str(instant_key(valid_at))), uuid, place


def _joining(wanted: FactFilter) -> facts.Condition:
    asked = facts.condition(wanted)
    asked.where += f" AND NOT {asked.held.voided} AND NOT ({OBSERVED})"
    return asked


_BOTH_ENDS = """(SELECT u.value AS here, f.target_uuid AS there, f.rowid AS id FROM json_each(:frontier) u
    CROSS JOIN fact f ON f.source_uuid = u.value
  UNION ALL SELECT u.value, f.source_uuid, f.rowid FROM json_each(:frontier) u
    CROSS JOIN fact f ON f.target_uuid = u.value WHERE f.source_uuid <> f.target_uuid)"""
_FACTS_OF = """(SELECT count(*) FROM fact f WHERE f.source_uuid = {uuid})
  + (SELECT count(*) FROM fact f WHERE f.target_uuid = {uuid})"""


def _step(
    db: sqlite3.Connection, asked: facts.Condition, frontier: Sequence[str], closed: Container[str], most_each: int
) -> dict[str, list[str]]:
    """Entities one hop further that are not ``closed``, each with some of those it was reached from."""
    reached: dict[str, list[str]] = {}
    for row in db.execute(
        f"""SELECT DISTINCT k.here, k.there FROM {_BOTH_ENDS} k CROSS JOIN fact f ON f.rowid = k.id {asked.join}
        WHERE {asked.where}""",
        {**asked.values, "frontier": as_list(frontier)},
    ):
        if row["there"] not in closed:
            nearer = reached.setdefault(row["there"], [])
            if len(nearer) < most_each:
                nearer.append(row["here"])
    return reached


def _facts_of(db: sqlite3.Connection, uuids: Sequence[str]) -> int:
    (count,) = db.execute(
        f"SELECT coalesce(sum({_FACTS_OF.format(uuid='u.value')}), 0) FROM json_each(?) u", (as_list(uuids),)
    ).fetchone()
    return int(count)


def shortest_paths(
    db: sqlite3.Connection,
    source_uuid: str,
    target_uuid: str,
    wanted: FactFilter,
    max_hops: int,
    limit: int,
    avoided: Collection[str],
) -> list[tuple[Fact, ...]]:
    """Paths with the fewest facts."""
    if source_uuid == target_uuid:
        return []
    asked = _joining(wanted)
    source, target = (End(uuid, _facts_of(db, [uuid]), avoided) for uuid in (source_uuid, target_uuid))
    search = PathSearch(source, target, max_hops)
    while (end := search.next_end()) is not None:
        reached = _step(db, asked, end.frontier, end.closed, limit)
        end.go_on(reached, _facts_of(db, list(reached)))
    return [tuple(_joined(db, asked, *step) for step in pairwise(way)) for way in search.ways(limit)]


_LISTED = "ORDER BY {current} DESC, f.starts DESC, f.created_at DESC, f.uuid"


def _joined(db: sqlite3.Connection, asked: facts.Condition, one_uuid: str, other_uuid: str) -> Fact:
    """The fact between two entities, in either direction, that connections list first."""
    row = db.execute(
        f"""SELECT {asked.columns} FROM fact f {facts.ENDS} {asked.join}
        WHERE f.uuid IN (SELECT uuid FROM fact WHERE source_uuid = :one AND target_uuid = :other
          UNION ALL SELECT uuid FROM fact WHERE source_uuid = :other AND target_uuid = :one) AND {asked.where}
        {_LISTED.format(current=asked.is_current)} LIMIT 1""",
        {**asked.values, "one": one_uuid, "other": other_uuid},
    ).fetchone()
    return values.fact(row)


def neighbourhood(
    db: sqlite3.Connection,
    entity_uuids: Sequence[str],
    wanted: FactFilter,
    hops: int,
    max_entities: int,
    max_facts: int,
    avoided: Collection[str] = (),
) -> Neighbourhood:
    """The entities around some others, ring by ring, with the facts among all of them."""
    asked = _joining(wanted)
    seeds = list(dict.fromkeys(entity_uuids))
    rings, seen, left_out = [seeds], list(seeds), 0
    while len(rings) <= hops and rings[-1] and not left_out:
        room = max_entities + len(seeds) - len(seen)
        ring = [
            row["uuid"]
            for row in db.execute(
                f"""SELECT n.uuid FROM (SELECT k.there AS uuid, count(*) AS facts FROM {_BOTH_ENDS} k
                  CROSS JOIN fact f ON f.rowid = k.id {asked.join}
                  WHERE {asked.where} AND k.there NOT IN (SELECT value FROM json_each(:seen)) GROUP BY k.there) x
                JOIN entity n ON n.uuid = x.uuid WHERE n.group_id IN (SELECT value FROM json_each(:groups))
                ORDER BY x.facts DESC, n.name, n.uuid""",
                {
                    **asked.values,
                    "frontier": as_list([one for one in rings[-1] if one not in avoided]),
                    "seen": as_list(seen),
                },
            )
        ]
        rings.append(ring[:room])
        seen += ring[:room]
        left_out = len(ring) - len(ring[:room])
    found = {entity.uuid: entity for entity in lookups.entities(db, seen[len(seeds) :], wanted.group_ids)}
    among, total = _among(db, asked, seen, max_facts)
    return Neighbourhood(
        entities=tuple((found[uuid], hop) for hop, ring in enumerate(rings) for uuid in ring if uuid in found),
        entities_left_out=left_out,
        facts=among,
        facts_total=total,
    )


def _among(
    db: sqlite3.Connection, asked: facts.Condition, uuids: Sequence[str], limit: int
) -> tuple[tuple[Fact, ...], int]:
    """Facts with both ends in a list: the first of each pair of entities before the second of any; and their total."""
    parameters = {**asked.values, "uuids": as_list(uuids), "limit": limit}
    matched = f"""json_each(:uuids) u CROSS JOIN fact f ON f.source_uuid = u.value {asked.join}
      WHERE {asked.where} AND f.target_uuid IN (SELECT value FROM json_each(:uuids))"""
    (total,) = db.execute(f"SELECT count(*) FROM {matched}", parameters).fetchone()
    order = f"{asked.is_current} DESC, {asked.starts} DESC, f.created_at DESC, f.uuid"
    found = db.execute(
        f"""SELECT {asked.columns} FROM (SELECT f.rowid AS id, row_number() OVER (
            PARTITION BY min(f.source_uuid, f.target_uuid), max(f.source_uuid, f.target_uuid) ORDER BY {order}) AS turn
          FROM {matched}) k CROSS JOIN fact f ON f.rowid = k.id {facts.ENDS} {asked.join}
        ORDER BY k.turn, {order} LIMIT :limit""",
        parameters,
    )
    return tuple(map(values.fact, found)), total


class SqliteWalks(SqlitePart):
    """The port ``GraphWalks``."""

    async def fact_sources(self, fact: Fact, group_ids: Sequence[str], mode: SourceMode, window: Window) -> SourcePage:
        return await self._file.read(lambda db: fact_sources(db, fact, group_ids, mode, window))

    async def shortest_paths(
        self,
        source_uuid: str,
        target_uuid: str,
        wanted: FactFilter,
        max_hops: int,
        limit: int,
        avoided: Collection[str] = (),
    ) -> list[tuple[Fact, ...]]:
        return await self._file.read(
            lambda db: shortest_paths(db, source_uuid, target_uuid, wanted, max_hops, limit, avoided)
        )

    async def neighbourhood(
        self,
        entity_uuids: Sequence[str],
        wanted: FactFilter,
        hops: int,
        max_entities: int,
        max_facts: int,
        avoided: Collection[str] = (),
    ) -> Neighbourhood:
        return await self._file.read(
            lambda db: neighbourhood(db, entity_uuids, wanted, hops, max_entities, max_facts, avoided)
        )
