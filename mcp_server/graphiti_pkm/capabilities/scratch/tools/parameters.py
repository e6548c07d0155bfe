"""Parameters that the tools of the toolset ``reasoning`` share, and their way to the services."""

from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Field

from graphiti_pkm.capabilities.scratch.models.requests import EdgeInput, NodeInput
from graphiti_pkm.core.model.requests import as_list
from graphiti_pkm.core.reading.paging import SCRATCH_ITEMS, SCRATCH_ROWS
from graphiti_pkm.errors import Unavailable
from graphiti_pkm.toolkit.call import Call
from graphiti_pkm.toolkit.schema import as_object
from graphiti_pkm.toolkit.services import ServiceKey

if TYPE_CHECKING:
    from graphiti_pkm.capabilities.scratch.service import Reasoning

REASONING: ServiceKey["Reasoning"] = ServiceKey("reasoning")


def _as_nodes(value: object) -> object:
    """A list of nodes as models send it; a bare text is a label."""
    items = as_list(value)
    return [{"label": item} if isinstance(item, str) else item for item in items] if isinstance(items, list) else items


Graph: TypeAlias = Annotated[str, Field(description="scratch graph")]
"""Optional everywhere, ``DEFAULT_GRAPH`` when left out; the service checks its form."""
Properties: TypeAlias = Annotated[dict[str, Any] | None, BeforeValidator(as_object)]
Nodes: TypeAlias = Annotated[list[NodeInput], BeforeValidator(_as_nodes), Field(max_length=500)]
Edges: TypeAlias = Annotated[list[EdgeInput], BeforeValidator(as_list), Field(max_length=500)]
CreateMissing: TypeAlias = Annotated[bool, Field(description="add ends that are no nodes; only very labels match then")]
Rows: TypeAlias = Annotated[int, Field(ge=SCRATCH_ROWS.minimum, le=SCRATCH_ROWS.maximum)]
Items: TypeAlias = Annotated[int, Field(ge=SCRATCH_ITEMS.minimum, le=SCRATCH_ITEMS.maximum)]


def reasoning_of(call: Call) -> "Reasoning":
    """The use cases of scratch graphs. Raises Unavailable on a server that was started without them."""
    reasoning = call.services.get(REASONING)
    if reasoning is None:
        raise Unavailable("Scratch graphs are off: the server was started without the toolset reasoning.")
    return reasoning
