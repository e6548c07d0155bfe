import argparse
import sys
import tomllib
from pathlib import Path

import pytest

from graphiti_pkm.cli.flags import given_flags
from graphiti_pkm.cli.main import build_parser, main, started
from graphiti_pkm.settings.loader import Settings, is_secret, load_settings
from graphiti_pkm.settings.names import ALIASES, flags_of, variables_of

pytestmark = pytest.mark.usefixtures("own_logger")

COMMANDS = (
    "serve",
    "demo",
    "doctor",
    "status",
    "backup",
    "restore",
    "rebuild",
    "ingest",
    "snapshot",
    "rollback",
    "migrate",
    "promote",
    "stats",
    "search",
    "diff",
    "curate",
    "queue",
    "tokens",
    "audit",
    "reextract",
    "reembed",
    "fetch-model",
)


def commands() -> dict[str, argparse.ArgumentParser]:
    parser = build_parser(shows_all_settings=True)
    (group,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def test_these_are_the_commands() -> None:
    assert tuple(commands()) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_every_option_of_it_has_a_help_text(command: str) -> None:
    parser = commands()[command]
    assert parser.description
    assert [action.dest for action in parser._actions if not action.help] == []
    assert parser.format_help()  # a stray % would raise here


def test_every_setting_is_a_flag_of_serve_under_each_of_its_names_and_tells_its_variables() -> None:
    text = " ".join(commands()["serve"].format_help().split())
    offered = commands()["serve"]._option_string_actions
    for name in Settings.model_fields:
        assert [flag for flag in flags_of(name) if flag not in offered or offered[flag].dest != name] == []
        assert f"[{', '.join(variables_of(name))}]" in text


@pytest.mark.parametrize(("setting", "flag"), [(name, flag) for name in ALIASES for flag in flags_of(name)])
def test_a_flag_under_any_of_its_names_wins_over_every_variable(setting: str, flag: str, tmp_path: Path) -> None:
    values = {
        "neo4j_uri": ("bolt://flag", "bolt://other"),
        "transport": ("sse", "http"),
        "port": ("1", "2"),
        "path": ("/flag", "/other"),
        "embedding_mode": ("api", "local"),
    }
    named, other = values.get(setting, ("flag", "other"))
    options = build_parser().parse_args(["serve", flag, named])
    variables = dict.fromkeys(variables_of(setting), other)
    mode = {"EMBEDDING_MODE": "api"} if setting in {"embedding_model", "embedding_api_key"} else {}
    more = (
        {"OPENAI_API_KEY": "k", "GRAPHITI_PKM_EMBEDDING_DIMENSION": "8"} if mode or setting == "embedding_mode" else {}
    )
    loaded = load_settings(given_flags(options), {**variables, **mode, **more}, tmp_path)
    value = getattr(loaded.settings, setting)
    shown = (
        value.get_secret_value() if is_secret(setting) else ",".join(value) if isinstance(value, tuple) else str(value)
    )
    assert (shown, loaded.origins[setting]) == (named, "flag")


def test_two_flags_of_one_setting_that_differ_are_an_error_and_the_last_of_one_name_counts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["status", "--db-uri", "bolt://planted-1", "--neo4j-uri", "bolt://planted-2"]) == 2
    assert main(["status", "--password", "planted-1", "--neo4j-password", "planted-2"]) == 2
    said = capsys.readouterr().err
    assert "--db-uri and --neo4j-uri on the command line are names of the same setting, neo4j_uri" in said
    assert "--password and --neo4j-password on the command line" in said
    assert "planted" not in said
    options = build_parser().parse_args(["serve", "--port", "1", "--server-port", "2", "--port", "2"])
    assert given_flags(options)["port"] == "2"


