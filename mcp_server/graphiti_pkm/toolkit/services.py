"""The services that tools call, each under a typed key that its capability declares."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from graphiti_pkm.core.signing import Signer
from graphiti_pkm.errors import Unavailable

T = TypeVar("T")


async def never_rebuilding() -> None:
    """Waits for nothing: the graph is never rebuilt."""


@dataclass(frozen=True)
class ServiceKey(Generic[T]):
    """Names a service without importing it: tools/list is answered before any service is loaded."""

    name: str


class Services:
    """The services of one process. The capabilities build them in the order of the registry."""

    def __init__(
        self,
        stop_waiting: Callable[[], None] = lambda: None,
        wait_until_rebuilt: Callable[[], Awaitable[None]] = never_rebuilding,
        signer: Signer | None = None,
    ) -> None:
        """``stop_waiting`` makes calls that wait for a model return at once, because the server is shutting down.

        ``wait_until_rebuilt`` returns once the graph agrees with the journal, or raises Unavailable.
        ``signer`` signs what the server hands out and takes back; without one, with a key of its own.
        """
        self.stop_waiting = stop_waiting
        self.wait_until_rebuilt = wait_until_rebuilt
        self.signer = signer or Signer()
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
        """Add what a capability built; a service that already exists under a key is replaced."""
        self._built.update({key.name: service for key, service in built.items()})
