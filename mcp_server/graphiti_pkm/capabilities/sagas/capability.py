"""Summaries of sagas and communities of entities, made by a model."""

from graphiti_pkm.capabilities.sagas.tools import build_communities, summarize_saga
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.tool import ENDS, ToolSpec

CAPABILITY = Capability(
    name="sagas",
    assembly="graphiti_pkm.capabilities.sagas.assembly",
    tools={
        "graph": (
            ToolSpec(summarize_saga, "Summarize Saga", ENDS),
            ToolSpec(build_communities, "Build Communities", ENDS),
        ),
    },
)
