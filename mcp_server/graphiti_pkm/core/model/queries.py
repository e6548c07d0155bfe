"""Filters of reads, and the shape of a page of records."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Literal, NamedTuple

from pydantic import Field

from graphiti_pkm.core.model.choices import Direction, StatusFilter
from graphiti_pkm.core.model.date_phrases import DatePeriod, told_around
from graphiti_pkm.core.model.records import EntryType, Episode, Fact, FactKind, Name, Record
from graphiti_pkm.core.model.times import check_period

COMPARED_QUOTE = 1_000
"""Characters of a quote whose words count for the score of its fact; all words of a quote find the fact."""
NewestOf = Literal["current", "ended", "reading", "planned"]
"""Which facts of an entity: states that hold or have ended, its readings, or open plans."""


class Window(Record):
    """One page by keyset: rows after ``after`` in the order of the query."""

    limit: int = Field(ge=1)
    after: tuple[str | int, ...] | None = None
    """The sort key of the last row seen, as the page returned it; never an offset."""
    newest: bool = True
    backwards: bool = False
    """Of episodes, newest first: those of one time from the last to the first, too. Otherwise they keep their order, as
    the sections of a document in a list."""


class ReadingPoint(Record):
    """One reading of a series, as it was told."""

    value: str
    unit: str | None = None
    at: datetime
    words: str | None = None
    """The date as it was told, e.g. "February 2026"."""
    confidential: bool = False


class ReadingSeries(Record):
    """The readings of one source and measure whose values can be compared; computed over all of them."""

    source_uuid: str
    source_name: str
    measure: str
    kind: str
    """``Amount.kind`` of the values; "" where they have no unit, or are no numbers."""
    readings: int
    numbers: int
    """How many of them are a number."""
    first: ReadingPoint
    last: ReadingPoint
    least: ReadingPoint | None = None
    most: ReadingPoint | None = None
    means: tuple[tuple[str, float], ...] = ()
    """Month ("2026-03") and mean of ``Amount.middle``, the newest months first."""


class FactFilter(Record):
    """A filter of facts; None means no restriction. Times are aware UTC; intervals are half-open."""

    group_ids: tuple[str, ...]
    now: datetime
    """The instant for "current"; taken from page one and kept in the cursor. It does not filter by recording time,
    because the clock may have been set back since."""
    recorded_until: datetime | None = None
    """Only what was recorded until then, in the state of then: a fact ended or voided later is still open. None:
    everything."""
    as_of: datetime | None = None
    """Only states that held at this instant, or may have (unknown start). Voided facts never held; events, plans and
    readings do not hold; a state retired without an end is left out, because its end is unknown."""
    with_due_plans: bool = False
    """With ``as_of`` and without ``status``: also plans for that time, or for a day before it, of which nothing more is
    known: neither fulfilled nor dropped, moved or over by the last day that they were made for."""
    known_at: datetime | None = None
    """The state of the record at this instant, not after ``now``: facts recorded until then, with their values
    before the first later change. "Current" then refers to this instant; of lists in which current facts come first,
    to ``as_of`` if that is given."""
    by_reference_time: bool = False
    """Set if ``known_at`` precedes the whole record: episodes then count from their own reference time."""
    status: StatusFilter | None = None
    """Only facts with this status at ``as_of``, else ``known_at``, else ``now``. With ``as_of``, includes states
    that had ended or were still to come.

    ``open``: open plans, goals, statuses with one of ``open_words`` and, without ``as_of`` and ``known_at``, facts with
    a proposed end that nobody has decided on. Such pages are ordered by when a plan or goal is due, and then by when
    they were recorded."""
    open_words: tuple[str, ...] = ()
    """Words of statuses that are still open, normalised."""
    valid_after: datetime | None = None
    """valid_at at or after this instant (unknown start: reference_time counts)."""
    valid_before: datetime | None = None
    """valid_at before this instant (unknown start: reference_time counts)."""
    invalid_after: datetime | None = None
    invalid_before: datetime | None = None
    valid_after_told: Mapping[str, datetime] = {}
    """By the words of a start, what ``valid_at`` is compared with in place of ``valid_after``: a date told as a period
    is found if any of it lies there. The same for the others."""
    invalid_after_told: Mapping[str, datetime] = {}
    invalid_before_told: Mapping[str, datetime] = {}
    only_current: bool = False
    """Only states that hold at ``now``: not plans, events or readings, not ended, not voided."""
    direction: Direction = "both"
    relations: tuple[str, ...] = ()
    """Relation names as stored; a service maps a caller's spelling to them with ``Graph.relations``."""
    neighbour_uuid: str | None = None
    """The entity at either end of the fact."""
    kinds: tuple[FactKind, ...] = ()
    labels: tuple[str, ...] = ()
    """Types; at least one end must have one of them."""
    confidential: bool = False
    """Only facts that are not public."""
    because_of: tuple[str, ...] = ()
    """Uuids of entities and facts; only facts that follow from one of them."""
    measures: tuple[str, ...] = ()
    """Only readings of these measures, as stored."""
    own_measures: tuple[str, ...] = ()
    """Readings of these, as stored, count as facts of the entity asked about, whatever their target: it is the
    measure."""

    def told_in(self, zone: tzinfo) -> "FactFilter":
        """The filter as it reads dates that were told as periods of this zone: by all of the period.

        Raises:
            InvalidInput: a period that is asked about ends before it begins.
        """
        for name, after, before in (
            ("valid", self.valid_after, self.valid_before),
            ("invalid", self.invalid_after, self.invalid_before),
        ):
            check_period(after, before, (f"{name}_after", f"{name}_before"))

        def around(at: datetime | None) -> list[tuple[str, DatePeriod, datetime]]:
            found = [] if at is None else told_around(at, zone)
            return [(one.words or "", one, at) for one in found if at is not None and one.start < at]

        tick = timedelta.resolution
        return self.model_copy(
            update={
                "valid_after_told": {words: one.start for words, one, at in around(self.valid_after) if at < one.end},
                "invalid_after_told": {
                    words: one.start if at < one.end else at + tick for words, one, at in around(self.invalid_after)
                },
                "invalid_before_told": {words: one.end + tick for words, one, _ in around(self.invalid_before)},
            }
        )

    @property
    def asks_open(self) -> bool:
        """Whether it means everything that is open."""
        return self.status == "open"

    @property
    def asks_due_plans(self) -> bool:
        """Whether plans are listed beside what held."""
        return self.with_due_plans and self.as_of is not None and self.status is None

    @property
    def asks_open_plans(self) -> bool:
        """Whether it means the plans that were open at ``as_of``: told by then, and not over by then."""
        return self.as_of is not None and self.status == "planned"


