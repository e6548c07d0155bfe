"""Redacts an earlier write after a forgetting one: decided by uuids alone, so that no forgotten word is kept."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from graphiti_pkm.core.model.document_records import Document
from graphiti_pkm.core.model.job_records import BackLinkJob, Job
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import (
    QUALITY_TEXTS,
    Archive,
    EmbeddedFact,
    Entity,
    EntityState,
    Entry,
    EpisodeText,
    Fact,
    FactChange,
    FactUpdate,
    Forgetting,
    Merge,
    Name,
    NewVectors,
    Project,
    Quality,
    RemainingNames,
    Vectors,
    WriteIntent,
    WriteKind,
)

FORGOTTEN = "[forgotten]"
"""The placeholder for forgotten words."""

_QUOTE = ("quote", "quote_start", "quote_end", "quote_episode_uuid")
_WORDS = ("relation", "text", "measure", "value", "unit", "attributes", *_QUOTE)
_SHELL: Mapping[str, object] = MappingProxyType(
    {
        **dict.fromkeys((*_QUOTE, "value", "measure", "unit")),
        "relation": "FORGOTTEN",
        "text": FORGOTTEN,
        "attributes": {},
        "source_name": "",
        "target_name": "",
    }
)
_WORDS_OF_A_SAGA = ("name", "summary", "last_summarized_at", "last_summarized_episode_valid_at")
SHELL_OF_A_WRITE = ("uuid", "group_id", "kind", "recorded_at", "arrived_at")
"""What is kept of a write whose group is cleared: that something was written, and when."""
_OF_OTHERS = frozenset({"retired", "needs_attention", "related", "proposed", "not_found"})
_OF_OTHER_FACTS = frozenset({"fact", "series"})

NO_METADATA = "{}"

_BESIDE = TypeVar("_BESIDE", Project, Entry)
_TOLD = TypeVar("_TOLD", Fact, FactUpdate)
_A_RECORD = TypeVar("_A_RECORD", Entity, Fact, FactUpdate, FactChange)


def concerned(forgetting: WriteIntent) -> frozenset[str]:
    """Uuids, or a group's id, of which every earlier write that this one changes contains at least one."""
    forgets = forgetting.forgets or Forgetting()
    return frozenset(
        (
            *forgetting.deletions.episodes,
            *forgetting.deletions.entities,
            *forgetting.deletions.facts,
            *forgetting.deletions.groups,
            *(text.uuid for text in forgets.episodes),
            *forgets.facts,
            *forgets.passages,
            *forgets.reasons,
            *forgets.answers,
            *(left.entity_uuid for left in forgets.names),
            *forgets.members,
            *forgets.metadata,
            *forgets.qualities,
            *(left.uuid for left in forgets.documents),
            *forgetting.deletions.sagas,
            *(saga.uuid for saga in forgetting.sagas),
            *(entity.uuid for entity in forgetting.entities),
            *(fact.uuid for fact in forgetting.facts),
            *(uuid for uuid, _ in forgetting.former),
        )
    )


def redacted_receipt(answer: Mapping[str, object]) -> dict[str, object]:
    """What a stored answer keeps once anything of its group is forgotten, as it also repeats texts of other episodes.

    The row does not show which ones it repeats, so all such texts are removed.
    """
    left = {name: [] if name in _OF_OTHERS else value for name, value in answer.items()}
    facts = left.get("facts")
    if isinstance(facts, list):
        left["facts"] = [{name: value for name, value in fact.items() if name not in _OF_OTHER_FACTS} for fact in facts]
    return left


