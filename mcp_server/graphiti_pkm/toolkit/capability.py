"""The declaration of a capability; ``server/tools/registry.py`` lists the capabilities."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from graphiti_pkm.toolkit.prompt import PromptLine
from graphiti_pkm.toolkit.services import ServiceKey, Services
from graphiti_pkm.toolkit.tool import ToolSpec

if TYPE_CHECKING:  # tools are listed before the services start, which import the kernel
    from graphiti_pkm.toolkit.kernel import Kernel

Job: TypeAlias = Callable[[asyncio.Event], Coroutine[Any, Any, None]]
"""A background loop, which returns once the event is set."""


@dataclass(frozen=True)
class Built:
    """What the assembly of a capability builds when the services start."""

    services: Mapping[ServiceKey[Any], object] = field(default_factory=dict)
    """Under the keys that its tools use."""
    jobs: Mapping[str, Job] = field(default_factory=dict)
    """Under the names that the log uses for them."""
    close: Callable[[], Awaitable[object]] | None = None
    """Releases what the services hold; called after the jobs have ended."""


@dataclass(frozen=True)
class Capability:
    """One function of the product, with its tools and services.

    It is declared in ``capability.py`` of its folder and not in ``__init__.py``: that file is executed whenever any
    module of the folder is imported, and a process that only computes would load the tools.
    """

    name: str
    assembly: str
    """Full name of the module whose ``build(kernel)`` builds services and jobs; imported when they start.

    In this function the capability requests the parts of the store that it needs from the kernel.
    """
    tools: Mapping[str, tuple[ToolSpec, ...]] = field(default_factory=dict)
    """The tools of each toolset."""
    former: Mapping[str, tuple[str, Mapping[str, object]]] = field(default_factory=dict)
    """By a former name of a tool, which is still accepted: its name now, and the arguments that the name stood for."""
    prompts: tuple[PromptLine, ...] = ()
    """Prompts that a person can choose in the client."""
    only_with: str | None = None
    """Build services and jobs only if this toolset is enabled; None: always."""

    def build(self, kernel: "Kernel") -> Built:
        """Build the services and jobs of this capability."""
        make = cast("Callable[[Kernel], Built]", import_module(self.assembly).build)
        return make(kernel)


@dataclass(frozen=True)
class Running:
    """All capabilities of one process."""

    services: Services
    jobs: Mapping[str, Job]
    close: Callable[[], Awaitable[None]]
    """Closes in reverse order of building."""

    @classmethod
    def build(cls, capabilities: Iterable[Capability], kernel: "Kernel") -> "Running":
        """Build the enabled capabilities in the given order; each may use the services of the earlier ones."""
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
