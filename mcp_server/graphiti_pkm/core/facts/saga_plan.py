"""Sagas: their uuids, places of new episodes, and chains when episodes are removed."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import NAMESPACE_URL, uuid4, uuid5

from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.names import former_key, name_key, normalise_name
from graphiti_pkm.core.model.places import Place
from graphiti_pkm.core.model.records import Episode, Forgetting, WriteIntent
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.saga_records import EpisodeLink, Saga, SagaMembers, SagaStep
from graphiti_pkm.core.ports.graph import Graph
from graphiti_pkm.errors import NotFound, PkmError

_SAGAS, _EARLIER = uuid5(NAMESPACE_URL, "graphiti-pkm/sagas"), uuid5(NAMESPACE_URL, "graphiti-pkm/saga")
"""Those of earlier versions may stand for a name with other numbers, and keep their uuids."""


def saga_uuid(group_id: str, name: str) -> str:
    """The uuid of a saga: equal for equal names in any spelling, whoever creates it first."""
    return str(uuid5(_SAGAS, name_key(group_id, name)))


def closing_links(links: Iterable[tuple[str, str]], gone: Sequence[str]) -> list[tuple[str, str]]:
    """New links that close a chain when episodes are removed: from each remaining one to the next remaining ones."""
    after: dict[str, list[str]] = defaultdict(list)
    starts: dict[str, None] = {}
    for previous, following in links:
        after[previous].append(following)
        if previous not in gone:
            starts[previous] = None
    return [(start, end) for start in starts for end in _next_remaining(start, after, frozenset(gone)) if end != start]


def _next_remaining(start: str, after: dict[str, list[str]], gone: frozenset[str]) -> list[str]:
    """The next remaining episodes behind at least one removed."""
    ends: dict[str, None] = {}
    seen: set[str] = set()
    waiting = [one for one in after[start] if one in gone]
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        for following in after[one]:
            if following in gone:
                waiting.append(following)
            else:
                ends[following] = None
    return list(ends)


@dataclass(frozen=True)
class SagaPlace:
    """The place of an episode in its saga, as read under the group's lock."""

    name: str
    saga: Saga | None
    """None if there is no saga of this name yet."""
    previous_uuid: str | None
    ends: tuple[Place, ...]
    """The first and the last of its episodes, as far as they are known."""


async def find_saga(graph: Graph, group_id: str, name: str) -> Saga | None:
    """The saga of this name: ours in any spelling, else the oldest that Graphiti created under exactly this name."""
    uuid, normalised = saga_uuid(group_id, name), normalise_name(name)
    earlier = str(uuid5(_EARLIER, former_key(group_id, name)))
    found = await graph.sagas.find_sagas(group_id, [uuid, earlier], name)
    named = [saga for saga in found if normalise_name(saga.name) == normalised]
    return next((saga for saga in found if saga.uuid == uuid), named[0] if named else None)


async def place_in_saga(graph: Graph, group_id: str, parsed: ParsedRequest) -> SagaPlace | None:
    """The place in the saga that the call names; None if it names none, and nothing is read then.

    Raises: InvalidInput, AmbiguousUuid, NotFound if the given previous episode is not in this group.
    """
    if parsed.saga is None:
        return None
    saga = await find_saga(graph, group_id, parsed.saga)
    given, latest, ends = parsed.saga_previous, None, dict[str, Place]()
    previous = None if given is None else await _previous(graph, group_id, given)
    if saga is not None:
        latest = await graph.sagas.latest_of_saga(saga.uuid)
        known = [one for one in (saga.first_episode_uuid, latest) if one is not None]
        ends = await graph.episodes.episode_places(known, [group_id])
    return SagaPlace(parsed.saga, saga, previous or latest, tuple(ends.values()))


async def _previous(graph: Graph, group_id: str, text: str) -> str:
    try:
        whole = await resolve_within(graph, [group_id], "episode", text)
        if not await graph.episodes.episode_places([whole], [group_id]):
            raise unknown("episode", whole)
    except PkmError as error:
        there = " in this group" if isinstance(error, NotFound) else ""
        raise type(error)(
            f"saga_previous_episode_uuid: {error.message} It has to be an episode{there or ' of this group'}; leave it "
            "out for the latest of the saga. Nothing was stored."
        ) from error
    return whole


