"""The fixtures F1, F2 and F3 of the requirements catalogue, as writes with fixed uuids."""

from collections.abc import Iterable
from datetime import timedelta
from typing import TypeVar
from uuid import NAMESPACE_OID, uuid5

from tests.builders import (
    DAY_ONE,
    GROUP,
    OTHER_GROUP,
    RECORDED,
    a_fact,
    a_mention,
    a_name,
    a_passage,
    a_write,
    an_entity,
    an_episode,
    at,
)

from graphiti_pkm.core.model.records import Entity, Fact, Vectors, WriteIntent
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.ports.ports import Embedder

_T = TypeVar("_T")

DENSE_ENTITIES = 600
DENSE_OBSERVATIONS = 5
DENSE_FACTS_EACH = 10
DENSE_RELATIONS = ("NEXT_DAY", "EVOLVED_FROM", "DISCOVERS")
_BATCH = 50


def fixed_uuid(text: str) -> str:
    """The same uuid for the same text in every run."""
    return str(uuid5(NAMESPACE_OID, text))


HUB = fixed_uuid("HUB")
HUB_FACTS = 120
HUB_FACTS_IN_OWN_GROUP = 90
HUB_FACTS_ENDED = 20
_HUB_NEIGHBOURS = 40

DJANGO = fixed_uuid("Django project")
WEEKS = 25
WEEKS_IN_OTHER_GROUP = 5


def dense() -> list[WriteIntent]:
    """F1: 600 entities of five observations, each with ten facts to the following ones."""
    entities = [_dense_entity(i) for i in range(DENSE_ENTITIES)]
    facts = [_dense_fact(entities, i, step) for i in range(DENSE_ENTITIES) for step in range(1, DENSE_FACTS_EACH + 1)]
    nodes = [
        a_write(*batch, *map(a_name, batch), uuid=fixed_uuid(f"dense entities {batch[0].name}"))
        for batch in _batches(entities, _BATCH)
    ]
    edges = [a_write(*batch, uuid=fixed_uuid(f"dense {batch[0].uuid}")) for batch in _batches(facts, _BATCH * 10)]
    return nodes + edges


def hub() -> list[WriteIntent]:
    """F2: HUB with 120 facts a day apart, 70 out and 50 in, 90 in t1 (20 of them ended) and 30 in t2."""
    centre = _entity("HUB", uuid=HUB, label="Project")
    neighbours = [_entity(f"Spoke {i:02d}", group_id=_hub_group(i)) for i in range(_HUB_NEIGHBOURS)]
    facts = [_hub_fact(centre, neighbours, i) for i in range(HUB_FACTS)]
    own = [one for one in (centre, *neighbours) if one.group_id == GROUP]
    other = [one for one in neighbours if one.group_id == OTHER_GROUP]
    return [
        a_write(*own, *map(a_name, own), *_of_group(facts, GROUP), uuid=fixed_uuid("hub t1")),
        a_write(*other, *map(a_name, other), *_of_group(facts, OTHER_GROUP), uuid=fixed_uuid("hub t2")),
    ]


def weeks() -> list[WriteIntent]:
    """F3: 25 weekly episodes in t1 and 5 in t2 that mention the Django project."""
    project = _entity("Django project", uuid=DJANGO, label="Project")
    own = [_week(project, number, GROUP) for number in range(1, WEEKS + 1)]
    other = [_week(project, number, OTHER_GROUP) for number in range(1, WEEKS_IN_OTHER_GROUP + 1)]
    return [a_write(project, a_name(project), uuid=fixed_uuid("weeks")), *own, *other]


async def load(graph: Graph, writes: Iterable[WriteIntent], embedder: Embedder | None = None) -> None:
    """Apply writes in order, with embeddings if there is an embedder."""
    for write in writes:
        await graph.writer.apply(write, await embeddings(write, embedder) if embedder else {})


async def embeddings(write: WriteIntent, embedder: Embedder) -> Vectors:
    """Vectors of the entities' names, the facts' texts and the passages of a write."""
    contents = {episode.uuid: episode.content for episode in write.episodes}
    texts = {entity.uuid: entity.name for entity in write.entities}
    texts |= {fact.uuid: fact.text for fact in write.facts}
    texts |= {one.uuid: contents[one.episode_uuid][one.start : one.end] for one in write.passages}
    return dict(zip(texts, await embedder.embed(list(texts.values())), strict=True))


def _entity(name: str, **fields: str) -> Entity:
    return an_entity(name, **{"uuid": fixed_uuid(f"entity {name}"), **fields})


def _dense_entity(number: int) -> Entity:
    name = f"N{number:03d}"
    observations = [
        f"{name} was seen for time {time} in the archive of the northern station."
        for time in range(1, DENSE_OBSERVATIONS + 1)
    ]
    return _entity(name, label="Concept", summary="\n".join(observations))


def _dense_fact(entities: list[Entity], number: int, step: int) -> Fact:
    return a_fact(
        entities[number],
        entities[(number + step) % DENSE_ENTITIES],
        DENSE_RELATIONS[(number + step) % len(DENSE_RELATIONS)],
        uuid=fixed_uuid(f"dense fact {number} {step}"),
        valid_at=DAY_ONE + timedelta(days=number),
    )


def _hub_group(number: int) -> str:
    return OTHER_GROUP if number % 4 == 3 else GROUP


def _hub_fact(centre: Entity, neighbours: list[Entity], number: int) -> Fact:
    neighbour = neighbours[number % _HUB_NEIGHBOURS]
    source, target = (centre, neighbour) if number % 12 < 7 else (neighbour, centre)
    begin = DAY_ONE + timedelta(days=number)
    own_number = number - number // 4
    ended = _hub_group(number) == GROUP and own_number < HUB_FACTS_ENDED
    return a_fact(
        source,
        target,
        "WORKS_WITH",
        uuid=fixed_uuid(f"hub fact {number}"),
        group_id=_hub_group(number),
        valid_at=begin,
        invalid_at=begin + timedelta(days=200) if ended else None,
        expired_at=RECORDED if ended else None,
    )


def _week(project: Entity, number: int, group_id: str) -> WriteIntent:
    key = f"week {number} {group_id}"
    episode = an_episode(
        f"In week {number} the Django project gained feature {number}.\nThe rest of the week was quiet.",
        uuid=fixed_uuid(key),
        group_id=group_id,
        name=f"Week {number}",
        valid_at=at(2025, 1, 6) + timedelta(weeks=number - 1),
    )
    first = a_passage(episode, 0, episode.content.index("\n"), uuid=fixed_uuid(f"{key} 0"))
    second = a_passage(episode, first.end + 1, uuid=fixed_uuid(f"{key} 1"), paragraph=1, sentence=1)
    mention = a_mention(episode, project, uuid=fixed_uuid(f"{key} mention"))
    return a_write(episode, mention, first, second, uuid=fixed_uuid(f"{key} write"))


def _of_group(facts: list[Fact], group_id: str) -> list[Fact]:
    return [fact for fact in facts if fact.group_id == group_id]


def _batches(items: list[_T], size: int) -> list[list[_T]]:
    return [items[i : i + size] for i in range(0, len(items), size)]
