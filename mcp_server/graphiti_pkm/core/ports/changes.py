"""What is asked about what became of facts, and the part of the port ``Graph`` that answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from graphiti_pkm.core.model.queries import EpisodeHit, Window
from graphiti_pkm.core.model.records import ChangeKind, Record, RecordedChange


class ChangeFilter(Record):
    """Which changes of facts, by when they were recorded."""

    group_ids: tuple[str, ...]
    recorded_until: datetime
    """Only what was recorded at or before: the newest record at page one, or its now if that is later."""
    since: datetime
    """At or after."""
    until: datetime | None = None
    """Before."""
    entity_uuid: str | None = None
    """Only changes of facts that it is an end of, deleted ones included."""
    kinds: tuple[ChangeKind, ...] = ()
    """Empty: all."""


class ChangePage(Record):
    """Changes with the sort key of each, and the total under the same filter."""

    changes: tuple[RecordedChange, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int


class GraphChanges(Protocol):
    """Bounded reads of changes."""

    async def changes(self, wanted: ChangeFilter, window: Window) -> ChangePage:
        """What became of facts, newest recorded first; of one instant events before additions, then by uuid.

        An addition (``added``) is made from its fact: its uuid is the fact's, its episode the first that told it.
        """
        ...

    async def fact_changes(
        self, fact_uuids: Sequence[str], group_ids: Sequence[str], limit_each: int
    ) -> dict[str, list[RecordedChange]]:
        """The newest events of each fact, newest first, of one write the last first; without its addition."""
        ...

    async def openings(self, episode_uuids: Sequence[str], group_ids: Sequence[str], chars: int) -> dict[str, str]:
        """The first characters of each episode's content, cut in the database."""
        ...

    async def nearest_sentences(
        self, pairs: Sequence[tuple[str, str]], group_ids: Sequence[str], chars: int
    ) -> dict[tuple[str, str], EpisodeHit]:
        """For pairs of a fact and an episode: the passage nearest to the fact of those that begin before ``chars``.

        Pairs without vectors are left out.
        """
        ...

    async def replacements(self, fact_uuids: Sequence[str], group_ids: Sequence[str]) -> dict[str, str]:
        """Uuids of the facts that took the place of these when they last ended; others are left out."""
        ...

    async def reasons(self, group_id: str, limit: int) -> dict[str, str]:
        """Reasons that callers gave for changes, by the uuid of the change, newest recorded first."""
        ...
