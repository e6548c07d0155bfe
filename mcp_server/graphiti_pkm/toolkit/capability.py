"""What a capability declares about itself; ``server/tools/registry.py`` lists the capabilities."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from graphiti_pkm.toolkit.services import ServiceKey
from graphiti_pkm.toolkit.tool import ToolSpec

if TYPE_CHECKING:  # a kernel is made when the services start; tools are listed before
    from graphiti_pkm.toolkit.kernel import Kernel


@dataclass(frozen=True)
class Capability:
    """One thing the memory can do.

    It stands in ``capability.py`` of its folder and not in ``__init__.py``, which runs whenever anything of the folder
    is imported: a process that only computes would load the tools.
    """

    name: str
    assembly: str
    """Full name of the module whose ``build(kernel)`` makes the services; imported when they start."""
    tools: Mapping[str, tuple[ToolSpec, ...]] = field(default_factory=dict)
    """By toolset."""
    only_with: str | None = None
    """The toolset without which the services are not built; None: they always are."""

    def build(self, kernel: "Kernel") -> Mapping[ServiceKey[Any], object]:
        """The services of this capability, by the keys that its tools use."""
        make = cast("Callable[[Kernel], Mapping[ServiceKey[Any], object]]", import_module(self.assembly).build)
        return make(kernel)
