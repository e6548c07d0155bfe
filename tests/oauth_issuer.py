"""An OAuth issuer of a test's own, over real HTTP: people sign in with code and PKCE, and its tokens are JWTs.

The endpoints are those of the MCP SDK. ``tests/storm/test_keycloak.py`` does the same with Keycloak.
"""

import json
import threading
import time
from secrets import token_hex
from typing import Any, Self

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.routes import build_metadata, create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from tests.ports import free_port

from graphiti_pkm.server.transports.http import listen

ALGORITHM = "RS256"


class SigningKey:
    """A key pair with an id."""

    def __init__(self) -> None:
        self.id = token_hex(4)
        self.private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)

    def published(self, **entries: Any) -> dict[str, Any]:
        """As the issuer publishes it."""
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.private.public_key()))
        return {"kty": public["kty"], "n": public["n"], "e": public["e"], "kid": self.id, "use": "sig", **entries}


class OAuthIssuer:
    """Serves while it is open. Whoever comes to sign in is ``person``."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.person = "anna"
        self.claims: dict[str, Any] = {}
        """Of every token, besides those that each needs."""
        self.lifetime = 300
        """Seconds; of a token that has expired, it is negative."""
        self.key = SigningKey()
        self.published = [self.key.published()]
        self.metadata: dict[str, Any] = {}
        """What the metadata says otherwise."""
        self.asked: list[str] = []
        """Paths in the order of the requests."""
        self._provider = _Provider(self)

    def __enter__(self) -> Self:
        self._server = uvicorn.Server(uvicorn.Config(self._app(), log_config=None, lifespan="off"))
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listen("127.0.0.1", self.port)]}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()

    def rotate(self) -> None:
        """Sign with a new key from now on, and withdraw the old one."""
        self.key = SigningKey()
        self.published = [self.key.published()]

    def token(self, audience: str, *, key: SigningKey | None = None, **claims: Any) -> str:
        """An access token as this issuer makes them, but for the claims given; None takes one away."""
        key, now = key or self.key, int(time.time())
        whole: dict[str, Any] = {"iss": self.url, "aud": audience, "sub": self.person, "iat": now, "azp": "a-client"}
        whole |= {"exp": now + self.lifetime, **self.claims, **claims}
        kept = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(kept, key.private, ALGORITHM, headers={"kid": key.id})

    def fetches(self) -> int:
        """How often its keys were asked for."""
        return self.asked.count("/keys")

    def _app(self) -> Starlette:
        address = AnyHttpUrl(self.url)
        registration, revocation = ClientRegistrationOptions(enabled=True), RevocationOptions(enabled=True)
        described = build_metadata(address, None, registration, revocation).model_dump(mode="json", exclude_none=True)

        async def metadata(request: Request) -> JSONResponse:
            self.asked.append(request.url.path)
            return JSONResponse(described | {"issuer": self.url, "jwks_uri": f"{self.url}/keys"} | self.metadata)

        async def keys(request: Request) -> JSONResponse:
            self.asked.append(request.url.path)
            return JSONResponse({"keys": self.published})

        routes = create_auth_routes(
            self._provider, address, client_registration_options=registration, revocation_options=revocation
        )
        own = [
            Route(f"/.well-known/{name}", metadata) for name in ("oauth-authorization-server", "openid-configuration")
        ]
        return Starlette(routes=[*own, Route("/keys", keys), *routes])


# ruff: noqa: ARG002 the arguments are those of the SDK
class _Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    def __init__(self, issuer: OAuthIssuer) -> None:
        self._issuer = issuer
        self._clients: dict[str | None, OAuthClientInformationFull] = {}
        self._codes: dict[str, AuthorizationCode] = {}
        self._refreshing: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self._clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self._clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = AuthorizationCode(
            code=token_hex(20),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=f"{client.client_id}",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject=self._issuer.person,
        )
        self._codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self._codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self._codes[authorization_code.code]
        return self._granted(client, authorization_code.subject, authorization_code.resource)

    async def load_refresh_token(self, client: OAuthClientInformationFull, refresh_token: str) -> RefreshToken | None:
        return self._refreshing.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self._refreshing[refresh_token.token]
        return self._granted(client, refresh_token.subject, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return None  # it keeps none; whoever revokes names the refresh token

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self._refreshing.clear()

    def _granted(self, client: OAuthClientInformationFull, person: str | None, resource: str | None) -> OAuthToken:
        refresh = RefreshToken(
            token=token_hex(20), client_id=f"{client.client_id}", scopes=[], subject=person, resource=resource
        )
        self._refreshing[refresh.token] = refresh
        access = self._issuer.token(f"{resource}", sub=person, azp=client.client_id)
        return OAuthToken(access_token=access, expires_in=self._issuer.lifetime, refresh_token=refresh.token)
