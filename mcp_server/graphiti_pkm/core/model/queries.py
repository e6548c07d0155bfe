"""What a read asks for and what a page of records looks like."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from graphiti_pkm.core.model.records import Episode, Fact, FactKind, Name, Record

Direction = Literal["both", "out", "in"]
FactStatus = Literal["current", "possible", "ended", "voided", "planned", "event", "reading", "future"]


class Window(Record):
    """One page by keyset: rows after ``after`` in the order of the query."""

    limit: int = Field(ge=1)
    after: tuple[str | int, ...] | None = None
    """The sort key of the last row seen, as the page returned it; never an offset."""
    newest: bool = True


class FactFilter(Record):
    """Which facts; every None means no restriction. Times are aware UTC; intervals are half-open."""

    group_ids: tuple[str, ...]
    now: datetime
    """What "current" means; taken from page one and kept in the cursor. It limits nothing that was recorded: the clock
    may have been set back since."""
    recorded_until: datetime | None = None
    """Only what was recorded at or before, and as it was then: a fact ended or voided later still held. None: all."""
    as_of: datetime | None = None
    """Only states that held at this instant, or may have (unknown start). Voided ones never held, nor did events,
    plans and readings; of a state retired without an end nobody knows when it held."""
    known_at: datetime | None = None
    """What the record said at this instant, not after ``now``: only facts recorded until then, with the values they had
    before the first change recorded after it. "Current" is then what was current at it."""
    by_reference_time: bool = False
    """``known_at`` lies before anything was recorded: what was told counts from the time of its episode."""
    status: FactStatus | None = None
    """Only facts that are this at ``as_of``, else ``known_at``, else ``now``. With ``as_of`` also states that were over
    or still to come."""
    valid_after: datetime | None = None
    """valid_at at or after this instant (unknown start: reference_time counts)."""
    valid_before: datetime | None = None
    """valid_at before this instant (unknown start: reference_time counts)."""
    invalid_after: datetime | None = None
    invalid_before: datetime | None = None
    only_current: bool = False
    """Only states that hold at ``now``: not plans, events or readings, not ended, not voided."""
    direction: Direction = "both"
    relations: tuple[str, ...] = ()
    """Relation names as stored; a service maps a caller's spelling to them with ``GraphReader.relations``."""
    neighbour_uuid: str | None = None
    """One end of the fact, whichever."""
    kinds: tuple[FactKind, ...] = ()
    labels: tuple[str, ...] = ()
    """Types, of which one end at least has one."""
    series: tuple[str, str] | None = None
    """Only readings: source uuid and measure, whatever its case."""


class EpisodeFilter(Record):
    """Which episodes; every None means no restriction."""

    group_ids: tuple[str, ...]
    recorded_until: datetime | None = None
    """created_at at or before this instant: on later pages, the newest record at page one."""
    valid_after: datetime | None = None
    """valid_at at or after."""
    valid_before: datetime | None = None
    """valid_at before."""
    entity_uuid: str | None = None


class EntityFilter(Record):
    """Which entities; empty labels = any type."""

    group_ids: tuple[str, ...]
    labels: tuple[str, ...] = ()
    recorded_until: datetime | None = None
    status: tuple[tuple[str, ...], datetime] | None = None
    """Only those with a HAS_STATUS of one of these values, in lower case, that is current at this instant, as recorded
    until ``recorded_until``."""
    uuids: tuple[str, ...] | None = None
    """Only these."""


class FactPage(Record):
    """Facts with the sort key of each, and the total under the same filter."""

    facts: tuple[Fact, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int


class EpisodePage(Record):
    """Episodes with the sort key of each, and the total under the same filter."""

    episodes: tuple[Episode, ...]
    keys: tuple[tuple[str | int, ...], ...]
    total: int


class NeighbourCount(Record):
    """How many facts join an entity with one neighbour."""

    entity_uuid: str
    name: str
    facts: int


class TimelineSummary(Record):
    """When an entity was mentioned."""

    first: datetime | None
    last: datetime | None
    total: int
    counts: tuple[tuple[datetime, int], ...]
    """Mentions in spans that cross no month in the zone asked for: an instant in each and its count, oldest first."""


class EpisodeHit(Record):
    """An episode found by meaning: its best passage."""

    cosine: float
    start: int
    end: int


class GroupSize(Record):
    """What a group holds."""

    episodes: int
    entities: int
    facts: int


class NameBook(Record):
    """All linkable names of a group; ``version`` changes whenever they do."""

    version: int
    names: tuple[Name, ...]


class VectorIndex(Record):
    """An index over the embeddings of one kind of records; until it is complete they are searched exactly."""

    name: str
    """entities, facts or passages."""
    percent: int
    """Of it that is built."""
