"""What a tool function is given besides its arguments."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from graphiti_pkm.core.model.access import Caller
from graphiti_pkm.toolkit.services import Services

Progress: TypeAlias = Callable[[float, float, str], Awaitable[None]]


async def tell_nobody(_done: float, _most: float, _what: str) -> None:
    """The progress of what no client waits for."""


@dataclass(frozen=True)
class Call:
    """What a tool needs besides its arguments."""

    services: Services
    caller: Caller
    progress: Progress = tell_nobody
    """Tells a client that asked for it how far a long call is."""
