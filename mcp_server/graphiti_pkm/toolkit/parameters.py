"""Parameters that several tools share, described once."""

from typing import Annotated, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.requests import PER_PAGE, Strings
from graphiti_pkm.core.reading import paging

GroupIds: TypeAlias = Annotated[Strings | None, Field(description="namespaces; default group if left out")]
WholeGroups: TypeAlias = Annotated[
    Strings | None, Field(max_length=20, description="namespaces; default group if left out")
]
OwnGroups: TypeAlias = Annotated[Strings | None, Field(description="namespaces; the entity's own if left out")]
EntityUuid: TypeAlias = Annotated[str, Field(description="from search_nodes; 8 characters do; or me")]
Near: TypeAlias = Annotated[str | None, Field(description="entity uuid; hits near it rank first")]
Cursor: TypeAlias = Annotated[str | None, Field(description="next_cursor of the page before"), PER_PAGE]
After: TypeAlias = Annotated[str | None, Field(description="ISO date, month or year, included")]
Before: TypeAlias = Annotated[str | None, Field(description="ISO date, month or year, excluded")]
AsOf: TypeAlias = Annotated[str | None, Field(description="only what held then; a month: its start")]
WithEnded: TypeAlias = Annotated[bool, Field(description="false = only what holds now")]
KnownAt: TypeAlias = Annotated[str | None, Field(description="as memory knew it then; a month: its start")]

MaxNodes: TypeAlias = Annotated[int, Field(ge=paging.NODES.minimum, le=paging.NODES.maximum), PER_PAGE]
MaxFacts: TypeAlias = Annotated[int, Field(ge=paging.FACTS.minimum, le=paging.FACTS.maximum), PER_PAGE]
MaxEpisodes: TypeAlias = Annotated[int, Field(ge=paging.EPISODES.minimum, le=paging.EPISODES.maximum), PER_PAGE]
MaxTimeline: TypeAlias = Annotated[int, Field(ge=paging.TIMELINE.minimum, le=paging.TIMELINE.maximum), PER_PAGE]
MaxConnections: TypeAlias = Annotated[
    int, Field(ge=paging.CONNECTIONS.minimum, le=paging.CONNECTIONS.maximum), PER_PAGE
]
MaxEntities: TypeAlias = Annotated[int, Field(ge=paging.ENTITIES.minimum, le=paging.ENTITIES.maximum), PER_PAGE]
MaxContentChars: TypeAlias = Annotated[
    int,
    Field(ge=paging.CONTENT.minimum, le=paging.CONTENT.maximum, description="per episode; 0 = no content"),
    PER_PAGE,
]
