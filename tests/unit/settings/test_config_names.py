"""Names of settings that people bring along: which wins, and what becomes of two that differ."""

from pathlib import Path

import pytest

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import LoadedSettings, Settings, environment_name, is_secret, load_settings
from graphiti_pkm.settings.names import ALIASES, variables_of

NOWHERE = Path("/nowhere")
BOLT = "bolt://db.example:7687"
ALIASED = [(setting, name) for setting in ALIASES for name in variables_of(setting)[1:]]
# A value that fits and is not the default, for each setting that has further names.
FITTING = {
    "neo4j_uri": BOLT,
    "transport": "http",
    "host": "localhost",
    "port": "8123",
    "path": "/memory/",
    "embedding_mode": "api",
    "embedding_model": "all-MiniLM-L6-v2",
    "neo4j_password": "planted-word-1",
    "embedding_api_key": "planted-word-1",
}


def load(directory: Path = NOWHERE, flags: dict[str, object] | None = None, **variables: str) -> LoadedSettings:
    # The mode api wants a key, and keeps one.
    return load_settings(flags, {"OPENAI_API_KEY": "k", **variables}, directory)


def shown(loaded: LoadedSettings, setting: str) -> tuple[str, str]:
    value = getattr(loaded.settings, setting)
    text = value.get_secret_value() if is_secret(setting) else ",".join(value) if isinstance(value, tuple) else value
    return str(text), loaded.origins[setting]


def fitting(setting: str) -> str:
    return FITTING.get(setting, "elsewhere")


@pytest.mark.parametrize(("setting", "name"), ALIASED)
def test_another_name_stands_for_the_setting_and_is_told_as_its_origin(setting: str, name: str, tmp_path: Path) -> None:
    more = {"EMBEDDING_MODE": "api"} if setting == "embedding_api_key" else {}
    assert shown(load(**{name: fitting(setting)}, **more), setting) == (fitting(setting), name)
    (tmp_path / ".env").write_text(f"{name}={fitting(setting)}\n")
    assert shown(load(tmp_path, **more), setting) == (fitting(setting), f"{tmp_path / '.env'}: {name}")


@pytest.mark.parametrize(
    ("setting", "name"),
    [("neo4j_uri", "NEO4J_URI"), ("port", "NEO4J_MCP_SERVER_PORT"), ("neo4j_username", "NEO4J_USER")],
)
def test_the_level_decides_whatever_the_name(setting: str, name: str, tmp_path: Path) -> None:
    values = {"neo4j_uri": "bolt://host{}", "port": "800{}"}
    of = [values.get(setting, "user{}").format(level) for level in range(4)]
    config = tmp_path / "memory.yaml"
    config.write_text(f"{setting}: {of[0]}\n")
    (tmp_path / ".env").write_text(f"{name}={of[1]}\n")
    ours = environment_name(setting)

    flag = load_settings({setting: of[3]}, {ours: of[2]}, tmp_path, config)
    environment = load_settings({}, {ours: of[2]}, tmp_path, config)
    dotenv = load_settings({}, {}, tmp_path, config)
    (tmp_path / ".env").unlink()
    yaml = load_settings({}, {}, tmp_path, config)

    assert shown(flag, setting) == (of[3], "flag")
    assert shown(environment, setting) == (of[2], ours)
    assert shown(dotenv, setting) == (of[1], f"{tmp_path / '.env'}: {name}")
    assert shown(yaml, setting) == (of[0], str(config))
    assert load().origins[setting] == "default"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("NEO4J_USERNAME", "NEO4J_USER"),
        ("NEO4J_URI", "NEO4J_URL"),
        ("GRAPHITI_PKM_NEO4J_URI", "NEO4J_URL"),
        ("GRAPHITI_PKM_NEO4J_PASSWORD", "NEO4J_PASSWORD"),
        ("GRAPHITI_PKM_EMBEDDING_API_KEY", "EMBEDDING_API_KEY"),
    ],
)
@pytest.mark.parametrize("where", ["environment", ".env"])
def test_two_names_that_differ_are_an_error_that_names_both_and_tells_neither_value(
    one: str, other: str, where: str, tmp_path: Path
) -> None:
    first, second = "bolt://planted-1", "bolt://planted-2"
    if where == ".env":
        (tmp_path / ".env").write_text(f"{one}={first}\n{other}={second}\n")
    given = {one: first, other: second} if where == "environment" else {}
    with pytest.raises(ConfigurationError) as raised:
        load(tmp_path, **given)
    place = "in the environment" if where == "environment" else f"in {tmp_path / '.env'}"
    assert f"{one} and {other} {place}" in raised.value.message
    assert "planted" not in f"{raised.value.message}{raised.value!r}{raised.value.__cause__!r}"


def test_the_same_value_twice_and_two_levels_that_differ_are_fine(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("NEO4J_USER=anna\n")
    loaded = load(tmp_path, NEO4J_USERNAME="bert", GRAPHITI_PKM_NEO4J_USERNAME="bert", NEO4J_URI=BOLT)
    assert shown(loaded, "neo4j_username") == ("bert", "GRAPHITI_PKM_NEO4J_USERNAME")


def test_openais_key_is_a_fallback_and_no_second_name_of_the_embeddings_key() -> None:
    both = load(EMBEDDING_API_KEY="planted-word-1", EMBEDDING_MODE="api", OPENAI_API_KEY="planted-word-2")
    assert shown(both, "embedding_api_key") == ("planted-word-1", "EMBEDDING_API_KEY")
    fallback = load(EMBEDDING_MODE="api", OPENAI_API_KEY="planted-word-2")
    assert shown(fallback, "embedding_api_key") == ("planted-word-2", "OPENAI_API_KEY")


def test_no_name_means_two_settings() -> None:
    names = [name for setting in Settings.model_fields for name in variables_of(setting)]
    assert len(names) == len(set(names))
    assert set(ALIASES) <= set(Settings.model_fields)
