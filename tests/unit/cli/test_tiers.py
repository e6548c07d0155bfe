"""Commands that read or change what is remembered may what the setting ``tier`` says, as tools may over stdio."""

from pathlib import Path

import pytest
from tests.unit.cli.token_commands import own_directory  # noqa: F401 a fixture

from graphiti_pkm.cli.main import build_parser, main
from graphiti_pkm.core.model.access import TIERS, Tier

pytestmark = pytest.mark.usefixtures("own_logger", "own_directory")

NEEDS: dict[str, Tier] = {
    "stats": "reader",
    "diff --from staging --to production": "reader",
    "search ships": "reader",
    "snapshot --list": "reader",
    "reextract --since 2020-01-01 --dry-run": "reader",
    "ingest note.md": "contributor",
    "reextract --since 2020-01-01": "contributor",
    "curate run --dry-run": "librarian",
    "curate run": "librarian",
    "snapshot --tag one": "curator",
    "snapshot --remove one": "curator",
    "restore --snapshot one": "curator",
    "rollback --since 2020-01-01": "curator",
    "migrate --from staging --to production --all": "curator",
    "promote": "curator",
}
OF_THE_OPERATOR = {
    *("serve", "tokens", "audit", "status", "doctor", "demo", "backup", "rebuild", "reembed", "queue", "fetch-model"),
}
"""They look after servers, files and models, and show nothing of what is remembered but counts."""


def test_every_command_is_the_operators_or_has_a_tier() -> None:
    (commands,) = (one.choices for one in build_parser(shows_all_settings=False)._actions if one.dest == "command")
    assert set(commands or ()) == OF_THE_OPERATOR | {command.split()[0] for command in NEEDS}


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("command", NEEDS)
def test_a_command_needs_its_tier_and_is_refused_in_one_form(
    command: str, tier: Tier, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is opened: there is no memory, which those hear of that may."""
    (tmp_path / "note.md").write_text("A ship.", encoding="utf-8")
    monkeypatch.setenv("GRAPHITI_PKM_TIER", tier)
    code = main(command.split())
    out, err = capsys.readouterr()
    needed = NEEDS[command]
    if TIERS.index(tier) >= TIERS.index(needed):
        assert "PERMISSION_DENIED" not in err
        return
    name = next(
        (one for one in ("curate run", "restore --snapshot") if command.startswith(one)), command.split(maxsplit=1)[0]
    )
    assert err == (
        f"graphiti-pkm: PERMISSION_DENIED: {name} needs tier {needed} or above, and the setting tier is {tier}. "
        "Nothing was changed.\n"
    )
    assert (code, out, [one.name for one in tmp_path.iterdir()]) == (1, "", ["note.md"])
