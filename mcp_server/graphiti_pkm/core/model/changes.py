"""The filter of changes of facts, and the port that lists them."""

from datetime import datetime

from graphiti_pkm.core.model.change_kinds import ChangeKind
from graphiti_pkm.core.model.records import Record, RecordedChange


class ChangeFilter(Record):
    """A filter of changes of facts by recording time."""

    group_ids: tuple[str, ...]
    recorded_until: datetime
    """Only what was recorded until then: the newest record at page one, or its ``now`` if later."""
    since: datetime
    """At or after."""
    until: datetime | None = None
    """Before."""
    told_since: datetime | None = None
    """Only what was told at this instant or later: by the episode that caused it, else by the first one of the fact
    that took the place of what was retired; without an episode, what was recorded then. The newest told come first."""
    told_until: datetime | None = None
    """Only what was told before this instant, likewise."""
    entity_uuid: str | None = None
    """Only changes of this entity's facts, including deleted ones."""
    kinds: tuple[ChangeKind, ...] = ()
    """Empty: all."""
    seen: tuple[datetime, ...] = ()
    """Of each group, in their order: only what was recorded after this instant. Empty: whatever was recorded."""
    newest: tuple[datetime, ...] = ()
    """Of each group, in their order: only what was recorded until this instant. Empty: whatever was recorded."""

    @property
    def told(self) -> tuple[tuple[str, str, datetime], ...]:
        """``told_since`` and ``told_until`` as far as they are given, each with how a note's time compares to it."""
        given = (("told_since", ">=", self.told_since), ("told_until", "<", self.told_until))
        return tuple((name, compared, at) for name, compared, at in given if at)

    @property
    def bounds(self) -> tuple[tuple[str, dict[str, datetime]], ...]:
        """``seen`` and ``newest`` by group, as far as they are given."""
        given = (("seen", self.seen), ("newest", self.newest))
        return tuple((name, dict(zip(self.group_ids, at, strict=True))) for name, at in given if at)


class ChangePage(Record):
    """Changes with the sort key of each, and the total under the same filter."""

    changes: tuple[RecordedChange, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
