"""LibreChat connects with npm's SDK, one token, and a header for each user: they are kept apart."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.isolation_attacks import arguments_of
from tests.e2e.isolation_world import Records
from tests.e2e.npm_clients import LibreChat, installed
from tests.e2e.support import Served, serving, until
from tests.protocol.support import BESIDE

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.server.auth.grants import Grant, write_grants
from graphiti_pkm.server.auth.tokens import hash_of, new_secret, write_tokens

# The first run installs the client.
pytestmark = pytest.mark.timeout(300)

CONFIGURATION = Path(__file__).resolve().parents[2] / "docker/librechat.yaml"
ANNA, BEN = "65f0c2d19b1e8a0012345678", "65f0c2d19b1e8a0087654321"
WORDS = {ANNA: ("Bello", "Zanzibar"), BEN: ("Mimi", "Quarkstadt")}
GROUP = "default"


@pytest.fixture(scope="module")
def node() -> Path:
    return installed()


@pytest.fixture(scope="module")
def secret() -> str:
    return new_secret()


@pytest.fixture(scope="module")
def data(secret: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the one token that LibreChat has."""
    return with_token(tmp_path_factory.mktemp("librechat") / "data", secret)


def with_token(directory: Path, secret: str) -> Path:
    token = {
        "hash": hash_of(secret),
        "principal": "librechat",
        "tier": "curator",
        "may_impersonate": True,
        "created": datetime.now(UTC),
    }
    write_tokens(directory / "tokens.json", [Token.model_validate(token)])
    return directory


@pytest.fixture(scope="module")
def service(data: Path) -> Iterator[Served]:
    """As compose.yaml starts it: LibreChat waits until it is ready."""
    with serving(data, toolsets=",".join(toolset.name for toolset in BESIDE)) as server:
        until(server.ready, "the memory to be ready")
        yield server


@pytest.fixture
def chats(node: Path, service: Served, secret: str) -> Iterator[dict[str, LibreChat]]:
    """A connection for each of the two users."""
    with (
        LibreChat(node, CONFIGURATION, service.url, secret, ANNA) as anna,
        LibreChat(node, CONFIGURATION, service.url, secret, BEN) as ben,
    ):
        yield {ANNA: anna, BEN: ben}


def told(chat: LibreChat, user: str) -> Records:
    """Their dog or cat and its town, and a project of a name that both use, with an entry."""
    pet, town = WORDS[user]
    fact = {"source": pet, "relation": "LIVES_IN", "target": town, "fact": f"{pet} lives in {town}."}
    stored = json.loads(chat.call("add_memory", episode_body=f"My pet {pet} lives in {town}.", saga=town, facts=[fact]))
    found = json.loads(chat.call("search_nodes", names=[pet]))["nodes"][0]["uuid"]
    project = json.loads(chat.call("create_project", name="Pets", description=f"All of {pet}."))["project_id"]
    chat.call("create_entry", content=f"{pet} was seen in {town}.", project_id="Pets", metadata={"town": town})
    return Records(GROUP, found, stored["facts"][0]["uuid"], stored["episode_uuid"], project)


def test_two_users_of_one_token_see_only_their_own_and_no_call_takes_long(
    chats: dict[str, LibreChat], capsys: pytest.CaptureFixture[str]
) -> None:
    """Every tool, by each, with what is theirs and what is the other's; the client waits five seconds."""
    records = {user: told(chat, user) for user, chat in chats.items()}
    tools = sorted((one for one in chats[ANNA].tools()), key=lambda one: bool(one["annotations"]["destructiveHint"]))
    assert {one["name"] for one in tools} == {tool.name for toolset in BESIDE for tool in toolset.tools}
    for tool in (one["name"] for one in tools):
        for user, other in ((ANNA, BEN), (BEN, ANNA)):
            for asked in (records[other], records[user]):
                arguments = arguments_of(tool, asked)
                answer: dict[str, Any] = chats[user].answer(tool, **arguments)
                assert "protocolError" not in answer, (tool, answer)
                assert not [word for word in WORDS[other] if word in answer["text"]], (tool, answer)
    took = sorted(chats[ANNA].took + chats[BEN].took, reverse=True)
    with capsys.disabled():
        slowest = ", ".join(f"{name} {ms} ms" for ms, name in took[:3])
        print(f"\n{len(took)} calls by npm's client as LibreChat sets it up; slowest: {slowest}")  # noqa: T201


