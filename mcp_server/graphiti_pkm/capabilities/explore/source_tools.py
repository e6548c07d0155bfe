"""The tool that shows the words behind a fact. Its docstring is a prompt."""

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from graphiti_pkm.core.model.answers import FactSourcesResponse
from graphiti_pkm.core.ports.walks import SourceMode
from graphiti_pkm.core.reading.paging import SOURCES
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import Cursor
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.explore.sources import Sources

WORDS: ServiceKey["Sources"] = ServiceKey("sources")


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
    return await call.services[WORDS].get_fact_sources(call.caller, fact_uuid, mode, limit, cursor)
