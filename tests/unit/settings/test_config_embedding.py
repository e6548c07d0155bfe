"""Settings of embeddings: what fits together, where a key goes, what is refused and why."""

from pathlib import Path

import pytest

from graphiti_pkm.cli.main import main
from graphiti_pkm.embedding.api import service_of
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.settings.loader import LoadedSettings, environment_name, load_settings

KEY = "sk-planted-77a01f8c2d"
LOCAL = "http://localhost:11434/v1"
NOWHERE = Path("/nowhere")


def load(openai_key: str | None = None, **settings: str) -> LoadedSettings:
    environ = {environment_name(f"embedding_{name}"): value for name, value in settings.items()}
    return load_settings({}, {**environ, **({"OPENAI_API_KEY": openai_key} if openai_key else {})}, NOWHERE)


def key_of(loaded: LoadedSettings) -> str | None:
    key = loaded.settings.embedding_api_key
    return key.get_secret_value() if key else None


def test_local_is_the_default_and_keeps_no_key_of_openais() -> None:
    loaded = load(KEY)
    assert loaded.settings.embedding_mode == "local"
    assert key_of(loaded) is None


@pytest.mark.parametrize("way", ["environment", "yaml", "flag"])
def test_hybrid_is_refused_with_the_reason_and_what_to_use(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["status", "--data-dir", str(tmp_path / "data")]
    if way == "environment":
        monkeypatch.setenv("GRAPHITI_PKM_EMBEDDING_MODE", "hybrid")
    elif way == "yaml":
        (tmp_path / "c.yaml").write_text("embedding_mode: hybrid\n")
        arguments += ["--config", str(tmp_path / "c.yaml")]
    else:
        arguments += ["--embedding-mode", "hybrid"]
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert "vectors of two models" in said
    assert "Use local" in said
    assert "reembed" in said


def test_another_mode_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"embedding_mode.*must be local or api"):
        load(mode="remote")


def test_without_a_key_openai_is_refused_naming_the_variables() -> None:
    with pytest.raises(ConfigurationError, match="GRAPHITI_PKM_EMBEDDING_API_KEY or OPENAI_API_KEY"):
        load(mode="api")


@pytest.mark.parametrize(
    ("url", "expected"),
    [(None, KEY), ("https://api.openai.com/v1/", KEY), (LOCAL, None), ("https://api.openai.com.evil.example/v1", None)],
)
def test_openais_key_goes_to_openai_only(url: str | None, expected: str | None) -> None:
    loaded = load(KEY, mode="api", **({"base_url": url} if url else {}))
    assert key_of(loaded) == expected
    assert loaded.origins["embedding_api_key"] == ("OPENAI_API_KEY" if expected else "default")


def test_a_key_of_our_own_name_comes_first_and_may_stand_in_a_file(tmp_path: Path) -> None:
    assert key_of(load("sk-other", mode="api", api_key=KEY)) == KEY
    (tmp_path / "key").write_text(KEY + "\n")
    assert key_of(load(mode="api", base_url=LOCAL, dimension="768", api_key_file=str(tmp_path / "key"))) == KEY


@pytest.mark.parametrize(
    ("model", "given", "dimension", "is_sent"),
    [
        (None, None, 1536, True),
        ("text-embedding-3-large", None, 3072, True),
        ("openai/text-embedding-3-small", "256", 256, True),
        ("text-embedding-ada-002", None, 1536, False),
        ("nomic-embed-text", "768", 768, False),
    ],
)
def test_the_dimension_is_known_or_given_and_sent_where_the_model_takes_it(
    model: str | None, given: str | None, dimension: int, is_sent: bool
) -> None:
    named = {name: value for name, value in (("model", model), ("dimension", given)) if value}
    service = service_of(load(KEY, mode="api", **named).settings)
    assert (service.model, service.dimension) == (model or "text-embedding-3-small", dimension)
    assert service.sends_dimension is is_sent
    assert KEY not in repr(service)


def test_a_model_of_unknown_dimension_asks_for_it() -> None:
    with pytest.raises(ConfigurationError, match=r"nomic-embed-text.*GRAPHITI_PKM_EMBEDDING_DIMENSION"):
        load(mode="api", base_url=LOCAL, model="nomic-embed-text")


@pytest.mark.parametrize("named", [{"model": "text-embedding-3-small"}, {"dimension": "256"}])
def test_the_local_model_is_one_and_another_is_refused(named: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODE=api"):
        load(**named)


def test_the_local_model_may_be_named() -> None:
    assert load(model="all-MiniLM-L6-v2", dimension="384").settings.embedding_mode == "local"
