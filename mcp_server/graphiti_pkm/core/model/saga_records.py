"""Records of sagas and communities, and the edges around them."""

from datetime import datetime

from graphiti_pkm.core.model.record import Record


class Saga(Record):
    """A sequence of episodes; all properties of Graphiti's node, because Graphiti saves it as a whole."""

    uuid: str
    group_id: str
    name: str
    created_at: datetime
    summary: str = ""
    first_episode_uuid: str | None = None
    last_episode_uuid: str | None = None
    last_summarized_at: datetime | None = None
    """When the latest episode that the summary covers was recorded."""
    last_summarized_episode_valid_at: datetime | None = None


class SagaStep(Record):
    """A saga contains an episode (Graphiti's HAS_EPISODE); at most one edge per pair."""

    uuid: str
    saga_uuid: str
    episode_uuid: str
    created_at: datetime


class EpisodeLink(Record):
    """An episode follows another in a saga (Graphiti's NEXT_EPISODE); at most one edge per pair."""

    uuid: str
    previous_uuid: str
    next_uuid: str
    created_at: datetime


class Community(Record):
    """Entities that belong together, with a model's summary of the whole."""

    uuid: str
    group_id: str
    name: str
    summary: str
    created_at: datetime
    members: tuple[str, ...]


class SagaMembers(Record):
    """A saga that contains some of the episodes, with the first and last in time of its other ones."""

    saga: Saga
    first_remaining: str | None = None
    """None if it contains no others."""
    last_remaining: str | None = None
