"""LibreChat connects with npm's SDK, one token, and a header for each user: they are kept apart."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
import yaml
from tests.e2e.npm_clients import NpmClient, installed
from tests.e2e.support import Served, database_stopped, environment, serving
from tests.requirements import requirement

from graphiti_pkm.domain.access import Token
from graphiti_pkm.tokens import hash_of, new_secret, write_tokens

# The first run installs the client.
pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def node() -> Path:
    return installed()


@pytest.fixture(scope="module")
def secret() -> str:
    return new_secret()


@pytest.fixture(scope="module")
def service(secret: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the one token that LibreChat has."""
    directory = tmp_path_factory.mktemp("librechat") / "data"
    token = {
        "hash": hash_of(secret),
        "principal": "librechat",
        "may_impersonate": True,
        "created": datetime.now(UTC),
    }
    write_tokens(directory / "tokens.json", [Token.model_validate(token)])
    with serving(directory) as server:
        yield server
    database_stopped(directory)


def headers(secret: str, user: str | None) -> dict[str, str]:
    """Those of the shipped configuration, filled in as LibreChat does; without a user it leaves the place as it is."""
    configured = yaml.safe_load((ROOT / "docker/librechat.yaml").read_text(encoding="utf-8"))
    sent: dict[str, str] = configured["mcpServers"]["memory"]["headers"]
    filled = {name: value.replace("${MEMORY_TOKEN}", secret) for name, value in sent.items()}
    return {name: value.replace("{{LIBRECHAT_USER_ID}}", user) if user else value for name, value in filled.items()}


def connected(node: Path, service: Served, sent: dict[str, str]) -> NpmClient:
    return NpmClient(node, "http", service.endpoint, environment=environment() | {"BRIDGE_HEADERS": json.dumps(sent)})


@requirement("C41")
def test_two_users_of_one_token_see_only_their_own(node: Path, service: Served, secret: str) -> None:
    with (
        connected(node, service, headers(secret, "65f0c2d19b1e8a0012345678")) as anna,
        connected(node, service, headers(secret, "65f0c2d19b1e8a0087654321")) as ben,
    ):
        stored = json.loads(anna.call("add_memory", episode_body="Anna's dog is called Bello."))
        bens = ben.call("search_episodes", query="dog Bello")
        assert json.loads(bens)["total"] == 0
        assert "Bello." not in ben.refused("get_episodes", episode_uuids=[stored["episode_uuid"]])
        assert "Bello." in anna.call("search_episodes", query="dog Bello")
        assert json.loads(ben.call("get_status")).get("groups", {}) == {}


def test_before_there_is_a_user_tools_are_listed_and_nothing_is_called(
    node: Path, service: Served, secret: str
) -> None:
    with connected(node, service, headers(secret, None)) as nobody:
        assert "X-User-ID does not name one" in nobody.refused("search_episodes", query="dog")
        assert nobody.tools()
