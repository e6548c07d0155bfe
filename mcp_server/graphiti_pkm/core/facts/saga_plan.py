"""Episodes in sagas: where a new one goes, and what stays of a saga when some go."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import uuid4

from graphiti_pkm.core.facts.parsed_facts import ParsedRequest
from graphiti_pkm.core.identity.uuids import resolve_within, unknown
from graphiti_pkm.core.model.records import Episode, Forgetting, WriteIntent
from graphiti_pkm.core.model.redaction import FORGOTTEN
from graphiti_pkm.core.model.saga_records import EpisodeLink, Saga, SagaStep
from graphiti_pkm.core.ports.ports import Graph
from graphiti_pkm.core.ports.sagas import closing_links, saga_uuid
from graphiti_pkm.errors import NotFound, PkmError


@dataclass(frozen=True)
class SagaPlace:
    """Where an episode goes, as read under the group's lock."""

    name: str
    saga: Saga | None
    """None: there is none of this name yet."""
    previous_uuid: str | None


async def find_saga(graph: Graph, group_id: str, name: str) -> Saga | None:
    """The one that this name means: ours, however it is spelt, or the oldest that Graphiti made under exactly it."""
    uuid = saga_uuid(group_id, name)
    found = await graph.find_sagas(group_id, uuid, name)
    return next((saga for saga in found if saga.uuid == uuid), found[0] if found else None)


async def place_in_saga(graph: Graph, group_id: str, parsed: ParsedRequest) -> SagaPlace | None:
    """None if the call names no saga; nothing is read then.

    Raises:
        InvalidInput, AmbiguousUuid, NotFound: the previous episode given is none of this group.
    """
    if parsed.saga is None:
        return None
    saga = await find_saga(graph, group_id, parsed.saga)
    if parsed.saga_previous is not None:
        return SagaPlace(parsed.saga, saga, await _previous(graph, group_id, parsed.saga_previous))
    return SagaPlace(parsed.saga, saga, await graph.latest_of_saga(saga.uuid) if saga else None)


async def _previous(graph: Graph, group_id: str, text: str) -> str:
    try:
        whole = await resolve_within(graph, [group_id], "episode", text)
        if not await graph.episode_places([whole], [group_id]):
            raise unknown("episode", whole)
    except PkmError as error:
        there = " in this group" if isinstance(error, NotFound) else ""
        raise type(error)(
            f"saga_previous_episode_uuid: {error.message} It has to be an episode{there or ' of this group'}; leave it "
            "out for the latest of the saga. Nothing was stored."
        ) from error
    return whole


def with_saga(intent: WriteIntent, place: SagaPlace, episode: Episode, new_uuid: Callable[[], str]) -> WriteIntent:
    """The write with the episode as the next of the saga, in Graphiti's own form."""
    now = episode.created_at
    saga = place.saga or Saga(
        uuid=saga_uuid(episode.group_id, place.name),
        group_id=episode.group_id,
        name=place.name,
        created_at=episode.valid_at,
    )
    left = {
        "name": place.name if saga.name == FORGOTTEN else saga.name,
        "first_episode_uuid": saga.first_episode_uuid or episode.uuid,
        "last_episode_uuid": episode.uuid,
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
    """A write that forgets, with what it means to sagas and communities around it.

    A chain closes where episodes go, a saga without episodes goes, and the summary of one that lost words goes, to be
    made anew. So do the communities of every entity concerned: who wrote their summaries had read of them all.

    Args:
        graph: read under the group's lock.
        intent: what is to be forgotten.
        mentioned: entities, besides those in the write, that the episodes mention.
        says: whether a saga's name has to go.
    """
    forgets = intent.forgets or Forgetting()
    gone = intent.deletions.episodes
    touched = list(dict.fromkeys((*gone, *(text.uuid for text in forgets.episodes))))
    held = await graph.sagas_of_episodes(touched, [intent.group_id], gone)
    links = closing_links(await graph.links_around(gone), gone)
    stay = [
        one.saga.model_copy(
            update={
                "name": FORGOTTEN if says(one.saga.name) else one.saga.name,
                "summary": "",
                "last_summarized_at": None,
                "last_summarized_episode_valid_at": None,
                "first_episode_uuid": one.first_remaining,
                "last_episode_uuid": one.last_remaining,
            }
        )
        for one in held
        if one.first_remaining is not None
    ]
    members = {*mentioned, *intent.deletions.entities, *(entity.uuid for entity in intent.entities)}
    empty = tuple(one.saga.uuid for one in held if one.first_remaining is None)
    return intent.model_copy(
        update={
            "sagas": tuple(stay),
            "episode_links": tuple(
                EpisodeLink(uuid=str(uuid4()), previous_uuid=one, next_uuid=other, created_at=intent.recorded_at)
                for one, other in links
            ),
            "deletions": intent.deletions.model_copy(update={"sagas": empty}),
            "forgets": forgets.model_copy(update={"members": tuple(sorted(members))}),
        }
    )
