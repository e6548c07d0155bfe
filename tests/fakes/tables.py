"""What the fake graph holds, and the filters and orders that all its reads share."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from graphiti_pkm.core.facts.history import outcome_of
from graphiti_pkm.core.model.choices import FactStatus
from graphiti_pkm.core.model.date_phrases import END_WORDS, START_WORDS
from graphiti_pkm.core.model.document_records import Document, Instance, Section
from graphiti_pkm.core.model.fitness import Usage
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.queries import EntityFilter, EntryFilter, EpisodeFilter, FactFilter
from graphiti_pkm.core.model.records import (
    CONFIDENTIAL,
    Entity,
    Entry,
    Episode,
    Fact,
    FactChange,
    Mention,
    Merge,
    Name,
    Origin,
    Passage,
    PlanOutcome,
    Project,
    Quality,
    RecordedChange,
    WriteIntent,
)
from graphiti_pkm.core.model.saga_records import Community, Saga
from graphiti_pkm.core.ports.takeover import SharedExtractionJob

Key = tuple[str | int, ...]
_ORDINAL_TOP = 0x10FFFF


@dataclass
class Tables:
    """Records by uuid, names by key; readable by tests."""

    episodes: dict[str, Episode] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    projects: dict[str, Project] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    origins: dict[tuple[str, datetime], Origin] = field(default_factory=dict)
    """By group and time of the write."""
    qualities: dict[str, Quality] = field(default_factory=dict)
    counters: dict[tuple[str, str], Usage] = field(default_factory=dict)
    """By server and record."""
    names: dict[str, Name] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    """By (episode uuid, entity uuid)."""
    passages: dict[str, Passage] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)
    sections: dict[tuple[str, int], Section] = field(default_factory=dict)
    """By document and place."""
    instances: dict[str, Instance] = field(default_factory=dict)
    changes: dict[str, RecordedChange] = field(default_factory=dict)
    """In the order in which they were written."""
    change_ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Source and target of the fact of each change; not of a fact that was never there."""
    apart: set[tuple[str, str]] = field(default_factory=set)
    """Two entities that are not the same, or an episode that does not mention an entity."""
    merges: dict[tuple[str, int], tuple[WriteIntent, Merge]] = field(default_factory=dict)
    """By merge and place: the parts of merges, with the writes that made them."""
    undone: set[str] = field(default_factory=set)
    """Merges whose undoing has begun."""
    former: dict[str, str] = field(default_factory=dict)
    """Uuids of merged entities, with those that they mean now."""
    former_groups: dict[str, str] = field(default_factory=dict)
    sagas: dict[str, Saga] = field(default_factory=dict)
    saga_steps: list[tuple[str, str]] = field(default_factory=list)
    """Saga and episode."""
    episode_links: list[tuple[str, str]] = field(default_factory=list)
    """Previous and next."""
    communities: dict[str, Community] = field(default_factory=dict)
    vectors: dict[str, "array[float]"] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    """Markers in the order in which the writes were applied."""
    book_versions: dict[str, int] = field(default_factory=dict)
    recorded: dict[str, datetime] = field(default_factory=dict)
    """By group: the time of its newest write."""
    embedding: tuple[str, int] | None = None
    readings: dict[str, SharedExtractionJob] = field(default_factory=dict)
    """By job, in the order in which they were queued."""
    turns: dict[str, str] = field(default_factory=dict)
    """By job: whose turn it is."""
    servers: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Since when each is there, and until when it is taken to be."""
    versions: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def dimension(self) -> int | None:
        """Of the vectors there, or as recorded."""
        known = self.embedding[1] if self.embedding else None
        return next((len(vector) for vector in self.vectors.values()), known)

    def named(self, fact: Fact) -> Fact:
        """The fact with the present names of its ends and of what it follows from."""
        return fact.model_copy(
            update={
                "source_name": self.entities[fact.source_uuid].name,
                "target_name": self.entities[fact.target_uuid].name,
                "cause": self._cause(fact),
                "is_cause_confidential": self._is_confidential(fact.cause_uuid, fact.group_id),
                "outcome": self._outcome(fact),
            }
        )

    def _outcome(self, fact: Fact) -> PlanOutcome | None:
        ending = self._ending(fact.uuid)
        if fact.kind != "plan" or self.facts[fact.uuid].expired_at is None or ending is None:
            return None
        return outcome_of(fact, self.facts.get(ending.replaced_by or ""))

    def _ending(self, fact_uuid: str) -> RecordedChange | None:
        endings = [one for one in self.changes.values() if one.fact_uuid == fact_uuid and one.kind == "retired"]
        return max(endings, key=lambda one: one.recorded_at, default=None)

    def _was_open(self, fact: Fact, wanted: FactFilter) -> bool:
        """Of a filter that asks for it: whether a plan was not over at ``as_of``."""
        if not wanted.asks_open_plans or fact.expired_at is None or wanted.as_of is None:
            return True
        ending = self._ending(fact.uuid)
        over = ending and (self._told(ending.episode_uuid) or ending.invalid_at or ending.recorded_at)
        return over is not None and wanted.as_of < over

    def _is_confidential(self, uuid: str | None, group_id: str) -> bool:
        fact = self.facts.get(uuid or "")
        return fact is not None and fact.group_id == group_id and CONFIDENTIAL in fact.attributes

    def _cause(self, fact: Fact) -> str:
        entity, cause = self.entities.get(fact.cause_uuid or ""), self.facts.get(fact.cause_uuid or "")
        if entity is not None and entity.group_id == fact.group_id:
            return entity.name
        return cause.text if cause is not None and cause.group_id == fact.group_id else ""

    def facts_under(self, wanted: FactFilter) -> list[Fact]:
        """Facts under the whole filter but ``direction``, with the values they had at ``known_at``."""
        known = [fact for one in self.facts.values() if (fact := self._believed(one, wanted)) is not None]
        fitting = [fact for fact in known if fact_fits(fact, wanted) and self._is_labelled(fact, wanted.labels)]
        if wanted.asks_open:
            return [fact for fact in fitting if self._is_open(fact, wanted)]
        return [fact for fact in fitting if self._was_open(fact, wanted)]

    def _is_open(self, fact: Fact, wanted: FactFilter) -> bool:
        """An open plan, a goal, a status with an open word, or a fact with a proposed end."""
        if fact.kind == "plan":
            at_instant = wanted.model_copy(update={"status": "planned"})
            return fact_fits(fact, at_instant) and self._was_open(fact, at_instant)
        if fact.kind != "state" or status(fact, wanted) != "current":
            return False
        is_status = fact.relation == "HAS_STATUS" and normalise_name(self._word(fact)) in wanted.open_words
        return fact.relation == "HAS_GOAL" or is_status or self._has_proposed_end(fact, wanted)

    def _has_proposed_end(self, fact: Fact, wanted: FactFilter) -> bool:
        if wanted.as_of is not None or wanted.known_at is not None:
            return False
        kinds = [one.kind for one in self.changes.values() if one.fact_uuid == fact.uuid and one.kind != "dated"]
        return bool(kinds) and kinds[-1] == "proposed"

    def _is_labelled(self, fact: Fact, labels: tuple[str, ...]) -> bool:
        ends = (self.entities[fact.source_uuid], self.entities[fact.target_uuid])
        return not labels or any(end.label in labels or "Entity" in labels for end in ends)

    def _believed(self, fact: Fact, wanted: FactFilter) -> Fact | None:
        """The fact as it was known; None if it was not."""
        known_at, by_told = wanted.known_at, wanted.by_reference_time
        if known_at is None:
            return fact
        told = [at for uuid in fact.episodes if (at := self._told(uuid)) is not None]
        first_recorded = min(told, default=fact.reference_time or fact.created_at)
        if (first_recorded if by_told else fact.created_at) > known_at:
            return None
        changes = [
            (self._told(change.episode_uuid) or change.recorded_at if by_told else change.recorded_at, place, change)
            for place, change in enumerate(self.changes.values())
            if change.fact_uuid == fact.uuid and change.kind not in {"proposed", "rejected", "deleted"}
        ]
        later = sorted(
            (one for one in changes if one[0] > known_at), key=lambda one: (one[0], one[2].recorded_at, one[1])
        )
        if not later:
            return fact
        first = later[0][2]
        return fact.model_copy(
            update={
                **{
                    name: getattr(first, f"previous_{name}")
                    for name in ("valid_at", "invalid_at", "expired_at", "voided")
                },
                "reference_time": first.previous_told_at or fact.reference_time,
                "attributes": _with_words(fact, first),
            }
        )

    def _told(self, episode_uuid: str | None) -> datetime | None:
        episode = self.episodes.get(episode_uuid or "")
        return episode.valid_at if episode else None

    def entities_under(self, wanted: EntityFilter) -> list[Entity]:
        """Entities under the whole filter."""
        found = [entity for entity in self.entities.values() if entity_fits(entity, wanted)]
        if wanted.status is None:
            return found
        words, now = wanted.status
        so = {
            fact.source_uuid
            for fact in self.facts.values()
            if fact.relation == "HAS_STATUS"
            and normalise_name(self._word(fact)) in words
            and (wanted.recorded_until is None or fact.created_at <= wanted.recorded_until)
            and is_current(fact, now, wanted.recorded_until)
        }
        return [entity for entity in found if entity.uuid in so]

    def _word(self, fact: Fact) -> str:
        return str(fact.attributes.get("word") or fact.value or self.entities[fact.target_uuid].name)

    def mentioning(self, entity_uuid: str) -> list[Episode]:
        return [self.episodes[episode] for episode, entity in self.mentions if entity == entity_uuid]

    def episode_fits(self, episode: Episode, wanted: EpisodeFilter) -> bool:
        return (
            episode.group_id in wanted.group_ids
            and (wanted.recorded_until is None or episode.created_at <= wanted.recorded_until)
            and _within(episode.valid_at, wanted.valid_after, wanted.valid_before)
            and (wanted.entity_uuid is None or (episode.uuid, wanted.entity_uuid) in self.mentions)
            and (wanted.entries is None or self._entry_fits(self.entries.get(episode.uuid), wanted.entries))
        )

    @staticmethod
    def _entry_fits(entry: Entry | None, wanted: EntryFilter) -> bool:
        return (
            entry is not None
            and wanted.project_uuid in (None, entry.project_uuid)
            and wanted.type in (None, entry.type)
        )


def is_current(fact: Fact, now: datetime, recorded_until: datetime | None = None) -> bool:
    """A state that holds at ``now``; what was ended or voided after ``recorded_until`` still held then."""
    if fact.kind != "state":
        return False
    if fact.expired_at is not None:
        begun = fact.valid_at is None or fact.valid_at <= now
        return begun and recorded_until is not None and fact.expired_at > recorded_until
    return not fact.voided and holds_at(fact, now)


def holds_at(fact: Fact, instant: datetime) -> bool:
    """Half-open; an unknown start may have been before."""
    begun = fact.valid_at is None or fact.valid_at <= instant
    return begun and (fact.invalid_at is None or instant < fact.invalid_at)


def is_current_for(fact: Fact, wanted: FactFilter) -> bool:
    """At ``known_at``, whose values are given, else at ``now``."""
    if wanted.known_at is None:
        return is_current(fact, wanted.now, wanted.recorded_until)
    is_retired = fact.expired_at is not None and fact.invalid_at is None
    return is_current(fact.model_copy(update={"expired_at": None}), wanted.known_at) and not is_retired


def _held_for(fact: Fact, wanted: FactFilter) -> bool:
    """A state whose interval holds the instant; retired without an end, nobody knows when it held."""
    retired = fact.expired_at is not None and fact.invalid_at is None
    if wanted.as_of is None or wanted.asks_open:
        return True
    if wanted.asks_open_plans:
        return fact.kind == "plan" and not fact.voided and (fact.reference_time or fact.created_at) <= wanted.as_of
    in_time = wanted.status is not None or holds_at(fact, wanted.as_of)
    if wanted.asks_due_plans and fact.kind == "plan":
        return not fact.voided and fact.expired_at is None and fact.valid_at is not None and in_time
    return fact.kind == "state" and not fact.voided and not retired and in_time


def fact_fits(fact: Fact, wanted: FactFilter) -> bool:
    """Everything in the filter but ``direction``, ``labels`` and ``known_at``, which need more than the fact."""
    start = fact.valid_at or fact.reference_time
    return (
        fact.group_id in wanted.group_ids
        and (wanted.recorded_until is None or fact.created_at <= wanted.recorded_until)
        and _held_for(fact, wanted)
        and _is_in(start, fact, START_WORDS, wanted, "valid_after", "valid_before")
        and _is_in(fact.invalid_at, fact, END_WORDS, wanted, "invalid_after", "invalid_before")
        and (not wanted.only_current or is_current_for(fact, wanted))
        and (wanted.asks_open_plans or wanted.asks_open or wanted.status in (None, status(fact, wanted)))
        and (not wanted.relations or fact.relation in wanted.relations)
        and (
            wanted.neighbour_uuid is None
            or wanted.neighbour_uuid in (fact.source_uuid, fact.target_uuid)
            or is_own_reading(fact, wanted)
        )
        and (not wanted.kinds or fact.kind in wanted.kinds)
        and (not wanted.confidential or CONFIDENTIAL in fact.attributes)
        and (not wanted.because_of or fact.cause_uuid in wanted.because_of)
        and (not wanted.measures or (fact.kind == "reading" and fact.measure in wanted.measures))
    )


def is_own_reading(fact: Fact, wanted: FactFilter) -> bool:
    """A reading of the measure that the entity asked about is."""
    return fact.kind == "reading" and fact.measure in wanted.own_measures


def status(fact: Fact, wanted: FactFilter) -> FactStatus:
    """What a fact is at the instant asked about; of what is known at an instant, its end tells."""
    at = wanted.as_of or wanted.known_at or wanted.now
    is_asked_of_now = wanted.as_of is None and wanted.known_at is None
    recorded = (wanted.recorded_until or datetime.max.replace(tzinfo=UTC)) if is_asked_of_now else at
    is_retired = fact.expired_at is not None and (wanted.known_at is not None or fact.expired_at <= recorded)
    if fact.voided:
        return "voided"
    if fact.kind != "state":
        unlike: FactStatus = "planned" if fact.kind == "plan" else fact.kind
        return "ended" if is_retired else unlike
    if fact.invalid_at is not None and fact.invalid_at <= at:
        return "ended"
    if is_retired and (is_asked_of_now or fact.invalid_at is None):
        return "ended"
    if fact.valid_at is not None:
        return "future" if fact.valid_at > at else "current"
    return "possible" if wanted.as_of and (fact.reference_time or fact.created_at) > at else "current"


def entity_fits(entity: Entity, wanted: EntityFilter) -> bool:
    """Everything in the filter but ``status``, which facts tell."""
    return (
        entity.group_id in wanted.group_ids
        and (not wanted.labels or not {"Entity", entity.label}.isdisjoint(wanted.labels))
        and (wanted.recorded_until is None or entity.created_at <= wanted.recorded_until)
        and (wanted.uuids is None or entity.uuid in wanted.uuids)
    )


def _with_words(fact: Fact, change: FactChange) -> dict[str, object]:
    """Attributes with the words that the dates had before a change."""
    words = {START_WORDS: change.previous_start_words, END_WORDS: change.previous_end_words}
    said = fact.attributes | {name: text for name, text in words.items() if text is not None}
    return {name: text for name, text in said.items() if name not in words or text != ""}


def _is_in(instant: datetime | None, fact: Fact, name: str, wanted: FactFilter, after: str, before: str) -> bool:
    """A date told as a period is compared with the bound of its words."""
    said = str(fact.attributes.get(name))
    bounds = (getattr(wanted, f"{one}_told", {}).get(said, getattr(wanted, one)) for one in (after, before))
    return _within(instant, *bounds)


def _within(instant: datetime | None, start: datetime | None, end: datetime | None) -> bool:
    if start is None and end is None:
        return True
    return instant is not None and (start is None or start <= instant) and (end is None or instant < end)


def iso(instant: datetime | None) -> str:
    """Sorts like the instant; unknown sorts before every instant."""
    return "" if instant is None else instant.astimezone(UTC).isoformat()


def falling(text: str) -> tuple[int, ...]:
    """A sort value that puts greater texts first."""
    return (*(_ORDINAL_TOP - ord(c) for c in text), _ORDINAL_TOP + 1)


def connection_key(fact: Fact, wanted: FactFilter) -> Key:
    is_first = is_current_for(fact, wanted) if wanted.as_of is None else status(fact, wanted) == "current"
    return (int(is_first), iso(fact.valid_at), iso(fact.created_at), fact.uuid)


def connection_order(key: Key) -> tuple[object, ...]:
    current, valid_at, created_at, uuid = key
    return (-int(current), falling(str(valid_at)), falling(str(created_at)), uuid)


def due_key(fact: Fact) -> Key:
    due = fact.attributes.get("due")
    at = fact.valid_at if fact.kind == "plan" else None
    at = datetime.fromtimestamp(due, UTC) if isinstance(due, int) else at
    return (iso(at or datetime.max.replace(tzinfo=UTC)), iso(fact.created_at), fact.uuid)


def oldest_key(fact: Fact) -> Key:
    return (iso(fact.valid_at or fact.reference_time), iso(fact.created_at), fact.uuid)


def episode_key(episode: Episode) -> Key:
    return (iso(episode.valid_at), iso(episode.created_at), episode.uuid)


def newest_episode_order(key: Key) -> tuple[object, ...]:
    valid_at, created_at, uuid = key
    return (falling(str(valid_at)), falling(str(created_at)), uuid)


def backwards_episode_order(key: Key) -> tuple[object, ...]:
    return tuple(falling(str(one)) for one in key)


def newest_created(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (falling(iso(fact.created_at)), fact.uuid))
