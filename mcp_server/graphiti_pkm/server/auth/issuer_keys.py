"""The public keys of an OAuth issuer: fetched when they are needed, kept for minutes, fetched anew for an unknown."""

import asyncio
import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextvars import Context
from typing import Any, TypeAlias
from urllib.parse import urlsplit

import httpx
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from graphiti_pkm.server.auth.rate_limits import Bucket
from graphiti_pkm.settings.keys import is_nearby

_log = logging.getLogger(__name__)

RSA = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")
ALGORITHMS = frozenset({*RSA, "ES256", "ES384", "ES512", "EdDSA"})
"""Signatures by a private key. A shared secret (HS) or none at all would let anybody sign who knows the public key."""

_FRESH_SECONDS = 300.0
"""After this the keys are fetched again, so that one that the issuer withdrew is soon worth nothing."""
_USABLE_SECONDS = 3_600.0
"""For so long known keys are used while the issuer cannot be reached."""
_FETCHES_PER_MINUTE = 6
"""Whatever strangers send."""
_PATIENCE_SECONDS = 5.0
_LONGEST = 512 * 1024
_MOST_KEYS = 100
_SUFFIXES = ("openid-configuration", "oauth-authorization-server")


Keys: TypeAlias = dict[tuple[str | None, str], PyJWK]
"""By id and algorithm."""


class IssuerAway(Exception):
    """The issuer cannot be reached, or what it answers cannot be used, and no usable key is known."""


class IssuerKeys:
    """The keys of one issuer."""

    def __init__(self, issuer: str, url: str | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """``url``: where the keys are; by default the issuer's metadata names it."""
        self._issuer = issuer
        self._url = url
        self._clock = clock
        self._keys: Keys = {}
        self._fetched = -math.inf
        self._tries = Bucket(_FETCHES_PER_MINUTE, clock())
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        """The key of a token; None if the issuer has no such key.

        Raises:
            IssuerAway: the keys are not known.
        """
        if self._clock() - self._fetched > _FRESH_SECONDS:
            await self._fetch()
        found = self._known(key_id, algorithm)
        if found is None:  # the issuer may have changed its keys
            await self._fetch()
            found = self._known(key_id, algorithm)
        if found is None and (self._failed or not self._keys):
            raise IssuerAway
        return found

    def _known(self, key_id: str | None, algorithm: str) -> PyJWK | None:
        if self._clock() - self._fetched > _USABLE_SECONDS:
            self._keys = {}
        if key_id is not None:
            return self._keys.get((key_id, algorithm))
        fitting = [key for (_, fits), key in self._keys.items() if fits == algorithm]
        return fitting[0] if len(fitting) == 1 else None

    async def _fetch(self) -> None:
        """Fetch the keys, unless that was tried too often; simultaneous callers share one attempt."""
        if self._fetching is None or self._fetching.done():
            if self._tries.take(_FETCHES_PER_MINUTE, self._clock()):
                return
            # In an empty context, because the keys do not belong to the request that needs them first.
            self._fetching = asyncio.create_task(self._try(), context=Context())
        await asyncio.shield(self._fetching)

    async def _try(self) -> None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                keys = await self._published()
        except (httpx.HTTPError, httpx.InvalidURL, _Unusable, TimeoutError) as error:
            self._say(f"{error}" if isinstance(error, _Unusable) else f"cannot be reached ({type(error).__name__})")
            return
        if self._failed:
            _log.warning("the keys of the OAuth issuer %s are known again", self._issuer)
        self._keys, self._fetched, self._failed = keys, self._clock(), False

    def _say(self, reason: str) -> None:
        if not self._failed:
            _log.error(
                "the OAuth issuer %s %s: check oauth_issuer, oauth_jwks_url and the network. Its tokens are refused if "
                "its keys are unknown or older than an hour; other tokens work.",
                self._issuer,
                reason,
            )
        self._failed = True

    async def _published(self) -> Keys:
        """Raises httpx.HTTPError, _Unusable."""
        # As for other services: no proxy for what is on this machine or in a private network.
        through_proxy = not is_nearby(self._url or self._issuer)
        async with httpx.AsyncClient(timeout=_PATIENCE_SECONDS, trust_env=through_proxy) as web:
            url = self._url or await self._discovered(web)
            listed = (await _document(web, url) or {}).get("keys")
        if not isinstance(listed, list):
            raise _Unusable("answers with something that is no set of keys")
        if not (keys := dict(_usable(listed[:_MOST_KEYS]))):
            raise _Unusable("lists no public key for signatures")
        return keys

    async def _discovered(self, web: httpx.AsyncClient) -> str:
        for url in _metadata_of(self._issuer):
            found = await _document(web, url)
            if found is None:
                continue
            if found.get("issuer") != self._issuer:
                raise _Unusable("calls itself otherwise in its metadata: set oauth_issuer to exactly that")
            keys = found.get("jwks_uri")
            if not isinstance(keys, str) or (urlsplit(keys).scheme != "https" and not is_nearby(keys)):
                raise _Unusable("names no https address of its keys: set oauth_jwks_url")
            return keys
        raise _Unusable("has no metadata: set oauth_jwks_url")


class _Unusable(Exception):
    """What the issuer answers, for the log."""


def _metadata_of(issuer: str) -> list[str]:
    """Where an issuer may publish its metadata: by OpenID Connect behind its path, by RFC 8414 before it."""
    parts = urlsplit(issuer)
    server, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
    behind = [f"{server}{path}/.well-known/{suffix}" for suffix in _SUFFIXES]
    before = [f"{server}/.well-known/{suffix}{path}" for suffix in reversed(_SUFFIXES)]
    return list(dict.fromkeys(behind[:1] + before))


async def _document(web: httpx.AsyncClient, url: str) -> dict[str, Any] | None:
    """A JSON object; None if there is none at this address."""
    async with web.stream("GET", url, headers={"Accept": "application/json"}) as answer:
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
            raise _Unusable(f"answers with status {answer.status_code}")
        if answer.status_code != httpx.codes.OK:
            return None
        body = b""
        async for part in answer.aiter_bytes():
            body += part
            if len(body) > _LONGEST:
                raise _Unusable("answers with a document that is too long")
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise _Unusable("answers with something that is no JSON: is it behind a proxy or a sign-in page?") from None
    return found if isinstance(found, dict) else None


def _usable(published: list[Any]) -> Iterator[tuple[tuple[str | None, str], PyJWK]]:
    """The keys for signatures, each with the algorithms that it may be used with."""
    for entry in reversed(published):  # of two with one id, the first counts
        if not isinstance(entry, dict) or entry.get("use", "sig") != "sig":
            continue
        key_id = entry.get("kid")
        named = entry.get("alg")
        try:
            for algorithm in [named] if named else RSA if entry.get("kty") == "RSA" else [None]:
                key = PyJWK(entry, algorithm)
                if key.algorithm_name in ALGORITHMS:
                    yield (key_id if isinstance(key_id, str) else None, key.algorithm_name), key
        except (PyJWTError, ValueError, TypeError):
            continue  # a kind of key that we do not know does not make the others worthless
