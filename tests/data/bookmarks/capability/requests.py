"""The arguments of the tools; the descriptions of fields are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.requests import Request


class AddBookmark(Request):
    name: Annotated[str, Field(description="of the entity")]
    note: Annotated[str, Field(max_length=500, description="why, one sentence with the name")]


class ListBookmarks(Request):
    limit: Annotated[int, Field(ge=1, le=50, description="most bookmarks")] = 20
