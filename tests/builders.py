"""Small factories for records: everything has a sensible value, every value can be given."""

from collections.abc import Generator
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from graphiti_pkm.core.model.document_records import Document, Instance, Section
from graphiti_pkm.core.model.job_records import BackLinkJob, EmbedPassagesJob, EraseJob
from graphiti_pkm.core.model.names import name_key, normalise_name
from graphiti_pkm.core.model.records import (
    Entity,
    Entry,
    Episode,
    Fact,
    FactChange,
    FactUpdate,
    Mention,
    Name,
    Passage,
    Project,
    Quality,
    Record,
    WriteIntent,
    WriteKind,
)
from graphiti_pkm.core.model.saga_records import Community, EpisodeLink, Saga, SagaStep

GROUP = "t1"
OTHER_GROUP = "t2"
DAY_ONE = datetime(2025, 1, 1, tzinfo=UTC)
RECORDED = datetime(2026, 1, 1, tzinfo=UTC)
"""When builders say things were recorded."""


def at(year: int, month: int = 1, day: int = 1, hour: int = 0, minute: int = 0) -> datetime:
    """An aware UTC instant."""
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def new_uuid() -> str:
    return str(uuid4())


def an_episode(content: str = "Sarah moved to Berlin.", **fields: Any) -> Episode:
    values = {
        "uuid": new_uuid(),
        "group_id": GROUP,
        "name": "A note",
        "content": content,
        "valid_at": DAY_ONE,
        "created_at": RECORDED,
    }
    return Episode(**{**values, **fields})


def an_entity(name: str = "Sarah", **fields: Any) -> Entity:
    values = {"uuid": new_uuid(), "group_id": GROUP, "name": name, "created_at": RECORDED}
    return Entity(**{**values, **fields})


def a_name(entity: Entity, text: str | None = None, **fields: Any) -> Name:
    """The name of an entity, or with another ``text`` its alias."""
    text = entity.name if text is None else text
    values = {
        "key": name_key(entity.group_id, text),
        "group_id": entity.group_id,
        "text": text,
        "entity_uuid": entity.uuid,
        "is_alias": normalise_name(text) != normalise_name(entity.name),
    }
    return Name(**{**values, **fields})


def a_fact(source: Entity, target: Entity, relation: str = "KNOWS", **fields: Any) -> Fact:
    values = {
        "uuid": new_uuid(),
        "group_id": source.group_id,
        "source_uuid": source.uuid,
        "target_uuid": target.uuid,
        "source_name": source.name,
        "target_name": target.name,
        "relation": relation,
        "text": f"{source.name} {relation.lower().replace('_', ' ')} {target.name}.",
        "created_at": RECORDED,
    }
    return Fact(**{**values, **fields})


def an_update(fact: Fact, **fields: Any) -> FactUpdate:
    """An update that changes only ``fields``."""
    values = {name: getattr(fact, name) for name in FactUpdate.model_fields}
    return FactUpdate(**{**values, **fields})


def a_mention(episode: Episode, entity: Entity, **fields: Any) -> Mention:
    values = {
        "uuid": new_uuid(),
        "episode_uuid": episode.uuid,
        "entity_uuid": entity.uuid,
        "created_at": episode.created_at,
    }
    return Mention(**{**values, **fields})


def a_passage(episode: Episode, start: int = 0, end: int | None = None, **fields: Any) -> Passage:
    values = {
        "uuid": new_uuid(),
        "episode_uuid": episode.uuid,
        "paragraph": 0,
        "sentence": 0,
        "start": start,
        "end": len(episode.content) if end is None else end,
    }
    return Passage(**{**values, **fields})


def a_change(fact: Fact, episode: Episode, **fields: Any) -> FactChange:
    """That an episode ended a fact."""
    values = {
        "uuid": new_uuid(),
        "fact_uuid": fact.uuid,
        "kind": "retired",
        "episode_uuid": episode.uuid,
        "recorded_at": RECORDED,
    }
    return FactChange(**{**values, **fields})


def a_project(entity: Entity, **fields: Any) -> Project:
    """What an entity has besides as a project."""
    return Project(**{"uuid": entity.uuid, "group_id": entity.group_id, "created_at": RECORDED, **fields})


