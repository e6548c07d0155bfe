"""The files and the environment of Graphiti's own MCP server, as they are there."""

from pathlib import Path

import pytest
from dotenv import dotenv_values

from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import LoadedSettings, load_settings

FILES = Path(__file__).parents[2] / "data" / "graphiti_mcp_server"
KEY = "sk-planted-9c41"
WORD = "planted-word-3"
LOCAL = "http://localhost:11434/v1"
ENVIRONMENT = {name: text for name, text in dotenv_values(FILES / "env.example").items() if text}


def load(environ: dict[str, str], file: str | None = None, directory: Path = Path("/nowhere")) -> LoadedSettings:
    return load_settings({}, environ, directory, FILES / file if file else None)


@pytest.mark.parametrize(
    ("file", "host", "password"),
    [("config-docker-neo4j.yaml", "neo4j", "demodemo"), ("config.yaml", "localhost", None)],
)
def test_its_files_start_on_the_database_that_they_name(file: str, host: str, password: str | None) -> None:
    loaded = load({}, file)
    settings = loaded.settings
    if password:
        assert settings.effective_backend == "neo4j"
        assert (settings.neo4j_uri, settings.neo4j_username, settings.neo4j_database) == (
            f"bolt://{host}:7687", "neo4j", "neo4j"
        )  # fmt: skip
        assert settings.neo4j_password is not None
        assert settings.neo4j_password.get_secret_value() == password
    else:
        assert settings.effective_backend == "embedded"
        assert "database.provider falkordb: not supported, so the memory is in data_dir" in " ".join(loaded.notes)
    assert (settings.transport, settings.default_group, settings.port) == ("http", "main", 8000)


@pytest.mark.parametrize("file", ["config.yaml", "config-docker-neo4j.yaml", "config-docker-falkordb.yaml"])
def test_variables_fill_its_files_and_what_has_no_meaning_is_said_once(file: str) -> None:
    environ = {"OPENAI_API_KEY": KEY, "MODEL_NAME": "m", "GRAPHITI_GROUP_ID": "diary", "USE_PARALLEL_RUNTIME": "true"}
    loaded = load({**environ, "SEMAPHORE_LIMIT": "10"}, file)
    settings = loaded.settings
    assert (settings.llm_model, settings.default_group, settings.embedding_mode) == ("m", "diary", "api")
    assert len(settings.entity_types) > 8
    assert len(loaded.notes) == len(set(loaded.notes))
    told = " | ".join(loaded.notes)
    for named in ("server.host 0.0.0.0", "graphiti.user_id", "SEMAPHORE_LIMIT"):
        assert told.count(named) == 1
    assert ("use_parallel_runtime" in told) is (file == "config-docker-neo4j.yaml")
    assert KEY not in told


def test_its_variables_of_a_database_win_over_its_file_as_they_do_there() -> None:
    environ = {
        "NEO4J_URI": "bolt://db.example:7687",
        "NEO4J_USER": "anna",
        "NEO4J_PASSWORD": "1",
        "NEO4J_DATABASE": "d",
    }
    loaded = load(environ, "config-docker-neo4j.yaml")
    settings = loaded.settings
    assert (settings.neo4j_uri, settings.neo4j_username, settings.neo4j_database) == (
        "bolt://db.example:7687", "anna", "d"
    )  # fmt: skip
    assert settings.neo4j_password is not None
    assert settings.neo4j_password.get_secret_value() == "1"
    assert loaded.origins["neo4j_username"] == "NEO4J_USER"


def test_its_environment_alone_names_database_and_model() -> None:
    assert {"NEO4J_USER", "MODEL_NAME", "SEMAPHORE_LIMIT"} <= set(ENVIRONMENT)
    loaded = load(ENVIRONMENT)
    settings = loaded.settings
    assert (settings.effective_backend, settings.neo4j_uri) == ("neo4j", ENVIRONMENT["NEO4J_URI"])
    assert (settings.llm_model, loaded.origins["llm_model"]) == (ENVIRONMENT["MODEL_NAME"], "MODEL_NAME")
    assert settings.llm_api_key is not None
    assert settings.llm_api_key.get_secret_value() == ENVIRONMENT["OPENAI_API_KEY"]
    assert loaded.origins["llm_api_key"] == "OPENAI_API_KEY"
    assert settings.embedding_mode == "local"
    assert [note for note in loaded.notes if note.startswith("SEMAPHORE_LIMIT: not used")]


def test_it_may_stand_in_a_dotenv_as_well(tmp_path: Path) -> None:
    env_file = tmp_path / ".env"
    env_file.write_text((FILES / "env.example").read_text(encoding="utf-8"))
    loaded = load({}, directory=tmp_path)
    assert loaded.origins["llm_model"] == f"{env_file}: MODEL_NAME"
    assert loaded.origins["llm_api_key"] == f"{env_file}: OPENAI_API_KEY"
    assert loaded.origins["neo4j_username"] == f"{env_file}: NEO4J_USER"


