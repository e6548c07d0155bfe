"""Parameters that the tools of the toolset ``reasoning`` share, and their way to the services."""

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from graphiti_pkm.errors import Unavailable
from graphiti_pkm.toolsets.backend import Call

if TYPE_CHECKING:
    from graphiti_pkm.services.reasoning import Reasoning

Graph: TypeAlias = Annotated[str, Field(description="scratch graph")]
"""Optional everywhere, ``DEFAULT_GRAPH`` when left out (E-84); its form is checked by the service."""


def reasoning_of(call: Call) -> "Reasoning":
    """The use cases of scratch graphs. Raises Unavailable on a server that was started without them."""
    if call.services.reasoning is None:
        raise Unavailable("Scratch graphs are off: the server was started without the toolset reasoning.")
    return call.services.reasoning