def an_entry(episode: Episode, project: Project | None = None, **fields: Any) -> Entry:
    """What an episode has besides as an entry of a project."""
    uuid = project.uuid if project else None
    return Entry(**{"uuid": episode.uuid, "group_id": episode.group_id, "project_uuid": uuid, **fields})


def a_quality(entity: Entity, **fields: Any) -> Quality:
    """What is said of an entity."""
    return Quality(**{"uuid": entity.uuid, "group_id": entity.group_id, **fields})


def a_document(*sections: Episode, **fields: Any) -> tuple[Document, list[Section]]:
    """A document of these episodes, each of which has one paragraph."""
    group = sections[0].group_id if sections else GROUP
    values = {
        "uuid": new_uuid(),
        "group_id": group,
        "name": "guide",
        "path": "guide.md",
        "version": 1,
        "digest": "d1",
        "created_at": RECORDED,
    }
    document = Document(**{**values, **fields})
    return document, [
        Section(document_uuid=document.uuid, place=place, episode_uuid=one.uuid, paragraph=place + 1)
        for place, one in enumerate(sections)
    ]


def an_instance(entity: Entity, document: Document, *passages: Passage, **fields: Any) -> Instance:
    """The whole of some passages as evidence of an entity."""
    values = {
        "uuid": new_uuid(),
        "group_id": entity.group_id,
        "entity_uuid": entity.uuid,
        "document_uuid": document.uuid,
        "episode_uuid": passages[0].episode_uuid,
        "passages": tuple(one.uuid for one in passages),
        "first": 0,
        "last": passages[-1].end - passages[-1].start,
        "created_at": RECORDED,
    }
    return Instance(**{**values, **fields})


def a_saga(name: str = "Trip", **fields: Any) -> Saga:
    return Saga(**{"uuid": new_uuid(), "group_id": GROUP, "name": name, "created_at": DAY_ONE, **fields})


def a_step(saga: Saga, episode: Episode) -> SagaStep:
    """The saga holds the episode."""
    return SagaStep(uuid=new_uuid(), saga_uuid=saga.uuid, episode_uuid=episode.uuid, created_at=RECORDED)


def a_link(previous: Episode, following: Episode) -> EpisodeLink:
    """One episode follows another."""
    return EpisodeLink(uuid=new_uuid(), previous_uuid=previous.uuid, next_uuid=following.uuid, created_at=RECORDED)


def a_community(*members: Entity, **fields: Any) -> Community:
    """Of entities of one group."""
    values = {
        "uuid": new_uuid(),
        "group_id": members[0].group_id,
        "name": "People",
        "summary": "They know each other.",
        "created_at": RECORDED,
        "members": tuple(sorted(member.uuid for member in members)),
    }
    return Community(**{**values, **fields})


def an_intent(**fields: Any) -> WriteIntent:
    """A write; lists of records may be given as any iterable."""
    values = {"uuid": new_uuid(), "group_id": GROUP, "kind": WriteKind.ADD_MEMORY, "recorded_at": RECORDED}
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list | set | Generator)}
    return WriteIntent(**{**values, **fields, **lists})


_LISTS: dict[type[Record], str] = {
    Episode: "episodes",
    Entity: "entities",
    Name: "names",
    Fact: "facts",
    FactUpdate: "fact_updates",
    Mention: "mentions",
    Passage: "passages",
    FactChange: "changes",
    Saga: "sagas",
    SagaStep: "saga_steps",
    EpisodeLink: "episode_links",
    Community: "communities",
    Project: "projects",
    Quality: "qualities",
    Entry: "entries",
    Document: "documents",
    Section: "sections",
    Instance: "instances",
    BackLinkJob: "jobs",
    EmbedPassagesJob: "jobs",
    EraseJob: "jobs",
}


def a_write(*records: Record, **fields: Any) -> WriteIntent:
    """A write of records of any kinds, in the group of the first that has one."""
    lists: dict[str, list[Record]] = {}
    for record in records:
        lists.setdefault(_LISTS[type(record)], []).append(record)
    groups = [group for record in records if (group := getattr(record, "group_id", None))]
    return an_intent(**{"group_id": groups[0] if groups else GROUP, **lists, **fields})
