"""Gives the records of a write other uuids and another group: a copy beside the original must not be the original."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from uuid import UUID, uuid5

from graphiti_pkm.core.identity.ordered_uuids import uuid_of_copy
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import BECAUSE_OF, Copied, Vectors, WriteIntent

UUIDS = frozenset(
    {
        *("uuid", "source_uuid", "target_uuid", "entity_uuid", "episode_uuid", "fact_uuid", "project_uuid"),
        *("quote_episode_uuid", "previous_uuid", "next_uuid", "saga_uuid", "first_episode_uuid", "last_episode_uuid"),
        *("replaced_by", "after", "document_uuid", "kept_uuid", "removed_uuid"),
    }
)
"""Fields that hold the uuid of a record."""
UUID_LISTS = frozenset(
    {
        *("episodes", "entities", "facts", "sagas", "passages", "mentions", "reasons", "answers", "members"),
        *(
            "metadata",
            "qualities",
            "saved_graphs",
            "pins",
            "similar_to",
            "found_with",
            "not_same_as",
            "linked",
            "unlinked",
        ),
        *("corrected_episodes", "uncorrected_episodes", "previous_episode_uuids"),
        *("sources", "targets", "entries", "evidence", "causes", "change_sources", "change_targets", "apart", "former"),
    }
)
"""Fields that hold uuids, or pairs of them, where they hold no records."""
GROUPS = frozenset({"group_id", "groups"})
_AS_THEY_ARE = frozenset({"steering", "origin", "restores"})


@lru_cache(maxsize=8_192)
def _renamed(namespace: UUID, original: str) -> str:
    """One page of records is asked for several times, which would be a sixth of the time of a copy."""
    return uuid_of_copy(namespace, original)


class Renaming:
    """One uuid always gets the same one, so that a second copy finds the first."""

    def __init__(self, group_id: str) -> None:
        """``group_id``: the stored group that the copies are of."""
        self._group_id = group_id
        self._namespace = uuid5(UUID(int=0), group_id)

    def uuid(self, original: str) -> str:
        """The uuid of the copy."""
        return _renamed(self._namespace, original)

    def write(self, intent: WriteIntent) -> WriteIntent:
        """The write as if it had been one of the other group."""
        return WriteIntent.model_validate(self._record(intent.model_dump(mode="json")))

    def copies(self, intent: WriteIntent) -> tuple[Copied, ...]:
        """Which record of the other group is which of a write."""
        kinds = (intent.entities, intent.episodes, intent.facts, intent.documents)
        return tuple(Copied(uuid=self.uuid(one.uuid), origin_uuid=one.uuid) for kind in kinds for one in kind)

    def vectors(self, vectors: Vectors) -> Vectors:
        """The vectors under the new uuids."""
        return {self.uuid(uuid): vector for uuid, vector in vectors.items()}

    def _record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        renamed = {field: self._value(field, value) for field, value in record.items()}
        if "key" in record:
            renamed["key"] = name_key(self._group_id, record["text"])
        return renamed

    def _value(self, field: str, value: Any) -> Any:
        if field in GROUPS:
            return self._group_id if isinstance(value, str) else [self._group_id for _ in value]
        if field == "attributes":
            return {name: self.uuid(one) if name == BECAUSE_OF else one for name, one in value.items()}
        if isinstance(value, Mapping):
            return value if field in _AS_THEY_ARE else self._record(value)
        if isinstance(value, list):
            return [self._element(field, one) for one in value]
        return self.uuid(value) if field in UUIDS and value is not None else value

    def _element(self, field: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return self._record(value)
        if field not in UUID_LISTS:
            return value
        return self.uuid(value) if isinstance(value, str) else [self.uuid(one) for one in value]
