"""A key is sent where it was meant to go, and shown nowhere."""

import contextlib
import json
import logging
from pathlib import Path

import pytest

from graphiti_pkm.cli.doctor import doctor
from graphiti_pkm.cli.main import build_parser, main
from graphiti_pkm.cli.serve import _effective
from graphiti_pkm.errors import ConfigurationError
from graphiti_pkm.server.observability.logging import JsonLines
from graphiti_pkm.settings.keys import is_nearby
from graphiti_pkm.settings.loader import LoadedSettings, Settings, environment_name, is_secret, load_settings

KEY = "sk-planted-1f8c2d77a0"
OTHER_KEY = "sk-other-93b1"
LOCAL = "http://localhost:11434/v1"
NOWHERE = Path("/nowhere")


def load(environ: dict[str, str], yaml: Path | None = None, **flags: str) -> LoadedSettings:
    return load_settings(flags, environ, NOWHERE, yaml)


def key_of(loaded: LoadedSettings) -> str | None:
    key = loaded.settings.llm_api_key
    return key.get_secret_value() if key else None


def ours(**settings: str) -> dict[str, str]:
    return {environment_name(name): value for name, value in settings.items()}


def test_whatever_is_called_a_key_is_a_secret_and_its_flag_says_who_sees_it() -> None:
    secrets = [name for name in Settings.model_fields if is_secret(name)]
    assert "llm_api_key" in secrets
    kinds = ("_key", "password", "_token")
    texts = {name for name, field in Settings.model_fields.items() if field.annotation not in {int, int | None}}
    named = {name for name in texts if name.endswith(kinds) or name == "tokens"}
    assert named == set(secrets)
    (group,) = (a for a in build_parser(shows_all_settings=True)._actions if a.dest == "command")
    for command in group.choices.values():  # type: ignore[union-attr]
        flags = [action for action in command._actions if action.dest in secrets]
        assert [
            flag.dest for flag in flags if "Every process of this machine can read it" not in (flag.help or "")
        ] == []


def test_openais_key_alone_names_no_model_and_is_not_even_kept() -> None:
    loaded = load({"OPENAI_API_KEY": KEY})
    assert loaded.settings.llm_model is None
    assert key_of(loaded) is None


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, KEY),
        ("https://api.openai.com/v1/", KEY),
        ("https://API.OpenAI.com:443/v1", KEY),
        (LOCAL, None),
        ("http://api.openai.com/v1", None),
        ("http://api.openai.com:443/v1", None),
        ("https://api.openai.com.evil.example/v1", None),
        ("https://api.openai.com:8443/v1", None),
        ("https://openrouter.ai/api/v1", None),
    ],
)
def test_openais_key_goes_to_openai_only(url: str | None, expected: str | None) -> None:
    named = {"llm_model": "m"} | ({"llm_base_url": url} if url else {})
    loaded = load({"OPENAI_API_KEY": KEY, **ours(**named)})
    assert key_of(loaded) == expected
    assert loaded.origins["llm_api_key"] == ("OPENAI_API_KEY" if expected else "default")


def test_a_key_of_our_own_name_goes_where_the_address_says_before_openais() -> None:
    loaded = load({"OPENAI_API_KEY": OTHER_KEY, **ours(llm_model="m", llm_base_url=LOCAL, llm_api_key=f" {KEY}\n")})
    assert key_of(loaded) == KEY
    assert loaded.origins["llm_api_key"] == "GRAPHITI_PKM_LLM_API_KEY"


def test_a_key_in_a_yaml_file_stays_with_the_address_in_that_file(tmp_path: Path) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text(f"llm_model: m\nllm_api_key: {KEY}\n")
    assert key_of(load({}, config)) == KEY
    elsewhere = load({}, config, llm_base_url=LOCAL)
    assert key_of(elsewhere) is None
    assert elsewhere.notes == ("llm_api_key: not used, because it belongs to another address",)
    config.write_text(f"llm_model: m\nllm_api_key: {KEY}\nllm_base_url: {LOCAL}\n")
    assert key_of(load({}, config)) == KEY


