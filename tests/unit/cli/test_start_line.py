"""The line with which a server's log begins: what is not the default, where it comes from, and no secret."""

import json
import logging
from pathlib import Path

import pytest

from graphiti_pkm.cli.serve import _effective
from graphiti_pkm.server.observability.logging import JsonLines, TextLines
from graphiti_pkm.settings.loader import LoadedSettings, load_settings

FILE = Path(__file__).parents[2] / "data" / "graphiti_mcp_server" / "config-docker-neo4j.yaml"
WORD = "planted-word-4"


@pytest.fixture
def loaded(tmp_path: Path) -> LoadedSettings:
    """One setting of each level."""
    (tmp_path / ".env").write_text(f"NEO4J_PASSWORD={WORD}\nNEO4J_DATABASE=diary\n")
    return load_settings({"person": "Ada"}, {"NEO4J_USER": "anna"}, tmp_path, FILE)


@pytest.mark.parametrize("form", [JsonLines(), TextLines()])
def test_it_tells_each_value_with_its_origin_and_the_env_file_in_one_line_without_a_secret(
    form: logging.Formatter, loaded: LoadedSettings, tmp_path: Path
) -> None:
    record = logging.LogRecord("graphiti_pkm", logging.INFO, "", 0, "starting", (), None)
    record.event = _effective(loaded)
    line = form.format(record)
    assert "\n" not in line
    assert WORD not in line
    told = _effective(loaded)["settings"]
    assert isinstance(told, dict)
    env_file = tmp_path / ".env"
    assert (
        told
        | {
            "person": {"value": "Ada", "origin": "flag"},
            "neo4j_username": {"value": "anna", "origin": "NEO4J_USER"},
            "neo4j_password": {"value": "**********", "origin": f"{env_file}: NEO4J_PASSWORD"},
            "neo4j_database": {"value": "diary", "origin": f"{env_file}: NEO4J_DATABASE"},
            "neo4j_uri": {"value": "bolt://neo4j:7687", "origin": str(FILE)},
        }
        == told
    )
    assert _effective(loaded)["env_file"] == str(env_file)
    assert "timezone" not in told
    for name, one in told.items():
        assert json.dumps(one, separators=(",", ":")) in line, name


def test_it_stays_short_with_many_types_of_entities(loaded: LoadedSettings) -> None:
    types = next(value for name, value, _ in loaded.effective() if name == "entity_types")
    assert types[:2] == ["Preference", "Requirement"]
    assert len(json.dumps(_effective(loaded))) < 2_500