def newest_under(group_ids: Sequence[str], now: datetime, status: NewestOf) -> FactFilter:
    """The filter of ``newest_facts``."""
    if status == "current":
        return FactFilter(group_ids=tuple(group_ids), now=now, only_current=True)
    kinds: tuple[FactKind, ...] = ("state",) if status == "ended" else ()
    return FactFilter(group_ids=tuple(group_ids), now=now, status=status, kinds=kinds)


class EntryFilter(Record):
    """A filter of entries; None means no restriction."""

    project_uuid: str | None = None
    type: EntryType | None = None


class EpisodeFilter(Record):
    """A filter of episodes; None means no restriction."""

    group_ids: tuple[str, ...]
    recorded_until: datetime | None = None
    """created_at at or before this instant: on later pages, the newest record at page one."""
    valid_after: datetime | None = None
    """valid_at at or after."""
    valid_before: datetime | None = None
    """valid_at before."""
    entity_uuid: str | None = None
    entries: EntryFilter | None = None
    """Only entries, and of those only some."""


class EntityFilter(Record):
    """A filter of entities; empty labels: any type."""

    group_ids: tuple[str, ...]
    labels: tuple[str, ...] = ()
    recorded_until: datetime | None = None
    status: tuple[tuple[str, ...], datetime] | None = None
    """Only entities with a HAS_STATUS fact of one of these words (normalised) that is current at this instant, as
    recorded until ``recorded_until``."""
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
    """The number of facts between an entity and one neighbour."""

    entity_uuid: str
    name: str
    facts: int


class KindCount(Record):
    """The number of an entity's facts of one kind and relation; readings are counted by measure."""

    kind: FactKind
    name: str
    facts: int


class FactCounts(Record):
    """What the facts of an entity are and whom they join it with, most facts first."""

    neighbours: tuple[NeighbourCount, ...]
    kinds: tuple[KindCount, ...]


class TimelineSummary(Record):
    """When an entity was mentioned."""

    first: datetime | None
    last: datetime | None
    total: int
    counts: tuple[tuple[datetime, int], ...]
    """Number of mentions in spans that do not cross a month in the requested zone: an instant of each and its count,
    oldest first."""


class Companion(Record):
    """An entity that is mentioned beside another one, and in how many of the same episodes."""

    entity_uuid: str
    name: str
    episodes: int


class EpisodeHit(NamedTuple):
    """An episode found by meaning, with its best passage. A tuple: a search makes hundreds."""

    cosine: float
    start: int
    end: int


class GroupSize(Record):
    """The number of records in a group."""

    episodes: int
    entities: int
    facts: int


class NameBook(Record):
    """All linkable names of a group; ``version`` changes whenever they do."""

    version: int
    names: tuple[Name, ...]


class VectorIndex(Record):
    """An index over the embeddings of one kind of record; until it is complete they are searched exactly."""

    name: str
    """entities, facts or passages."""
    percent: int
    """How much of it is built."""
