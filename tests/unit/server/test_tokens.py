"""Tokens are kept as hashes, in a file that may change under a running server."""

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from graphiti_pkm.core.model.access import Token
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.auth.tokens import Tokens, as_entry, hash_of, new_secret, parse, read_tokens, write_tokens

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def made(principal: str = "anna", **fields: Any) -> tuple[str, Token]:
    secret = new_secret()
    return secret, Token(**{"hash": hash_of(secret), "principal": principal, "created": NOW, **fields})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "tokens.json"


def test_the_file_is_for_its_owner_alone_and_holds_no_token(path: Path) -> None:
    secret, token = made(groups=("work",))
    write_tokens(path, [token])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret not in path.read_text()
    assert read_tokens(path) == (token,)
    assert [one.name for one in path.parent.iterdir()] == ["tokens.json"]


def test_secrets_are_long_and_never_the_same() -> None:
    assert len({new_secret() for _ in range(100)}) == 100
    assert len(new_secret()) > 40


def test_each_token_opens_what_it_is_for_and_no_other_text_does(path: Path) -> None:
    (annas, anna), (bens, ben) = made(), made("ben")
    write_tokens(path, [anna, ben])
    tokens = Tokens(path)
    assert tokens.verify(annas, NOW).token == anna
    assert tokens.verify(bens, NOW).token == ben
    for text in ("", annas[:-1], annas + "x", anna.hash, "x" * 10_000):
        assert tokens.verify(text, NOW).refusal == "unknown"


def test_expired_and_revoked_tokens_open_nothing_even_if_another_place_still_has_them(path: Path) -> None:
    old, expired = made(expires=NOW - timedelta(seconds=1))
    gone, token = made()
    write_tokens(path, [expired, token.model_copy(update={"revoked": NOW})])
    tokens = Tokens(path, json.dumps([as_entry(token)]))
    assert tokens.verify(old, NOW).refusal == "expired"
    assert tokens.verify(gone, NOW).refusal == "revoked"


def test_a_running_server_notices_new_and_revoked_tokens_and_never_opens_again(path: Path) -> None:
    tokens = Tokens(path)
    assert not tokens.required()
    secret, token = made()
    write_tokens(path, [token])
    assert tokens.required()
    assert tokens.verify(secret, NOW).token == token
    write_tokens(path, [token.model_copy(update={"revoked": NOW})])
    assert tokens.verify(secret, NOW).token is None
    path.unlink()
    assert tokens.required()
    assert tokens.verify(secret, NOW).token is None


def test_a_file_that_breaks_under_a_server_opens_nothing(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    secret, token = made()
    write_tokens(path, [token])
    tokens = Tokens(path)
    path.write_text("{")
    assert tokens.verify(secret, NOW).token is None
    assert tokens.required()
    assert "no token of the file is accepted" in caplog.text


def test_a_file_opens_again_once_it_is_put_right_although_its_text_is_the_same(path: Path) -> None:
    secret, token = made()
    write_tokens(path, [token])
    long_ago = NOW.timestamp()
    os.utime(path, (long_ago, long_ago))
    tokens = Tokens(path)
    assert tokens.verify(secret, NOW).token == token
    path.chmod(0o620)
    assert tokens.verify(secret, NOW).token is None
    path.chmod(0o600)
    assert tokens.verify(secret, NOW).token == token


def test_the_setting_holds_tokens_beside_the_file(path: Path) -> None:
    secret, token = made()
    tokens = Tokens(path, json.dumps([as_entry(token)]))
    assert tokens.required()
    assert tokens.verify(secret, NOW).token == token


def test_a_file_that_the_settings_name_must_be_there(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="tokens create"):
        Tokens(path, is_named=True)


def test_a_file_that_others_may_write_is_refused(path: Path) -> None:
    write_tokens(path, [])
    path.chmod(0o620)
    with pytest.raises(ConfigurationError, match="chmod 600"):
        Tokens(path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pkm_secret", "are no JSON"),
        ('{"version": 2, "tokens": []}', "another version"),
        ('[{"hash": "pkm_secret", "principal": "anna", "created": "2026-03-01T00:00:00Z"}]', "0.hash"),
        ('[{"hash": "%s", "principal": "anna", "created": "2026-03-01T00:00:00"}]' % ("a" * 64), "no offset"),
        ('[{"hash": "%s", "principal": "a b", "created": "2026-03-01T00:00:00Z"}]' % ("a" * 64), "0.principal"),
    ],
)
def test_entries_that_do_not_fit_are_named_without_their_content(text: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match="tokens in the setting") as raised:
        parse(text, "the setting tokens")
    assert said in raised.value.message
    assert "pkm_secret" not in raised.value.message
