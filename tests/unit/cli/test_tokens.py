"""tokens create, list and revoke."""

import json
import threading
from pathlib import Path

import pytest
from tests.unit.cli.token_commands import as_json, own_directory, told  # noqa: F401 a fixture

from graphiti_pkm.cli.main import main
from graphiti_pkm.server.auth.tokens import hash_of, read_tokens

pytestmark = pytest.mark.usefixtures("own_logger", "own_directory")


def test_a_token_is_shown_once_and_kept_as_a_hash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = told(capsys, "create", "anna", "--group", "work", "--group", "home", "--days", "30").splitlines()[0]
    (token,) = read_tokens(tmp_path / "tokens.json")
    assert token.hash == hash_of(secret)
    assert (token.principal, token.groups, token.tier) == ("anna", ("work", "home"), "contributor")
    assert token.expires is not None
    assert (token.expires - token.created).days == 30
    listed = told(capsys, "list")
    assert token.id in listed
    assert secret not in listed
    assert token.hash not in listed


def test_a_revoked_token_stays_in_the_list_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    one, other = as_json(capsys, "create", "anna"), as_json(capsys, "create", "ben", "--tier", "reader")
    told(capsys, "revoke", one["entry"]["hash"][:8])
    states = {entry["principal"]: entry["state"] for entry in as_json(capsys, "list")["tokens"]}
    assert states == {"anna": "revoked", "ben": "valid"}
    assert other["entry"]["tier"] == "reader"


def test_an_entry_for_the_environment_is_in_no_file_and_is_listed_from_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = as_json(capsys, "create", "librechat", "--may-impersonate", "--entry")["entry"]
    assert not (tmp_path / "tokens.json").exists()
    monkeypatch.setenv("GRAPHITI_PKM_TOKENS", json.dumps([entry]))
    (listed,) = as_json(capsys, "list")["tokens"]
    assert (listed["principal"], listed["from"]) == ("librechat", "GRAPHITI_PKM_TOKENS")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("create",), 2, "needs the name"),
        (("revoke",), 2, "needs the id"),
        (("list", "anna"), 2, "takes no name"),
        (("create", "a b"), 1, "No token was created"),
        (("create", "anna", "--group", "a/b"), 1, "No token was created"),
        (("create", "anna", "--days", "0"), 1, "at least 1"),
        (("create", "anna", "--days", "9999999"), 1, "year 10000"),
        (("create", "local", "--may-impersonate"), 1, "not local"),
        (("revoke", "12345678"), 1, "There is no token"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    assert said in told(capsys, *arguments, code=code)
    assert not (tmp_path / "tokens.json").exists()


def test_tokens_made_at_once_are_all_kept(tmp_path: Path) -> None:
    makers = [threading.Thread(target=main, args=(["tokens", "create", f"user{i}"],)) for i in range(8)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert {token.principal for token in read_tokens(tmp_path / "tokens.json")} == {f"user{i}" for i in range(8)}
