"""A blank flag, variable or line of a file gives a setting nothing: the next level counts, or the default."""

from pathlib import Path

import pytest

from graphiti_pkm.cli.flags import given_flags
from graphiti_pkm.cli.main import build_parser
from graphiti_pkm.settings.loader import Settings, environment_name, load_settings
from graphiti_pkm.settings.names import flags_of, variables_of

FIELDS = list(Settings.model_fields)
BLANKS = ["", "  "]
FLAGS = [flag for field in FIELDS if Settings.model_fields[field].annotation is not bool for flag in flags_of(field)]
VARIABLES = [name for field in FIELDS for name in variables_of(field)]


def loaded(directory: Path, arguments: tuple[str, ...] = (), **environ: str) -> tuple[Settings, str]:
    options = build_parser().parse_args(["serve", *arguments])
    loaded = load_settings(given_flags(options), environ, directory, options.config, options.env_file)
    return loaded.settings, str({**loaded.origins, "": loaded.notes})


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("flag", FLAGS)
def test_a_blank_flag_counts_as_left_out(flag: str, blank: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, (flag, blank)) == loaded(tmp_path)


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("name", VARIABLES)
def test_a_blank_variable_counts_as_left_out(name: str, blank: str, tmp_path: Path) -> None:
    without = loaded(tmp_path)
    assert loaded(tmp_path, **{name: blank}) == without
    (tmp_path / ".env").write_text(f"{name}='{blank}'\n")
    assert loaded(tmp_path) == without


@pytest.mark.parametrize("blank", ["", '""', '"  "', "${NOT_SET}", "${NOT_SET:}"])
@pytest.mark.parametrize("field", FIELDS)
def test_a_blank_line_of_a_file_counts_as_left_out(field: str, blank: str, tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text(f"{field}: {blank}\n")
    assert loaded(tmp_path, ("--config", str(config))) == loaded(tmp_path)


def test_a_blank_flag_leaves_the_variable_and_a_blank_variable_the_file(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text("timezone: Europe/Rome\n")
    flag, variable = ("--timezone", ""), environment_name("timezone")
    assert loaded(tmp_path, flag, **{variable: "Asia/Tokyo"})[0].timezone == "Asia/Tokyo"
    assert loaded(tmp_path, ("--config", str(config), *flag), **{variable: " "})[0].timezone == "Europe/Rome"


@pytest.mark.parametrize("blank", BLANKS)
@pytest.mark.parametrize("flag", ["--config", "--env-file"])
def test_a_blank_name_of_a_file_counts_as_left_out(flag: str, blank: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, (flag, blank)) == loaded(tmp_path)
    assert loaded(tmp_path, **{environment_name("config"): blank}) == loaded(tmp_path)
