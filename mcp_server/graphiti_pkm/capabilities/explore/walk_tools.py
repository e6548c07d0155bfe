"""Tools of the toolset ``graph`` that walk over several facts. Their docstrings are prompts."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from graphiti_pkm.core.model.answers import PathResponse, SubgraphResponse
from graphiti_pkm.core.reading.paging import HOPS, PATHS, SUBGRAPH_FACTS, SUBGRAPH_HOPS, SUBGRAPH_NODES
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.parameters import After, Before, EntityUuid, OwnGroups
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:  # services are loaded after the tools are listed
    from graphiti_pkm.capabilities.explore.paths import Paths

WALKS: ServiceKey["Paths"] = ServiceKey("paths")

AsOf: TypeAlias = Annotated[str | None, Field(description="only what held then; a month: its start")]
Ended: TypeAlias = Annotated[bool, Field(description="false = only what holds now")]


async def find_entity_path(
    call: Call,
    source_uuid: EntityUuid,
    target_uuid: EntityUuid,
    max_hops: Annotated[int, Field(ge=HOPS.minimum, le=HOPS.maximum)] = HOPS.default,
    max_paths: Annotated[int, Field(ge=PATHS.minimum, le=PATHS.maximum)] = PATHS.default,
    group_ids: OwnGroups = None,
    as_of: AsOf = None,
    valid_after: After = None,
    valid_before: Before = None,
    include_invalidated: Ended = True,
) -> PathResponse:
    """Find how two entities hang together: the paths of fewest facts between them, whichever way the facts point.

    Use for "how is A related to B". Each step shows the current or newest fact between two entities; corrected facts
    never count. No path comes with the reason. For all facts of one entity use get_entity_connections instead.
    """
    return await call.services[WALKS].find_entity_path(
        call.caller,
        source_uuid,
        target_uuid,
        max_hops,
        max_paths,
        group_ids,
        as_of,
        valid_after,
        valid_before,
        include_invalidated,
    )


async def get_entity_subgraph(
    call: Call,
    entity_uuid: EntityUuid,
    hops: Annotated[int, Field(ge=SUBGRAPH_HOPS.minimum, le=SUBGRAPH_HOPS.maximum)] = SUBGRAPH_HOPS.default,
    max_nodes: Annotated[int, Field(ge=SUBGRAPH_NODES.minimum, le=SUBGRAPH_NODES.maximum)] = SUBGRAPH_NODES.default,
    max_facts: Annotated[int, Field(ge=SUBGRAPH_FACTS.minimum, le=SUBGRAPH_FACTS.maximum)] = SUBGRAPH_FACTS.default,
    group_ids: OwnGroups = None,
    as_of: AsOf = None,
    valid_after: After = None,
    valid_before: Before = None,
    include_invalidated: Ended = True,
) -> SubgraphResponse:
    """Get the entities around one, up to three hops away, with the facts among them.

    Use for an overview of a topic or a picture of it. The nearest and best joined come first; truncated says that
    more did not fit. For every fact of one entity, in pages, use get_entity_connections instead.
    """
    return await call.services[WALKS].get_entity_subgraph(
        call.caller,
        entity_uuid,
        hops,
        max_nodes,
        max_facts,
        group_ids,
        as_of,
        valid_after,
        valid_before,
        include_invalidated,
    )
