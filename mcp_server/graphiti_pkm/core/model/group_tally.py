"""Which records a group holds after a series of writes, without their words."""

from collections.abc import Sequence
from sys import intern

from graphiti_pkm.core.model.document_records import Instance
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import FORGETTING, Deletions, Entity, Fact, FactUpdate, Merge, WriteIntent


class GroupTally:
    """Applies writes to sets of uuids as the graph applies them to records."""

    def __init__(self, group_id: str) -> None:
        self._group_id = group_id
        self.episodes: set[str] = set()
        self.entities: dict[str, int] = {}
        """A hash of name, type and summary."""
        self.facts: dict[str, int] = {}
        """A hash of when it holds, and whether it was corrected or retired."""
        self._sagas: dict[str, frozenset[str | None]] = {}
        """Their first and last episodes."""
        self._steps: dict[str, set[str]] = {}
        """The episodes of each saga."""
        self._sections: dict[str, set[str]] = {}
        """The episodes of each version of a document."""
        self._quotes: dict[str, Instance] = {}
        self._ends: dict[str, tuple[str, str]] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        """The episodes of each fact, without an entry if it has none."""
        self._forgotten: set[str] = set()
        """Episodes. Earlier writes name them where they were all that told a fact, or the end of a saga."""
        self._former: dict[str, str] = {}
        """Entities that were merged, with those that they mean now: whoever writes them again writes nothing."""

    @property
    def size(self) -> GroupSize:
        """How many records of each kind there are."""
        return GroupSize(episodes=len(self.episodes), entities=len(self.entities), facts=len(self.facts))

    @property
    def sagas(self) -> set[str]:
        """The sagas."""
        return {*self._sagas}

    @property
    def unclosed_sagas(self) -> list[str]:
        """Sagas whose first or last episode was forgotten."""
        gone = self._forgotten - self.episodes
        return sorted(uuid for uuid, ends in self._sagas.items() if not gone.isdisjoint(ends))

    @property
    def documents(self) -> set[str]:
        """Versions of documents of which a section is there."""
        return {uuid for uuid, episodes in self._sections.items() if not episodes.isdisjoint(self.episodes)}

    @property
    def quotes(self) -> dict[str, Instance]:
        """Those of which entity and section are there."""
        return {
            uuid: one
            for uuid, one in self._quotes.items()
            if self._former.get(one.entity_uuid, one.entity_uuid) in self.entities and one.episode_uuid in self.episodes
        }

    def lose_untold(self) -> Deletions:
        """Take out the facts and sagas whose episodes were all forgotten, and say which: the graph has them still.

        When the episodes were forgotten, later ones told the facts too, or continued the sagas; an earlier state of the
        group does not have those.
        """
        gone = self._forgotten - self.episodes
        facts = tuple(uuid for uuid, episodes in self._told.items() if gone.issuperset(episodes))
        self._lose(facts)
        sagas = [uuid for uuid in self.unclosed_sagas if self._steps.get(uuid, set()).isdisjoint(self.episodes)]
        self._lose_sagas(sagas)
        return Deletions(facts=facts, sagas=tuple(sagas))

    def add(self, intent: WriteIntent) -> None:
        """Apply the next write."""
        own = self._group_id
        if intent.merge is not None and intent.merge.undoes and intent.merge.is_last:
            for uuid in (intent.merge.removed_uuid, *intent.merge.former):
                self._former.pop(uuid, None)
            self._former |= dict.fromkeys(intent.merge.former, intent.merge.removed_uuid)
        self.episodes.update(one.uuid for one in intent.episodes if one.group_id == own)
        self.entities.update(
            (one.uuid, _words(one)) for one in intent.entities if one.group_id == own and one.uuid not in self._former
        )
        for fact in intent.facts:
            # A fact whose ends are not there is left out.
            if fact.group_id == own and {fact.source_uuid, fact.target_uuid} <= self.entities.keys():
                # A hub is an end of many facts: one copy of its uuid is enough.
                self._ends[fact.uuid] = (intern(fact.source_uuid), intern(fact.target_uuid))
                self.facts[fact.uuid] = _validity(fact)
                self._tell(fact)
        self._add_beside(intent)
        for update in intent.fact_updates:
            if update.uuid in self.facts:
                self.facts[update.uuid] = _validity(update)
                self._tell(update)
        if intent.merge is not None:
            self._merge(intent.merge)
        self._delete(intent)

    def _delete(self, intent: WriteIntent) -> None:
        gone = intent.deletions
        if self._group_id in gone.groups:
            for held in (self.episodes, self.entities, self._former, self._sections, self._quotes):
                held.clear()
            self._lose(list(self.facts))
            self._lose_sagas(list(self._sagas))
        self._lose((*gone.facts, *(intent.forgets.facts if intent.forgets else ())))
        self.episodes.difference_update(gone.episodes)
        if intent.kind in FORGETTING:
            self._forgotten.update(gone.episodes)
        self._lose_sagas(gone.sagas)
        self._lose_entities(gone.entities)

    def _add_beside(self, intent: WriteIntent) -> None:
        """What hangs on episodes and entities."""
        own = self._group_id
        for saga in intent.sagas:
            if saga.group_id == own:
                self._sagas[saga.uuid] = frozenset((saga.first_episode_uuid, saga.last_episode_uuid))
        for step in intent.saga_steps:
            if step.saga_uuid in self._sagas:
                self._steps.setdefault(step.saga_uuid, set()).add(step.episode_uuid)
        for document in intent.documents:
            if document.group_id == own:
                self._sections.setdefault(document.uuid, set())
        for section in intent.sections:
            if section.document_uuid in self._sections:
                self._sections[section.document_uuid].add(section.episode_uuid)
        self._quotes |= {one.uuid: one for one in intent.instances if one.document_uuid in self._sections}

    def _merge(self, merge: Merge) -> None:
        """A part of a merge, or of its undoing; without both entities it is void."""
        if not {merge.kept_uuid, merge.removed_uuid} <= self.entities.keys():
            return
        before, after = merge.removed_uuid, merge.kept_uuid
        if merge.undoes:
            before, after = after, before
        for place, uuids in enumerate((merge.moved.sources, merge.moved.targets)):
            for uuid in uuids:
                ends = list(self._ends.get(uuid, ("", "")))
                if ends[place] == before:
                    ends[place] = after
                    self._ends[uuid] = (ends[0], ends[1])
        if merge.undoes:
            return
        self._lose(merge.facts)
        if merge.is_last:
            self._former = {one: after if now == before else now for one, now in self._former.items()}
            self._lose_entities((before,))
            self._former[before] = after

    def _lose_entities(self, uuids: Sequence[str]) -> None:
        """With their facts."""
        if not uuids:
            return
        for uuid in uuids:
            self.entities.pop(uuid, None)
        self._former = {one: now for one, now in self._former.items() if now not in uuids}
        self._lose([uuid for uuid, ends in self._ends.items() if not set(ends) <= self.entities.keys()])

    def _tell(self, fact: Fact | FactUpdate) -> None:
        if fact.episodes:
            self._told[fact.uuid] = tuple(map(intern, fact.episodes))
        else:
            self._told.pop(fact.uuid, None)

    def _lose(self, facts: Sequence[str]) -> None:
        for uuid in facts:
            self.facts.pop(uuid, None)
            self._ends.pop(uuid, None)
            self._told.pop(uuid, None)

    def _lose_sagas(self, uuids: Sequence[str]) -> None:
        for uuid in uuids:
            self._sagas.pop(uuid, None)
            self._steps.pop(uuid, None)


def _words(entity: Entity) -> int:
    return hash((entity.name, entity.label, entity.summary))


def _validity(fact: Fact | FactUpdate) -> int:
    return hash((fact.valid_at, fact.invalid_at, fact.expired_at, fact.voided))
