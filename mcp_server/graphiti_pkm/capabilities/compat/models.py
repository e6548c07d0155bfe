"""Answers in the words of the two other servers. Fields that they do not have are left out where there is nothing."""

from typing import ClassVar, Literal

from pydantic import ConfigDict, SerializerFunctionWrapHandler, model_serializer

from graphiti_pkm.core.model.answers import Answer, TextForm


class Plain(Answer):
    """An answer whose text form is its structured content; what is None is left out, but for ``nullable`` fields."""

    text_form: ClassVar[TextForm] = "plain"
    nullable: ClassVar[frozenset[str]] = frozenset()

    @model_serializer(mode="wrap")
    def _without_nothing(self, whole: SerializerFunctionWrapHandler) -> dict[str, object]:
        data: dict[str, object] = whole(self)
        return {name: value for name, value in data.items() if value is not None or name in self.nullable}


class MemoryEntity(Plain):
    nullable: ClassVar[frozenset[str]] = frozenset({"score"})

    name: str
    type: str
    observations: list[str]
    score: float | None = None
    uuid: str
    relation_count: int
    """All its current relations, also those that the answer does not list."""
    more_observations: int | None = None
    """How many it has that are not listed."""
    group_id: str | None = None
    """Only if several groups were searched."""


class MemoryRelation(Plain):
    source: str
    target: str
    relationType: str  # noqa: N815 the caller's spelling


class KnowledgeGraph(Plain):
    entities: list[MemoryEntity]
    relations: list[MemoryRelation]
    truncated: bool
    not_found: list[str] | None = None
    cut: list[str] | None = None
    """Names beyond the limit, to be asked for again."""
    relations_total: int | None = None
    """Only if not all relations among the entities are listed."""
    hint: str | None = None


class CreatedEntities(Plain):
    result: list[MemoryEntity]
    known_as: dict[str, str] | None = None
    """Names that were sent in another spelling, and the entity that has them."""
    more: int | None = None
    """Entities that were stored and are not listed."""


class FailedRelation(Plain):
    relation: MemoryRelation
    missing: list[Literal["source", "target"]]
    """Which ends are no known entities."""
    near: dict[str, list[str]] | None = None
    """Known names that may be meant."""


class CreatedRelations(Plain):
    result: list[MemoryRelation]
    failed: list[FailedRelation]
    needs_attention: list[str] | None = None


class AddedTexts(Plain):
    entityName: str  # noqa: N815
    addedObservations: list[str]  # noqa: N815


class AddedObservations(Plain):
    result: list[AddedTexts]
    not_found: list[str]


class Deleted(Plain):
    result: str
    not_found: list[str] | None = None
    kept: int | None = None
    """Episodes that still say it, because people said it."""
    hint: str | None = None


class Indented(Plain):
    """Of the toolset ``reference``."""

    model_config = ConfigDict(serialize_by_alias=True, populate_by_name=True)

    text_form: ClassVar[TextForm] = "indented"


class ReferenceEntity(Indented):
    name: str
    entityType: str  # noqa: N815
    observations: list[str]
    more_observations: int | None = None


class ReferenceRelation(Indented):
    """The fields ``from`` and ``to``, of which one is a word of Python's own."""

    model_config = ConfigDict(alias_generator=lambda name: {"source": "from", "target": "to"}.get(name, name))

    source: str
    target: str
    relationType: str  # noqa: N815


class ReferenceGraph(Indented):
    entities: list[ReferenceEntity]
    relations: list[ReferenceRelation]
    cut: dict[str, int] | None = None
    """How many there are of what is not listed completely."""


class CreatedReferenceEntities(Indented):
    entities: list[ReferenceEntity]
    skipped: list[str] | None = None
    """Names that are known already; nothing was changed of them."""
    known_as: dict[str, str] | None = None
    more: int | None = None


class CreatedReferenceRelations(Indented):
    relations: list[ReferenceRelation]
    needs_attention: list[str] | None = None


class AddedReferenceTexts(Indented):
    entityName: str  # noqa: N815
    addedObservations: list[str]  # noqa: N815


class AddedReferenceObservations(Indented):
    results: list[AddedReferenceTexts]


class ReferenceDeleted(Indented):
    success: bool
    message: str
    kept: int | None = None
    hint: str | None = None
