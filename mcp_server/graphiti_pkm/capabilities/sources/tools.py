"""The tools over documents. Their docstrings are prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed, requests and answers only if the tools are offered
    from graphiti_pkm.capabilities.sources.evidence import Evidence
    from graphiti_pkm.capabilities.sources.ingesting import Ingesting
    from graphiti_pkm.capabilities.sources.models import EntitySourcesResponse, EvidenceResponse
    from graphiti_pkm.capabilities.sources.reading import DocumentReading
    from graphiti_pkm.capabilities.sources.requests import AddEvidence, GetEntitySources

TYPES = (
    "graphiti_pkm.capabilities.sources.models",
    "graphiti_pkm.capabilities.sources.requests",
)
EVIDENCE: ServiceKey[Evidence] = ServiceKey("evidence")
READING: ServiceKey[DocumentReading] = ServiceKey("document_reading")
INGESTING: ServiceKey[Ingesting] = ServiceKey("ingesting")


async def add_evidence(call: Call, request: AddEvidence) -> EvidenceResponse:
    """Keep a quote from an ingested document as evidence of an entity, with its exact place.

    Use after reading a section of a document, for what supports an entity; to store what a text says use add_memory
    instead. The present version of the document is quoted; later versions leave the quote as it is. A quote that is not
    there word for word is refused. The same quote again changes nothing.
    """
    return await call.services[EVIDENCE].add_evidence(call.caller, request)


async def get_entity_sources(call: Call, request: GetEntitySources) -> EntitySourcesResponse:
    """Get the quotes from documents that are evidence of an entity: document, paragraph, offsets and what is around.

    Use to show where something is written, and with source_id to read on around it; for the words behind one fact use
    get_fact_sources instead. The newest document comes first, then as they stand in it; superseded marks what the
    present version, which source_id reads, no longer has.
    """
    if request.source_id is not None:
        return await call.services[READING].read(call.caller, request)
    return await call.services[EVIDENCE].get_entity_sources(call.caller, request)
