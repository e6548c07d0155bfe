"""A server's doors: tokens in a data directory, and requests that carry one or none."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
from tests.protocol.support import World

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens
from graphiti_pkm.settings.loader import Settings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPT = "application/json, text/event-stream"


class Doors:
    """A data directory with tokens."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "tokens.json"
        self.tokens: list[Token] = []
        self.settings = Settings(transport="http", data_dir=directory, writes_per_minute=3)

    def add(self, principal: str, **fields: Any) -> dict[str, str]:
        """The header of a new token."""
        secret = new_secret()
        self.tokens.append(Token(**{"hash": hash_of(secret), "principal": principal, "created": NOW, **fields}))
        write_tokens(self.path, self.tokens)
        return {"Authorization": f"Bearer {secret}"}

    def revoke_all(self) -> None:
        self.tokens = [token.model_copy(update={"revoked": NOW}) for token in self.tokens]
        write_tokens(self.path, self.tokens)


def a_world(doors: Doors) -> World:
    """With the real service for writing: the recording one knows the local user only."""
    world = World(doors.settings)
    world.writes_really = True
    return world


async def post(url: str, headers: dict[str, str] | list[tuple[str, str]]) -> httpx2.Response:
    async with httpx2.AsyncClient() as web:
        sent = [*(headers.items() if isinstance(headers, dict) else headers), ("accept", ACCEPT)]
        return await web.post(f"{url}/mcp", json=PING, headers=sent)
