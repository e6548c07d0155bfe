"""Tools of the toolset ``graph`` for which a model is asked. Their docstrings are prompts."""

from typing import TYPE_CHECKING

from graphiti_pkm.capabilities.sagas.models import BuildCommunitiesResponse, SagaSummaryResponse
from graphiti_pkm.capabilities.sagas.requests import BuildCommunities, SummarizeSaga
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.sagas.service import SummaryService

SUMMARIES: ServiceKey["SummaryService"] = ServiceKey("digests")


async def summarize_saga(call: Call, request: SummarizeSaga) -> SagaSummaryResponse:
    """Summarize a saga: the configured model reads the episodes told since its last summary and renews that.

    Use when the user asks how a story or project went so far. Waits up to 45 s, then goes on in the background. Without
    a model it says so: use get_episodes instead and sum up yourself.
    """
    return await call.services[SUMMARIES].summarize_saga(call.caller, request, call.progress)


async def build_communities(call: Call, request: BuildCommunities) -> BuildCommunitiesResponse:
    """Build the communities of whole groups: entities that belong together, each summed up by the configured model.

    Use only when the user asks for it: it takes up to 360 model calls a group and replaces the former communities.
    Waits up to 45 s, then goes on in the background. For the surroundings of one entity use get_entity_subgraph
    instead; it needs no model.
    """
    return await call.services[SUMMARIES].build_communities(call.caller, request, call.progress)
