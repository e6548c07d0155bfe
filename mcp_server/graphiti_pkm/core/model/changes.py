"""What is asked about what became of facts, and the part of the port ``Graph`` that answers."""

from datetime import datetime

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
