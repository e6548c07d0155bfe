"""Nearest by meaning: exact scans inside a group."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphiti_pkm.core.model.queries import EntityFilter, EpisodeFilter, EpisodeHit, FactFilter
from graphiti_pkm.core.model.records import Vector
from graphiti_pkm.storage.graph import checks
from graphiti_pkm.storage.graph.sqlite import episodes, facts, lookups, values
from graphiti_pkm.storage.graph.sqlite.schema import ENTITY, FACT, PASSAGE
from graphiti_pkm.storage.graph.sqlite.values import as_list
from graphiti_pkm.storage.graph.sqlite.vector_cache import VectorCache, unit_vector

if TYPE_CHECKING:
    import numpy as np

_MARGIN = 64
_MORE = 8


def dimension(db: sqlite3.Connection) -> int | None:
    """The dimension of the vectors in the file; None while there are none."""
    found = values.one(db, "SELECT value FROM graph_meta WHERE key = 'dimension'")
    return int(found[0]) if found else None


def is_comparable(db: sqlite3.Connection, vector: Vector) -> bool:
    """Whether anything can be near. Raises EmbeddingMismatch for another dimension than the file's."""
    return checks.is_comparable(vector, dimension(db), "memory")


class _Scored(NamedTuple):
    """The cosines of all vectors of a kind in some groups; what each is of, and who owns it."""

    scores: "np.ndarray"
    uuids: Sequence[str]
    row_owners: "np.ndarray"
    owners: Sequence[str]
    owner_count: int
    """How many of ``owners`` these are; another thread may append to it."""


def _scored(
    db: sqlite3.Connection, cache: VectorCache, kind: str, group_ids: Sequence[str], vector: Vector
) -> _Scored | None:
    """None if there is no vector."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    found = [cache.scores(db, kind, group, vector) for group in dict.fromkeys(group_ids)]
    found = [(matrix, scores) for matrix, scores in found if len(matrix.uuids)]
    if len(found) == 1:
        ((matrix, scores),) = found
        return _Scored(scores, matrix.uuids, matrix.row_owners, matrix.owners, matrix.owner_count)
    if not found:
        return None
    before = np.cumsum([0, *(matrix.owner_count for matrix, _ in found)])
    return _Scored(
        np.concatenate([scores for _, scores in found]),
        [uuid for matrix, _ in found for uuid in matrix.uuids],
        np.concatenate([matrix.row_owners + first for (matrix, _), first in zip(found, before, strict=False)]),
        [owner for matrix, _ in found for owner in matrix.owners[: matrix.owner_count]],
        int(before[-1]),
    )


def _best_first(scores: "np.ndarray", uuids: Sequence[str], first: int) -> Iterator[list[tuple[float, str, int]]]:
    """Score, uuid and place, best first and of equal scores by uuid, in growing batches."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    taken, size = 0, first
    bound = np.inf
    while taken < len(scores):
        wanted = min(taken + size, len(scores))
        lowest = -np.inf if wanted == len(scores) else np.partition(scores, len(scores) - wanted)[len(scores) - wanted]
        places = np.flatnonzero((scores >= lowest) & (scores < bound)).tolist()
        batch = sorted((-score, uuids[at], at) for score, at in zip(scores[places].tolist(), places, strict=True))
        yield [(-score, uuid, at) for score, uuid, at in batch]
        taken += len(batch)
        bound = lowest
        size *= _MORE


def ranked(
    db: sqlite3.Connection, cache: VectorCache, kind: str, group_ids: Sequence[str], vector: Vector, limit: int
) -> Iterator[list[tuple[float, str]]]:
    """Cosine and uuid of all vectors of the groups, best first, in growing batches; most have the first ``limit``."""
    found = _scored(db, cache, kind, group_ids, vector)
    for batch in _best_first(found.scores, found.uuids, limit + _MARGIN) if found else ():
        yield [(cosine, uuid) for cosine, uuid, _ in batch]


def nearest(
    batches: Iterator[list[tuple[float, str]]], passing: Callable[[list[str]], set[str]], limit: int
) -> dict[str, float]:
    """Uuid to cosine of the nearest records that pass, best first."""
    found: dict[str, float] = {}
    for batch in batches:
        fit = passing([uuid for _, uuid in batch])
        for cosine, uuid in batch:
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

    return nearest(ranked(db, cache, ENTITY, wanted.group_ids, vector, limit), passing, limit)


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

    return nearest(ranked(db, cache, FACT, wanted.group_ids, vector, limit), passing, limit)


def nearest_episodes(
    db: sqlite3.Connection, cache: VectorCache, vector: Vector, wanted: EpisodeFilter, limit: int
) -> dict[str, EpisodeHit]:
    """The nearest episodes by their best passage; of equal ones the first in the text."""
    import numpy as np  # noqa: PLC0415 takes long to import, and a start needs no vectors

    if not is_comparable(db, vector):
        return {}
    found = _scored(db, cache, PASSAGE, wanted.group_ids, vector)
    if found is None:
        return {}
    where, parameters = episodes.matched(wanted)
    best = np.full(found.owner_count, -np.inf, np.float32)
    np.maximum.at(best, found.row_owners, found.scores)
    nearest_owners: dict[int, float] = {}
    for batch in _best_first(best, found.owners, limit + _MARGIN):
        text = f"SELECT e.uuid FROM json_each(:uuids) u JOIN episode e ON e.uuid = u.value WHERE {where}"
        asked = as_list([owner for _, owner, _ in batch])
        fit = {row[0] for row in db.execute(text, {**parameters, "uuids": asked})}
        nearest_owners |= {place: cosine for cosine, owner, place in batch if owner in fit}
        if len(nearest_owners) >= limit:
            break
    order = list(nearest_owners.items())[:limit]
    is_near = np.zeros(len(best), bool)
    is_near[[place for place, _ in order]] = True
    rows = np.flatnonzero(is_near[found.row_owners] & (found.scores == best[found.row_owners])).tolist()
    spans = {
        row[0]: (row[1], row[2])
        for row in db.execute(
            'SELECT p.uuid, p.start, p."end" FROM json_each(?) u JOIN passage p ON p.uuid = u.value',
            (as_list([found.uuids[row] for row in rows]),),
        )
    }
    spans_of: dict[int, tuple[int, int]] = {}
    for row, owner in zip(rows, found.row_owners[rows].tolist(), strict=True):
        span = spans[found.uuids[row]]
        spans_of[owner] = min(span, spans_of.get(owner, span))
    return {found.owners[owner]: EpisodeHit(cosine, *spans_of[owner]) for owner, cosine in order}


def episode_cosines(
    db: sqlite3.Connection, cache: VectorCache, vector: Vector, uuids: Sequence[str], group_ids: Sequence[str]
) -> dict[str, float]:
    """Of the nearest passage of each of these episodes."""
    if not is_comparable(db, vector):
        return {}
    found: dict[str, float] = {}
    for group in dict.fromkeys(group_ids):
        found |= cache.owner_scores(db, PASSAGE, group, vector, uuids)
    return found


def of_records(db: sqlite3.Connection, uuids: Sequence[str]) -> "dict[str, np.ndarray]":
    """The vectors of a few records, with length 1."""
    found = db.execute(
        "SELECT v.uuid, v.data FROM json_each(?) u JOIN vector v ON v.uuid = u.value", (as_list(dict.fromkeys(uuids)),)
    )
    return {row["uuid"]: unit_vector(row["data"]) for row in found}
