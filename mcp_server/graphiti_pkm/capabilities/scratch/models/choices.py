"""How a caller names a part of a scratch graph. Field descriptions are prompt text: they go into tool schemas."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.capabilities.scratch.limits import LONGEST_LABEL, LONGEST_RELATION
from graphiti_pkm.core.model.requests import Request


class EdgeChoice(Request):
    """An edge that is there, or all from one node to another."""

    source: Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]
    target: Annotated[str, Field(min_length=1, max_length=LONGEST_LABEL)]
    relation: Annotated[str | None, Field(max_length=LONGEST_RELATION, description="all of them if left out")] = None
