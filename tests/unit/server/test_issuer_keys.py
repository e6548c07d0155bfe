"""The keys of an issuer are fetched when they are needed, and no oftener than is good for it."""

from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from tests.oauth_issuer import ALGORITHM, OAuthIssuer, SigningKey

from graphiti_pkm.server.auth.issuer_keys import IssuerAway, IssuerKeys


class Clock:
    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def issuer() -> Iterator[OAuthIssuer]:
    with OAuthIssuer() as issuer:
        yield issuer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def keys(issuer: OAuthIssuer, clock: Clock) -> IssuerKeys:
    return IssuerKeys(issuer.url, clock=clock)


async def test_known_keys_are_not_fetched_again_for_five_minutes(
    issuer: OAuthIssuer, keys: IssuerKeys, clock: Clock
) -> None:
    for _ in range(3):
        assert await keys.find(issuer.key.id, ALGORITHM) is not None
    assert issuer.asked == ["/.well-known/openid-configuration", "/keys"]
    clock.seconds += 301
    assert await keys.find(issuer.key.id, ALGORITHM) is not None
    assert issuer.fetches() == 2


async def test_a_key_that_is_new_is_found_at_once_and_one_that_was_withdrawn_within_five_minutes(
    issuer: OAuthIssuer, keys: IssuerKeys, clock: Clock
) -> None:
    old = issuer.key.id
    assert await keys.find(old, ALGORITHM) is not None
    issuer.rotate()
    assert await keys.find(old, ALGORITHM) is not None
    assert await keys.find(issuer.key.id, ALGORITHM) is not None
    assert await keys.find(old, ALGORITHM) is None
    issuer.published = [SigningKey().published()]
    clock.seconds += 301
    assert await keys.find(issuer.key.id, ALGORITHM) is None


async def test_ids_that_strangers_make_up_are_looked_for_six_times_a_minute(
    issuer: OAuthIssuer, keys: IssuerKeys, clock: Clock
) -> None:
    for number in range(50):
        assert await keys.find(f"{number}", ALGORITHM) is None
    assert issuer.fetches() == 6
    assert await keys.find(issuer.key.id, ALGORITHM) is not None
    issuer.rotate()
    clock.seconds += 10
    assert await keys.find(issuer.key.id, ALGORITHM) is not None


async def test_known_keys_last_an_hour_while_the_issuer_is_away(clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    issuer = OAuthIssuer()
    keys = IssuerKeys(issuer.url, clock=clock)
    with pytest.raises(IssuerAway):
        await keys.find("any", ALGORITHM)
    assert caplog.text.count("cannot be reached") == 1
    assert "check oauth_issuer" in caplog.text
    with issuer:
        clock.seconds += 10
        assert await keys.find(issuer.key.id, ALGORITHM) is not None
        assert "known again" in caplog.text
    clock.seconds += 3_000
    assert await keys.find(issuer.key.id, ALGORITHM) is not None
    with pytest.raises(IssuerAway):
        await keys.find("another", ALGORITHM)
    clock.seconds += 601
    with pytest.raises(IssuerAway):
        await keys.find(issuer.key.id, ALGORITHM)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"issuer": "http://127.0.0.1/"}, "calls itself otherwise"),
        ({"jwks_uri": "http://keys.example.com/keys"}, "names no https address"),
        ({"jwks_uri": None}, "names no https address"),
    ],
)
async def test_metadata_of_somebody_else_is_not_believed(
    metadata: dict[str, Any], said: str, issuer: OAuthIssuer, keys: IssuerKeys, caplog: pytest.LogCaptureFixture
) -> None:
    issuer.metadata = metadata
    with pytest.raises(IssuerAway):
        await keys.find(issuer.key.id, ALGORITHM)
    assert said in caplog.text


async def test_an_address_of_the_keys_needs_no_metadata(issuer: OAuthIssuer) -> None:
    keys = IssuerKeys("https://login.example.com", f"{issuer.url}/keys")
    assert await keys.find(issuer.key.id, ALGORITHM) is not None
    assert issuer.asked == ["/keys"]


@pytest.mark.parametrize("path", ["/", "/.well-known/openid-configuration"])
async def test_an_address_without_keys_is_said_to_be_none(
    path: str, issuer: OAuthIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(IssuerAway):
        await IssuerKeys(issuer.url, issuer.url + path).find(issuer.key.id, ALGORITHM)
    assert "no set of keys" in caplog.text


async def test_only_public_keys_for_signatures_count(issuer: OAuthIssuer, keys: IssuerKeys) -> None:
    secret = jwt.utils.base64url_encode(b"s" * 64).decode()
    issuer.published = [
        {"kty": "oct", "k": secret, "kid": "secret", "alg": "HS256"},
        {"kty": "RSA", "kid": "broken"},
        {"kty": "new-kind", "kid": "strange"},
        "no key",  # type: ignore[list-item]
        SigningKey().published(kid="encrypts", use="enc"),
        issuer.key.published(alg="RS512"),
    ]
    for key_id, algorithm in (
        ("secret", "HS256"),
        ("broken", ALGORITHM),
        ("strange", ALGORITHM),
        ("encrypts", ALGORITHM),
    ):
        assert await keys.find(key_id, algorithm) is None
    assert await keys.find(issuer.key.id, "RS512") is not None
    assert await keys.find(issuer.key.id, ALGORITHM) is None


async def test_a_token_without_an_id_of_its_key_needs_one_key_alone(issuer: OAuthIssuer, keys: IssuerKeys) -> None:
    assert await keys.find(None, ALGORITHM) is not None
    issuer.published.append(SigningKey().published())
    await keys.find("unknown", ALGORITHM)
    assert await keys.find(None, ALGORITHM) is None
