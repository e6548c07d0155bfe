"""What curation reads: flagged entities, and what is said of others."""

from datetime import datetime

from graphiti_pkm.core.model.record import Record
from graphiti_pkm.core.model.records import Entity, Quality


class FlaggedFilter(Record):
    """A filter of flagged entities."""

    group_ids: tuple[str, ...]
    recorded_until: datetime | None = None
    """Only flags that were set until then; None: all."""


class FlaggedRow(Record):
    """A flagged entity."""

    quality: Quality
    entity: Entity


class FlaggedPage(Record):
    """Flagged entities with the sort key of each, and the total under the same filter."""

    rows: tuple[FlaggedRow, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int
