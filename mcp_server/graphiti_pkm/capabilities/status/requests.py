"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.requests import Request


class GetStatus(Request):
    receipt: Annotated[str | None, Field(description="episode_uuid from add_memory, to see what a model found")] = None
