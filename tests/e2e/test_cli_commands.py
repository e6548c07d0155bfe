"""The command as a shell sees it: exit codes, one line for every failure, the log's first line."""

import json
import os
import signal
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from tests.e2e.support import COMMAND, environment, run, until
from tests.ports import free_port


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "graphiti_pkm"]])
def test_the_version_is_told_by_the_command_and_by_the_module(command: list[str]) -> None:
    told = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == (f"graphiti-pkm {version('graphiti-pkm')}\n", "")


def test_who_types_the_command_alone_is_told_where_to_begin(data_dir: Path) -> None:
    keyboard, terminal = os.openpty()
    try:
        told = subprocess.run(
            [COMMAND], stdin=terminal, capture_output=True, text=True, env=environment(data_dir=data_dir), check=False
        )
    finally:
        os.close(keyboard)
        os.close(terminal)
    assert (told.returncode, told.stderr) == (0, "")
    assert [line.split()[1] for line in told.stdout.splitlines()] == ["demo", "doctor", "serve"]
    assert not data_dir.exists()


@pytest.mark.parametrize("arguments", [["--version"], ["serve", "--help-settings"], ["doctor"]])
def test_a_reader_that_had_enough_of_the_output_sees_no_traceback(arguments: list[str], data_dir: Path) -> None:
    with subprocess.Popen(
        [COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(data_dir=data_dir)
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert said == b""
    assert process.returncode in {0, 1}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["backup", "{there}/not/there"], "not"),
        (["restore", "{there}/missing"], "missing"),
        (["demo", "--examples", "{there}"], "--examples"),
        (["rebuild", "--data-dir", "{there}/none"], "--data-dir"),
        (["status", "--data-dir", "{there}/" + 300 * "x"], "File name too long"),
        (["doctor", "--data-dir", "{there}/" + 300 * "x"], "File name too long"),
    ],
)
def test_what_cannot_be_done_is_one_line_on_stderr_with_code_one(
    arguments: list[str], said: str, tmp_path: Path, data_dir: Path
) -> None:
    failed = run(*(argument.format(there=tmp_path) for argument in arguments), data_dir=data_dir)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert failed.stderr.startswith("graphiti-pkm: ")
    assert failed.stderr.count("\n") == 1
    assert said in failed.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--port", "0"], 2, "port (from flag)"),
        (["--tools", "no_such_tool"], 2, "no_such_tool"),
        (["--toolsets", "no_such_toolset"], 2, "no_such_toolset"),
        (["--tools", "search_nodes", "--exclude-tools", "search_nodes"], 2, "leave no tool"),
        (["--toolsets", "memory,reference"], 2, "Leave one of the two out"),
        (["--transport", "http", "--tokens", "no json"], 2, "The tokens in the setting tokens are no JSON"),
        (["--transport", "http", "--tokens-file", "/nowhere/tokens.json"], 2, "There is no token file"),
    ],
)
def test_serve_refuses_settings_that_make_no_sense_at_once(
    arguments: list[str], code: int, said: str, data_dir: Path
) -> None:
    refused = run("serve", *arguments, data_dir=data_dir)
    assert (refused.returncode, refused.stdout) == (code, "")
    (line,) = refused.stderr.splitlines()  # no log that would say that it starts
    assert line.startswith("graphiti-pkm: ")
    assert said in line
    assert not data_dir.exists()


def first_line(server: "subprocess.Popen[bytes]") -> dict[str, object]:
    assert server.stderr is not None
    line = json.loads(server.stderr.readline())
    assert isinstance(line, dict)
    return line


def test_the_log_begins_with_version_data_directory_env_file_and_settings_with_their_origin(data_dir: Path) -> None:
    data_dir.mkdir()
    env_file = data_dir / ".env"
    env_file.write_text("GRAPHITI_PKM_TIMEZONE=Europe/Berlin\n")
    with subprocess.Popen(
        [COMMAND, "serve", "--read-only", "--log-format", "json"],
        env=environment(data_dir=data_dir),
        cwd=data_dir,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        line = first_line(server)
        server.communicate()
    assert server.returncode == 0
    assert (line["level"], line["message"], line["version"]) == ("info", "starting", version("graphiti-pkm"))
    assert (line["data_dir"], line["env_file"]) == (str(data_dir), str(env_file))
    assert line["settings"] == {
        "data_dir": {"value": str(data_dir), "origin": "GRAPHITI_PKM_DATA_DIR"},
        "timezone": {"value": "Europe/Berlin", "origin": f"{env_file}: GRAPHITI_PKM_TIMEZONE"},
        "read_only": {"value": True, "origin": "flag"},
        "log_format": {"value": "json", "origin": "flag"},
    }


@pytest.mark.parametrize(("transport", "path"), [("stdio", None), ("http", "/mcp"), ("sse", "/sse")])
def test_an_interrupted_server_ends_though_its_client_stays(transport: str, path: str | None, data_dir: Path) -> None:
    port = free_port()
    with subprocess.Popen(
        [COMMAND, "serve", "--transport", transport, "--port", str(port), "--log-format", "json"],
        env=environment(data_dir=data_dir),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert first_line(server).get("url") == (path and f"http://127.0.0.1:{port}{path}")
        until((data_dir / "memory.sqlite3").exists, "the memory to be opened")
        server.send_signal(signal.SIGINT)
        assert server.wait() == 0


def test_an_interrupted_command_says_so_and_nothing_else(tmp_path: Path, data_dir: Path) -> None:
    notes = tmp_path / "notes" / "group"
    notes.mkdir(parents=True)
    for number in range(200):
        (notes / f"{number:03}.md").write_text(f"Note {number} on Heron.")
    places = {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [COMMAND, "demo", "--examples", str(notes.parent)],
        env=environment(data_dir=data_dir) | places,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as demo:
        until(lambda: list(tmp_path.glob("pkm-demo-*/data/memory.sqlite3")), "the demo to write")
        demo.send_signal(signal.SIGINT)
        _, said = demo.communicate()
    assert (demo.returncode, said) == (130, "graphiti-pkm: interrupted\n")
    assert list(tmp_path.glob("pkm-demo-*")) == []
