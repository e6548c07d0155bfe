"""What the tools of this capability are asked; the descriptions of fields are prompts."""

from typing import Annotated, Literal

from pydantic import Field

from graphiti_pkm.capabilities.sources.names import LONGEST_NAME
from graphiti_pkm.core.model.requests import PER_PAGE, Request
from graphiti_pkm.core.reading import paging
from graphiti_pkm.toolkit.parameters import Cursor, EntityUuid

MAX_QUOTE = 2_000
MAX_TEXT = 20_000
"""Characters of a document on one page."""
ContextMode = Literal["quote", "paragraph", "section"]


class AddEvidence(Request):
    entity_uuid: EntityUuid
    quote: Annotated[
        str, Field(min_length=1, max_length=MAX_QUOTE, description="word for word; only white space may differ")
    ]
    document: Annotated[str, Field(min_length=1, max_length=LONGEST_NAME, description="its exact name")]
    paragraph: Annotated[
        int | None,
        Field(ge=1, le=1_000_000, description="number in the document, from 1; only if the words stand in several"),
    ] = None


class GetEntitySources(Request):
    choices = frozenset({"mode"})

    entity_uuid: EntityUuid
    mode: Annotated[ContextMode, Field(description="what is shown around each quote; quote: nothing")] = "paragraph"
    source_id: Annotated[
        str | None,
        Field(
            max_length=LONGEST_NAME + 10,
            description="reads the document beside the entity instead: guide_p40 a paragraph, guide all",
        ),
    ] = None
    end_paragraph: Annotated[
        int | None, Field(ge=1, le=1_000_000, description="with source_id: reads on to the end of this one")
    ] = None
    max_chars: Annotated[int, Field(ge=100, le=MAX_TEXT), PER_PAGE] = 4_000
    limit: Annotated[int, Field(ge=1, le=paging.EVIDENCE.maximum), PER_PAGE] = paging.EVIDENCE.default
    cursor: Cursor = None
