"""Who a request comes from: by its token, and by a user's header only where the token allows one."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from graphiti_pkm.core.model.access import Caller, Token, caller_by
from graphiti_pkm.errors import NotAllowed

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def a_token(principal: str = "anna", **fields: Any) -> Token:
    return Token(**{"hash": "a" * 64, "principal": principal, "created": NOW, **fields})


SERVICE = a_token("librechat", may_impersonate=True)


def test_without_tokens_the_local_user_calls_and_a_user_header_is_refused() -> None:
    assert caller_by(None, [], read_only=True) == Caller(read_only=True)
    with pytest.raises(NotAllowed, match="X-User-ID is refused"):
        caller_by(None, ["eve"], read_only=False)


def test_principal_groups_and_tier_are_those_of_the_token() -> None:
    caller = caller_by(a_token(groups=("work",)), [], read_only=False)
    assert (caller.principal, caller.groups, caller.read_only) == ("anna", ("work",), False)
    assert caller_by(a_token(tier="reader"), [], read_only=False).read_only
    assert caller_by(a_token(tier="curator"), [], read_only=True).read_only


def test_a_token_of_one_person_speaks_for_nobody_else() -> None:
    with pytest.raises(NotAllowed, match="may not speak for users"):
        caller_by(a_token(), ["ben"], read_only=False)


def test_a_service_speaks_for_the_user_named_and_its_users_are_nobody_elses() -> None:
    caller = caller_by(SERVICE, ["65f0c2d1"], read_only=False)
    assert (caller.principal, caller.name) == ("librechat:65f0c2d1", "65f0c2d1")
    assert caller_by(SERVICE, ["local"], read_only=False).is_local is False
    assert caller_by(SERVICE, ["anna"], read_only=False) != caller_by(a_token(), [], read_only=False)


@pytest.mark.parametrize(
    "users",
    [
        [],
        [""],
        ["{{LIBRECHAT_USER_ID}}"],
        ["anna", "ben"],
        ["anna", "anna"],
        ["anna, ben"],
        ["anna\n"],
        ["anna:ben"],
        ["../x"],
        ["x" * 129],
        ["ä"],
    ],
)
def test_a_header_that_names_no_one_user_is_refused_without_repeating_it(users: list[str]) -> None:
    with pytest.raises(NotAllowed) as refused:
        caller_by(SERVICE, users, read_only=False)
    assert "anna" not in refused.value.message
    assert "LIBRECHAT" not in refused.value.message


@pytest.mark.parametrize("principal", ["local", "librechat:anna"])
def test_a_service_has_a_name_of_its_own(principal: str) -> None:
    with pytest.raises(ValidationError, match="name of its own"):
        a_token(principal, may_impersonate=True)


def test_a_token_is_valid_until_it_expires_or_is_revoked() -> None:
    token = a_token(expires=NOW + timedelta(days=1))
    assert token.state(NOW) == "valid"
    assert token.state(NOW + timedelta(days=1)) == "expired"
    assert a_token(revoked=NOW).state(NOW) == "revoked"


@pytest.mark.parametrize("user", ["undefined", "null", "None", "NaN"])
def test_what_a_program_writes_for_nobody_is_no_user(user: str) -> None:
    with pytest.raises(NotAllowed):
        caller_by(SERVICE, [user], read_only=False)
    assert caller_by(SERVICE, [f"{user}1"], read_only=False).principal == f"librechat:{user}1"
