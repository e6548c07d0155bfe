"""Tokens of an OAuth issuer over HTTP: who gets in, as whom, and what is told to those who do not."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import hashes, hmac, serialization
from pydantic import ValidationError
from tests.oauth_issuer import OAuthIssuer, SigningKey
from tests.protocol.access import Doors, a_world, post
from tests.protocol.serving import connected, served
from tests.protocol.support import answered, error_of

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.access_gate import tokens_of
from graphiti_pkm.server.auth.issuer import Issuer, Refused
from graphiti_pkm.server.observability.logging import JsonLines
from graphiti_pkm.settings.loader import Settings

AUDIENCE = "https://memory.example/mcp"
METADATA = "https://memory.example/.well-known/oauth-protected-resource/mcp"


@pytest.fixture
def issuer() -> Iterator[OAuthIssuer]:
    with OAuthIssuer() as issuer:
        yield issuer


def settings_of(doors: Doors, issuer: OAuthIssuer, **more: Any) -> Settings:
    given = {"oauth_issuer": issuer.url, "oauth_resource": AUDIENCE, **more}
    return Settings.model_validate({**doors.settings.model_dump(exclude_unset=True), **given})


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_somebody_whom_the_issuer_knows_has_a_memory_beside_those_of_our_own_tokens(
    doors: Doors, issuer: OAuthIssuer
) -> None:
    ours = doors.add("anna")
    async with served(settings_of(doors, issuer), a_world(doors).start) as url:
        for person in ("anna", "ben", "anna|x", "anna%7Cx", "Änna", "local"):
            async with connected(f"{url}/mcp", "auto", **bearer(issuer.token(AUDIENCE, sub=person))) as client:
                assert answered(await client.call_tool("get_episodes", {}))["total"] == 0
                answered(await client.call_tool("add_memory", {"episode_body": f"{person}'s."}))
            async with connected(f"{url}/mcp", "legacy", **bearer(issuer.token(AUDIENCE, sub=person))) as client:
                assert answered(await client.call_tool("get_episodes", {}))["total"] == 1
        async with connected(f"{url}/mcp", "auto", **ours) as client:
            assert answered(await client.call_tool("get_episodes", {}))["total"] == 0


def test_no_token_of_ours_can_name_somebody_of_the_issuer() -> None:
    for principal in ("oauth:0123456789ab:anna", "a:b:c"):
        with pytest.raises(ValidationError):
            Token.model_validate({"hash": "0" * 64, "principal": principal, "created": "2026-03-01T00:00:00Z"})


async def test_people_of_another_issuer_or_claim_are_others(doors: Doors, issuer: OAuthIssuer) -> None:
    names = set()
    for claim, at in (("sub", issuer), ("preferred_username", issuer)):
        made = await Issuer(settings_of(doors, at, oauth_principal_claim=claim)).check(
            at.token(AUDIENCE, sub="anna", preferred_username="anna")
        )
        assert isinstance(made, Token)
        names.add(made.principal)
    with OAuthIssuer() as other:
        made = await Issuer(settings_of(doors, other)).check(other.token(AUDIENCE))
        assert isinstance(made, Token)
        names.add(made.principal)
    assert len(names) == 3


async def test_a_renewed_token_continues_the_session_and_that_of_another_person_does_not(
    doors: Doors, issuer: OAuthIssuer
) -> None:
    start = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}
    async with served(settings_of(doors, issuer), a_world(doors).start) as url, httpx2.AsyncClient() as web:
        headers = {**bearer(issuer.token(AUDIENCE)), "accept": "application/json, text/event-stream"}
        opened = await web.post(f"{url}/mcp", json=body, headers=headers)
        session = {"mcp-session-id": opened.headers["mcp-session-id"]}
        renewed = issuer.token(AUDIENCE, jti="another")
        assert (await post(url, {**bearer(renewed), **session})).status_code == 200
        assert (await post(url, {**bearer(issuer.token(AUDIENCE, sub="ben")), **session})).status_code == 404


async def test_a_client_without_a_token_is_told_where_to_sign_in(doors: Doors, issuer: OAuthIssuer) -> None:
    settings = settings_of(doors, issuer, oauth_scopes=("memory", "openid"))
    async with served(settings, a_world(doors).start) as url, httpx2.AsyncClient() as web:
        refused = await post(url, {})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{METADATA}", scope="memory openid"'
        for path in ("/mcp", "", "/memory/mcp"):
            found = await web.get(f"{url}/.well-known/oauth-protected-resource{path}")
            assert found.json() == {
                "resource": AUDIENCE,
                "authorization_servers": [issuer.url],
                "scopes_supported": ["memory", "openid"],
                "bearer_methods_supported": ["header"],
                "resource_name": "Graphiti PKM",
            }
        assert (await web.post(f"{url}/.well-known/oauth-protected-resource")).status_code == 405
        for path in ("/.well-known/oauth-protected-resource-x", "/.well-known/oauth-authorization-server", "/token"):
            assert (await web.get(f"{url}{path}")).status_code == 404
        foreign = {"host": "evil.example"}
        assert (await web.get(f"{url}/.well-known/oauth-protected-resource", headers=foreign)).status_code == 421


def signed_with_the_public_key(issuer: OAuthIssuer) -> str:
    """By HMAC, with the published key as the secret, as old libraries believed it."""
    public = issuer.key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    encoded = jwt.utils.base64url_encode
    header = json.dumps({"alg": "HS256", "typ": "JWT", "kid": issuer.key.id}).encode()
    claims = {"iss": issuer.url, "aud": AUDIENCE, "sub": "anna", "exp": int(time.time()) + 300}
    text = encoded(header) + b"." + encoded(json.dumps(claims).encode())
    signature = hmac.HMAC(public, hashes.SHA256())
    signature.update(text)
    return (text + b"." + encoded(signature.finalize())).decode()


def unsigned(issuer: OAuthIssuer) -> str:
    claims = jwt.decode(issuer.token(AUDIENCE), options={"verify_signature": False})
    return jwt.encode(claims, None, algorithm="none", headers={"kid": issuer.key.id})


def of_an_impostor(issuer: OAuthIssuer) -> str:
    """Another key under the id of the issuer's."""
    key = SigningKey()
    key.id = issuer.key.id
    return issuer.token(AUDIENCE, key=key)


