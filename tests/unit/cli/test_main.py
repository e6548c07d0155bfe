import argparse

import pytest

from graphiti_pkm.cli.main import build_parser, main
from graphiti_pkm.config import Settings, environment_name, is_secret

COMMANDS = (
    "serve",
    "demo",
    "doctor",
    "status",
    "backup",
    "restore",
    "rebuild",
    "queue",
    "tokens",
    "reextract",
    "reembed",
    "fetch-model",
)


def commands() -> dict[str, argparse.ArgumentParser]:
    (group,) = (action for action in build_parser()._actions if isinstance(action, argparse._SubParsersAction))
    return dict(group.choices)


def test_these_are_the_commands() -> None:
    assert tuple(commands()) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_every_option_of_it_has_a_help_text(command: str) -> None:
    parser = commands()[command]
    assert parser.description
    assert [action.dest for action in parser._actions if not action.help] == []
    assert parser.format_help()  # a stray % would raise here


def test_every_setting_but_a_secret_is_a_flag_of_serve_that_names_its_environment_variable() -> None:
    text = " ".join(commands()["serve"].format_help().split())
    for name in Settings.model_fields:
        if is_secret(name):
            assert f"--{name.replace('_', '-')} " not in text
            continue
        assert f"--{name.replace('_', '-')}" in text
        assert f"[{environment_name(name)}]" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_an_answer_and_no_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    out, err = capsys.readouterr()
    assert f"graphiti-pkm {command}" in out
    assert err == ""


@pytest.mark.parametrize(
    "arguments",
    [[], ["fly"], ["serve", "--wings"], ["status", "--data", "here"], ["backup"], ["serve", "--transport", "pigeon"]],
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