def redacted(earlier: WriteIntent, vectors: Vectors, forgetting: WriteIntent) -> tuple[WriteIntent, Vectors]:
    """The earlier write without what ``forgetting`` removes; idempotent.

    What ``delete_episode`` removes stays as shells without words, so that changes of a deleted fact are still listed;
    after a rebuild they are found under its entities only if they were there.
    """
    if earlier.group_id in forgetting.deletions.groups:
        return WriteIntent(**{name: getattr(earlier, name) for name in SHELL_OF_A_WRITE}), {}
    left = _Redaction(forgetting).of(earlier)
    called = {one.uuid: one.name for one in earlier.entities}
    kept = {one.uuid for one in left.entities if one.name != FORGOTTEN and one.name == called[one.uuid]}
    said = {one.uuid: one.text for one in earlier.facts}
    kept |= {one.uuid for one in left.facts if one.text != FORGOTTEN and one.text == said[one.uuid]}
    kept |= {one.uuid for one in left.passages}
    kept |= set(left.new_vectors.uuids if left.new_vectors else ())
    kept |= {one.uuid for one in left.communities or ()}
    return left, {uuid: vector for uuid, vector in vectors.items() if uuid in kept}


def redacted_quality(quality: Quality) -> Quality:
    """What is left of it when a word of its texts is forgotten."""
    return quality.model_copy(
        update={field: FORGOTTEN for field in QUALITY_TEXTS if getattr(quality, field) is not None}
    )


def remaining_names(forgetting: WriteIntent) -> dict[str, frozenset[str]]:
    """Keys of all remaining names of each entity that loses some."""
    forgets = forgetting.forgets or Forgetting()
    left = {left.entity_uuid: frozenset(name.key for name in left.names) for left in forgets.names}
    return left | {uuid: left[now] for uuid, now in forgetting.former if now in left}


def redacted_change(change: FactChange, group_id: str, forgetting: WriteIntent) -> FactChange:
    """An update without what is forgotten of its entity; other changes are returned as they are.

    The graph applies it to its events as the journal does to its rows.
    """
    return _Redaction(forgetting).states(change, group_id)


def redacted_merge(merge: Merge, forgetting: WriteIntent) -> Merge:
    """A part of a merge without what is forgotten of what it would put back, in the graph as in the journal."""
    return _Redaction(forgetting).merge(merge)


def updated_entities(forgetting: WriteIntent) -> list[str]:
    """Entities whose updates ``redacted_change`` may change."""
    forgets = forgetting.forgets or Forgetting()
    found = (
        *(entity.uuid for entity in forgetting.entities),
        *(left.entity_uuid for left in forgets.names),
        *(entity for _, entity in forgets.mentions),
        *(uuid for uuid, _ in forgetting.former),
    )
    return list(dict.fromkeys(found))


def redacted_job(job: Job, group_id: str, gone: Collection[str], names: Mapping[str, Collection[str]]) -> Job | None:
    """A job without the names that an entity lost; None if nothing is left to do."""
    if not isinstance(job, BackLinkJob):
        return job
    if job.entity_uuid in gone:
        return None
    keys = names.get(job.entity_uuid)
    if keys is None:
        return job
    left = tuple(name for name in job.names if name_key(group_id, name) in keys)
    return job.model_copy(update={"names": left}) if left else None