def with_changed_claims(issuer: OAuthIssuer) -> str:
    header, _, signature = issuer.token(AUDIENCE).split(".")
    return f"{header}.{issuer.token(AUDIENCE, sub='ben').split('.')[1]}.{signature}"


def of_another_kind(issuer: OAuthIssuer) -> str:
    claims = jwt.decode(issuer.token(AUDIENCE), options={"verify_signature": False})
    return jwt.encode(claims, issuer.key.private, "RS256", headers={"kid": issuer.key.id, "typ": "logout+jwt"})


def critical(issuer: OAuthIssuer) -> str:
    claims = jwt.decode(issuer.token(AUDIENCE), options={"verify_signature": False})
    return jwt.encode(claims, issuer.key.private, "RS256", headers={"kid": issuer.key.id, "crit": ["x"], "x": 1})


def token(**claims: Any) -> Callable[[OAuthIssuer], str]:
    return lambda issuer: issuer.token(AUDIENCE, **claims)


LONG_AGO, FAR_AHEAD = 1_000_000_000, 9_000_000_000
BAD: list[tuple[str, Callable[[OAuthIssuer], str], str, str]] = [
    ("expired", token(exp=LONG_AGO), "expired", "The token has expired: sign in again."),
    ("without an end", token(exp=None), "malformed", "The token has no claim exp: let the issuer add it."),
    ("not yet valid", token(nbf=FAR_AHEAD, exp=FAR_AHEAD + 1), "not_yet_valid", "compare the clocks"),
    ("issued in future", token(iat=FAR_AHEAD, exp=FAR_AHEAD + 1), "not_yet_valid", "compare the clocks"),
    ("another audience", token(aud="https://other.example"), "audience", f"let the issuer name {AUDIENCE} in aud."),
    ("no audience", token(aud=None), "audience", f"let the issuer name {AUDIENCE} in aud."),
    ("another issuer", token(iss="https://evil.example"), "wrong_issuer", "The token is of another issuer: sign in at"),
    ("no signature", unsigned, "algorithm", "let the issuer sign with RS256, ES256 or EdDSA."),
    ("signed with the public key", signed_with_the_public_key, "algorithm", "let the issuer sign with RS256"),
    ("an impostor", of_an_impostor, "signature", "The signature of the token is wrong: sign in again."),
    ("changed claims", with_changed_claims, "signature", "The signature of the token is wrong: sign in again."),
    ("unknown key", lambda issuer: issuer.token(AUDIENCE, key=SigningKey()), "unknown_key", "sign in again"),
    ("logout token", of_another_kind, "kind", "This is no access token"),
    ("ID token", token(typ="ID"), "kind", "This is no access token"),
    ("bound to a key", token(cnf={"jkt": "x"}), "kind", "use a bearer token"),
    ("critical extension", critical, "malformed", "The token cannot be read: sign in again."),
    ("no text", lambda _: "a.b.c", "malformed", "The token cannot be read: sign in again."),
    ("too long", token(x="x" * 20_000), "malformed", "The token cannot be read: sign in again."),
    ("nobody", token(sub=None), "principal", "The token has no text of 1 to 255 characters in its claim sub."),
    ("blank", token(sub=" "), "principal", "The token has no text of 1 to 255 characters in its claim sub."),
    ("long name", token(sub="x" * 256), "principal", "The token has no text of 1 to 255 characters in its claim sub."),
    ("half a character", token(sub="\ud800"), "malformed", "The token cannot be read: sign in again."),
]