def test_one_connection_may_serve_several_users(chats: dict[str, LibreChat]) -> None:
    """As LibreChat did before it kept a connection for each."""
    chat = chats[ANNA]
    for user in (ANNA, BEN):
        chat.user = user
        told(chat, user)
    for user, other in ((ANNA, BEN), (BEN, ANNA), (ANNA, BEN)):
        chat.user = user
        found = chat.call("search_episodes", query="Where does my pet live?")
        assert WORDS[user][0] in found
        assert WORDS[other][0] not in found
    chat.user = None
    assert "X-User-ID does not name one" in chat.refused("search_episodes", query="pet")


def test_before_there_is_a_user_tools_are_listed_and_nothing_is_called(
    node: Path, service: Served, secret: str
) -> None:
    for user in (None, ""):
        with LibreChat(node, CONFIGURATION, service.url, secret, user) as nobody:
            assert nobody.tools()
            assert nobody.hello["instructions"]
            assert "X-User-ID does not name one" in nobody.refused("search_episodes", query="dog")


def test_who_connects_anew_finds_their_own_again(node: Path, data: Path, service: Served, secret: str) -> None:
    with LibreChat(node, CONFIGURATION, service.url, secret, ANNA) as chat:
        told(chat, ANNA)
        for ends in (False, True):
            chat.reconnect(ends=ends)
            assert WORDS[ANNA][0] in chat.call("search_episodes", query="Where does my pet live?")
    with serving(data) as another:
        until(another.ready, "the other server to be ready")
        with LibreChat(node, CONFIGURATION, another.url, secret, ANNA) as chat:
            assert WORDS[ANNA][0] in chat.call("search_episodes", query="Where does my pet live?")
            chat.user = BEN
            assert WORDS[ANNA][0] not in chat.call("search_episodes", query="Where does my pet live?")


def test_two_users_keep_decisions_in_one_memory(node: Path, secret: str, tmp_path: Path) -> None:
    """Who said what is right, and neither sees the other's journal; one that leaves has it no more."""
    data, members = with_token(tmp_path / "data", secret), tmp_path / "members.txt"
    members.write_text(f"{ANNA}\n{BEN}\n")
    members.chmod(0o600)
    shared = {"id": "1a2b3c4d", "principal": "librechat", "memory": "team", "members": members}
    write_grants(data / "grants.json", [Grant.model_validate({**shared, "created": datetime.now(UTC)})])
    with (
        serving(data) as server,
        LibreChat(node, CONFIGURATION, server.url, secret, ANNA) as anna,
        LibreChat(node, CONFIGURATION, server.url, secret, BEN) as ben,
    ):
        chats = {ANNA: anna, BEN: ben}
        for user, chat in chats.items():
            pet, town = WORDS[user]
            chat.call("add_memory", episode_body=f"My pet {pet} lives in {town}.")
            chat.call("add_memory", episode_body=f"{town} is where we open.", group_id="team/decisions")
        for user, other in ((ANNA, BEN), (BEN, ANNA)):
            found = json.loads(chats[user].call("get_episodes", group_ids="team/decisions"))["episodes"]
            assert {one["content"].split()[0]: one["told_by"] for one in found} == {
                WORDS[one][1]: f"librechat:{one}" for one in (ANNA, BEN)
            }
            for groups in ("default", ["default", "team/decisions"]):
                journal = chats[user].call("search_episodes", query="Where does the pet live?", group_ids=groups)
                assert WORDS[user][0] in journal
                assert WORDS[other][0] not in journal
        members.write_text(f"{ANNA}\n")
        assert "No shared memory of this name is open to you" in ben.refused("get_episodes", group_ids="team/decisions")
        assert len(json.loads(anna.call("get_episodes", group_ids="team/decisions"))["episodes"]) == 2


def test_with_a_token_that_is_not_set_librechat_does_not_connect(node: Path, service: Served) -> None:
    with pytest.raises(AssertionError, match="A valid token is needed"):
        LibreChat(node, CONFIGURATION, service.url, new_secret(), ANNA)
