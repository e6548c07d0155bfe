"""Links earlier episodes to an entity that a write names for the first time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from graphiti_pkm.core.identity.backlinks import BackLinks, ReadTexts, back_link, find_back_links
from graphiti_pkm.core.identity.known_names import KnownNames
from graphiti_pkm.core.identity.shared_names import people_among
from graphiti_pkm.core.model.job_records import BackLinkJob
from graphiti_pkm.core.model.names import fold
from graphiti_pkm.core.model.records import Entity, Mention, Name
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.core.waiting import in_thread, in_thread_if

_VARIATION = "\ufe0e\ufe0f"
"""Variation selectors choose coloured or plain display of a symbol; texts often omit them."""
_FEW = 10
"""New names that are added and looked through faster than they are handed to a thread."""
_MOST_STILL_LINKED = 50
_MOST_WORDS = 8
"""Mentions, and words of a new name, that are looked at to find those of shorter names."""


async def first_back_links(
    graph: Graph,
    group_id: str,
    new_names: Sequence[Name],
    known: KnownNames,
    now: datetime,
    entities: Iterable[Entity] = (),
) -> tuple[list[Mention], list[BackLinkJob]]:
    """Links from earlier episodes to new names: the first ones at once, the rest by one job for each entity.

    ``known`` gets the new names; call ``forget`` on it if they are not stored in the end. ``entities``: those that
    the call names. A first name that other people have too says nothing of earlier episodes.
    """
    are_many = len(new_names) > _FEW
    by_entity = await in_thread_if(are_many, _added, new_names, known)
    by_entity = await _without_shared(graph, group_id, by_entity, known, entities)
    if not by_entity:
        return [], []
    before = now + timedelta(microseconds=1)  # an episode recorded at this very instant counts as earlier
    texts = await in_thread_if(are_many, _all_searched, by_entity)
    read = ReadTexts(known.mentioned)

    async def links_of(uuid: str, names: tuple[str, ...]) -> BackLinks:
        return await find_back_links(graph, group_id, uuid, names, before, read)

    found = await asyncio.gather(*(links_of(uuid, names) for uuid, names in texts.items()))
    mentions = [
        back_link(uuid, episode_uuid, now)
        for uuid, links in zip(texts, found, strict=True)
        for episode_uuid in links.episode_uuids
    ]
    jobs = [
        BackLinkJob(entity_uuid=uuid, names=texts[uuid], before=before, after=links.next_after)
        for uuid, links in zip(texts, found, strict=True)
        if links.next_after is not None
    ]
    return mentions, jobs


async def still_linked(
    graph: Graph, group_id: str, new_names: Sequence[Name], known: KnownNames, mentions: Iterable[Mention]
) -> dict[str, list[str]]:
    """The earlier episodes of entities that they name only inside a new name of another, by entity.

    The note may have declared the entity, so only the caller can unlink them.
    """
    made = list(mentions)
    linked_now = {one.entity_uuid for one in made}
    concerned = [name for name in new_names if name.entity_uuid in linked_now]
    shorter = await in_thread_if(len(concerned) > _FEW, _inside, concerned, known)
    pairs = [(one.episode_uuid, uuid) for one in made for uuid in sorted(shorter.get(one.entity_uuid, ()))]
    if not pairs:
        return {}
    linked = await graph.records.mentioned(pairs[:_MOST_STILL_LINKED])
    episodes = await graph.records.get_episodes(sorted({episode for episode, _ in linked}), [group_id])
    named = {one.uuid: await in_thread(known.mentioned, one.content) for one in episodes}
    found: dict[str, list[str]] = {}
    for episode, uuid in sorted(linked):
        if uuid not in named.get(episode, {uuid}):
            found.setdefault(uuid, []).append(episode)
    return found


def _inside(new_names: Iterable[Name], known: KnownNames) -> dict[str, set[str]]:
    """By entity, the others that a part of one of its new names names."""
    found: dict[str, set[str]] = {}
    for name in new_names:
        others = {uuid for part in _parts_of(name.text) for uuid in known.mentioned(part)} - {name.entity_uuid}
        found.setdefault(name.entity_uuid, set()).update(others)
    return found


def _parts_of(name: str) -> list[str]:
    """The words of a name in every part of it but the whole."""
    words = name.split()[:_MOST_WORDS]
    ends = range(1, len(words) + 1)
    parts = [" ".join(words[first:end]) for end in ends for first in range(end)]
    return [part for part in parts if part != " ".join(words)]


async def _without_shared(
    graph: Graph, group_id: str, by_entity: dict[str, list[str]], known: KnownNames, entities: Iterable[Entity]
) -> dict[str, list[str]]:
    sharing = {name: known.sharing(name) for names in by_entity.values() for name in names}
    asked = {uuid for uuids in sharing.values() for uuid in uuids}
    if not asked:
        return by_entity
    own = {entity.uuid: entity for entity in entities}
    others = await graph.records.get_entities(sorted(asked - own.keys()), [group_id])
    held = own | {entity.uuid: entity for entity in others}
    kept = {
        uuid: [name for name in names if len(people_among(sharing[name], held)) < 2]  # noqa: PLR2004
        for uuid, names in by_entity.items()
    }
    return {uuid: names for uuid, names in kept.items() if names}


def _added(new_names: Sequence[Name], known: KnownNames) -> dict[str, list[str]]:
    """New spellings, by entity."""
    by_entity: dict[str, list[str]] = {}
    for name in new_names:
        if spellings := known.add(name):
            by_entity.setdefault(name.entity_uuid, []).extend(spellings)
    return by_entity


def _all_searched(by_entity: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {uuid: _searched(spellings) for uuid, spellings in by_entity.items()}


def _searched(spellings: Iterable[str]) -> tuple[str, ...]:
    """One spelling of those that full text cannot distinguish; symbols have no words and are searched literally."""
    signs = (text.rstrip(_VARIATION) if not fold(text) else text for text in spellings)
    return tuple({fold(text) or text: text for text in signs}.values())
