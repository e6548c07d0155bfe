"""A client of the SDK signs in at an issuer and uses a server process with its tokens, until they end."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.e2e.support import Served, call, over_http, run, serving
from tests.oauth_issuer import OAuthIssuer
from tests.signing_in import Kept, signed_in

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture
def issuer() -> Iterator[OAuthIssuer]:
    with OAuthIssuer() as issuer:
        yield issuer


@pytest.fixture
def served(issuer: OAuthIssuer, data_dir: Path) -> Iterator[Served]:
    with serving(data_dir, oauth_issuer=issuer.url) as served:
        yield served


async def refusal(served: Served, token: str) -> str:
    headers = {"Authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as web:
        answer = await web.post(served.endpoint, json=PING, headers=headers)
    assert answer.status_code == httpx2.codes.UNAUTHORIZED
    return answer.text


async def test_a_person_signs_in_calls_renews_and_is_somebody_else_than_the_holder_of_our_token(
    issuer: OAuthIssuer, served: Served, data_dir: Path
) -> None:
    kept = Kept()
    async with signed_in(served.endpoint, kept) as client:
        await call(client, "add_memory", episode_body="I signed in.")
        assert (await call(client, "get_episodes"))["total"] == 1
    assert kept.signed_in == 1

    issuer.lifetime = -300  # what it gives from now on has expired
    assert "The token has expired: sign in again." in await refusal(served, issuer.token(served.endpoint))
    issuer.lifetime = 300
    assert kept.tokens is not None
    kept.tokens.access_token = expired = issuer.token(served.endpoint, exp=1_000_000_000)
    async with signed_in(served.endpoint, kept) as client:  # the client renews, or signs in once more
        assert (await call(client, "get_episodes"))["total"] == 1
    assert kept.token != expired

    made = json.loads(run("tokens", "create", "anna", "--json", data_dir=data_dir).stdout)["token"]
    async with over_http(served.endpoint, authorization=f"Bearer {made}") as client:
        assert (await call(client, "get_episodes"))["total"] == 0


async def test_what_was_revoked_ends_with_the_token_and_at_once_with_the_key(
    issuer: OAuthIssuer, served: Served
) -> None:
    kept = Kept()
    async with signed_in(served.endpoint, kept) as client:
        await call(client, "get_status")
    client_info = kept.client
    assert client_info is not None
    assert kept.tokens is not None
    async with httpx2.AsyncClient() as web:
        given = {"client_id": client_info.client_id, "client_secret": client_info.client_secret}
        revoked = await web.post(f"{issuer.url}/revoke", data={**given, "token": kept.tokens.refresh_token})
        assert revoked.status_code == httpx2.codes.OK
        renewing = {**given, "grant_type": "refresh_token", "refresh_token": kept.tokens.refresh_token}
        assert (await web.post(f"{issuer.url}/token", data=renewing)).status_code == httpx2.codes.BAD_REQUEST
    # A resource server learns nothing of it, so the token is good until it expires: minutes, as the issuer chose.
    async with over_http(served.endpoint, authorization=f"Bearer {kept.token}") as client:
        await call(client, "get_status")
    issuer.rotate()
    async with over_http(served.endpoint, authorization=f"Bearer {issuer.token(served.endpoint)}") as client:
        await call(client, "get_status")
    assert "The issuer has no such key any more" in await refusal(served, kept.token)


async def test_a_token_for_another_server_is_refused_and_no_log_has_a_token(
    issuer: OAuthIssuer, served: Served
) -> None:
    other = issuer.token("https://other.example/mcp")
    assert f"let the issuer name {served.endpoint} in aud." in await refusal(served, other)
    kept = Kept()
    async with signed_in(served.endpoint, kept) as client:
        await call(client, "add_memory", episode_body="I signed in.")
    log = served.log.read_text(encoding="utf-8")
    assert "token_audience" in log
    for text in (other, kept.token):
        assert not [part for part in text.split(".") if part in log]


def test_a_start_that_cannot_be_meant_ends_with_what_is_missing(data_dir: Path) -> None:
    for settings, said in (
        ({"oauth_audience": "memory"}, "oauth_audience needs oauth_issuer"),
        ({"oauth_issuer": "http://login.example.com"}, "must begin with https://"),
        ({"oauth_issuer": "login.example.com"}, "must be an address such as https://"),
        ({"oauth_issuer": "https://login.example.com", "host": "0.0.0.0"}, "oauth_issuer needs oauth_resource"),  # noqa: S104
    ):
        ended = run("serve", "--transport", "http", data_dir=data_dir, **settings)
        assert ended.returncode == 2
        assert said in ended.stderr
        assert ended.stderr.count("\n") == 1
