from pathlib import Path

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import Settings, environment_name, load_settings
from graphiti_pkm.settings.names import variables_of


def test_a_flag_wins_over_environment_dotenv_yaml_and_default(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GRAPHITI_PKM_PORT=8002\nGRAPHITI_PKM_HOST=::1\n")
    config = tmp_path / "memory.yaml"
    config.write_text("port: 8003\nhost: localhost\nperson: Ada\n")
    environ = {"GRAPHITI_PKM_PORT": "8001"}

    flag = load_settings({"port": "8000"}, environ, tmp_path, config)
    environment = load_settings({}, environ, tmp_path, config)
    dotenv = load_settings({}, {}, tmp_path, config)

    assert (flag.settings.port, flag.origins["port"]) == (8000, "flag")
    assert (environment.settings.port, environment.origins["port"]) == (8001, "GRAPHITI_PKM_PORT")
    assert (dotenv.settings.port, dotenv.origins["port"]) == (8002, f"{tmp_path / '.env'}: GRAPHITI_PKM_PORT")
    assert (dotenv.settings.person, dotenv.origins["person"]) == ("Ada", str(config))
    assert dotenv.origins["timezone"] == "default"


def test_lists_are_separated_by_commas_or_spaces() -> None:
    loaded = load_settings({}, {environment_name("tools"): "search_nodes, get_status"}, Path("/nowhere"))
    assert loaded.settings.tools == ("search_nodes", "get_status")


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("port", "abc", "valid integer"),
        ("port", "0", "greater than or equal to 1"),
        ("timezone", "Mars/Olympus", "IANA"),
        ("timezone", "../etc/passwd", "IANA"),
        ("transport", "pigeon", "'stdio', 'http' or 'sse'"),
        ("default_group", "a b", "pattern"),
    ],
)
def test_a_value_that_does_not_fit_names_setting_origin_and_what_fits(field: str, value: str, said: str) -> None:
    for name in variables_of(field):
        with pytest.raises(ConfigurationError) as raised:
            load_settings({}, {name: value}, Path("/nowhere"))
        assert f"{field} (from {name})" in raised.value.message
        assert said in raised.value.message


def test_an_unknown_yaml_key_is_an_error_that_lists_the_known_ones(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text("prot: 1\n")
    with pytest.raises(ConfigurationError, match=r"prot.*Known: .*port"):
        load_settings({}, {}, tmp_path, config)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a\n", "must contain `setting: value` lines"),
        ("port: 1\nperson: planted: word\n", "is no YAML at line 2, column 16. Correct it there"),
        ("port: 1\nplanted\nhost: here\n", "at line 3, column 1, in what begins at line 2, column 1. Correct"),
        ("toolsets: [planted\nport: 1\n", "at line 2, column 5, in what begins at line 1, column 11. Correct"),
        ("person: *planted\n", "at line 1, column 9. Correct"),
        ("person: !planted word\n", "at line 1, column 9. Correct"),
        ("person: \1\n", "ReaderError. It must be text in UTF-8"),
        (None, "FileNotFoundError. It must be text"),
    ],
)
def test_a_broken_yaml_file_is_an_error_that_says_where_and_what_to_do_and_quotes_nothing(
    tmp_path: Path, text: str | None, said: str
) -> None:
    config = tmp_path / "memory.yaml"
    if text is not None:
        config.write_text(text)
    with pytest.raises(ConfigurationError, match=r"memory\.yaml") as raised:
        load_settings({}, {}, tmp_path, config)
    assert said in raised.value.message
    assert "planted" not in f"{raised.value!r}{raised.value.__cause__!r}"


def test_every_setting_has_a_help_text() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


def test_a_variable_that_is_called_as_ours_and_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GRAPHITI_PKM_NEO4J_PASWORD=planted\n")
    loaded = load_settings({}, {"GRAPHITI_PKM_PROT": "1", "GRAPHITI_PKM_CONFIG": ""}, tmp_path)
    assert loaded.notes == (
        "GRAPHITI_PKM_PROT: not used, because there is no such setting",
        f"{tmp_path / '.env'}: GRAPHITI_PKM_NEO4J_PASWORD: not used, because there is no such setting",
    )


def test_the_nearest_dotenv_upwards_is_used_and_named(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GRAPHITI_PKM_PERSON=Ada\n")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    loaded = load_settings({}, {}, below)
    assert loaded.settings.person == "Ada"
    assert loaded.env_file == tmp_path / ".env"


def test_a_named_env_file_is_used_instead_and_must_exist(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GRAPHITI_PKM_PERSON=Ada\n")
    named = tmp_path / "other.env"
    named.write_text("GRAPHITI_PKM_PERSON=Grace\n")
    assert load_settings({}, {}, tmp_path, env_file=named).settings.person == "Grace"
    with pytest.raises(ConfigurationError, match="--env-file"):
        load_settings({}, {}, tmp_path, env_file=tmp_path / "missing.env")