@pytest.mark.parametrize(
    "environ",
    [
        {"MODEL_NAME": "m", "OPENAI_API_KEY": KEY},
        {"MODEL_NAME": "m", "EMBEDDER_MODEL": "e", "OPENAI_API_KEY": KEY, "OPENAI_API_URL": LOCAL},
        {"MODEL_NAME": "m", "NEO4J_URI": "bolt://db.example"},
    ],
)
def test_a_model_named_for_another_program_or_without_a_key_reads_nothing(environ: dict[str, str]) -> None:
    settings = load(environ).settings
    assert (settings.llm_model, settings.llm_api_key, settings.embedding_mode) == (None, None, "local")


def test_a_mark_in_the_environment_does_not_make_a_projects_dotenv_one_of_a_memory(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"MODEL_NAME=m\nOPENAI_API_KEY={KEY}\n")
    assert load({"NEO4J_URI": "bolt://db.example"}, directory=tmp_path).settings.llm_model is None


def test_the_key_goes_to_the_address_that_stands_beside_the_model() -> None:
    environ = {"GRAPHITI_GROUP_ID": "g", "MODEL_NAME": "m", "EMBEDDER_MODEL": "e", "OPENAI_API_KEY": KEY}
    for name in ("OPENAI_API_URL", "OPENAI_BASE_URL"):
        loaded = load({**environ, name: LOCAL})
        for of in ("llm", "embedding"):
            assert getattr(loaded.settings, f"{of}_base_url") == LOCAL
            assert loaded.origins[f"{of}_base_url"] == name
            assert getattr(loaded.settings, f"{of}_api_key").get_secret_value() == KEY
    elsewhere = load({**environ, "OPENAI_API_URL": LOCAL, "GRAPHITI_PKM_LLM_BASE_URL": "http://localhost:1/v1"})
    assert elsewhere.settings.llm_api_key is None
    with pytest.raises(ConfigurationError, match="OPENAI_API_URL and OPENAI_BASE_URL in the environment"):
        load({**environ, "OPENAI_API_URL": LOCAL, "OPENAI_BASE_URL": "http://localhost:1/v1"})


def test_our_own_names_take_the_place_of_its_names_for_a_model() -> None:
    environ = {"GRAPHITI_GROUP_ID": "g", "MODEL_NAME": "m", "EMBEDDER_MODEL": "e", "OPENAI_API_KEY": KEY}
    loaded = load({**environ, "GRAPHITI_PKM_LLM_MODEL": "own", "EMBEDDING_MODE": "local"})
    settings = loaded.settings
    assert (settings.llm_model, settings.embedding_mode, settings.embedding_model) == ("own", "local", None)
    assert loaded.notes == (
        "MODEL_NAME: not used, because llm_model is set",
        "EMBEDDER_MODEL: not used, because embedding_mode is set",
    )
    budget = load({**environ, "GRAPHITI_PKM_LLM_CALLS_PER_DAY": "3"}).settings
    assert (budget.llm_model, budget.llm_calls_per_day) == ("m", 3)


def test_its_key_never_goes_to_an_address_of_ours(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text(f"llm_base_url: {LOCAL}\n")
    environ = {"GRAPHITI_GROUP_ID": "g", "MODEL_NAME": "m", "OPENAI_API_KEY": KEY}
    assert load_settings({}, environ, tmp_path, config).settings.llm_api_key is None


def test_its_variable_for_its_file_counts_if_it_is_one_of_its_files(tmp_path: Path) -> None:
    its = FILES / "config-docker-neo4j.yaml"
    assert load({"CONFIG_PATH": str(its)}).config_file == its
    other = tmp_path / "app.yaml"
    for text in ("database: sqlite\n", "- a\n", "a: [\n"):
        other.write_text(text)
        assert load({"CONFIG_PATH": str(other)}).config_file is None
    assert load({"CONFIG_PATH": str(tmp_path / "none.yaml")}).config_file is None
    other.write_text("person: Ada\n")
    ours = load({"CONFIG_PATH": str(its), "GRAPHITI_PKM_CONFIG": str(other)})
    assert (ours.config_file, ours.settings.person) == (other, "Ada")


@pytest.mark.parametrize(
    ("database", "backend"),
    [
        ("{provider: kuzu}", "embedded"),
        ("{provider: neo4j, providers: null}", "neo4j"),
        ("{providers: {falkordb: {uri: 'redis://anna@db.example', password: 12345}}}", "embedded"),
        ("null", "embedded"),
    ],
)
def test_no_database_that_it_takes_is_refused(database: str, backend: str, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"database: {database}\n")
    loaded = load_settings({}, {}, tmp_path, config)
    assert loaded.settings.effective_backend == backend


def test_a_password_in_its_file_is_not_told(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(f"database: {{provider: neo4j, providers: {{neo4j: {{password: [{WORD}], uri: '{WORD}'}}}}}}\n")
    with pytest.raises(ConfigurationError) as raised:
        load_settings({}, {}, tmp_path, config)
    assert WORD not in f"{raised.value!r}{raised.value.__cause__!r}"
