"""What a capability declares about itself; ``server/tools/registry.py`` lists the capabilities."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from graphiti_pkm.toolkit.prompt import PromptLine
from graphiti_pkm.toolkit.services import ServiceKey, Services
from graphiti_pkm.toolkit.tool import ToolSpec

if TYPE_CHECKING:  # a kernel is made when the services start; tools are listed before
    from graphiti_pkm.toolkit.kernel import Kernel

Job: TypeAlias = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""A loop beside the calls; it returns once the event is set."""


@dataclass(frozen=True)
class Built:
    """What the assembly of a capability makes when the services start."""

    services: Mapping[ServiceKey[Any], object] = field(default_factory=dict)
    """By the keys that its tools use."""
    jobs: Mapping[str, Job] = field(default_factory=dict)
    """By the names that a log calls them."""
    close: Callable[[], Awaitable[object]] | None = None
    """Releases what the services hold; called after the jobs have ended."""


@dataclass(frozen=True)
class Capability:
    """One thing the memory can do.

    It stands in ``capability.py`` of its folder and not in ``__init__.py``, which runs whenever anything of the folder
    is imported: a process that only computes would load the tools.
    """

    name: str
    assembly: str
    """Full name of the module whose ``build(kernel)`` makes services and jobs; imported when they start.

    There the capability asks the kernel for the parts of the store that it needs.
    """
    tools: Mapping[str, tuple[ToolSpec, ...]] = field(default_factory=dict)
    """By toolset."""
    prompts: tuple[PromptLine, ...] = ()
    """What a person may pick in the client."""
    only_with: str | None = None
    """The toolset without which nothing is built; None: it always is."""

    def build(self, kernel: "Kernel") -> Built:
        """The services and jobs of this capability."""
        make = cast("Callable[[Kernel], Built]", import_module(self.assembly).build)
        return make(kernel)


@dataclass(frozen=True)
class Running:
    """All capabilities of one process."""

    services: Services
    jobs: Mapping[str, Job]
    close: Callable[[], Awaitable[None]]
    """The last built first."""

    @classmethod
    def build(cls, capabilities: Iterable[Capability], kernel: "Kernel") -> "Running":
        """In their order, without those whose toolset is switched off; each may use the services of those before."""
        jobs: dict[str, Job] = {}
        closing = AsyncExitStack()
        for capability in capabilities:
            if capability.only_with is None or capability.only_with in kernel.context.settings.toolsets:
                built = capability.build(kernel)
                kernel.services.add(built.services)
                jobs.update(built.jobs)
                if built.close is not None:
                    closing.push_async_callback(built.close)
        return cls(kernel.services, jobs, closing.aclose)
