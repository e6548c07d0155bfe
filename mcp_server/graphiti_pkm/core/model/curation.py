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


class QualityFilter(Record):
    """What a report counts."""

    group_ids: tuple[str, ...]
    below: float
    """A confidence under this one is low."""
    creator_prefix: str = ""
    """Only creators whose name begins so."""
    limit: int
    """Creators at most."""


class QualityCounts(Record):
    """How good what some groups hold is."""

    entities: int
    flagged: int
    rated: int
    """With a confidence."""
    low: int
    orphans: int
    """Entities that no episode mentions, no fact names and no quote is evidence of, but for projects and the user."""
    creators: tuple[tuple[str, int], ...]
    """Who made entities of low confidence, and how many, most first, then by name."""
    creators_total: int
