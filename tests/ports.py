"""A port for a server that a test starts, kills and starts again."""

import os
import random
import socket

# Below the ports a system hands to outgoing connections: a client that calls a dead server must not meet itself, and
# nobody else may take the port while the server is down. Test processes that run side by side have ports of their own.
_SIDE_BY_SIDE = 16
_PROCESS = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_PORTS = range(20_000 + _PROCESS % _SIDE_BY_SIDE, 32_000, _SIDE_BY_SIDE)


def free_port() -> int:
    """On loopback; nobody listens there at the moment."""
    while True:
        port = random.choice(_PORTS)  # noqa: S311 any will do
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