@pytest.mark.parametrize(("make", "reason", "said"), [one[1:] for one in BAD], ids=[one[0] for one in BAD])
async def test_a_bad_token_is_refused_with_a_line_that_says_what_to_do_and_no_log_has_it(
    make: Callable[[OAuthIssuer], str],
    reason: str,
    said: str,
    doors: Doors,
    issuer: OAuthIssuer,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    bad = make(issuer)
    async with served(settings_of(doors, issuer), a_world(doors).start) as url:
        refused = await post(url, bearer(bad))
    assert refused.status_code == 401
    assert said in refused.text
    assert "\n" not in refused.text
    assert f'Bearer error="invalid_token", error_description="{refused.text}"' in refused.headers["www-authenticate"]
    logged = [JsonLines().format(one) for one in caplog.records]
    assert [json.loads(one)["outcome"] for one in logged if '"audit":' in one] == [f"token_{reason}"]
    parts = [part for part in bad.split(".") if len(part) > 8]
    assert not [part for part in parts if part in caplog.text or part in "".join(logged)]


async def test_clocks_may_differ_by_less_than_a_minute(doors: Doors, issuer: OAuthIssuer) -> None:
    now = int(time.time())
    checks = Issuer(settings_of(doors, issuer))
    for claims in ({"exp": now - 30}, {"nbf": now + 30}, {"iat": now + 30}):
        assert isinstance(await checks.check(issuer.token(AUDIENCE, **claims)), Token)
    for claims in ({"exp": now - 90}, {"nbf": now + 90}, {"iat": now + 90}):
        assert isinstance(await checks.check(issuer.token(AUDIENCE, **claims)), Refused)


async def test_while_the_issuer_is_away_its_tokens_wait_and_ours_work(doors: Doors) -> None:
    ours, away = doors.add("anna"), OAuthIssuer()
    async with served(settings_of(doors, away), a_world(doors).start) as url:
        refused = await post(url, bearer(away.token(AUDIENCE)))
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert refused.text == "The issuer of tokens cannot be reached: try again later, or use a token of this server."
        assert (await post(url, ours)).status_code != 401


async def test_a_key_that_rotates_interrupts_nobody(doors: Doors, issuer: OAuthIssuer) -> None:
    async with served(settings_of(doors, issuer), a_world(doors).start) as url:
        old = bearer(issuer.token(AUDIENCE))
        assert (await post(url, old)).status_code != 401
        issuer.rotate()
        assert (await post(url, bearer(issuer.token(AUDIENCE)))).status_code != 401
        assert "no such key any more" in (await post(url, old)).text


@pytest.mark.parametrize(
    ("claims", "tier"),
    [
        ({"scope": "openid memory:reader"}, "reader"),
        ({"scope": "memory:reader memory:librarian"}, "librarian"),
        ({"scope": ["curator"]}, "curator"),
        ({"scope": "memory:emperor"}, None),
        ({"scope": {"curator": True}}, None),
        ({}, None),
    ],
)
async def test_the_tier_is_the_highest_that_the_claim_names(
    claims: dict[str, Any], tier: str | None, doors: Doors, issuer: OAuthIssuer
) -> None:
    checked = await Issuer(settings_of(doors, issuer, oauth_tier_claim="scope")).check(issuer.token(AUDIENCE, **claims))
    assert (checked.tier if isinstance(checked, Token) else checked.reason) == (tier or "tier")


async def test_claims_inside_others_and_with_dots_in_their_names_are_found(doors: Doors, issuer: OAuthIssuer) -> None:
    named = "https://example.com/groups"
    settings = settings_of(doors, issuer, oauth_tier_claim="realm_access.roles", oauth_groups_claim=named)
    claims = {"realm_access": {"roles": ["offline", "reader"]}, named: ["/family", "work", "not a group", 7, "work"]}
    checked = await Issuer(settings).check(issuer.token(AUDIENCE, **claims))
    assert isinstance(checked, Token)
    assert (checked.tier, checked.groups) == ("reader", ("family", "work"))


@pytest.mark.parametrize("groups", [None, [], "", ["not a group"], {"work": 1}])
async def test_where_groups_are_asked_for_a_token_without_one_opens_none(
    groups: object, doors: Doors, issuer: OAuthIssuer
) -> None:
    settings = settings_of(doors, issuer, oauth_groups_claim="groups")
    async with served(settings, a_world(doors).start) as url:
        refused = await post(url, bearer(issuer.token(AUDIENCE, groups=groups)))
    assert refused.status_code == 403
    assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]
    assert "names no group: let the issuer add one." in refused.text


