"""Which records a group holds after a series of writes, without their words."""

from collections.abc import Sequence
from sys import intern

from graphiti_pkm.core.model.document_records import Instance
from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import Entity, Fact, FactUpdate, Merge, WriteIntent


class GroupTally:
    """Applies writes to sets of uuids as the graph applies them to records."""

    def __init__(self, group_id: str) -> None:
        self._group_id = group_id
        self.episodes: set[str] = set()
        self.entities: dict[str, int] = {}
        """A hash of name, type and summary."""
        self.facts: dict[str, int] = {}
        """A hash of when it holds, and whether it was corrected or retired."""
        self.sagas: set[str] = set()
        self._sections: dict[str, set[str]] = {}
        """The episodes of each version of a document."""
        self._quotes: dict[str, Instance] = {}
        self._ends: dict[str, tuple[str, str]] = {}
        self._former: dict[str, str] = {}
        """Entities that were merged, with those that they mean now: whoever writes them again writes nothing."""

    @property
    def size(self) -> GroupSize:
        """How many records of each kind there are."""
        return GroupSize(episodes=len(self.episodes), entities=len(self.entities), facts=len(self.facts))

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
        self._add_beside(intent)
        for update in intent.fact_updates:
            if update.uuid in self.facts:
                self.facts[update.uuid] = _validity(update)
        if intent.merge is not None:
            self._merge(intent.merge)
        gone = intent.deletions
        if own in gone.groups:
            for held in (self.episodes, self.entities, self._former, self.sagas, self._sections, self._quotes):
                held.clear()
            self._lose(list(self.facts))
        self._lose((*gone.facts, *(intent.forgets.facts if intent.forgets else ())))
        self.episodes.difference_update(gone.episodes)
        self.sagas.difference_update(gone.sagas)
        self._lose_entities(gone.entities)

    def _add_beside(self, intent: WriteIntent) -> None:
        """What hangs on episodes and entities."""
        own = self._group_id
        self.sagas.update(one.uuid for one in intent.sagas if one.group_id == own)
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

    def _lose(self, facts: Sequence[str]) -> None:
        for uuid in facts:
            self.facts.pop(uuid, None)
            self._ends.pop(uuid, None)


def _words(entity: Entity) -> int:
    return hash((entity.name, entity.label, entity.summary))


def _validity(fact: Fact | FactUpdate) -> int:
    return hash((fact.valid_at, fact.invalid_at, fact.expired_at, fact.voided))
