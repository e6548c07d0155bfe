"""A person who signs in with a client of the SDK, as MCP clients do: metadata, registration, code with PKCE, tokens."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client import Client
from mcp.client.auth.oauth2 import OAuthClientProvider, TokenStorage
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl
from tests.e2e.support import CALL_SECONDS

BACK_AT = "http://127.0.0.1:3030/callback"
"""Nobody listens there: where the browser is sent in the end is read from the answer."""

Browser: TypeAlias = Callable[[str], Awaitable[str]]
"""What a person does at the address of the issuer: gives the address where the browser is sent in the end."""


class Kept(TokenStorage):
    """What a client keeps between its runs."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self.tokens: OAuthToken | None = None
        self.client = client
        self.signed_in = 0

    @property
    def token(self) -> str:
        assert self.tokens is not None
        return self.tokens.access_token

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def agrees_at_once(address: str) -> str:
    """The issuer of the tests asks nothing."""
    async with httpx2.AsyncClient() as web:
        answer = await web.get(address)
    assert answer.status_code == httpx2.codes.FOUND, answer.text
    return answer.headers["location"]


@asynccontextmanager
async def signed_in(url: str, kept: Kept, browser: Browser = agrees_at_once) -> AsyncIterator[Client]:
    """A client that signs in when it is told to."""
    sent_to = ""

    async def opens(address: str) -> None:
        nonlocal sent_to
        kept.signed_in += 1
        sent_to = await browser(address)

    async def comes_back() -> AuthorizationCodeResult:
        given = parse_qs(urlsplit(sent_to).query)
        return AuthorizationCodeResult.model_validate({name: values[0] for name, values in given.items()})

    described = OAuthClientMetadata(
        redirect_uris=[AnyUrl(BACK_AT)], client_name="A client", grant_types=["authorization_code", "refresh_token"]
    )
    auth = OAuthClientProvider(url, described, kept, opens, comes_back)
    async with (
        httpx2.AsyncClient(auth=auth, timeout=CALL_SECONDS) as web,
        Client(streamable_http_client(url, http_client=web)) as client,
    ):
        yield client
