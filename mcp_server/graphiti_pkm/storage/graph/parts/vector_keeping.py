"""The part ``vectors``: the background work on the HNSW indexes.

Any number of processes may do it: the database's own state is what they share, and tells which of them was first.
"""

import asyncio
import logging

from graphiti_pkm.core.model.queries import VectorIndex
from graphiti_pkm.core.waiting import wait_for_any
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.storage.graph import schema
from graphiti_pkm.storage.graph.parts.part import Part

_log = logging.getLogger(__name__)

BUILDING_SECONDS = 5.0
TENDED_SECONDS = 60.0


class VectorKeeping(Part):
    """The port ``GraphVectors``."""

    settle_seconds = 15.0
    """Seconds after a start that are left to searches."""

    async def vector_indexes(self) -> tuple[VectorIndex, ...]:
        found = await (await self._db()).vector_states()
        return tuple(VectorIndex(name=kind.name, percent=percent) for kind, percent in found.items())

    async def tend_vector_indexes(self) -> None:
        """Build indexes by the sizes of the groups; returns while the database builds. Raises Unavailable."""
        db = await self._db()
        _, dimension = await schema.embedding(db)
        await self._opened.vectors.tend(db, dimension)

    async def detect_vector_indexes(self) -> None:
        """Use the existing indexes without changing them. Raises Unavailable."""
        await self._opened.vectors.look(await self._db())

    async def maintain_indexes(self, stop: asyncio.Event) -> None:
        """Maintain them until ``stop`` is set."""
        work, seconds = self.detect_vector_indexes, self.settle_seconds
        while not stop.is_set():
            try:
                await work()
            except Unavailable as error:
                _log.warning("the vector indexes have to wait: %s", error.message)
            await wait_for_any(stop, seconds=BUILDING_SECONDS if self._opened.vectors.is_building else seconds)
            work, seconds = self.tend_vector_indexes, TENDED_SECONDS
