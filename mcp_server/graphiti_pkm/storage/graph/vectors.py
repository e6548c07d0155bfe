"""Chooses exact or indexed vector search, and builds the HNSW indexes of large groups.

Exact is the rule. An index holds all groups, and which of the near ones it gives depends on all that is in it. So it
serves a principal only while nobody else has anything in the database, and a group only if that is a good part of it;
what it gives is complete if it fills the limit, else all of the group is scanned. The database keeps an index complete
with every write, refuses to use one it has not finished, and builds in the background.

Only one thing is remembered here: how large the groups were when ``look`` was called last. It decides speed, never
what is found.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from graphiti_pkm.core.identity.groups import owner_of
from graphiti_pkm.settings.loader import VECTOR_INDEX_THRESHOLD
from graphiti_pkm.storage.graph.database import Database, Refused
from graphiti_pkm.storage.graph.queries import vectors as queries_vectors
from graphiti_pkm.storage.graph.queries.read import GROUPS
from graphiti_pkm.storage.graph.queries.values import Query, Row
from graphiti_pkm.storage.graph.vector_indexes import ALL, COMPLETE, Embedded

_log = logging.getLogger(__name__)

FEWEST_HITS = 400
"""The index examines as many vectors as it is asked for: of the nearest ten of 100,000, 200 hits included 9.7, 400
9.9."""
_HITS_A_RESULT = 2
_SCANNED_A_HIT = 10
"""A hit of the index takes as long as this many vectors of an exact scan."""
_MORE_HITS = 8


class VectorIndexes:
    """The indexes of one database as known to one process."""

    def __init__(self, threshold: int = VECTOR_INDEX_THRESHOLD) -> None:
        """``threshold``: an index is built once a group has more embedded records of its kind."""
        self._threshold = threshold
        self._sizes: dict[Embedded, Mapping[str, int]] = {}
        self._built: dict[Embedded, int] = {}
        """How many percent of an index."""

    @property
    def is_building(self) -> bool:
        """Whether the database was building one when last checked."""
        return any(percent < COMPLETE for percent in self._built.values())

    def forget(self) -> None:
        """Forget what is known about the vectors, because the graph was replaced."""
        self._sizes, self._built = {}, {}

    async def nearest(
        self,
        db: Database,
        kind: Embedded,
        group_ids: Sequence[str],
        limit: int,
        ask: Callable[[int | None], Query],
    ) -> list[Row]:
        """Rows with a ``uuid``, best first. ``ask`` returns the query over so many hits of the index, or over all."""
        asked = list(self.hits_to_ask_for(kind, group_ids, limit))
        for k in asked if asked and await self._are_alone(db, group_ids) else ():
            found = await self._indexed(db, kind, ask(k))
            if found is None:
                break
            if len({row["uuid"] for row in found}) >= limit:
                return found
        (found,) = await db.read(ask(None))
        return found

    def hits_to_ask_for(self, kind: Embedded, group_ids: Sequence[str], limit: int) -> Iterator[int]:
        """Hits to request, so that the group's share fills the limit, plus more for a filter; none if a scan is faster.

        Never for a small group, which would read everyone else's vectors.
        """
        sizes = self._sizes.get(kind, {})
        own = sum(sizes.get(group, 0) for group in set(group_ids))
        if self._built.get(kind) != COMPLETE or own <= self._threshold:
            return
        k = max(FEWEST_HITS, math.ceil(_HITS_A_RESULT * limit * sum(sizes.values()) / own))
        while k * _SCANNED_A_HIT <= own:
            yield k
            k *= _MORE_HITS

    @staticmethod
    async def _are_alone(db: Database, group_ids: Sequence[str]) -> bool:
        """Whether all data belongs to the owner of these groups."""
        (found,) = await db.read(GROUPS)
        return len({owner_of(group) for group in (*group_ids, *(row["id"] for row in found))}) == 1

    async def look(self, db: Database) -> None:
        """Read which indexes exist, and the sizes of the groups where that matters."""
        self._built = await db.vector_states()
        totals = await db.read(*map(queries_vectors.total, ALL))
        self._sizes = {}
        for kind, (row,) in zip(ALL, totals, strict=True):
            if row["total"] > self._threshold or kind in self._built:
                (found,) = await db.read(queries_vectors.sizes(kind))
                self._sizes[kind] = {row["id"]: row["total"] for row in found}

    async def tend(self, db: Database, dimension: int | None) -> None:
        """Read the state, then build what a large group of the only principal needs. An index stays once it exists."""
        await self.look(db)
        for kind in ALL:
            sizes = self._sizes.get(kind, {})
            is_needed = max(sizes.values(), default=0) > self._threshold and len(set(map(owner_of, sizes))) == 1
            if kind in self._built or not is_needed or dimension is None:
                continue
            if await db.create_vector_index(kind, dimension):
                _log.info("building a vector index of %s", kind.name)
                self._built[kind] = 0

    async def _indexed(self, db: Database, kind: Embedded, query: Query) -> list[Row] | None:
        """None if the index cannot be used: missing or incomplete."""
        try:
            return await db.try_read(query)
        except Refused:
            _log.info("the vector index of %s is not there; searching without it", kind.name)
            self._built.pop(kind, None)
            return None
