"""A server process with a real Keycloak as its issuer: sign in, call, expire, revoke, another audience."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl
from tests.e2e.support import call, over_http, run, serving
from tests.integration.faketime import time_of_day
from tests.signing_in import BACK_AT, Kept, signed_in
from tests.storm.keycloak import CLIENT, OTHER_CLIENT, Keycloak, started

AUDIENCE = "https://memory.example/mcp"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.fixture(scope="module")
def keycloak() -> Iterator[Keycloak]:
    with started(AUDIENCE) as found:
        yield found


async def refusal(url: str, token: str) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as web:
        answer = await web.post(url, json=PING, headers=headers)
    return answer.status_code, answer.text


async def test_anna_signs_in_at_keycloaks_page_and_calls(keycloak: Keycloak, tmp_path: Path) -> None:
    settings = {
        "oauth_issuer": keycloak.issuer,
        "oauth_audience": AUDIENCE,
        "oauth_tier_claim": "realm_access.roles",
        "oauth_scopes": "openid",  # else clients ask for all that Keycloak lists, which it refuses
    }
    registered = OAuthClientInformationFull(
        client_id=CLIENT,
        redirect_uris=[AnyUrl(BACK_AT)],
        token_endpoint_auth_method="none",  # noqa: S106
    )
    kept = Kept(registered)
    with serving(tmp_path / "data", **settings) as served:
        async with signed_in(served.endpoint, kept, keycloak.logs_in) as client:
            await call(client, "add_memory", episode_body="I signed in at Keycloak.")
            assert "flag_for_review" not in {tool.name for tool in (await client.list_tools()).tools}
        async with signed_in(served.endpoint, kept, keycloak.logs_in) as client:
            assert (await call(client, "get_episodes"))["total"] == 1
        assert kept.signed_in == 1

        made = json.loads(run("tokens", "create", "anna", "--json", data_dir=tmp_path / "data").stdout)["token"]
        async with over_http(served.endpoint, authorization=f"Bearer {made}") as client:
            assert (await call(client, "get_episodes"))["total"] == 0

        other = keycloak.token(OTHER_CLIENT)
        assert await refusal(served.endpoint, other["access_token"]) == (
            401, f"The token is not for this server: let the issuer name {AUDIENCE} in aud."
        )  # fmt: skip
        own = keycloak.token(CLIENT)
        for kind in ("id_token", "refresh_token"):
            assert (await refusal(served.endpoint, own[kind]))[0] == httpx2.codes.UNAUTHORIZED

        log = served.log.read_text(encoding="utf-8")
        assert not [part for part in kept.token.split(".") if part in log]


async def test_what_was_revoked_ends_with_its_token_and_a_withdrawn_key_with_the_first_new_one(
    keycloak: Keycloak, tmp_path: Path
) -> None:
    with serving(tmp_path / "data", oauth_issuer=keycloak.issuer, oauth_audience=AUDIENCE) as served:
        given = keycloak.token(CLIENT)
        old = f"Bearer {given['access_token']}"
        async with over_http(served.endpoint, authorization=old) as client:
            await call(client, "add_memory", episode_body="Before I signed out.")
        keycloak.log_out(CLIENT, given["refresh_token"])
        assert keycloak.renewed(CLIENT, given["refresh_token"]).status_code == httpx2.codes.BAD_REQUEST
        async with over_http(served.endpoint, authorization=old) as client:
            assert (await call(client, "get_episodes"))["total"] == 1
        keycloak.rotate()
        new = keycloak.token(CLIENT)["access_token"]
        async with over_http(served.endpoint, authorization=f"Bearer {new}") as client:
            assert (await call(client, "get_episodes"))["total"] == 1
        code, said = await refusal(served.endpoint, given["access_token"])
        assert (code, said) == (401, "The issuer has no such key any more: sign in again.")


async def test_a_token_that_has_expired_is_refused(
    keycloak: Keycloak, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = {"oauth_issuer": keycloak.issuer, "oauth_audience": AUDIENCE}
    token = keycloak.token(CLIENT)["access_token"]
    with serving(tmp_path / "now", **settings) as served:
        async with over_http(served.endpoint, authorization=f"Bearer {token}") as client:
            await call(client, "get_status")
    with time_of_day(monkeypatch, tmp_path, at_once=False) as time:
        time.set("+10m")
        with serving(tmp_path / "later", **settings) as served:
            assert await refusal(served.endpoint, token) == (401, "The token has expired: sign in again.")
