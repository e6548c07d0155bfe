"""Nearest by meaning: exact scans inside a group."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, EpisodeHit, FactFilter
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.graph import checks
from graphiti_pkm.storage.graph.sqlite import episodes, facts, lookups, values
from graphiti_pkm.storage.graph.sqlite.schema import ENTITY, FACT, PASSAGE
from graphiti_pkm.storage.graph.sqlite.values import as_list
from graphiti_pkm.storage.graph.sqlite.vector_cache import VectorCache, unit_vector

if TYPE_CHECKING:
    import numpy as np

_FIRST_CANDIDATES = 64
_MORE = 8


def dimension(db: sqlite3.Connection) -> int | None:
    """The dimension of the vectors in the file; None while there are none."""
    found = values.one(db, "SELECT value FROM graph_meta WHERE key = 'dimension'")
    return int(found[0]) if found else None


def is_comparable(db: sqlite3.Connection, vector: Vector) -> bool:
    """Whether anything can be near. Raises EmbeddingMismatch for another dimension than the file's."""
    return checks.is_comparable(vector, dimension(db), "memory")


def ranked(
    db: sqlite3.Connection, cache: VectorCache, kind: str, group_ids: Sequence[str], vector: Vector
) -> Iterator[list[tuple[float, str, str]]]:
    """Cosine, uuid and owner of all vectors of the groups, best first, in growing batches."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    scored = [cache.scores(db, kind, group, vector) for group in dict.fromkeys(group_ids)]
    scored = [(matrix, scores) for matrix, scores in scored if len(matrix.uuids)]
    if not scored:
        return
    scores = np.concatenate([one for _, one in scored])
    uuids = [uuid for matrix, _ in scored for uuid in matrix.uuids]
    owners = [owner for matrix, _ in scored for owner in matrix.owners]
    taken, size = 0, _FIRST_CANDIDATES
    bound = np.inf
    while taken < len(scores):
        wanted = min(taken + size, len(scores))
        lowest = -np.inf if wanted == len(scores) else np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        places = np.flatnonzero((scores >= lowest) & (scores < bound))
        batch = sorted(((float(scores[i]), uuids[i], owners[i]) for i in places), key=lambda hit: (-hit[0], hit[1]))
        yield batch
        taken += len(batch)
        bound = lowest
        size *= _MORE


def nearest(
    batches: Iterator[list[tuple[float, str, str]]], passing: Callable[[list[str]], set[str]], limit: int
) -> dict[str, float]:
    """Uuid to cosine of the nearest records that pass, best first."""
    found: dict[str, float] = {}
    for batch in batches:
        fit = passing([uuid for _, uuid, _ in batch])
        for cosine, uuid, _ in batch:
            if uuid in fit:
                found[uuid] = cosine
                if len(found) == limit:
                    return found
    return found


def nearest_entities(
    db: sqlite3.Connection, cache: VectorCache, vector: Vector, wanted: EntityFilter, limit: int
) -> dict[str, float]:
    """The nearest entities by the embeddings of their names."""
    if not is_comparable(db, vector):
        return {}
    where, parameters = lookups.entity_condition(wanted)

    def passing(uuids: list[str]) -> set[str]:
        text = f"SELECT n.uuid FROM json_each(:uuids) u JOIN entity n ON n.uuid = u.value WHERE {where}"
        return {row[0] for row in db.execute(text, {**parameters, "uuids": as_list(uuids)})}

    return nearest(ranked(db, cache, ENTITY, wanted.group_ids, vector), passing, limit)


def nearest_facts(
    db: sqlite3.Connection, cache: VectorCache, vector: Vector, wanted: FactFilter, limit: int
) -> dict[str, float]:
    """The nearest facts by their embeddings."""
    if not is_comparable(db, vector):
        return {}
    asked = facts.condition(wanted)

    def passing(uuids: list[str]) -> set[str]:
        text = f"""SELECT f.uuid FROM json_each(:uuids) u JOIN fact f ON f.uuid = u.value {asked.join}
          WHERE {asked.where}"""
        return {row[0] for row in db.execute(text, {**asked.values, "uuids": as_list(uuids)})}

    return nearest(ranked(db, cache, FACT, wanted.group_ids, vector), passing, limit)


def nearest_episodes(
    db: sqlite3.Connection, cache: VectorCache, vector: Vector, wanted: EpisodeFilter, limit: int
) -> dict[str, EpisodeHit]:
    """The nearest episodes by their best passages."""
    if not is_comparable(db, vector):
        return {}
    where, parameters = episodes.matched(wanted)
    best: dict[str, tuple[float, list[str]]] = {}
    refused: set[str] = set()
    for batch in ranked(db, cache, PASSAGE, wanted.group_ids, vector):
        owners = [
            owner for owner in dict.fromkeys(hit[2] for hit in batch) if owner not in best and owner not in refused
        ]
        text = f"SELECT e.uuid FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value WHERE {where}"
        fit = {row[0] for row in db.execute(text, {**parameters, "uuids": as_list(owners)})}
        refused.update(owner for owner in owners if owner not in fit)
        for cosine, uuid, owner in batch:
            if owner in best:
                if best[owner][0] == cosine:
                    best[owner][1].append(uuid)
            elif owner in fit:
                best[owner] = (cosine, [uuid])
        if len(best) >= limit:
            break
    order = sorted(best.items(), key=lambda one: (-one[1][0], one[0]))[:limit]
    spans = {
        row["uuid"]: (row["start"], row["end"])
        for row in db.execute(
            'SELECT p.uuid, p.start, p."end" FROM json_each(?) u JOIN passage p ON p.uuid = u.value',
            (as_list([uuid for _, (_, uuids) in order for uuid in uuids]),),
        )
    }
    hits = {}
    for owner, (cosine, uuids) in order:
        start, end = min(spans[uuid] for uuid in uuids)
        hits[owner] = EpisodeHit(cosine=cosine, start=start, end=end)
    return hits


def of_records(db: sqlite3.Connection, uuids: Sequence[str]) -> "dict[str, np.ndarray]":
    """The vectors of a few records, with length 1."""
    found = db.execute(
        "SELECT v.uuid, v.data FROM json_each(?) u JOIN vector v ON v.uuid = u.value", (as_list(dict.fromkeys(uuids)),)
    )
    return {row["uuid"]: unit_vector(row["data"]) for row in found}