def test_a_key_may_stand_in_a_file_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    assert key_of(load(ours(llm_model="m", llm_base_url=LOCAL, llm_api_key_file=str(file)))) == KEY
    for text in ("", "two words"):
        file.write_text(text)
        with pytest.raises(ConfigurationError, match="single word"):
            load(ours(llm_model="m", llm_api_key_file=str(file)))
    with pytest.raises(ConfigurationError, match="FileNotFoundError"):
        load(ours(llm_model="m", llm_api_key_file=str(tmp_path / "none")))


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\nx", f"{KEY}…"])
def test_a_key_that_cannot_be_sent_is_told_by_its_origin_alone(key: str) -> None:
    for named in ("GRAPHITI_PKM_LLM_API_KEY", "OPENAI_API_KEY"):
        with pytest.raises(ConfigurationError, match=f"from {named}") as raised:
            load({named: key, **ours(llm_model="m")})
        assert KEY not in raised.value.message


@pytest.mark.parametrize(
    "url", [f"https://me:{KEY}@host/v1", f"https://host/v1?key={KEY}", f"https://host/v1#{KEY}", KEY, "ftp://host/v1"]
)
def test_an_address_that_holds_a_key_or_is_none_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError, match="llm_base_url") as raised:
        load(ours(llm_base_url=url))
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    "yaml",
    [f"llm_api_key: [{KEY}]", f"llm_api_key: {{a: {KEY}}}", f"llm_api_key: '{KEY}\n- ["],
)
def test_a_key_written_wrongly_is_an_error_that_does_not_quote_it(tmp_path: Path, yaml: str) -> None:
    config = tmp_path / "memory.yaml"
    config.write_text(yaml)
    with pytest.raises(ConfigurationError) as raised:
        load({}, config)
    assert KEY not in f"{raised.value!r}{raised.value.__cause__!r}"


def test_a_key_is_in_no_output_of_doctor_in_no_start_line_and_in_no_repr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = load(ours(llm_model="m", llm_api_key=KEY, data_dir=str(tmp_path / "data")))
    assert key_of(loaded) == KEY
    for as_json in (False, True):
        doctor(loaded, as_json=as_json)
    out, err = capsys.readouterr()
    assert "**********" in out
    record = logging.LogRecord("graphiti_pkm", logging.INFO, "", 0, "starting", (), None)
    record.event = _effective(loaded)
    shown = [
        out,
        err,
        JsonLines().format(record),
        repr(loaded),
        str(loaded.settings),
        loaded.settings.model_dump_json(),
    ]
    assert "llm_api_key" in json.dumps(shown)
    assert [text for text in shown if KEY in text] == []


@pytest.mark.usefixtures("own_logger")
@pytest.mark.parametrize(
    "arguments", [["serve", "--help-settings"], ["status", "--json"], ["status", "--llm-max-tokens", "x"]]
)
def test_a_key_in_the_environment_is_in_no_output_of_a_command(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in ours(llm_model="m", llm_api_key=KEY, data_dir=str(tmp_path)).items():
        monkeypatch.setenv(name, value)
    with contextlib.suppress(SystemExit):
        main(arguments)
    out, err = capsys.readouterr()
    assert out or err
    assert KEY not in out + err


@pytest.mark.parametrize(
    ("url", "nearby"),
    [
        ("http://127.0.0.1:11434/v1", True),
        ("http://localhost:8000/v1", True),
        ("http://models.localhost/v1", True),
        ("http://[::1]:1234/v1", True),
        ("http://192.168.1.7:1234/v1", True),
        ("https://10.0.0.5/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://93.184.216.34/v1", False),
        ("http://localhost.example.com/v1", False),
    ],
)
def test_a_server_next_door_is_told_by_its_address(url: str, nearby: bool) -> None:
    assert is_nearby(url) is nearby
