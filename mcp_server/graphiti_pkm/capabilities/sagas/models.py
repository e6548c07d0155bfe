"""What the tools over sagas and communities answer."""

from typing import Literal

from graphiti_pkm.core.model.answers import Answer


class SagaSummaryResponse(Answer):
    message: str
    status: Literal["done", "queued"]
    uuid: str
    name: str
    summary: str
    """As it is now: while the job is queued, the one before."""


class CommunityView(Answer):
    uuid: str
    name: str
    group_id: str
    summary: str
    members: int


class BuildCommunitiesResponse(Answer):
    message: str
    status: Literal["done", "queued"]
    community_count: int
    edge_count: int
    """Memberships in all."""
    communities: list[CommunityView]
    """As they are now, in all groups asked about."""
