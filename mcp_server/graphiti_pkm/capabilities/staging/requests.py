"""What the tool of this capability is asked; the descriptions of fields are prompts."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from graphiti_pkm.core.model.requests import GroupId, Request, Strings
from graphiti_pkm.core.model.targets import Target

MOST_PROMOTED = 100


class Promote(Request):
    """``from`` and ``to``, of which the first is a word of Python's own, are accepted too."""

    other_names: ClassVar[Mapping[str, str]] = {"from": "source", "to": "target"}
    choices = frozenset({"source", "target"})

    entity_uuids: Annotated[
        Strings, Field(min_length=1, max_length=MOST_PROMOTED, description="of the source; first 8 characters do")
    ]
    source: Annotated[Target, Field(description="which group beside group_id they are in")] = "staging"
    target: Annotated[Target, Field(description="which one they come into")] = "production"
    group_id: GroupId = None
    include_facts: Annotated[bool, Field(description="facts between what is or comes into the target")] = False
    include_sources: Annotated[bool, Field(description="the episodes that tell of them")] = False
    dry_run: Annotated[bool, Field(description="false = do it")] = True
