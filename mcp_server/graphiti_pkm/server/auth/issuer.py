"""Access tokens of an OAuth issuer: who they are of, what they permit, and where clients are told to sign in.

The issuer is another program. This server only checks its tokens (RFC 9068, RFC 8725) and names it (RFC 9728).
"""

import hashlib
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Literal, TypeAlias
from urllib.parse import quote

import jwt
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.shared.auth import ProtectedResourceMetadata
from pydantic import AnyHttpUrl
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from graphiti_pkm.core.model.access import TIERS, IssuedToken, Tier
from graphiti_pkm.server.auth.issuer_keys import ALGORITHMS, IssuerAway, IssuerKeys
from graphiti_pkm.settings.loader import Settings

METADATA = "/.well-known/oauth-protected-resource"
SKEW_SECONDS = 60
"""How far the clocks of the issuer and of this server may differ."""
_LONGEST = 16_384
_LONGEST_NAME = 255
_RETRY_SECONDS = 10
_GROUP = re.compile(r"[A-Za-z0-9_-]{1,64}")
_UNQUOTABLE = re.compile(r"[^ !#-\[\]-~]")
"""Characters that RFC 6750 does not allow in a description."""
_KINDS = frozenset({"jwt", "at+jwt"})
_BEARER = "bearer"
_OF_TIER = "memory:"

Reason: TypeAlias = Literal[
    "malformed", "algorithm", "wrong_issuer", "unknown_key", "signature", "expired", "not_yet_valid", "audience",
    "kind", "principal", "tier", "groups", "issuer_away",
]  # fmt: skip


class Refused(Exception):
    """A token is refused, for a reason that is a fixed word; the message tells whoever sent it what to do."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


class Issuer:
    """Checks the tokens of the issuer that the settings name."""

    def __init__(self, settings: Settings, keys: IssuerKeys | None = None) -> None:
        if settings.oauth_issuer is None:
            raise ValueError("the settings name no issuer")
        self._settings = settings
        self._name = settings.oauth_issuer
        self._resource = settings.oauth_resource or _own_address(settings)
        self._audience = settings.oauth_audience or self._resource
        self._keys = keys or IssuerKeys(self._name, settings.oauth_jwks_url)
        # The claim is part of it: whoever may choose a value of one claim must not meet a value of another.
        self._prefix = hashlib.sha256(f"{self._name}\n{settings.oauth_principal_claim}".encode()).hexdigest()[:12]

    @staticmethod
    def may_have_made(presented: str) -> bool:
        """Whether a text has the form of a JWT, which tokens of ours have not."""
        return presented.count(".") == 2  # noqa: PLR2004 header.claims.signature

    def challenge(self, refused: Refused | None = None) -> str:
        """The header WWW-Authenticate, by which a client finds the issuer."""
        where = str(build_resource_metadata_url(AnyHttpUrl(self._resource)))
        parts = [f'resource_metadata="{where}"']
        if self._settings.oauth_scopes:
            parts.append(f'scope="{" ".join(self._settings.oauth_scopes)}"')
        if refused is not None:
            said = _UNQUOTABLE.sub("'", refused.message)
            parts = [f'error="{_error_of(refused)}"', f'error_description="{said}"', *parts]
        return f"Bearer {', '.join(parts)}"

    def answer_to(self, refused: Refused) -> Response:
        """The answer to a request with a token that is refused."""
        if refused.reason == "issuer_away":
            return PlainTextResponse(
                refused.message,
                status_code=HTTPStatus.SERVICE_UNAVAILABLE,
                headers={"Retry-After": f"{_RETRY_SECONDS}"},
            )
        is_of_rights = _error_of(refused) == "insufficient_scope"
        return PlainTextResponse(
            refused.message,
            status_code=HTTPStatus.FORBIDDEN if is_of_rights else HTTPStatus.UNAUTHORIZED,
            headers={"WWW-Authenticate": self.challenge(refused)},
        )

    def metadata(self) -> dict[str, Any]:
        """What RFC 9728 has a server say of itself."""
        described = ProtectedResourceMetadata.model_validate(
            {
                "resource": self._resource,
                "authorization_servers": [self._name],
                "scopes_supported": list(self._settings.oauth_scopes) or None,
                "resource_name": "Graphiti PKM",
            }
        )
        return described.model_dump(mode="json", exclude_none=True)

    def described(self, app: ASGIApp) -> ASGIApp:
        """The application, which also tells anybody who asks where to sign in."""
        return _Described(app, self)

    async def check(self, presented: str) -> IssuedToken | Refused:
        """The permissions of a token, or why there are none."""
        try:
            return await self._verified(presented)
        except Refused as refused:
            return refused

    async def _verified(self, presented: str) -> IssuedToken:
        header, unverified = _parts(presented)
        algorithm = header.get("alg")
        if algorithm not in ALGORITHMS:
            raise Refused(
                "algorithm",
                "The token is not signed with a private key: let the issuer sign with RS256, ES256 or EdDSA.",
            )
        if unverified.get("iss") != self._name:
            raise Refused("wrong_issuer", f"The token is of another issuer: sign in at {self._name}.")
        key_id = header.get("kid")
        try:
            key = await self._keys.find(key_id if isinstance(key_id, str) else None, algorithm)
        except IssuerAway:
            raise Refused(
                "issuer_away", "The issuer of tokens cannot be reached: try again later, or use a token of this server."
            ) from None
        if key is None:
            raise Refused("unknown_key", "The issuer has no such key any more: sign in again.")
        return self._permitted(self._checked(presented, key))

    def _checked(self, presented: str, key: jwt.PyJWK) -> dict[str, Any]:
        try:
            claims: dict[str, Any] = jwt.decode(
                presented,
                key,
                algorithms=[key.algorithm_name],
                audience=self._audience,
                issuer=self._name,
                leeway=SKEW_SECONDS,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except jwt.ExpiredSignatureError:
            raise Refused("expired", "The token has expired: sign in again.") from None
        except jwt.InvalidAudienceError:
            raise self._for_others() from None
        except (jwt.ImmatureSignatureError, jwt.InvalidIssuedAtError):
            raise Refused(
                "not_yet_valid", "The token is not valid yet: compare the clocks of issuer and server."
            ) from None
        except jwt.InvalidSignatureError:
            raise Refused("signature", "The signature of the token is wrong: sign in again.") from None
        except jwt.MissingRequiredClaimError as error:
            if error.claim == "aud":
                raise self._for_others() from None
            raise Refused("malformed", f"The token has no claim {error.claim}: let the issuer add it.") from None
        except (jwt.PyJWTError, ValueError, TypeError, OverflowError):
            raise _malformed() from None
        return claims

    def _for_others(self) -> Refused:
        return Refused("audience", f"The token is not for this server: let the issuer name {self._audience} in aud.")

    def _permitted(self, claims: Mapping[str, Any]) -> IssuedToken:
        principal = f"oauth:{self._prefix}:{self._person(claims)}"
        client = claims.get("azp", claims.get("client_id"))
        return IssuedToken(
            hash=hashlib.sha256(f"{principal}\n{client}".encode(errors="replace")).hexdigest(),
            principal=principal,
            tier=self._tier(claims),
            groups=self._groups(claims),
            created=_moment(claims.get("iat")) or datetime.now(UTC),
            expires=_moment(claims["exp"]),
        )

    def _person(self, claims: Mapping[str, Any]) -> str:
        """The person's name, so encoded that different people stay different."""
        if "cnf" in claims:
            raise Refused(
                "kind", "The token is bound to a key of its client, which is not checked here: use a bearer token."
            )
        if f"{claims.get('typ', _BEARER)}".lower() != _BEARER:
            raise Refused("kind", "This is no access token: send that instead of an ID token or a refresh token.")
        name = self._settings.oauth_principal_claim
        person = _claim(claims, name)
        if not isinstance(person, str) or not person.strip() or len(person) > _LONGEST_NAME:
            raise Refused("principal", f"The token has no text of 1 to {_LONGEST_NAME} characters in its claim {name}.")
        if name == "email" and claims.get("email_verified") is not True:
            raise Refused(
                "principal", "The e-mail address is not verified: verify it at the issuer, then sign in again."
            )
        try:
            encoded = quote(person, safe="@+")
        except UnicodeEncodeError:
            raise _malformed() from None
        if len(encoded) > 3 * _LONGEST_NAME:
            raise Refused("principal", f"The claim {name} of the token is too long.")
        return encoded

    def _tier(self, claims: Mapping[str, Any]) -> Tier:
        claim = self._settings.oauth_tier_claim
        if claim is None:
            return self._settings.oauth_tier
        named = {word.removeprefix(_OF_TIER) for word in _words(_claim(claims, claim))}
        for tier in reversed(TIERS):
            if tier in named:
                return tier
        raise Refused(
            "tier", f"The claim {claim} of the token names no tier: let the issuer grant one of {', '.join(TIERS)}."
        )

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        claim = self._settings.oauth_groups_claim
        if claim is None:
            return ()
        named = dict.fromkeys(word.removeprefix("/") for word in _words(_claim(claims, claim)))
        groups = tuple(word for word in named if _GROUP.fullmatch(word))
        if not groups:  # an empty tuple would mean all groups
            raise Refused("groups", f"The claim {claim} of the token names no group: let the issuer add one.")
        return groups


