"""Plans a split: what of an entity is of another one from then on. Pure, from the records that were read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from graphiti_pkm.capabilities.curation.merge_plan import moved_fact, state_of, stored
from graphiti_pkm.core.model.document_records import Instance
from graphiti_pkm.core.model.merges import MergeSizes
from graphiti_pkm.core.model.names import name_key
from graphiti_pkm.core.model.records import Entity, Fact, FactChange, Mention, Name, WriteIntent, WriteKind


@dataclass(frozen=True)
class Split:
    """What would be split off, as it is now."""

    entity: Entity
    alias: Name | None
    """The name asked for, if it is an alias of the entity."""
    facts: Sequence[Fact]
    named: Sequence[Mention]
    """Of the episodes that were named."""
    beside: Sequence[Mention]
    """Of others that tell these facts."""
    telling: Collection[str]
    """Episodes that were named and tell a fact that stays."""
    evidence: Sequence[Instance]
    sizes: MergeSizes
    """Of the entity, twice."""

    @property
    def moving(self) -> list[Mention]:
        """Mentions that are of the new entity alone."""
        return [one for one in self.named if one.episode_uuid not in self.telling]

    @property
    def shared(self) -> list[Mention]:
        """Mentions of the entity in episodes that mention both from then on."""
        return [*(one for one in self.named if one.episode_uuid in self.telling), *self.beside]

    @property
    def leaves_nothing(self) -> bool:
        return self.sizes.facts[0] == len(self.facts) and self.sizes.mentions[0] == len(self.moving)

    @property
    def shown(self) -> dict[str, object]:
        """All that a preview is made from."""
        records = (self.entity, *self.facts, *self.named, *self.beside, *self.evidence, self.sizes)
        return {
            "records": [one.model_dump(mode="json") for one in records],
            "alias": None if self.alias is None else self.alias.model_dump(mode="json"),
            "telling": sorted(self.telling),
        }


def plan_split(split: Split, name: str, caller: str, at: datetime) -> WriteIntent:
    """The write: every record whole, as it is from then on.

    So it depends on no earlier write, and what is forgotten of the entity later takes nothing from the new one.
    """
    entity = split.entity
    new = Entity(uuid=str(uuid4()), group_id=entity.group_id, name=name, label=entity.label, created_at=at)
    given = Name(key=name_key(new.group_id, name), group_id=new.group_id, text=name, entity_uuid=new.uuid)
    if split.alias is not None:
        given = split.alias.model_copy(update={"entity_uuid": new.uuid, "is_alias": False})
    before = state_of(entity).model_copy(
        update={
            "names": () if split.alias is None else (split.alias,),
            "linked": tuple(one.episode_uuid for one in split.moving),
        }
    )
    change = FactChange(
        uuid=str(uuid4()),
        fact_uuid=entity.uuid,
        kind="split",
        recorded_at=at,
        replaced_by=new.uuid,
        caller=caller,
        entity_before=before,
        entity_after=state_of(entity),
    )
    return WriteIntent(
        uuid=str(uuid4()),
        group_id=entity.group_id,
        kind=WriteKind.SPLIT,
        recorded_at=at,
        entities=(new,),
        names=(given,),
        facts=tuple(_given(one, entity.uuid, new.uuid) for one in split.facts),
        mentions=(
            *(one.model_copy(update={"entity_uuid": new.uuid}) for one in split.moving),
            *(
                Mention(uuid=str(uuid4()), episode_uuid=one.episode_uuid, entity_uuid=new.uuid, created_at=at)
                for one in split.shared
            ),
        ),
        instances=tuple(one.model_copy(update={"entity_uuid": new.uuid}) for one in split.evidence),
        changes=(change,),
    )


def _given(fact: Fact, before: str, after: str) -> Fact:
    """The fact between its new ends, whose names are read with it."""
    return stored(moved_fact(fact, before, after)).model_copy(update={"source_name": "", "target_name": ""})
