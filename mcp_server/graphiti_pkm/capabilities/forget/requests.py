"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.capabilities.forget.models import EpisodesMode
from graphiti_pkm.core.model.requests import GroupId, Request
from graphiti_pkm.toolkit.parameters import WholeGroups


class DeleteEpisode(Request):
    uuid: Annotated[str, Field(description="from search_episodes or get_episodes")]


class DeleteEntityEdge(Request):
    uuid: Annotated[str, Field(description="fact uuid, from search_memory_facts")]


class Forget(Request):
    entity_uuid: Annotated[str | None, Field(description="give one of these four")] = None
    fact_uuid: str | None = None
    episode_uuid: str | None = None
    query: Annotated[str | None, Field(description="sentences with all these words")] = None
    episodes: EpisodesMode = "redact"
    confirm: Annotated[str | None, Field(description="from the preview; leave out to get one")] = None
    group_id: GroupId = None


class ClearGraph(Request):
    group_ids: WholeGroups = None
    confirm: Annotated[str | None, Field(description="from the preview; leave out to get one")] = None
