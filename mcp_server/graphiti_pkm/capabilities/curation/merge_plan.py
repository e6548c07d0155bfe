"""Plans one bounded part of a merge, and of its undoing: pure, from the records that were read."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from graphiti_pkm.core.facts import rules
from graphiti_pkm.core.facts.observations import is_observation
from graphiti_pkm.core.facts.statuses import is_status_relation, same_meaning, word_of
from graphiti_pkm.core.identity.relation_kinds import has_single_target
from graphiti_pkm.core.identity.spelling import has_exclusive_target, same_relation
from graphiti_pkm.core.model.merges import Moved
from graphiti_pkm.core.model.names import normalise_name
from graphiti_pkm.core.model.quality_checks import SIMILAR
from graphiti_pkm.core.model.records import (
    CONFIDENTIAL,
    Archive,
    Entity,
    EntityState,
    Fact,
    FactUpdate,
    Mention,
    Merge,
    Name,
    Project,
    Quality,
    in_order,
)
from graphiti_pkm.core.model.redaction import FORGOTTEN

MOST_CONFLICTS = 50
"""Contradictions of one part that are looked for."""
LONGEST_SUMMARY = 2_000
"""In characters: two summaries that are longer together are not joined; that of the removed entity stays archived."""

_MERGED = "Merged."
"""The note of a flag that a merge settled."""
_CLEARED = ("note", "cleared_at", "cleared_by")
_FLAG = ("flag_reason", "flagged_at", "flagged_by", "approved_at")


@dataclass(frozen=True)
class Batch:
    """The next records of the entity that goes, and whether these are the last."""

    facts: Sequence[Fact]
    like: Sequence[Fact]
    """Facts of the one that stays which may say the same as one of these."""
    beside: Sequence[Fact]
    """Open facts of the one that stays which may contradict one of these."""
    mentions: Sequence[Mention]
    without: Collection[str]
    """Of their episodes, those that mention the one that stays too, or never."""
    split_at: datetime | None
    """When the entity that goes was split off the one that stays, if it was."""
    entries: Sequence[str] = ()
    evidence: Sequence[str] = ()
    causes: Sequence[str] = ()
    change_sources: Sequence[str] = ()
    change_targets: Sequence[str] = ()
    is_last: bool = False


@dataclass(frozen=True)
class Part:
    """What a part of a merge does to records."""

    moved: Moved
    archive: Archive
    updates: Sequence[FactUpdate] = ()
    """Of facts that are joined with one that goes."""
    pair: Sequence[Fact] = ()
    joined: Mapping[str, str] = field(default_factory=dict)
    """Facts that go, each with the one that says the same."""
    mentions: Sequence[str] = ()
    conflicts: Sequence[tuple[Fact, Fact]] = ()
    """Current facts that cannot both be true of one entity: that of the one that goes first."""


def plan_part(kept: Entity, removed: Entity, batch: Batch, now: datetime) -> Part:
    """Facts move, those of the pair go, those that both have are joined."""
    sources, targets, gone, joined = list[str](), list[str](), list[Fact](), dict[str, str]()
    pair, conflicts = list[Fact](), list[tuple[Fact, Fact]]()
    grown: dict[str, Fact] = {}
    own = {fact.uuid: fact for fact in batch.like if removed.uuid not in (fact.source_uuid, fact.target_uuid)}
    like, beside = defaultdict[object, list[Fact]](list), defaultdict[str, list[Fact]](list)
    for fact in own.values():
        like[_place(fact)].append(fact)
    for fact in batch.beside:
        if removed.uuid not in (fact.source_uuid, fact.target_uuid):
            beside[normalise_name(fact.relation)].append(fact)
    for fact in batch.facts:
        if {fact.source_uuid, fact.target_uuid} == {kept.uuid, removed.uuid}:
            pair.append(fact)
            continue
        moved = moved_fact(fact, removed.uuid, kept.uuid)
        same = next(
            (one for one in like[_place(moved)] if is_same(moved, one) and not _were_two(moved, one, batch)), None
        )
        if same is not None:
            gone.append(fact)
            joined[fact.uuid] = same.uuid
            grown[same.uuid] = _joined(grown.get(same.uuid, same), fact)
            continue
        sources += [fact.uuid] if fact.source_uuid == removed.uuid else []
        targets += [fact.uuid] if fact.target_uuid == removed.uuid else []
        if len(conflicts) < MOST_CONFLICTS and rules.is_current(moved, now):
            others = beside[normalise_name(moved.relation)]
            conflicts += [(moved, one) for one in others if contradict(moved, one, now)]
    unlinked = [one for one in batch.mentions if one.episode_uuid in batch.without]
    return Part(
        moved=Moved(
            sources=tuple(sources),
            targets=tuple(targets),
            mentions=tuple(one.episode_uuid for one in batch.mentions if one.episode_uuid not in batch.without),
            entries=tuple(batch.entries),
            evidence=tuple(batch.evidence),
            causes=tuple(batch.causes),
            change_sources=tuple(batch.change_sources),
            change_targets=tuple(batch.change_targets),
        ),
        archive=Archive(
            facts=(*map(stored, (*pair, *gone)), *(stored(own[uuid]) for uuid in grown)), mentions=tuple(unlinked)
        ),
        updates=[_update(own[uuid], fact) for uuid, fact in grown.items()],
        pair=pair,
        joined=joined,
        mentions=[one.episode_uuid for one in unlinked],
        conflicts=conflicts,
    )


def where_conflicts_are(facts: Iterable[Fact], removed_uuid: str) -> tuple[list[str], list[str]]:
    """Of the entity that stays: facts with which other ends, and of which relations, may contradict some of these.

    Relations are those of which an entity has one target or status at a time.
    """
    states = [fact for fact in facts if fact.is_open and fact.kind == "state"]
    relations = {one for one in {fact.relation for fact in states} if has_single_target(one) or is_status_relation(one)}
    ends = {
        uuid
        for fact in states
        if fact.value is not None or has_exclusive_target(fact.relation)
        for uuid in (fact.source_uuid, fact.target_uuid)
    }
    return sorted(ends - {removed_uuid}), sorted(relations)


def _were_two(one: Fact, other: Fact, batch: Batch) -> bool:
    """Whether one entity had both before it was split: then it has both again."""
    return batch.split_at is not None and max(one.created_at, other.created_at) <= batch.split_at


def _place(fact: Fact) -> object:
    """Facts that say the same have the same."""
    return fact.source_uuid, fact.target_uuid, fact.kind, fact.relation, fact.valid_at


def moved_fact(fact: Fact, before: str, after: str) -> Fact:
    """The fact of the other entity."""
    source, target = (after if uuid == before else uuid for uuid in (fact.source_uuid, fact.target_uuid))
    return fact.model_copy(update={"source_uuid": source, "target_uuid": target})


def is_same(one: Fact, other: Fact) -> bool:
    """Whether two facts say the same of the same time, as far as the record knows."""
    return (
        (one.source_uuid, one.target_uuid, one.kind) == (other.source_uuid, other.target_uuid, other.kind)
        and one.relation == other.relation
        and (one.measure, one.unit, one.cause_uuid) == (other.measure, other.unit, other.cause_uuid)
        and rules.same_value(one.value, other.value)
        and (not is_observation(one) or rules.same_text(one.text, other.text))
        and (one.valid_at, one.invalid_at, one.voided) == (other.valid_at, other.invalid_at, other.voided)
        and (one.expired_at is None) == (other.expired_at is None)
    )


def contradict(one: Fact, other: Fact, now: datetime) -> bool:
    """Whether two states that hold now cannot both be true."""
    if not (rules.is_current(one, now) and rules.is_current(other, now)) or is_observation(one):
        return False
    if not same_relation(one.relation, other.relation):
        return False
    if one.source_uuid != other.source_uuid:
        return one.target_uuid == other.target_uuid and has_exclusive_target(one.relation)
    if is_status_relation(one.relation):
        return not same_meaning(word_of(one), word_of(other))
    is_other = one.value is not None and other.value is not None and not rules.same_value(one.value, other.value)
    return is_other or (one.target_uuid != other.target_uuid and has_single_target(one.relation))


def _joined(fact: Fact, again: Fact) -> Fact:
    """The fact with what another one that says the same adds."""
    told = [at for at in (fact.reference_time, again.reference_time) if at is not None]
    hidden = {CONFIDENTIAL: again.attributes[CONFIDENTIAL]} if CONFIDENTIAL in again.attributes else {}
    return fact.model_copy(
        update={
            "episodes": tuple(dict.fromkeys((*fact.episodes, *again.episodes))),
            "reference_time": min(told, default=None),
            "attributes": {**hidden, **fact.attributes},
        }
    )


def _update(before: Fact, fact: Fact) -> FactUpdate:
    added = {name: value for name, value in fact.attributes.items() if name not in before.attributes}
    return rules.interval_update(fact).model_copy(update={"reference_time": fact.reference_time, "attributes": added})


def stored(fact: Fact) -> Fact:
    """Without what is read with it and never stored."""
    return fact.model_copy(update={"cause": "", "is_cause_confidential": False, "outcome": None})


# The entities


def joined_entity(kept: Entity, removed: Entity) -> Entity:
    """The entity that stays, with what the other is said to be besides."""
    said, other = kept.summary.strip(), removed.summary.strip()
    attributes = {**removed.attributes, **kept.attributes}
    if not other or other in said or len(said) + len(other) >= LONGEST_SUMMARY:
        return kept.model_copy(update={"attributes": attributes})
    is_by_model = removed.summary_by_model and (kept.summary_by_model or not said)
    return kept.model_copy(
        update={"attributes": attributes, "summary": f"{said} {other}".strip(), "summary_by_model": is_by_model}
    )


def aliases_of(names: Iterable[Name], kept_uuid: str) -> tuple[Name, ...]:
    """The names of the removed entity as those of the one that stays."""
    return tuple(name.model_copy(update={"entity_uuid": kept_uuid, "is_alias": True}) for name in names)


def event_of(
    before: Entity,
    after: Entity,
    names: Sequence[Name],
    apart: Iterable[tuple[str, str]],
    own_apart: Collection[tuple[str, str]],
    entities: Collection[str],
    mentioned: Collection[str],
) -> tuple[EntityState, EntityState]:
    """What the entity that stays was and becomes.

    ``apart``: pairs of the removed entity; ``entities``: who of them are entities, the others are episodes;
    ``mentioned``: those of the episodes that mention the entity that stays.
    """
    others = sorted({one for pair in apart for one in pair})
    apart_now = [one for one in others if one in entities and in_order(one, after.uuid) not in own_apart]
    unlinked = [one for one in others if one not in {*entities, *mentioned} and (one, after.uuid) not in own_apart]
    return state_of(before), state_of(after).model_copy(
        update={"names": tuple(names), "not_same_as": tuple(apart_now), "unlinked": tuple(unlinked)}
    )


def state_of(entity: Entity) -> EntityState:
    """Name, type and summary alone."""
    return EntityState(
        name=entity.name, label=entity.label, summary=entity.summary, summary_by_model=entity.summary_by_model
    )


def merged_project(kept: Project | None, removed: Project | None, kept_uuid: str) -> Project | None:
    """The project that the entity that stays becomes, if only the other was one."""
    return removed.model_copy(update={"uuid": kept_uuid}) if removed is not None and kept is None else None


def pinned(project: Project, removed_uuid: str, kept_uuid: str) -> Project:
    """The project with the entity that stays pinned in the place of the other."""
    pins = (kept_uuid if one == removed_uuid else one for one in project.pins)
    return project.model_copy(update={"pins": tuple(dict.fromkeys(pins))})


# Undoing


def pins_back(now: Project, before: Project, removed_uuid: str, kept_uuid: str) -> Project:
    """The project with the pins that it had before a merge; what was pinned or unpinned since stays so."""
    if now.pins == pinned(before, removed_uuid, kept_uuid).pins:
        return now.model_copy(update={"pins": before.pins})
    if kept_uuid not in now.pins:
        return now
    back = (removed_uuid,) if kept_uuid not in before.pins else (kept_uuid, removed_uuid)
    return now.model_copy(update={"pins": tuple(x for one in now.pins for x in (back if one == kept_uuid else (one,)))})


def facts_back(merge: Merge, present: Mapping[str, Fact]) -> list[Fact]:
    """Facts as they were before a part of a merge; what they gained since then stays, what is forgotten too."""
    archived = {fact.uuid: fact for fact in merge.archive.facts if fact.text != FORGOTTEN}
    gone = [archived[uuid] for uuid in merge.facts if uuid in archived]
    given = {episode for fact in gone for episode in fact.episodes}
    back = []
    for uuid in archived.keys() - set(merge.facts):
        before, now = archived[uuid], present.get(uuid)
        if now is None:
            continue
        told = [fact.reference_time for fact in gone if fact.reference_time is not None]
        hidden = CONFIDENTIAL in before.attributes or CONFIDENTIAL not in now.attributes
        back.append(
            stored(now).model_copy(
                update={
                    "episodes": tuple(one for one in now.episodes if one in before.episodes or one not in given),
                    "reference_time": before.reference_time if now.reference_time in told else now.reference_time,
                    "attributes": now.attributes
                    if hidden
                    else {name: value for name, value in now.attributes.items() if name != CONFIDENTIAL},
                }
            )
        )
    return [*gone, *sorted(back, key=lambda one: one.uuid)]


def kept_back(now: Entity, before: Entity, removed: Entity) -> Entity:
    """The entity that stayed without what the merge gave it; what was said of it since stays."""
    joined = joined_entity(before, removed)
    update: dict[str, object] = {
        "attributes": {
            name: value
            for name, value in now.attributes.items()
            if name in before.attributes or removed.attributes.get(name) != value
        }
    }
    if now.summary == joined.summary:
        update |= {"summary": before.summary, "summary_by_model": before.summary_by_model}
    return now.model_copy(update=update)


def reviewed(kept: Quality, removed_uuid: str, principal: str, at: datetime) -> Quality:
    """What is said of the entity that stays, without the other among those that it may be the same as.

    A flag for likeness to the other alone is settled.
    """
    left = kept.model_copy(update={"similar_to": tuple(one for one in kept.similar_to if one != removed_uuid)})
    if left == kept or left.similar_to or left.flag_reason != SIMILAR:
        return left
    flag = {"flag_reason": None, "flagged_at": None, "flagged_by": None}
    return left.model_copy(update={**flag, "note": _MERGED, "cleared_at": at, "cleared_by": principal})


def review_back(now: Quality, before: Quality, removed_uuid: str) -> Quality:
    """What was said of the entity that stayed, as it was before ``reviewed``; what was said of it since stays."""
    if removed_uuid not in before.similar_to:
        return now
    if now.note == _MERGED and now.cleared_at != before.cleared_at:
        now = now.model_copy(update={name: getattr(before, name) for name in _CLEARED})
        if not now.is_flagged:
            return now.model_copy(update={name: getattr(before, name) for name in (*_FLAG, "similar_to")})
    if not now.is_flagged:
        return now
    similar = (one for one in before.similar_to if one == removed_uuid or one in now.similar_to)
    return now.model_copy(update={"similar_to": tuple(dict.fromkeys((*similar, *now.similar_to)))})
