"""How the port is held."""

import socket

from graphiti_pkm.server.transports.http import listen


def test_a_connection_sends_at_once_and_does_not_wait_for_the_other_side() -> None:
    """Or a client that acknowledges late, as Linux does, gets each answer 40 ms late."""
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
