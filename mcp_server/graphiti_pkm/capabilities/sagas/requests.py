"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.requests import GroupId, Request
from graphiti_pkm.toolkit.parameters import WholeGroups


class SummarizeSaga(Request):
    saga_name: Annotated[str, Field(description="the saga given to add_memory")]
    group_id: GroupId = None


class BuildCommunities(Request):
    group_ids: WholeGroups = None
