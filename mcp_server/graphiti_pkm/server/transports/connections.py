"""Limits for connections: how many in total and per address, and how long the server waits for a client.

A client is a stranger until a request over its connection has passed the checks. If there are too many strangers, the
connection that has waited longest is closed. A client that sends its request at once is therefore served even while
somebody keeps opening connections. Only strangers are counted by address, because a proxy or a chat server connects
many users from one address.
"""

import asyncio
import ipaddress
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from graphiti_pkm.server.auth.access_gate import CONNECTION
from graphiti_pkm.settings.loader import Settings

_log = logging.getLogger(__name__)

MOST_FILES = 65_536
"""The highest limit of open files that is requested, because some programs iterate over all possible ones."""
_OTHER_FILES = 256
"""Files other than client connections: database, journal, locks, sockets of workers."""
_MOST = 4_096
_FEWEST = 16
_IPV6_NETWORK = 64
"""Bits of an IPv6 address that identify one customer of a network."""

Phase: TypeAlias = tuple[Literal["head", "body", "answer"], object]
"""What a connection waits for, with a value that changes whenever there is progress."""


@dataclass(frozen=True)
class Bounds:
    """Maximum numbers of connections of one process, and how many seconds it waits."""

    most: int
    anonymous: int
    anonymous_of_address: int
    head_seconds: float
    body_seconds: float

    @classmethod
    def of(cls, settings: Settings, files: int) -> "Bounds":
        """The values of the settings, or defaults derived from the number of files the process may open."""
        most = settings.connections or max(_FEWEST, min(_MOST, files - _OTHER_FILES))
        anonymous = settings.connections_without_token or max(1, most // 2)
        of_address = settings.connections_per_address or max(1, anonymous // 2)
        return cls(most, anonymous, of_address, settings.head_seconds, settings.body_seconds)


class Connections:
    """The connections of one process."""

    def __init__(self, bounds: Bounds, clock: Callable[[], float] = time.monotonic) -> None:
        self._bounds = bounds
        self._clock = clock
        self._all: set[Connection] = set()
        self._anonymous: dict[str, dict[Connection, None]] = {}
        """Connections of strangers by address, oldest first."""

    def __len__(self) -> int:
        return len(self._all)

    def opened(self, connection: "Connection") -> None:
        """Add a connection; if there are too many, close another."""
        self._all.add(connection)
        self.distrust(connection)
        if len(self._all) > self._bounds.most and connection in self._all:
            self._close_oldest(self._crowd(), "all")

    def lost(self, connection: "Connection") -> None:
        """Remove a closed connection."""
        self._all.discard(connection)
        self.trust(connection)

    def trust(self, connection: "Connection") -> None:
        """The connection carried a request that passed the checks."""
        of_address = self._anonymous.get(connection.address, {})
        of_address.pop(connection, None)
        if not of_address:
            self._anonymous.pop(connection.address, None)

    def distrust(self, connection: "Connection") -> None:
        """The connection is new, or its last request failed the checks."""
        of_address = self._anonymous.setdefault(connection.address, {})
        of_address[connection] = None
        if len(of_address) > self._bounds.anonymous_of_address:
            self._close_oldest(of_address, "of one address")
        elif sum(map(len, self._anonymous.values())) > self._bounds.anonymous:
            self._close_oldest(self._crowd(), "without a token")

    def sweep(self) -> None:
        """Close connections that have waited too long. Called about once a second."""
        now = self._clock()
        for connection in [one for one in self._all if one.is_overdue(now, self._bounds)]:
            connection.cut_off()

    def _crowd(self) -> dict["Connection", None]:
        """The strangers of the address with the most of them; empty if there are no strangers."""
        return max(self._anonymous.values(), key=len, default={})

    def _close_oldest(self, anonymous: dict["Connection", None], what: str) -> None:
        """Close the oldest that is not being answered, otherwise the oldest; the newest only if it is the only one."""
        others = list(anonymous)[: max(1, len(anonymous) - 1)]
        if not others:
            return
        oldest = next((one for one in others if not one.is_answered), others[0])
        _log.warning("too many connections %s: one that showed no token was closed", what)
        self.lost(oldest)
        oldest.cut_off()


class Connection(H11Protocol):
    """A uvicorn connection that is counted and has timeouts."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.address = ""
        self._connections = connections
        self._phase: Phase | None = None
        self._since = 0.0
        checked = self.app

        async def named(scope: Scope, receive: Receive, send: Send) -> None:
            await checked({**scope, CONNECTION: self}, receive, send)

        self.app = named

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the new connection."""
        super().connection_made(transport)
        self.address = _network_of(self.client[0] if self.client else "")
        self._connections.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._connections.lost(self)
        super().connection_lost(exc)

    def trust(self) -> None:
        """Record that a request has passed the checks."""
        self._connections.trust(self)

    def distrust(self) -> None:
        """Record that a request has failed the checks."""
        if not self.transport.is_closing():
            self._connections.distrust(self)

    @property
    def is_answered(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    def is_overdue(self, now: float, bounds: Bounds) -> bool:
        """Whether the connection has waited for the same thing for too long."""
        phase = self._waits_for()
        if phase is None or phase != self._phase:
            self._phase, self._since = phase, now
            return False
        return now - self._since > (bounds.head_seconds if phase[0] == "head" else bounds.body_seconds)

    def cut_off(self) -> None:
        """Close the connection at once and discard pending data."""
        self.transport.abort()

    def _waits_for(self) -> Phase | None:
        if self.flow.write_paused or self.transport.is_closing():
            return "answer", self.transport.get_write_buffer_size()  # no longer grows, and shrinks as the client reads
        if self.conn.their_state is h11.IDLE:
            return "head", self.cycle  # each request has its own cycle
        if self.conn.their_state is h11.SEND_BODY:
            return "body", self.cycle
        return None


def _network_of(address: str) -> str:
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return address
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((found, _IPV6_NETWORK), strict=False))
