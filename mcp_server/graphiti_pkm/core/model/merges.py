"""What two entities have in common or apart when one is merged into the other: uuids and counts, never words."""

from datetime import datetime

from graphiti_pkm.core.model.record import Record


class Moved(Record):
    """What a part of a merge takes from one entity to the other, and its undoing back: uuids, never words."""

    sources: tuple[str, ...] = ()
    """Facts that start at it."""
    targets: tuple[str, ...] = ()
    """Facts that lead to it."""
    mentions: tuple[str, ...] = ()
    """Episodes that mention it."""
    entries: tuple[str, ...] = ()
    """Episodes that are its entries, of a project."""
    evidence: tuple[str, ...] = ()
    """Quotes from documents that are evidence of it."""
    causes: tuple[str, ...] = ()
    """Facts that follow from it."""
    change_sources: tuple[str, ...] = ()
    """Changes of facts that start at it, and of itself."""
    change_targets: tuple[str, ...] = ()

    @property
    def facts(self) -> frozenset[str]:
        return frozenset((*self.sources, *self.targets))


class MergeSizes(Record):
    """How much hangs on two entities; equal only while nothing about either has changed."""

    facts: tuple[int, int]
    """Of the entity that stays, and of the one that goes."""
    mentions: tuple[int, int]
    entries: int
    """Of the one that goes, as a project."""
    pair: int
    """Facts between both."""
    newest: datetime | None
    """When anything of them was recorded last."""


class MergeHead(Record):
    """A merge that was not undone."""

    uuid: str
    group_id: str
    kept_uuid: str
    removed_uuid: str
    recorded_at: datetime
    parts: int
    is_whole: bool
    """Whether its last part is there."""
    is_undone: bool
    """Whether its undoing has begun."""
