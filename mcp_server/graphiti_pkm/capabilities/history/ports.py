"""What only this capability, and what stands above it, asks of the storage."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.changes import ChangeFilter, ChangePage
from graphiti_pkm.core.model.queries import EpisodeHit, Window


class GraphChangeLists(Protocol):
    """Bounded lists of what became of facts, with the words around each."""

    async def changes(self, wanted: ChangeFilter, window: Window) -> ChangePage:
        """Changes of facts, newest recorded first; of one instant, events before additions, then by uuid.

        With ``told_since``, the newest told first, likewise.

        An addition (``added``) is derived from its fact: it has the fact's uuid and the first episode that recorded it.
        """
        ...

    async def last_writes(self, group_ids: Sequence[str]) -> dict[str, datetime]:
        """The time of the last write of each group that has one; a later write of the same group has a later one."""
        ...

    async def openings(self, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> dict[str, str]:
        """The first characters of each episode's content, cut in the database."""
        ...

    async def nearest_sentences(
        self, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
    ) -> dict[tuple[str, str], EpisodeHit]:
        """For pairs of a fact and an episode: the passage nearest to the fact among those that begin before ``chars``.

        Pairs without vectors are left out.
        """
        ...
