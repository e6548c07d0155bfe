"""What the tools of ``compat`` take; the descriptions of fields are prompts.

Names of fields are those of mcp-neo4j-memory. Those of the reference memory server are accepted as well, because models
mix them.
"""

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.core.model.requests import GroupId, Request, Strings, as_list

MOST_AT_ONCE = 1_000
"""Entities or relations of one call."""
MOST_TEXTS = 500
"""Observations of one entity in a call."""
WORD = r"^[A-Za-z_][A-Za-z0-9_]*$"

EntityName: TypeAlias = Annotated[str, Field(min_length=1, max_length=200)]
Texts: TypeAlias = Annotated[Strings, Field(max_length=MOST_TEXTS)]
Word: TypeAlias = Annotated[
    str, Field(pattern=WORD, max_length=100, description="one word of letters, digits and _, not starting with a digit")
]
Groups: TypeAlias = Annotated[
    Strings | None, Field(max_length=20, description="namespace, or several; default group if left out")
]


class SentEntity(Request):
    other_names: ClassVar[Mapping[str, str]] = {"entityType": "type"}

    name: EntityName
    type: Word
    observations: Annotated[Texts, Field(description="sentences about it", default_factory=list)]


class SentRelation(Request):
    other_names: ClassVar[Mapping[str, str]] = {"from": "source", "to": "target"}

    source: EntityName
    target: EntityName
    relationType: Word  # noqa: N815 the caller's spelling


class SentObservations(Request):
    other_names: ClassVar[Mapping[str, str]] = {"contents": "observations"}

    entityName: EntityName  # noqa: N815
    observations: Texts


class CreateEntities(Request):
    entities: Annotated[list[SentEntity], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]
    group_id: GroupId = None


class CreateRelations(Request):
    relations: Annotated[list[SentRelation], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]
    group_id: GroupId = None


class AddObservations(Request):
    observations: Annotated[list[SentObservations], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]
    group_id: GroupId = None


class SearchMemories(Request):
    query: Annotated[str, Field(description="words of names, types or observations")]
    limit: Annotated[int, Field(ge=1, le=50, description="most entities")] = 10
    group_id: Groups = None


class FindMemoriesByName(Request):
    names: Annotated[Strings, Field(max_length=200, description="exact names of entities")]
    limit: Annotated[int, Field(ge=1, le=50, description="most entities, in the order of names")] = 20
    group_id: Groups = None


class DeleteEntities(Request):
    entityNames: Annotated[Strings, Field(max_length=100, description="exact names")]  # noqa: N815
    group_id: GroupId = None


class DeleteRelations(Request):
    relations: Annotated[list[SentRelation], BeforeValidator(as_list), Field(max_length=100)]
    group_id: GroupId = None


class DeleteObservations(Request):
    deletions: Annotated[list[SentObservations], BeforeValidator(as_list), Field(max_length=100)]
    group_id: GroupId = None
