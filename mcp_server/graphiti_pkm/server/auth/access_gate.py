"""Checks before the HTTP endpoints: the host names that requests may use, and the token they must carry."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.core.ports.metrics import REFUSED, Metrics
from graphiti_pkm.errors import InvalidSettings
from graphiti_pkm.server.auth.callers import STILL_VALID, TOKEN
from graphiti_pkm.server.auth.tokens import Tokens
from graphiti_pkm.server.observability.audit import log_refused_request
from graphiti_pkm.settings.keys import is_loopback
from graphiti_pkm.settings.loader import Settings

if TYPE_CHECKING:  # a server without an issuer starts faster without cryptography
    from graphiti_pkm.server.auth.issuer import Issuer

CONNECTION = "graphiti_pkm.connection"
"""Key of a request's scope for its connection, a ``Visitor``; absent if connections are not limited."""
_WELL_KNOWN = ".well-known"
_SIGN_IN = frozenset({"/register", "/authorize", "/token"})
_SCHEME = "bearer "
_SESSION = "mcp-session-id"
_UNAUTHENTICATED = "A valid token is needed: send it as `Authorization: Bearer TOKEN`."
_NO_SIGN_IN = "There is no sign-in here. " + _UNAUTHENTICATED


def tokens_of(settings: Settings) -> Tokens:
    """The tokens that the settings configure. Raises ConfigurationError."""
    given = settings.tokens.get_secret_value() if settings.tokens else None
    return Tokens(
        settings.token_path,
        given,
        is_named=settings.tokens_file is not None,
        has_issuer=settings.oauth_issuer is not None,
    )


def check_host(host: str, tokens: Tokens, *, has_issuer: bool = False) -> None:
    """Require a valid token before the server listens on an address that other machines can reach.

    Raises:
        InvalidSettings: other machines can reach the address, and no valid token exists.
    """
    now = datetime.now(UTC)
    if is_loopback(host) or has_issuer or any(token.state(now) == "valid" for token in tokens.all()):
        return
    raise InvalidSettings(
        f"Host {host} can be reached from other machines, and there are no tokens to tell callers apart. "
        "`graphiti-pkm tokens create NAME` makes one; or set oauth_issuer, or use --host 127.0.0.1 (default)."
    )


class Visitor(Protocol):
    """A connection that distinguishes clients whose last request carried a valid token from strangers."""

    def trust(self) -> None: ...

    def distrust(self) -> None: ...


class AccessGate:
    """Records refused requests: writes a line to the audit log and counts them by reason."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def refused(self, reason: str, token: Token | None = None) -> None:
        """``reason`` is a fixed word and never contains text of the request."""
        log_refused_request(reason, token)
        self._metrics.add(REFUSED, 1, reason)


class KnownNames:
    """Refuses requests that a web page may have sent: with a foreign Origin or, after DNS rebinding, a foreign Host."""

    def __init__(self, app: ASGIApp, settings: Settings, gate: AccessGate) -> None:
        self._app = app
        self._gate = gate
        self._names = {"127.0.0.1", "localhost", "::1", settings.host.lower()} | {
            name.lower() for name in settings.allowed_hosts
        }
        if settings.oauth_resource is not None and (told := _name_in(settings.oauth_resource)):
            self._names.add(told)
        # The server cannot know the names under which other machines reach it; their requests need a token anyway.
        self._takes_any_host = not is_loopback(settings.host) and not settings.allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(Headers(scope=scope))):
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, headers: Headers) -> Response | None:
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if not self._takes_any_host and [_name_in(f"//{host}") in self._names for host in hosts] != [True]:
            self._gate.refused("unknown_host")
            return PlainTextResponse("Unknown host; the setting allowed_hosts names more.", status_code=421)
        if any(_name_in(origin) not in self._names for origin in origins):
            self._gate.refused("foreign_origin")
            return PlainTextResponse("Foreign origin; the setting allowed_hosts names more.", status_code=403)
        return None


class NoSignIn:
    """Answers 404 at the paths where OAuth clients look for a sign-in, which this server does not offer.

    A 401 would mean that clients need a token to learn how to get one. mcp-remote prints the text when it gives up.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _is_of_a_sign_in(scope["path"]):
            await PlainTextResponse(_NO_SIGN_IN, status_code=HTTPStatus.NOT_FOUND)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class Authenticated:
    """Passes on requests with a valid token; also those without one if no tokens exist, which only loopback allows."""

    def __init__(
        self,
        app: ASGIApp,
        tokens: Tokens,
        gate: AccessGate,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        issuer: "Issuer | None" = None,
    ) -> None:
        self._app = app
        self._gate = gate
        self._tokens = tokens
        self._now = now
        self._issuer = issuer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        visitor: Visitor | None = scope.get(CONNECTION)
        if not self._tokens.required():
            if visitor is not None:
                visitor.trust()
            await self._app(
                {**scope, TOKEN: None, STILL_VALID: self._is_open}, receive, self._watched(send, scope, None)
            )
        elif isinstance(found := await self._found(Headers(scope=scope)), Token):
            if visitor is not None:
                visitor.trust()
            # With this, the SDK refuses requests to the session of another token.
            holder = AuthenticatedUser(AccessToken(token="", client_id=found.id, scopes=[], subject=found.principal))
            checked = {TOKEN: found, STILL_VALID: partial(self._is_let_in, Headers(scope=scope)), "user": holder}
            await self._app({**scope, **checked}, receive, self._watched(send, scope, found))
        else:
            if visitor is not None:
                visitor.distrust()
            await found(scope, receive, send)

    async def _is_open(self) -> bool:
        return not self._tokens.required()

    async def _is_let_in(self, headers: Headers) -> bool:
        return isinstance(await self._found(headers), Token)

    async def _found(self, headers: Headers) -> Token | Response:
        """The valid token of a request, or the answer to one without.

        Only the log shows why a token of ours was refused.
        """
        secret = presented(headers)
        if secret is None:
            return self._refusal("missing")
        found = self._tokens.verify(secret, self._now())
        if found.token is not None:
            return found.token
        if self._issuer is None or found.refusal != "unknown" or not self._issuer.may_have_made(secret):
            return self._refusal(f"{found.refusal}")
        checked = await self._issuer.check(secret)
        if not isinstance(checked, Token):
            self._gate.refused(f"token_{checked.reason}")
            return self._issuer.answer_to(checked)
        return checked

    def _refusal(self, reason: str) -> Response:
        self._gate.refused(f"token_{reason}")
        challenge = "Bearer" if self._issuer is None else self._issuer.challenge()
        return PlainTextResponse(_UNAUTHENTICATED, status_code=401, headers={"WWW-Authenticate": challenge})

    def _watched(self, send: Send, scope: Scope, token: Token | None) -> Send:
        """Record what the SDK refuses: a body that is too large, a session that does not exist or belongs to others."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                if message["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
                    self._gate.refused("too_large", token)
                elif message["status"] == HTTPStatus.NOT_FOUND and _SESSION in Headers(scope=scope):
                    self._gate.refused("unknown_session", token)
            await send(message)

        return sending


def _is_of_a_sign_in(path: str) -> bool:
    return _WELL_KNOWN in path.split("/") or path.rstrip("/") in _SIGN_IN


def presented(headers: Headers) -> str | None:
    """The bearer token in the headers, if any."""
    given = headers.getlist("authorization")
    if len(given) != 1 or not given[0].lower().startswith(_SCHEME):
        return None
    return given[0][len(_SCHEME) :].strip()


def _name_in(address: str) -> str | None:
    """The host of an address, without its port."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
