"""The tool that shows the words behind a fact. Its docstring is a prompt."""

from typing import Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import FactSourcesResponse
from graphiti_pkm.core.ports.walks import SourceMode
from graphiti_pkm.core.reading.paging import SOURCES
from graphiti_pkm.server.backend import Call
from graphiti_pkm.toolkit.parameters import Cursor


async def get_fact_sources(
    call: Call,
    fact_uuid: str,
    mode: SourceMode = "quote",
    limit: Annotated[int, Field(ge=SOURCES.minimum, le=SOURCES.maximum)] = SOURCES.default,
    cursor: Cursor = None,
) -> FactSourcesResponse:
    """Get the words behind a fact: sentences of the episodes that told it, verbatim with offsets, its quote first.

    Use to quote or check what was really said. To search words use search_episodes instead.
    """
    return await call.services.sources.get_fact_sources(call.caller, fact_uuid, mode, limit, cursor)
