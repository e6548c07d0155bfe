"""tokens create NAME --memory TEAM: it opens a memory to another principal and makes no token."""

from pathlib import Path

import pytest
from tests.unit.cli.token_commands import as_json, own_directory, told  # noqa: F401 a fixture

from graphiti_pkm.server.auth.grants import read_grants

pytestmark = pytest.mark.usefixtures("own_logger", "own_directory")


def test_a_memory_is_opened_to_another_and_no_token_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = told(
        capsys, "create", "anna", "--memory", "team", "--tier", "reader", "--groups", "decisions,plans", "--group", "x"
    )
    (grant,) = read_grants(tmp_path / "grants.json")
    assert (grant.principal, grant.memory, grant.tier) == ("anna", "team", "reader")
    assert grant.groups == ("decisions", "plans", "x")
    assert "anna (reader) may use team/decisions, team/plans, team/x" in said
    assert "no token was made" in said
    assert not (tmp_path / "tokens.json").exists()
    assert grant.id in told(capsys, "list")


def test_a_grant_above_the_tokens_of_its_principal_says_what_they_may(capsys: pytest.CaptureFixture[str]) -> None:
    """A token never may more than its own tier, whatever the grant says."""
    told(capsys, "create", "ben", "--tier", "reader")
    below = (
        "No token of ben is above reader, so that is what it may there; tokens create ben --tier contributor makes one."
    )
    assert below in told(capsys, "create", "ben", "--memory", "team", "--tier", "contributor")
    told(capsys, "create", "ben", "--tier", "librarian")
    for name in ("ben", "anna"):
        assert "is above" not in told(capsys, "create", name, "--memory", "team", "--tier", "contributor")


def test_a_list_of_members_is_kept_by_its_full_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    list_of_members = tmp_path / "members.txt"
    list_of_members.write_text("65f0c2d19b1e8a0012345678\n")
    list_of_members.chmod(0o600)
    made = as_json(capsys, "create", "librechat", "--memory", "team", "--members", "members.txt", "--days", "2")
    assert made["grant"]["members"] == str(list_of_members)
    assert made["grant"]["state"] == "valid"
    (listed,) = as_json(capsys, "list")["grants"]
    assert listed == made["grant"]


def test_what_is_revoked_stays_in_the_list_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    one = as_json(capsys, "create", "anna", "--memory", "team")["grant"]
    other = as_json(capsys, "create", "ben", "--memory", "team")["grant"]
    assert f"Grant {one['id']} is revoked" in told(capsys, "revoke", one["id"])
    states = {entry["id"]: entry["state"] for entry in as_json(capsys, "list")["grants"]}
    assert states == {one["id"]: "revoked", other["id"]: "valid"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("anna", "--memory", "anna"), "Nothing was shared"),
        (("anna", "--memory", "a/b"), "Nothing was shared"),
        (("anna", "--memory", "team", "--groups", "a,,b"), "Nothing was shared"),
        (("anna", "--memory", "team", "--entry"), "makes no token"),
        (("chat", "--memory", "team", "--may-impersonate"), "makes no token"),
        (("chat", "--memory", "team", "--members", "nowhere.txt"), "There is no list of members"),
        (("chat:anna", "--memory", "team", "--members", "nowhere.txt"), "Nothing was shared"),
        (("chat", "--members", "nowhere.txt"), "--members needs --memory"),
        (("anna", "--memory", "team", "--days", "0"), "at least 1"),
        (("anna", "--memory", "team", "--days", "9999999"), "year 10000"),
    ],
)
def test_what_does_not_fit_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert said in told(capsys, "create", *arguments, code=1)
    assert not (tmp_path / "grants.json").exists()
    assert not (tmp_path / "tokens.json").exists()