def with_saga(intent: WriteIntent, place: SagaPlace, episode: Episode, new_uuid: Callable[[], str]) -> WriteIntent:
    """The write with the episode in the saga, in Graphiti's own form; its first and last episode are so in time."""
    now = episode.created_at
    own = Place(episode.uuid, episode.group_id, episode.valid_at, now)
    places = sorted((*place.ends, own), key=lambda one: one.order)
    saga = place.saga or Saga(
        uuid=saga_uuid(episode.group_id, place.name),
        group_id=episode.group_id,
        name=place.name,
        created_at=episode.valid_at,
    )
    left = {
        "name": place.name if saga.name == FORGOTTEN else saga.name,
        "first_episode_uuid": places[0].uuid,
        "last_episode_uuid": places[-1].uuid,
    }
    link = place.previous_uuid and EpisodeLink(
        uuid=new_uuid(), previous_uuid=place.previous_uuid, next_uuid=episode.uuid, created_at=now
    )
    step = SagaStep(uuid=new_uuid(), saga_uuid=saga.uuid, episode_uuid=episode.uuid, created_at=now)
    return intent.model_copy(
        update={
            "sagas": (saga.model_copy(update=left),),
            "saga_steps": (step,),
            "episode_links": (link,) if link else (),
        }
    )


async def close_sagas(
    graph: Graph,
    intent: WriteIntent,
    mentioned: Iterable[str] = (),
    says: Callable[[str], bool] = lambda _text: False,
) -> WriteIntent:
    """Add to a forgetting write what changes in sagas and communities.

    The chain closes where episodes are removed, an empty saga is removed, and the summary of a saga that lost words is
    cleared to be generated again. Communities of every entity concerned are removed, because their summaries were
    written from all of them.

    ``graph`` is read under the group's lock; ``mentioned``: entities, besides those in the write, that the episodes
    mention; ``says``: whether a saga's name has to be removed.
    """
    forgets = intent.forgets or Forgetting()
    gone = intent.deletions.episodes
    touched = list(dict.fromkeys((*gone, *(text.uuid for text in forgets.episodes))))
    held = await graph.sagas.sagas_of_episodes(touched, [intent.group_id], gone)
    links = closing_links(await graph.sagas.links_around(gone), gone)
    stay = [
        _closed(one, FORGOTTEN if says(one.saga.name) else one.saga.name)
        for one in held
        if one.first_remaining is not None
    ]
    members = {*forgets.members, *mentioned, *intent.deletions.entities, *(entity.uuid for entity in intent.entities)}
    known = {one.saga.uuid for one in held}
    empty = tuple(one.saga.uuid for one in held if one.first_remaining is None)
    return intent.model_copy(
        update={
            "sagas": (*stay, *(saga for saga in intent.sagas if saga.uuid not in known)),
            "episode_links": tuple(
                EpisodeLink(uuid=str(uuid4()), previous_uuid=one, next_uuid=other, created_at=intent.recorded_at)
                for one, other in links
            ),
            "deletions": intent.deletions.model_copy(update={"sagas": empty}),
            "forgets": forgets.model_copy(update={"members": tuple(sorted(members))}),
        }
    )


async def closed_sagas(graph: Graph, group_id: str, uuids: Iterable[str]) -> tuple[Saga, ...]:
    """Sagas of which episodes were removed before the graph got them, as ``close_sagas`` leaves such sagas.

    ``graph`` is read under the group's lock.
    """
    closed: list[Saga] = []
    for uuid in uuids:
        latest = await graph.sagas.latest_of_saga(uuid)
        held = [] if latest is None else await graph.sagas.sagas_of_episodes([latest], [group_id], [])
        closed.extend(_closed(one, one.saga.name) for one in held if one.saga.uuid == uuid)
    return tuple(closed)


def _closed(members: SagaMembers, name: str) -> Saga:
    return members.saga.model_copy(
        update={
            "name": name,
            "summary": "",
            "last_summarized_at": None,
            "last_summarized_episode_valid_at": None,
            "first_episode_uuid": members.first_remaining,
            "last_episode_uuid": members.last_remaining,
        }
    )