def test_a_password_on_the_command_line_counts_with_a_warning_and_is_not_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # status asks no database that the data directory, a file, does not let start.
    (tmp_path / "file").write_text("")
    main(["status", "--password", "planted-word", "--data-dir", str(tmp_path / "file")])
    out, err = capsys.readouterr()
    assert "neo4j_password: every process of this machine can read the command line; set NEO4J_PASSWORD" in err
    assert "planted-word" not in out + err
    loaded = load_settings({"neo4j_password": "planted-word"}, {}, tmp_path)
    assert loaded.settings.neo4j_password is not None
    assert loaded.settings.neo4j_password.get_secret_value() == "planted-word"
    assert load_settings({}, {"NEO4J_PASSWORD": "planted-word"}, tmp_path).warnings == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--port", "abc"], "port (from flag)"),
        (["serve", "--port", "abc"], "port (from flag)"),
        (["serve", "--transport", "pigeon"], "transport (from flag): Input should be 'stdio', 'http' or 'sse'"),
        (["status", "--timezone", "Mars"], "IANA"),
    ],
)
def test_momento_is_the_same_command_and_serves_if_none_is_named(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["momento", *arguments])
    assert started() == 2
    assert said in capsys.readouterr().err
    scripts = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert scripts["scripts"]["momento"] == f"{started.__module__}:{started.__name__}"


@pytest.mark.parametrize("command", ["demo", "fetch-model"])
def test_a_command_refuses_a_setting_that_would_change_nothing_and_says_where_its_options_are(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--data-dir", "here"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert f"{command} does not take: --data-dir here. `graphiti-pkm {command} --help-settings` lists" in said
    assert {"cache_dir", "model_dir"} <= {action.dest for action in commands()[command]._actions}


SCREEN = 30
"""Lines of a terminal that is not made larger than usual."""


@pytest.mark.parametrize(
    ("command", "rarely_needed"),
    [
        ("serve", "embedding_mode"),
        ("doctor", "embedding_mode"),
        ("status", "embedding_mode"),
        ("fetch-model", None),
        ("demo", None),
    ],
)
def test_help_fits_a_screen_and_help_settings_shows_the_rest(
    command: str, rarely_needed: str | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = []
    for option in ("--help", "--help-settings"):
        with pytest.raises(SystemExit) as ended:
            main([command, option])
        assert ended.value.code == 0
        shown.append(capsys.readouterr().out)
    short, everything = shown
    assert short.count("\n") <= SCREEN
    assert "--help-settings" in short
    assert "[GRAPHITI_PKM_CACHE_DIR]" in everything
    if rarely_needed:
        assert flags_of(rarely_needed)[0] not in short
        assert f"[{', '.join(variables_of(rarely_needed))}]" in " ".join(everything.split())


def test_a_flag_that_help_does_not_show_counts_all_the_same(tmp_path: Path) -> None:
    options = build_parser().parse_args(["serve", "--server-port", "8123", "--llm-max-tokens", "77"])
    settings = load_settings(given_flags(options), {}, tmp_path).settings
    assert (settings.port, settings.llm_max_tokens) == (8123, 77)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_an_answer_and_no_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    out, err = capsys.readouterr()
    assert f"graphiti-pkm {command}" in out
    assert err == ""


@pytest.mark.parametrize(
    "command",
    ["migrate", "snapshot", "restore", "rollback", "ingest", "search", "stats", "curate", "promote", "diff"],
)
def test_commands_about_groups_print_json_and_refuse_a_flag_that_they_do_not_know(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--json" in commands()[command].format_help()
    with pytest.raises(SystemExit) as ended:
        main([command, "--wings"])
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("command", [["ingest", "a.md"], ["stats"], ["search", "word"]])
def test_a_target_that_is_none_is_refused_with_the_list(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--target", "stagging"])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert all(target in told for target in ("'stagging'", "staging", "production", "archive"))


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["serve", "--wings"], ["status", "--data", "here"], ["backup"]],
)
def test_wrong_usage_is_told_on_stderr_with_code_two(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("usage: graphiti-pkm")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serve", "--port", "abc"], "port (from flag)"),
        (["serve", "--transport", "pigeon"], "transport (from flag): Input should be 'stdio', 'http' or 'sse'"),
        (["serve", "--read-only", "--default-group", "a b"], "default_group (from flag)"),
        (["status", "--timezone", "Mars/Olympus"], "IANA"),
        (["doctor", "--env-file", "/nowhere/.env"], "--env-file"),
        (["doctor", "--config", "/nowhere/memory.yaml"], "memory.yaml"),
    ],
)
def test_settings_that_do_not_fit_are_one_line_on_stderr_with_code_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("graphiti-pkm: ")
    assert err.count("\n") == 1
    assert said in err
