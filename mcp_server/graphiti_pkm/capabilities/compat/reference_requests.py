"""What the tools of ``reference`` take, in the words of the reference memory server; those of ``compat`` do as well."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.compat.requests import MOST_AT_ONCE, EntityName, Texts
from graphiti_pkm.core.model.requests import Request, Strings, as_list

Kind = Annotated[str, Field(min_length=1, max_length=100)]


class ReferenceSentEntity(Request):
    other_names: ClassVar[Mapping[str, str]] = {"type": "entityType"}

    name: EntityName
    entityType: Kind  # noqa: N815 the caller's spelling
    observations: Annotated[Texts, Field(description="sentences about it", default_factory=list)]


class ReferenceSentRelation(Request):
    """``from`` is a word of Python's own, so that the fields have other names here."""

    other_names: ClassVar[Mapping[str, str]] = {"source": "from", "target": "to"}

    source: Annotated[EntityName, Field(alias="from")]
    target: Annotated[EntityName, Field(alias="to")]
    relationType: Kind  # noqa: N815


class ReferenceSentObservations(Request):
    other_names: ClassVar[Mapping[str, str]] = {"observations": "contents"}

    entityName: EntityName  # noqa: N815
    contents: Texts


class ReferenceDeletion(Request):
    other_names: ClassVar[Mapping[str, str]] = {"contents": "observations"}

    entityName: EntityName  # noqa: N815
    observations: Texts


class CreateReferenceEntities(Request):
    entities: Annotated[list[ReferenceSentEntity], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]


class CreateReferenceRelations(Request):
    relations: Annotated[list[ReferenceSentRelation], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]


class AddReferenceObservations(Request):
    observations: Annotated[list[ReferenceSentObservations], BeforeValidator(as_list), Field(max_length=MOST_AT_ONCE)]


class SearchReferenceNodes(Request):
    query: Annotated[str, Field(description="one text, as a part of a name, a type or an observation")]


class OpenReferenceNodes(Request):
    names: Annotated[Strings, Field(max_length=200, description="exact names")]


class DeleteReferenceEntities(Request):
    entityNames: Annotated[Strings, Field(max_length=100, description="exact names")]  # noqa: N815


class DeleteReferenceRelations(Request):
    relations: Annotated[list[ReferenceSentRelation], BeforeValidator(as_list), Field(max_length=100)]


class DeleteReferenceObservations(Request):
    deletions: Annotated[list[ReferenceDeletion], BeforeValidator(as_list), Field(max_length=100)]
