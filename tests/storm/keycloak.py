"""A Keycloak of a test's own, from Maven Central: people sign in at its pages, and keys and sessions are its own.

It needs a JDK (17 or newer) and Maven; the first start unpacks it into the user's cache and takes minutes.
"""

import html
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import httpx2
import platformdirs
import pytest
from tests.e2e.support import CALL_SECONDS, until
from tests.neo4j_server import missing_tools
from tests.ports import free_port
from tests.signing_in import BACK_AT

VERSION = "26.5.6"
ARTIFACT = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
REALM = "home"
CLIENT, OTHER_CLIENT = "assistant", "another-program"
PERSON = "anna"
START_SECONDS = 500.0
# Most of a short run is the start, which is quicker without the optimising compiler.
QUICK_START = "-XX:TieredStopAtLevel=1"


@dataclass(frozen=True)
class Keycloak:
    """One that runs."""

    url: str
    admin_password: str
    password: str
    """Of ``PERSON``."""

    @property
    def issuer(self) -> str:
        return f"{self.url}/realms/{REALM}"

    async def logs_in(self, address: str) -> str:
        """A person fills in the form at an address; gives where the browser is sent in the end."""
        async with httpx2.AsyncClient(timeout=CALL_SECONDS) as browser:
            page = await browser.get(address)
            form = re.search(r'action="([^"]+)"', page.text)
            assert form is not None, page.text[:2000]
            # Its cookies are for https, and for this machine, which a browser counts as that.
            cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in page.cookies.jar)
            filled = {"username": PERSON, "password": self.password, "credentialId": ""}
            sent = await browser.post(html.unescape(form[1]), data=filled, headers={"cookie": cookies})
        assert sent.status_code == httpx2.codes.FOUND, sent.text[:2000]
        return sent.headers["location"]

    def token(self, client: str) -> dict[str, Any]:
        """Tokens of a client that knows the password itself."""
        given = {"grant_type": "password", "client_id": client, "username": PERSON, "password": self.password}
        given["scope"] = "openid"
        return self._answer(
            httpx2.post(f"{self.issuer}/protocol/openid-connect/token", data=given, timeout=CALL_SECONDS)
        )

    def renewed(self, client: str, refresh_token: str) -> httpx2.Response:
        given = {"grant_type": "refresh_token", "client_id": client, "refresh_token": refresh_token}
        return httpx2.post(f"{self.issuer}/protocol/openid-connect/token", data=given, timeout=CALL_SECONDS)

    def log_out(self, client: str, refresh_token: str) -> None:
        given = {"client_id": client, "refresh_token": refresh_token}
        httpx2.post(
            f"{self.issuer}/protocol/openid-connect/logout", data=given, timeout=CALL_SECONDS
        ).raise_for_status()

    def rotate(self) -> None:
        """A new key for signatures; the old ones are withdrawn."""
        components = f"{self.url}/admin/realms/{REALM}/components"
        with httpx2.Client(headers=self._admin(), timeout=CALL_SECONDS) as web:
            old = web.get(components, params={"type": "org.keycloak.keys.KeyProvider"}).json()
            new = {"name": "new", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider"}
            given = new | {"config": {"priority": ["500"], "keySize": ["2048"], "algorithm": ["RS256"]}}
            web.post(components, json=given).raise_for_status()
            for one in old:
                if one["providerId"] == "rsa-generated":
                    one["config"] |= {"enabled": ["false"], "active": ["false"]}
                    web.put(f"{components}/{one['id']}", json=one).raise_for_status()

    def _admin(self) -> dict[str, str]:
        given = {"grant_type": "password", "client_id": "admin-cli", "username": "admin"}
        answer = httpx2.post(
            f"{self.url}/realms/master/protocol/openid-connect/token",
            data=given | {"password": self.admin_password},
            timeout=CALL_SECONDS,
        )
        return {"Authorization": f"Bearer {self._answer(answer)['access_token']}"}

    @staticmethod
    def _answer(answer: httpx2.Response) -> dict[str, Any]:
        assert answer.status_code == httpx2.codes.OK, answer.text
        found: dict[str, Any] = answer.json()
        return found


@contextmanager
def started(audience: str) -> Iterator[Keycloak]:
    """A Keycloak with one realm, whose tokens for ``CLIENT`` are for this audience."""
    if missing := missing_tools():
        pytest.skip(f"no {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="pkm-keycloak-") as directory:
        home = Path(shutil.copytree(_unpacked(), Path(directory) / "keycloak", symlinks=True))
        found = Keycloak(f"http://127.0.0.1:{free_port()}", token_urlsafe(), token_urlsafe())
        imported = home / "data" / "import"
        imported.mkdir(parents=True)
        (imported / "realm.json").write_text(json.dumps(_realm(audience, found.password)), encoding="utf-8")
        log = Path(directory) / "log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [home / "bin" / "kc.sh", "start-dev", "--import-realm", "--http-host=127.0.0.1",
                 f"--http-port={found.url.rpartition(':')[2]}", "--http-management-port", str(free_port())],
                env={**os.environ, "KC_BOOTSTRAP_ADMIN_USERNAME": "admin", "JAVA_OPTS_APPEND": QUICK_START,
                     "KC_BOOTSTRAP_ADMIN_PASSWORD": found.admin_password},
                stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
            )  # fmt: skip
        try:
            until(lambda: _answers(found, process, log), "Keycloak", START_SECONDS)
            yield found
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _answers(found: Keycloak, process: "subprocess.Popen[bytes]", log: Path) -> bool:
    assert process.poll() is None, log.read_text()[-3000:]
    try:
        return httpx2.get(f"{found.issuer}/.well-known/openid-configuration").status_code == httpx2.codes.OK
    except httpx2.TransportError:
        return False


def _unpacked() -> Path:
    cache = Path(platformdirs.user_cache_dir("graphiti-pkm-tests")) / f"keycloak-{VERSION}"
    if not cache.is_dir():
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent) as directory:
            copied = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={directory}"]
            subprocess.run(copied, check=True, stdin=subprocess.DEVNULL, timeout=500)
            (archive,) = Path(directory).glob("*.zip")
            with zipfile.ZipFile(archive) as opened:
                opened.extractall(directory)
            (unpacked,) = (path for path in Path(directory).iterdir() if path.is_dir())
            (unpacked / "bin" / "kc.sh").chmod(0o755)
            unpacked.rename(cache)
    return cache


def _realm(audience: str, password: str) -> dict[str, Any]:
    client = {
        "enabled": True,
        "publicClient": True,
        "standardFlowEnabled": True,
        "directAccessGrantsEnabled": True,
        "redirectUris": [BACK_AT],
    }
    mapper = {
        "name": "memory",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-audience-mapper",
        "config": {"included.custom.audience": audience, "access.token.claim": "true"},
    }
    person = {
        "username": PERSON,
        "enabled": True,
        "email": f"{PERSON}@example.com",
        "emailVerified": True,
        "firstName": "Anna",
        "lastName": "Lee",
        "credentials": [{"type": "password", "value": password, "temporary": False}],
        "realmRoles": ["librarian", "offline_access"],
    }
    return {
        "realm": REALM,
        "enabled": True,
        "sslRequired": "none",
        "accessTokenLifespan": 300,
        "roles": {"realm": [{"name": "librarian"}]},
        "users": [person],
        "clients": [
            {**client, "clientId": CLIENT, "protocolMappers": [mapper]},
            {**client, "clientId": OTHER_CLIENT},
        ],
    }