async def test_tier_and_groups_of_the_issuer_bind_as_those_of_our_own_tokens(doors: Doors, issuer: OAuthIssuer) -> None:
    settings = settings_of(doors, issuer, oauth_tier_claim="scope", oauth_groups_claim="groups")
    reader = bearer(issuer.token(AUDIENCE, scope="memory:reader", groups=["work"]))
    writer = bearer(issuer.token(AUDIENCE, scope="memory:contributor", groups=["work"]))
    async with served(settings, a_world(doors).start) as url:
        async with connected(f"{url}/mcp", "auto", **reader) as client:
            assert "add_memory" not in {tool.name for tool in (await client.list_tools()).tools}
            assert "PERMISSION_DENIED" in error_of(await client.call_tool("add_memory", {"episode_body": "x"}))
        async with connected(f"{url}/mcp", "auto", **writer) as client:
            answered(await client.call_tool("add_memory", {"episode_body": "x"}))
            refused = await client.call_tool("add_memory", {"episode_body": "x", "group_id": "private"})
            assert "not among those of this token" in error_of(refused)
        async with connected(f"{url}/mcp", "auto", **writer, **{"X-User-ID": "eve"}) as client:
            assert "X-User-ID is refused" in error_of(await client.call_tool("get_episodes", {}))


async def test_an_address_that_nobody_verified_names_nobody(doors: Doors, issuer: OAuthIssuer) -> None:
    checks = Issuer(settings_of(doors, issuer, oauth_principal_claim="email"))
    for verified in ({}, {"email_verified": False}, {"email_verified": "true"}):
        refused = await checks.check(issuer.token(AUDIENCE, email="anna@example.com", **verified))
        assert isinstance(refused, Refused)
        assert "verify it at the issuer" in refused.message
    checked = await checks.check(issuer.token(AUDIENCE, email="anna@example.com", email_verified=True))
    assert isinstance(checked, Token)
    assert checked.principal.endswith(":anna@example.com")


async def test_the_name_that_clients_are_told_is_a_known_one(doors: Doors, issuer: OAuthIssuer) -> None:
    async with served(settings_of(doors, issuer), a_world(doors).start) as url:
        for host, code in (("memory.example", 401), ("memory.example:443", 401), ("evil.example", 421)):
            assert (await post(url, {"host": host})).status_code == code


async def test_with_an_issuer_nobody_is_served_without_a_token(doors: Doors, issuer: OAuthIssuer) -> None:
    settings = settings_of(doors, issuer)
    assert tokens_of(settings).required()  # /metrics asks the same
    async with served(settings, a_world(doors).start) as url, httpx2.AsyncClient() as web:
        assert (await post(url, {})).status_code == 401
        assert (await web.get(f"{url}/mcp")).status_code == 401
