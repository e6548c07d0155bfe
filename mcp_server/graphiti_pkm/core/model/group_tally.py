"""Which records a group holds after a series of writes, without their words."""

from graphiti_pkm.core.model.queries import GroupSize
from graphiti_pkm.core.model.records import Entity, Fact, FactUpdate, WriteIntent


class GroupTally:
    """Applies writes to sets of uuids as the graph applies them to records."""

    def __init__(self, group_id: str) -> None:
        self._group_id = group_id
        self.episodes: set[str] = set()
        self.entities: dict[str, int] = {}
        """A hash of name, type and summary."""
        self.facts: dict[str, int] = {}
        """A hash of when it holds, and whether it was corrected or retired."""
        self._ends: dict[str, tuple[str, str]] = {}

    @property
    def size(self) -> GroupSize:
        """How many records of each kind there are."""
        return GroupSize(episodes=len(self.episodes), entities=len(self.entities), facts=len(self.facts))

    def add(self, intent: WriteIntent) -> None:
        """Apply the next write."""
        own = self._group_id
        self.episodes.update(one.uuid for one in intent.episodes if one.group_id == own)
        self.entities.update((one.uuid, _words(one)) for one in intent.entities if one.group_id == own)
        for fact in intent.facts:
            # A fact whose ends are not there is left out.
            if fact.group_id == own and {fact.source_uuid, fact.target_uuid} <= self.entities.keys():
                self._ends[fact.uuid] = (fact.source_uuid, fact.target_uuid)
                self.facts[fact.uuid] = _validity(fact)
        for update in intent.fact_updates:
            if update.uuid in self.facts:
                self.facts[update.uuid] = _validity(update)
        gone = intent.deletions
        if own in gone.groups:
            self.episodes.clear()
            self.entities.clear()
            self._lose(list(self.facts))
        self._lose((*gone.facts, *(intent.forgets.facts if intent.forgets else ())))
        self.episodes.difference_update(gone.episodes)
        if gone.entities:
            for uuid in gone.entities:
                self.entities.pop(uuid, None)
            self._lose([uuid for uuid, ends in self._ends.items() if not set(ends) <= self.entities.keys()])

    def _lose(self, facts: "tuple[str, ...] | list[str]") -> None:
        for uuid in facts:
            self.facts.pop(uuid, None)
            self._ends.pop(uuid, None)


def _words(entity: Entity) -> int:
    return hash((entity.name, entity.label, entity.summary))


def _validity(fact: Fact | FactUpdate) -> int:
    return hash((fact.valid_at, fact.invalid_at, fact.expired_at, fact.voided))
