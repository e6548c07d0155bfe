"""Summaries of sagas and communities of entities, made by a model."""

from graphiti_pkm.capabilities.sagas.tools import build_communities, summarize_saga
from graphiti_pkm.toolkit.capability import Capability
from graphiti_pkm.toolkit.hints import Hints
from graphiti_pkm.toolkit.tool import WRITES_IDEMPOTENT, ToolSpec

CAPABILITY = Capability(
    name="sagas",
    assembly="graphiti_pkm.capabilities.sagas.assembly",
    tools={
        "graph": (
            ToolSpec(summarize_saga, "Summarize Saga", WRITES_IDEMPOTENT, hints=Hints(("search_episodes",))),
            ToolSpec(build_communities, "Build Communities", WRITES_IDEMPOTENT, hints=Hints(("search_nodes",))),
        ),
    },
)
