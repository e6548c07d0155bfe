"""What was forgotten or deleted in a group, read from its writes: a copy must not bring it back."""

from graphiti_pkm.core.model.records import FORGETTING, WriteIntent, WriteKind


class Forgotten:
    """Uuids only: no write keeps the words."""

    def __init__(self) -> None:
        self.entities: set[str] = set()
        self.episodes: set[str] = set()
        self.facts: set[str] = set()
        self.sagas: set[str] = set()
        self.redacted: set[str] = set()
        """Episodes that lost some of their words."""
        self.reworded: set[str] = set()
        """Facts that may have lost some."""
        self.renamed: set[str] = set()
        """Entities that lost a name."""
        self.resaid: set[str] = set()
        """Entities that may have lost words of their summary, or their type."""
        self._deleted: set[str] = set()

    def add(self, write: WriteIntent) -> None:
        """The next write of the group. Moves and merges take records out as well, but forget nothing."""
        if write.deletions.groups:  # emptied: by a rollback, which brings back what was only deleted, or for good
            self._deleted.clear()
        if write.kind is WriteKind.DELETE_FACT:
            self._deleted.update(write.deletions.facts)
        if write.forgets is None and write.kind not in FORGETTING:
            return
        self.entities.update(write.deletions.entities)
        self.episodes.update(write.deletions.episodes)
        self.facts.update(write.deletions.facts)
        self.sagas.update(write.deletions.sagas)
        if (forgets := write.forgets) is not None:
            self.facts.update(forgets.facts)
            self.redacted.update(one.uuid for one in forgets.episodes)
            self.reworded.update(one.uuid for one in write.facts)
            self.renamed.update(one.entity_uuid for one in forgets.names)
            self.resaid.update(one.uuid for one in write.entities)

    def has(self, uuid: str) -> bool:
        """Whether a record was, or lost words."""
        return uuid in self.entities or self.tells_of(uuid) or uuid in self.reworded or self.has_fact(uuid)

    def has_fact(self, uuid: str) -> bool:
        """Whether it was forgotten, or deleted by itself."""
        return uuid in self.facts or uuid in self._deleted

    def tells_of(self, episode: str) -> bool:
        """Whether words of this episode were forgotten."""
        return episode in self.episodes or episode in self.redacted
