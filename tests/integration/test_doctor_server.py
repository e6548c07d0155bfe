"""What doctor says of the server that holds the graph."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.neo4j_server import Neo4jAddress
from tests.ports import free_port

from graphiti_pkm.cli.doctor import doctor
from graphiti_pkm.settings.loader import load_settings

WORD = "planted-word-5"
ParsedRequest = Callable[..., dict[str, dict[str, Any]]]


@pytest.fixture
def told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> ParsedRequest:
    """Its lines by name, of a directory without a memory."""

    def _told(**settings: object) -> dict[str, dict[str, Any]]:
        doctor(load_settings({"data_dir": tmp_path / "data", **settings}, {}, tmp_path), as_json=True)
        out, err = capsys.readouterr()
        assert WORD not in out + err
        return {check["name"]: check for check in json.loads(out)["checks"]}

    return _told


def test_a_server_that_is_not_there_is_a_fault(told: ParsedRequest) -> None:
    line = told(neo4j_uri=f"bolt://127.0.0.1:{free_port()}", neo4j_password=WORD)["server"]
    assert not line["ok"]
    assert "does not answer" in line["remedy"]


def test_a_neo4j_server_is_told_and_one_that_refuses_the_password_is_a_fault_that_names_the_setting(
    told: ParsedRequest, neo4j_server: Neo4jAddress
) -> None:
    given = {"neo4j_uri": neo4j_server.uri, "neo4j_username": neo4j_server.username}
    right = {**given, "neo4j_password": neo4j_server.password}
    lines = told(**right)
    assert lines["server"]["ok"], lines
    assert f"neo4j at {neo4j_server.uri}" in lines["server"]["detail"]
    assert "database" not in lines, "nothing is stored there yet"
    line = told(**right, neo4j_reader_username="nobody", neo4j_reader_password=WORD)["server"]
    assert not line["ok"]
    assert "reads as nobody" in line["detail"]
    line = told(**given, neo4j_password=WORD)["server"]
    assert not line["ok"]
    assert "neo4j_password" in line["remedy"]
    line = told(**right, neo4j_database="nowhere")["server"]
    assert "neo4j_database" in line["remedy"]
