"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.requests import GroupId, Request


class AddTriplet(Request):
    source_node_name: str
    edge_name: Annotated[str, Field(description="UPPER_SNAKE, e.g. WORKS_AT")]
    fact: Annotated[str, Field(description="one sentence with both names")]
    target_node_name: str
    group_id: GroupId = None
    source_node_uuid: Annotated[str | None, Field(description="an existing entity instead of the name")] = None
    target_node_uuid: Annotated[str | None, Field(description="likewise")] = None
