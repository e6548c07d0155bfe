"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field, WithJsonSchema

from graphiti_pkm.core.model.projects import ProjectStatus
from graphiti_pkm.core.model.records import EntryType
from graphiti_pkm.core.model.requests import ONLY_WITH_MODEL, PER_PAGE, Entities, Facts, GroupId, Request, Strings
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.parameters import After, Before, Cursor, GroupIds, MaxContentChars
from graphiti_pkm.toolkit.schema import as_object

MAX_CONTENT = 200_000
"""Characters of an entry."""
MAX_PINS = 50
_OTHER_TYPES = {"meeting_notes": "meeting"}


def _known_type(value: object) -> object:
    return _OTHER_TYPES.get(value, value) if isinstance(value, str) else value


ProjectRef: TypeAlias = Annotated[str, Field(description="project_id, 8 characters do, or the exact name")]
OfProject: TypeAlias = Annotated[str | None, Field(description="project_id or its exact name")]
Metadata: TypeAlias = Annotated[
    Any,
    BeforeValidator(as_object),
    WithJsonSchema({"type": "object"}),
    Field(description="JSON object of your own, at most 10 kB; kept as it is"),
]
Description: TypeAlias = Annotated[str | None, Field(max_length=2000)]
Pins: TypeAlias = Annotated[
    Annotated[Strings, Field(max_length=MAX_PINS)] | None,
    Field(description="entity names or uuids that matter to it always"),
]
TypeOfEntry: TypeAlias = Annotated[EntryType, BeforeValidator(_known_type)]


class CreateProject(Request):
    name: Annotated[str, Field(min_length=1, max_length=200)]
    description: Description = None
    metadata: Metadata = None
    group_id: GroupId = None


class UpdateProject(Request):
    project: ProjectRef
    description: Description = None
    metadata: Annotated[Metadata, Field(description="replaces the former")] = None
    status: ProjectStatus | None = None
    pin: Pins = None
    unpin: Annotated[
        Annotated[Strings, Field(max_length=MAX_PINS)] | None, Field(description="pinned ones that no longer do")
    ] = None
    group_id: GroupId = None


class ListProjects(Request):
    status: ProjectStatus | None = None
    group_ids: GroupIds = None
    limit: Annotated[int, Field(ge=1, le=paging.PROJECTS.maximum), PER_PAGE] = paging.PROJECTS.default
    cursor: Cursor = None


class CreateEntry(Request):
    choices = frozenset({"type"})

    content: Annotated[str, Field(max_length=MAX_CONTENT, description="the text, verbatim; it is kept unchanged")]
    type: TypeOfEntry = "journal"
    project_id: OfProject = None
    timestamp: Annotated[str | None, Field(description="when it happened; now if left out")] = None
    extract_entities: Annotated[bool, Field(description="false = link no names, ask no model")] = True
    metadata: Metadata = None
    entities: Annotated[Entities | None, Field(description="persons, projects, things it names")] = None
    facts: Annotated[Facts | None, Field(description="what it says of them")] = None
    group_id: GroupId = None
    wait_seconds: Annotated[
        int, Field(ge=0, le=45, description="wait for what a configured model finds"), ONLY_WITH_MODEL
    ] = 0


class GetEntryContext(Request):
    entity_name: Annotated[str, Field(min_length=1, max_length=200, description="exact name, alias, uuid, or me")]
    project_id: OfProject = None
    after: After = None
    before: Before = None
    group_id: GroupId = None
    limit: Annotated[int, Field(ge=1, le=paging.ENTRIES.maximum), PER_PAGE] = paging.ENTRIES.default
    max_content_chars: MaxContentChars = paging.CONTENT.default
    cursor: Cursor = None


class SearchEntriesSemantic(Request):
    choices = frozenset({"type"})

    query: str
    project_id: OfProject = None
    limit: Annotated[int, Field(ge=1, le=paging.ENTRY_HITS.maximum)] = paging.ENTRY_HITS.default
    similarity_threshold: Annotated[
        float, Field(ge=0, le=1, description="raw cosine of the best sentence; 0.7 is strict")
    ] = 0.7
    type: TypeOfEntry | None = None
    after: After = None
    before: Before = None
    include_entities: Annotated[bool, Field(description="with the entities of each")] = False
    group_id: GroupId = None


class GetProjectMemories(Request):
    project_id: ProjectRef
    include_cross_project: bool = True
    relevance_threshold: Annotated[float, Field(ge=0, le=1)] = 0.5
    group_id: GroupId = None
    limit: Annotated[int, Field(ge=1, le=paging.MEMORIES.maximum, description="most of each part"), PER_PAGE] = (
        paging.MEMORIES.default
    )
    cursor: Cursor = None
