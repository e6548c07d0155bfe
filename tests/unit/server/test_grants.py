"""Shared memories: files that say to whom they are open, and that may change under a running server."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.requests import Request

from graphiti_pkm.core.model.access import SharedMemory, Token
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.auth.callers import GRANTS, TOKEN, caller_of
from graphiti_pkm.server.auth.grants import Grant, Grants, read_grants, write_grants

NOW = datetime(2026, 3, 1, tzinfo=UTC)
TEAM = SharedMemory(memory="team", tier="contributor")


def a_grant(principal: str = "anna", **fields: Any) -> Grant:
    values = {"id": "1a2b3c4d", "principal": principal, "memory": "team", "created": NOW, **fields}
    return Grant.model_validate(values)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "grants.json"


@pytest.fixture
def grants(path: Path) -> Grants:
    return Grants(path, lambda: NOW)


@pytest.fixture
def members(tmp_path: Path) -> Path:
    return tmp_path / "members.txt"


def listed(members: Path, text: str) -> None:
    members.write_text(text, encoding="utf-8")
    members.chmod(0o600)


def test_a_grant_opens_a_memory_to_its_principal_and_to_nobody_else(path: Path, grants: Grants) -> None:
    assert grants.of("anna") == ()
    write_grants(path, [a_grant(tier="reader", groups=("decisions",)), a_grant("ben", memory="anna")])
    assert grants.of("anna") == (SharedMemory(memory="team", tier="reader", groups=("decisions",)),)
    assert grants.of("ben") == (SharedMemory(memory="anna", tier="contributor"),)
    assert [grants.of(one) for one in ("team", "local", "annabel", "x:anna", "anna:x", "")] == [()] * 6
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_revoked_or_expired_opens_nothing_and_a_change_counts_at_once(path: Path, grants: Grants) -> None:
    write_grants(path, [a_grant(expires=NOW)])
    assert grants.of("anna") == ()
    write_grants(path, [a_grant(expires=NOW + timedelta(seconds=1))])
    assert grants.of("anna") == (TEAM,)
    write_grants(path, [a_grant(revoked=NOW)])
    assert grants.of("anna") == ()
    write_grants(path, [a_grant()])
    assert grants.of("anna") == (TEAM,)
    path.unlink()
    assert grants.of("anna") == ()


def test_members_are_users_of_the_service_and_who_is_struck_off_has_nothing_with_the_next_look(
    path: Path, grants: Grants, members: Path
) -> None:
    listed(members, "# who keeps decisions\nanna\n\n  ben  # since March\n")
    write_grants(path, [a_grant("chat", members=members)])
    assert grants.of("chat:anna") == grants.of("chat:ben") == (TEAM,)
    for other in ("chat", "anna", "chat:carl", "chat:#", "chat:", "chats:anna", "chat:Anna", "chat:since"):
        assert grants.of(other) == (), other
    listed(members, "anna\n")
    assert (grants.of("chat:ben"), grants.of("chat:anna")) == ((), (TEAM,))
    listed(members, "carl\n")  # as long as before, and within the same moment
    assert (grants.of("chat:anna"), grants.of("chat:carl")) == ((), (TEAM,))
    members.unlink()
    assert grants.of("chat:carl") == ()
    listed(members, "carl\n")
    assert grants.of("chat:carl") == (TEAM,)


def test_files_that_cannot_be_used_open_nothing_and_the_log_says_so_once(
    path: Path, grants: Grants, members: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_grants(path, [a_grant(), a_grant("chat", members=members)])
    assert (grants.of("anna"), grants.of("chat:anna"), grants.of("chat:anna")) == ((TEAM,), (), ())
    assert [one.getMessage() for one in caplog.records] == [
        f"nothing is shared by it: There is no list of members {members}."
    ]
    listed(members, "anna\n")
    members.chmod(0o666)
    assert grants.of("chat:anna") == ()
    members.write_bytes(b"\xff\xfe")
    members.chmod(0o600)
    assert grants.of("chat:anna") == ()
    for text in ("{", "[]", '{"version": 2, "grants": []}', '{"version": 1, "grants": [{"id": "x"}]}'):
        path.write_text(text)
        assert grants.of("anna") == ()
        with pytest.raises(ConfigurationError):
            read_grants(path)
    write_grants(path, [a_grant()])
    assert grants.of("anna") == (TEAM,)
    path.chmod(0o622)
    assert grants.of("anna") == ()


def test_people_of_an_issuer_are_named_whole_or_in_a_list_of_those_of_that_issuer(
    path: Path, grants: Grants, members: Path
) -> None:
    listed(members, "ben\nc%40x.org\n")
    here, there = "oauth:0123456789ab", "oauth:ba9876543210"
    write_grants(path, [a_grant(f"{here}:anna"), a_grant(here, members=members)])
    for name in ("anna", "ben", "c%40x.org"):
        assert grants.of(f"{here}:{name}") == (TEAM,), name
    for other in (f"{there}:anna", f"{there}:ben", here, f"{here}:carl", "oauth:ben", "ben", f"x:{here}:ben"):
        assert grants.of(other) == (), other


@pytest.mark.parametrize(
    "fields",
    [
        {"memory": "anna"},
        {"memory": "a/b"},
        {"principal": "a b"},
        {"groups": ["a/b"]},
        {"principal": "chat:anna", "members": "members.txt"},
        {"tier": "owner"},
        {"id": "1"},
    ],
)
def test_what_makes_no_sense_is_no_grant(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        a_grant(**fields)


def asking(grants: Grants, token: Token | None, *users: str) -> Request:
    headers = [(b"x-user-id", user.encode()) for user in users]
    return Request({"type": "http", "headers": headers, TOKEN: token, GRANTS: grants})


def test_the_caller_is_told_by_the_token_and_the_header_and_has_what_is_open_to_it(
    path: Path, grants: Grants, members: Path
) -> None:
    listed(members, "anna\n")
    write_grants(path, [a_grant(), a_grant("chat", members=members), a_grant("local", memory="team")])
    values: dict[str, Any] = {"hash": "a" * 64, "created": NOW}
    anna, held = Token(principal="anna", **values), Token(principal="anna", groups=("work",), **values)
    chat = Token(principal="chat", may_impersonate=True, **values)
    assert caller_of(asking(grants, anna), read_only=False).shared == (TEAM,)
    assert caller_of(asking(grants, held), read_only=False).shared == ()
    assert caller_of(asking(grants, chat, "anna"), read_only=False).shared == (TEAM,)
    assert caller_of(asking(grants, chat, "ben"), read_only=False).shared == ()
    assert caller_of(asking(grants, None), read_only=False).shared == ()
