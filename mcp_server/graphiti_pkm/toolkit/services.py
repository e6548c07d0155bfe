"""The services that tools ask, each under a typed key that its capability declares."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from graphiti_pkm.errors import Unavailable

T = TypeVar("T")


async def is_whole() -> None:
    """For a graph that nobody rebuilds."""


@dataclass(frozen=True)
class ServiceKey(Generic[T]):
    """Names a service without importing it: tools/list is answered before any service is loaded."""

    name: str


class Services:
    """The services of one process; built capability by capability, in the order of the registry."""

    def __init__(
        self, stop_waiting: Callable[[], None] = lambda: None, whole: Callable[[], Awaitable[None]] = is_whole
    ) -> None:
        """``stop_waiting`` answers the calls that wait for a model at once, because the server is about to end.

        ``whole`` returns once the graph is what the journal says; raises Unavailable while a rebuild is unfinished.
        """
        self.stop_waiting = stop_waiting
        self.whole = whole
        self._built: dict[str, object] = {}

    def __getitem__(self, key: ServiceKey[T]) -> T:
        """The service. Raises Unavailable if this server was started without its capability."""
        service = self.get(key)
        if service is None:
            raise Unavailable(f"The server was started without {key.name}: its toolset is not switched on.")
        return service

    def get(self, key: ServiceKey[T]) -> T | None:
        """The service, or None if this server was started without its capability."""
        return cast("T | None", self._built.get(key.name))

    def add(self, built: Mapping[ServiceKey[Any], object]) -> None:
        """Takes what a capability built; a key that is already taken is replaced."""
        self._built.update({key.name: service for key, service in built.items()})