class _Described:
    """Wraps an application and answers the paths of its metadata (RFC 9728)."""

    def __init__(self, app: ASGIApp, issuer: Issuer) -> None:
        self._app = app
        self._issuer = issuer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # The path after it is that of the public address, which a proxy may have shortened for us.
        if scope["type"] != "http" or not f"{scope['path']}/".startswith(f"{METADATA}/"):
            await self._app(scope, receive, send)
            return
        if scope["method"] in {"GET", "HEAD"}:
            answer: Response = JSONResponse(self._issuer.metadata(), headers={"Cache-Control": "public, max-age=300"})
        else:
            answer = PlainTextResponse("Only GET.", status_code=405, headers={"Allow": "GET, HEAD"})
        await answer(scope, receive, send)


def _own_address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{host}:{settings.port}{'/sse' if settings.transport == 'sse' else settings.path}"


def _parts(presented: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Header and claims, of which nothing is known to be true yet. Raises Refused."""
    if len(presented) > _LONGEST:
        raise _malformed()
    try:
        found = jwt.decode_complete(presented, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        raise _malformed() from None
    header: dict[str, Any] = found["header"]
    if f"{header.get('typ', 'jwt')}".lower().removeprefix("application/") not in _KINDS:
        raise Refused("kind", "This is no access token: send that instead of another JWT.")
    return header, found["payload"]


def _malformed() -> Refused:
    return Refused("malformed", "The token cannot be read: sign in again.")


def _error_of(refused: Refused) -> str:
    """The word of RFC 6750. Signing in again does not help somebody who lacks rights."""
    return "insufficient_scope" if refused.reason in {"tier", "groups"} else "invalid_token"


def _claim(claims: Mapping[str, Any], name: str) -> object:
    """The value of a claim, also of one inside another as ``realm_access.roles``; names may contain dots."""
    if name in claims:
        return claims[name]
    first, dot, rest = name.partition(".")
    inner = claims.get(first)
    return _claim(inner, rest) if dot and isinstance(inner, Mapping) else None


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _moment(seconds: object) -> datetime | None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not math.isfinite(seconds):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