class _Redaction:
    """The redaction rules of one forgetting write."""

    def __init__(self, forgetting: WriteIntent) -> None:
        forgets = forgetting.forgets or Forgetting()
        gone = forgetting.deletions
        self._keeps_shells = forgetting.kind is WriteKind.DELETE_EPISODE
        self._texts: Mapping[str, EpisodeText] = {text.uuid: text for text in forgets.episodes}
        self._entities = {entity.uuid: entity for entity in forgetting.entities}
        self._facts = {fact.uuid: fact for fact in forgetting.facts}
        self._gone_episodes = frozenset(gone.episodes)
        self._gone_entities = frozenset(gone.entities)
        self._touched = self._gone_episodes | self._texts.keys()
        self._staying = self._facts.keys() | {update.uuid for update in forgetting.fact_updates}
        self._gone_facts = frozenset((*forgets.facts, *gone.facts))
        self._without_history = frozenset(forgets.facts)
        self._passages = frozenset(forgets.passages)
        self._mentions = frozenset(forgets.mentions)
        self._reasons = frozenset(forgets.reasons)
        self._names = remaining_names(forgetting)
        self._main = {left.entity_uuid: name.text for left in forgets.names for name in left.names if not name.is_alias}
        self._sagas = {saga.uuid: saga for saga in forgetting.sagas}
        self._gone_sagas = frozenset(gone.sagas)
        self._members = frozenset((*forgets.members, *gone.entities))
        self._metadata = frozenset(forgets.metadata)
        self._qualities = frozenset(forgets.qualities)
        self._documents = {left.uuid: left for left in forgets.documents}
        self._follow(forgetting.former)

    def _follow(self, former: Sequence[tuple[str, str]]) -> None:
        """Take from entities that were merged into others what is taken from these."""
        nothing = {"summary": "", "attributes": {}}
        self._gone_entities |= {uuid for uuid, now in former if now in self._gone_entities}
        self._entities |= {
            uuid: self._entities[now].model_copy(update=nothing) for uuid, now in former if now in self._entities
        }
        self._mentions |= {(one, uuid) for uuid, now in former for one, entity in self._mentions if entity == now}
        self._members |= {uuid for uuid, now in former if now in self._members}
        self._metadata |= {uuid for uuid, now in former if now in self._metadata}
        self._qualities |= {uuid for uuid, now in former if now in self._qualities}

    def of(self, earlier: WriteIntent) -> WriteIntent:
        forgets = earlier.forgets
        is_touched = any(one.uuid in self._touched for one in earlier.episodes)
        return earlier.model_copy(
            update={
                "episodes": tuple(
                    one.model_copy(update=dict(self._texts[one.uuid])) if one.uuid in self._texts else one
                    for one in earlier.episodes
                    if one.uuid not in self._gone_episodes
                ),
                **self._records(earlier),
                "entries": tuple(
                    self._without_metadata(one) for one in earlier.entries if one.uuid not in self._gone_episodes
                ),
                "fact_updates": _left(self._update, earlier.fact_updates),
                "passages": tuple(
                    one
                    for one in earlier.passages
                    if one.uuid not in self._passages and one.episode_uuid not in self._gone_episodes
                ),
                "documents": tuple(map(self._document, earlier.documents)),
                "sections": tuple(one for one in earlier.sections if one.episode_uuid not in self._gone_episodes),
                "instances": tuple(
                    one
                    for one in earlier.instances
                    if one.entity_uuid not in self._gone_entities
                    and one.episode_uuid not in self._gone_episodes
                    and self._passages.isdisjoint(one.passages)
                ),
                **self._remaining_sagas(earlier),
                "new_vectors": self._new_vectors(earlier.new_vectors) if earlier.new_vectors else None,
                "changes": _left(self._change, (self.states(one, earlier.group_id) for one in earlier.changes)),
                "jobs": tuple(
                    job
                    for one in earlier.jobs
                    if (job := redacted_job(one, earlier.group_id, self._gone_entities, self._names)) is not None
                ),
                "extractions": tuple(
                    one.model_copy(update={"instructions": ""}) if one.episode_uuid in self._touched else one
                    for one in earlier.extractions
                    if one.episode_uuid not in self._gone_episodes
                ),
                "merge": None if earlier.merge is None else self.merge(earlier.merge),
                "forgets": None if forgets is None else self._forgetting(forgets),
                "steering": {} if is_touched else earlier.steering,
            }
        )

    def _records(self, earlier: WriteIntent | Archive) -> dict[str, object]:
        """What is left of the records that a write and the archive of a merge have in common."""
        return {
            "entities": _left(self._entity, earlier.entities),
            "projects": tuple(
                self._without_metadata(one) for one in earlier.projects if one.uuid not in self._gone_entities
            ),
            "qualities": tuple(
                redacted_quality(one) if one.uuid in self._qualities else one
                for one in earlier.qualities
                if one.uuid not in self._gone_entities
            ),
            "names": tuple(filter(self._keeps_name, earlier.names)),
            "facts": _left(self._fact, earlier.facts),
            "mentions": tuple(
                one
                for one in earlier.mentions
                if (one.episode_uuid, one.entity_uuid) not in self._mentions
                and one.episode_uuid not in self._gone_episodes
                and one.entity_uuid not in self._gone_entities
            ),
        }

    def merge(self, merge: Merge) -> Merge:
        """A part of a merge, whose archive may hold forgotten words."""
        archive = merge.archive.model_copy(update=self._records(merge.archive))
        facts = tuple(one.model_copy(update={"episodes": self._remaining(one)}) for one in archive.facts)
        return merge.model_copy(update={"archive": archive.model_copy(update={"facts": facts})})

    def _document(self, document: Document) -> Document:
        left = self._documents.get(document.uuid)
        return document if left is None else document.model_copy(update=dict(left))

    def _without_metadata(self, record: _BESIDE) -> _BESIDE:
        return record.model_copy(update={"metadata": NO_METADATA}) if record.uuid in self._metadata else record

    def _remaining_sagas(self, earlier: WriteIntent) -> dict[str, object]:
        """Remaining sagas get their present words; a community is removed with any of its members."""
        now = self._sagas
        return {
            "sagas": tuple(
                one.model_copy(update={field: getattr(now[one.uuid], field) for field in _WORDS_OF_A_SAGA})
                if one.uuid in now
                else one
                for one in earlier.sagas
                if one.uuid not in self._gone_sagas
            ),
            "saga_steps": tuple(
                one
                for one in earlier.saga_steps
                if one.saga_uuid not in self._gone_sagas and one.episode_uuid not in self._gone_episodes
            ),
            "episode_links": tuple(
                one
                for one in earlier.episode_links
                if self._gone_episodes.isdisjoint((one.previous_uuid, one.next_uuid))
            ),
            "communities": earlier.communities
            and tuple(one for one in earlier.communities if self._members.isdisjoint(one.members)),
        }

    def _entity(self, entity: Entity) -> Entity | None:
        if entity.uuid in self._gone_entities:
            nothing = {"name": FORGOTTEN, "summary": "", "attributes": {}}
            return entity.model_copy(update=nothing) if self._keeps_shells else None
        now = self._entities.get(entity.uuid)
        entity = entity.model_copy(update={"name": self._name_left(entity.uuid, entity.group_id, entity.name)})
        if now is None:
            return entity
        return entity.model_copy(update={name: getattr(now, name) for name in ("label", "summary", "attributes")})

    def _name_left(self, uuid: str, group_id: str, name: str) -> str:
        """The name; if it is forgotten, the one that the entity has now."""
        keys = self._names.get(uuid)
        return name if keys is None or name_key(group_id, name) in keys else self._main.get(uuid, FORGOTTEN)

    def states(self, change: FactChange, group_id: str) -> FactChange:
        """An update with what is left of both states."""
        states = {field: self._state(state, change.fact_uuid, group_id) for field, state in _states_of(change)}
        return change.model_copy(update=states) if states else change

    def _state(self, state: EntityState, uuid: str, group_id: str) -> EntityState:
        now = self._entities.get(uuid)
        return state.model_copy(
            update={
                "name": self._name_left(uuid, group_id, state.name),
                "names": tuple(filter(self._keeps_name, state.names)),
                "linked": tuple(one for one in state.linked if (one, uuid) not in self._mentions),
                **({} if now is None else {"label": now.label, "summary": now.summary}),
            }
        )

    def _keeps_name(self, name: Name) -> bool:
        keys = self._names.get(name.entity_uuid)
        return name.entity_uuid not in self._gone_entities and (keys is None or name.key in keys)

    def _fact(self, fact: Fact) -> Fact | None:
        if fact.uuid in self._without_history:
            return None
        if fact.uuid in self._gone_facts or self._was_deleted(fact):
            return fact.model_copy(update=_SHELL)
        if not self._names.keys().isdisjoint((fact.source_uuid, fact.target_uuid)):
            source = self._name_left(fact.source_uuid, fact.group_id, fact.source_name)
            target = self._name_left(fact.target_uuid, fact.group_id, fact.target_name)
            fact = fact.model_copy(update={"source_name": source, "target_name": target})
        fact = self._without_gone(fact)
        now = self._facts.get(fact.uuid)
        if now is None and fact.quote_episode_uuid in self._gone_episodes:
            return fact.model_copy(update=dict.fromkeys(_QUOTE))
        return fact if now is None else fact.model_copy(update={name: getattr(now, name) for name in _WORDS})

    def _without_gone(self, record: _TOLD) -> _TOLD:
        """The record without the episodes that are gone, which an earlier state of the group would name for ever.

        If no other told it then, they stay: by them such a state knows that it has the fact no more (``GroupTally``).
        """
        return record.model_copy(update={"episodes": self._remaining(record) or record.episodes})

    def _remaining(self, record: Fact | FactUpdate) -> tuple[str, ...]:
        return tuple(one for one in record.episodes if one not in self._gone_episodes)

    def _new_vectors(self, given: NewVectors) -> NewVectors:
        """New vectors without those of removed words."""
        gone = self._gone_facts | self._without_history
        return NewVectors(
            entities=tuple(uuid for uuid in given.entities if uuid not in self._gone_entities),
            facts=tuple(one for one in given.facts if one.uuid not in gone and not self._was_deleted(one)),
            passages=tuple(
                (episode, uuid)
                for episode, uuid in given.passages
                if uuid not in self._passages and episode not in self._gone_episodes
            ),
        )

    def _was_deleted(self, fact: Fact | EmbeddedFact) -> bool:
        """Whether a fact was deleted before this write: its episode lost words, and it is not among those that stay."""
        if not {fact.source_uuid, fact.target_uuid}.isdisjoint(self._gone_entities):
            return True
        return fact.uuid not in self._staying and not self._touched.isdisjoint(fact.episodes)

    def _update(self, update: FactUpdate) -> FactUpdate | None:
        if update.uuid in self._without_history:
            return None
        is_unknown = update.uuid not in self._facts and update.quote_episode_uuid in self._touched
        if update.uuid in self._gone_facts or is_unknown:
            return update.model_copy(update={**dict.fromkeys(_QUOTE), "attributes": {}})
        update = self._without_gone(update)
        now = self._facts.get(update.uuid)
        if now is None:
            return update
        left = {name: getattr(now, name) for name in _QUOTE} if update.quote is not None else {}
        left["attributes"] = {name: now.attributes.get(name) for name in update.attributes}
        return update.model_copy(update=left)

    def _change(self, change: FactChange) -> FactChange | None:
        if change.fact_uuid in self._without_history:
            return None
        if change.replaced_by in self._without_history:
            return change.model_copy(update={"replaced_by": None, "reason": None})
        if change.fact_uuid in self._gone_entities:
            return change.model_copy(update={"reason": None, "entity_before": None, "entity_after": None})
        if change.fact_uuid in self._gone_facts:
            return change.model_copy(update={"reason": None})
        return change.model_copy(update={"reason": FORGOTTEN}) if change.uuid in self._reasons else change

    def _forgetting(self, forgets: Forgetting) -> Forgetting:
        """An earlier forgetting write, with the texts it had left, redacted again."""
        texts = (self._texts.get(one.uuid, one) for one in forgets.episodes if one.uuid not in self._gone_episodes)
        names = (
            RemainingNames(entity_uuid=left.entity_uuid, names=tuple(filter(self._keeps_name, left.names)))
            for left in forgets.names
            if left.entity_uuid not in self._gone_entities
        )
        documents = tuple(self._documents.get(one.uuid, one) for one in forgets.documents)
        return forgets.model_copy(update={"episodes": tuple(texts), "names": tuple(names), "documents": documents})


def _left(rule: Callable[[_A_RECORD], _A_RECORD | None], records: Iterable[_A_RECORD]) -> tuple[_A_RECORD, ...]:
    return tuple(left for left in map(rule, records) if left is not None)


def _states_of(change: FactChange) -> list[tuple[str, EntityState]]:
    found = (("entity_before", change.entity_before), ("entity_after", change.entity_after))
    return [(field, state) for field, state in found if state is not None]
