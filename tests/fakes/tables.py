"""What the fake graph holds, and the filters and orders that all its reads share."""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

from graphiti_pkm.domain.queries import EntityFilter, EpisodeFilter, FactFilter
from graphiti_pkm.domain.records import Entity, Episode, Fact, Mention, Name, Passage, RecordedChange

Key = tuple[str | int, ...]
_ORDINAL_TOP = 0x10FFFF


@dataclass
class Tables:
    """Records by uuid, names by key; readable by tests."""

    episodes: dict[str, Episode] = field(default_factory=dict)
    entities: dict[str, Entity] = field(default_factory=dict)
    names: dict[str, Name] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    mentions: dict[tuple[str, str], Mention] = field(default_factory=dict)
    """By (episode uuid, entity uuid)."""
    passages: dict[str, Passage] = field(default_factory=dict)
    changes: dict[str, RecordedChange] = field(default_factory=dict)
    """In the order in which they were written."""
    change_ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Source and target of the fact of each change; not of a fact that was never there."""
    vectors: dict[str, "array[float]"] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    """Markers in the order in which the writes were applied."""
    book_versions: dict[str, int] = field(default_factory=dict)
    embedding: tuple[str, int] | None = None
    versions: Iterator[int] = field(default_factory=lambda: count(1))

    @property
    def dimension(self) -> int | None:
        """Of the vectors there, or as recorded."""
        known = self.embedding[1] if self.embedding else None
        return next((len(vector) for vector in self.vectors.values()), known)

    def named(self, fact: Fact) -> Fact:
        """The fact with the present names of its ends."""
        return fact.model_copy(
            update={
                "source_name": self.entities[fact.source_uuid].name,
                "target_name": self.entities[fact.target_uuid].name,
            }
        )

    def mentioning(self, entity_uuid: str) -> list[Episode]:
        return [self.episodes[episode] for episode, entity in self.mentions if entity == entity_uuid]

    def episode_fits(self, episode: Episode, wanted: EpisodeFilter) -> bool:
        return (
            episode.group_id in wanted.group_ids
            and (wanted.recorded_until is None or episode.created_at <= wanted.recorded_until)
            and _within(episode.valid_at, wanted.valid_after, wanted.valid_before)
            and (wanted.entity_uuid is None or (episode.uuid, wanted.entity_uuid) in self.mentions)
        )


def is_current(fact: Fact, now: datetime) -> bool:
    """A state that holds at ``now``; what was ended or voided after ``now`` still held then."""
    if fact.kind != "state":
        return False
    if fact.expired_at is not None:
        return fact.expired_at > now
    return not fact.voided and held_at(fact, now)


def held_at(fact: Fact, instant: datetime) -> bool:
    """Half-open; an unknown start may have been before."""
    begun = fact.valid_at is None or fact.valid_at <= instant
    return begun and (fact.invalid_at is None or instant < fact.invalid_at)


def _held_for(fact: Fact, instant: datetime) -> bool:
    """A state whose interval holds the instant; retired without an end, nobody knows when it held."""
    retired = fact.expired_at is not None and fact.invalid_at is None
    return fact.kind == "state" and not fact.voided and not retired and held_at(fact, instant)


def fact_fits(fact: Fact, wanted: FactFilter) -> bool:
    """Everything in the filter but ``direction``, which only an entity's connections have."""
    start = fact.valid_at or fact.reference_time
    return (
        fact.group_id in wanted.group_ids
        and fact.created_at <= wanted.now
        and (wanted.as_of is None or _held_for(fact, wanted.as_of))
        and _within(start, wanted.valid_after, wanted.valid_before)
        and _within(fact.invalid_at, wanted.invalid_after, wanted.invalid_before)
        and (not wanted.only_current or is_current(fact, wanted.now))
        and (not wanted.relations or fact.relation in wanted.relations)
        and (wanted.neighbour_uuid is None or wanted.neighbour_uuid in (fact.source_uuid, fact.target_uuid))
    )


def entity_fits(entity: Entity, wanted: EntityFilter) -> bool:
    return (
        entity.group_id in wanted.group_ids
        and (not wanted.labels or not {"Entity", entity.label}.isdisjoint(wanted.labels))
        and (wanted.recorded_until is None or entity.created_at <= wanted.recorded_until)
    )


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


def connection_key(fact: Fact, now: datetime) -> Key:
    return (int(is_current(fact, now)), iso(fact.valid_at), iso(fact.created_at), fact.uuid)


def connection_order(key: Key) -> tuple[object, ...]:
    current, valid_at, created_at, uuid = key
    return (-int(current), falling(str(valid_at)), falling(str(created_at)), uuid)


def episode_key(episode: Episode) -> Key:
    return (iso(episode.valid_at), iso(episode.created_at), episode.uuid)


def newest_episode_order(key: Key) -> tuple[object, ...]:
    valid_at, created_at, uuid = key
    return (falling(str(valid_at)), falling(str(created_at)), uuid)


def newest_created(facts: Iterable[Fact]) -> list[Fact]:
    return sorted(facts, key=lambda fact: (falling(iso(fact.created_at)), fact.uuid))
