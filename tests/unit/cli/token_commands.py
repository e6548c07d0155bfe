"""The command ``tokens``, called in a directory of its own."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphiti_pkm.cli.main import main


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHITI_PKM_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def told(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(["tokens", *arguments]) == code
    out, err = capsys.readouterr()
    return err if code else out


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    return json.loads(told(capsys, *arguments, "--json"))
